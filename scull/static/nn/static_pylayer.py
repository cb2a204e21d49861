"""A piece of a Program with a gradient of one's own."""

from collections.abc import Callable
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.variable import Variable
from scull.ops.custom import recorder_of
from scull.static.layer_helper import LayerHelper
from scull.utils.layers_utils import flatten, pack_sequence_as


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: list[Any],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """What `forward_fn` returns for `inputs`, with the gradients that `backward_fn` returns.

    Both record operators into the Program; a Program that is saved before its gradients are
    appended has none.

    Args:
        forward_fn (callable): gets the inputs.
        inputs (list[Variable]): what it works on.
        backward_fn (callable, optional): gets the gradients of the results and returns those of
            the inputs, as many. Without it the results have no gradient.
        name (str, optional): of no effect.

    Returns:
        Variable | list | tuple | dict: what `forward_fn` returns.

    Raises:
        ArgumentTypeError: an input is no Variable, or a function is not callable.
        ArgumentError: without `backward_fn` an input needs a gradient; eager mode.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     x.stop_gradient = False
        ...     y = paddle.static.nn.static_pylayer(lambda x: x * 3.0, [x], lambda dy: dy * 10.0)
        ...     (dx,) = paddle.static.gradients(y, [x])
        ...     feed = {"x": np.ones(2, "float32")}
        ...     print(paddle.static.Executor().run(feed=feed, fetch_list=[dx])[0].tolist())
        [10.0, 10.0]
        >>> paddle.disable_static()
    """
    if in_dynamic_mode():
        raise ArgumentError("static_pylayer builds Programs; in eager mode use autograd.PyLayer")
    for word, function in (("forward_fn", forward_fn), ("backward_fn", backward_fn)):
        if not callable(function) and (function is not None or word == "forward_fn"):
            raise ArgumentTypeError(f"{word} must be callable, not {type(function).__name__}")
    for x in inputs:
        if not isinstance(x, Variable):
            raise ArgumentTypeError(
                f"inputs of static_pylayer are Variables, not {type(x).__name__}"
            )
        if backward_fn is None and not x.stop_gradient:
            raise ArgumentError(
                "``stop_gradient`` attr of all inputs to ``forward_fn`` are expected to be True, "
                f"when ``backward_fn == None``, but {x.name}.stop_gradient got False"
            )
    made = forward_fn(*inputs)
    if made is None:
        return None
    found = flatten(made)
    helper = LayerHelper("static_pylayer")
    results = [helper.create_variable_for_type_inference(v.dtype) for v in found]
    recorder = recorder_of(backward_fn or refuse)
    slots = {"X": inputs, "Made": found}, {"Out": results}
    operator = helper.append_op("python_gradient", *slots, {"recorder": recorder})
    operator.attrs["recorder"] = recorder  # which holds the function
    for v in results:
        v.stop_gradient = backward_fn is None or all(x.stop_gradient for x in inputs)
    return pack_sequence_as(made, results)


def refuse(*douts: Any) -> None:
    """Refuse to make gradients of what has none."""
    raise ArgumentError("this static_pylayer was made without a backward_fn")
