"""A layer with an observer before or behind it."""

from typing import Any

from scull.nn.layer.layers import Layer


class ObserveWrapper(Layer):
    """A layer whose input, or output, passes an observer.

    Args:
        observer (BaseQuanter | None): the observer.
        observed (Layer): the layer.
        observe_input (bool): whether the observer comes first.
    """

    def __init__(self, observer: Any, observed: Any, observe_input: bool = True) -> None:
        super().__init__()
        self._observer, self._observed, self._observe_input = observer, observed, observe_input

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer makes of the observed inputs, or the observed output."""
        if self._observe_input:
            return self._observed(self._observer(*inputs, **kwargs))
        return self._observer(self._observed(*inputs, **kwargs))
