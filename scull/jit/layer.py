"""A loaded model as a set of functions, each of which returns a list."""

from collections.abc import Callable
from typing import Any

from scull.jit.loading import load


class Layer:
    """What was saved with `combine_params=True`, or otherwise.

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> from scull.jit.layer import Layer
        >>> net = paddle.jit.to_static(paddle.nn.ReLU())
        >>> x = net(paddle.ones([2]))
        >>> functions = Layer()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paddle.jit.save(net, os.path.join(folder, "net"), combine_params=True)
        ...     functions.load(os.path.join(folder, "net"), paddle.CPUPlace())
        >>> functions.forward(x)[0].tolist()
        [1.0, 1.0]
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., list[Any]]] = {}

    def load(self, load_path: str, place: Any) -> None:
        """Take over the methods of the model at `load_path`; each becomes an attribute.

        Args:
            load_path (str): folder and name.
            place (Place): kept for Paddle's signature.
        """
        loaded = load(load_path)
        self.functions = {name: listing(getattr(loaded, name)) for name in loaded._methods}
        vars(self).update(self.functions)


def listing(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    """`function`, whose single result is a list as well."""

    def called(*inputs: Any) -> list[Any]:
        found = function(*inputs)
        return found if isinstance(found, list) else [found]

    return called
