"""What initializers share: a value, drawn at once or by an operator of the startup Program."""

import math
from typing import Any

import numpy as np

from scull.autograd.version import changed
from scull.core import session
from scull.core.dtype import DType, float32
from scull.core.eager import SILENT
from scull.core.interpreter import interpreting
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program, startup_program
from scull.ir.recorder import Recorder
from scull.ops.create import cast

session.put("initializers", (None, None))


class Initializer:
    """The first value of a parameter. One of your own defines `forward`.

    Examples:
        >>> import scull as paddle
        >>> class Ones(paddle.nn.initializer.Initializer):
        ...     def forward(self, param, block=None):
        ...         param.set_value(paddle.ones(param.shape))
        >>> paddle.nn.Linear(1, 2, weight_attr=Ones()).weight.tolist()
        [[1.0, 1.0]]
    """

    seed = 0
    narrow = True  # whether its operator takes float16 and bfloat16
    word = ""  # the first word of the name of a value in float32 that is cast

    def __call__(self, param: Any, block: Any = None) -> Any:
        """Fill `param`, or append to `block` (of the startup Program when None) what fills it."""
        return self.forward(param, block)

    def forward(self, param: Any, block: Any = None) -> Any:
        """Fill `param`; return the operator that will in static mode."""
        if not isinstance(param, Tensor):
            return self.record(param, block or startup_program().global_block())
        found = self.array(tuple(param.meta.shape), self.drawn(param.dtype))
        if found.shape == param.array.shape:
            param.array[...] = found
        else:  # a given value, whose shape it takes
            param.array = np.array(found, param.array.dtype)
        changed(param.array, "initialization")
        return None

    def record(self, param: Any, block: Any) -> Any:
        """Append the operator that writes `param`, and a cast where it draws no such elements."""
        drawn, seed = self.drawn(param.dtype), self.seed or block.program.random_seed
        with interpreting(Recorder(block)) as recorder:
            if drawn is param.dtype:
                with recorder.into(param):
                    self.value(tuple(param.meta.shape), drawn, seed)
            else:
                with recorder.naming(f"{self.word}.{param.name}"):
                    found = self.value(tuple(param.meta.shape), drawn, seed)
                with recorder.into(param):
                    cast(found, in_dtype=drawn, out_dtype=param.dtype)
        return param.op

    def drawn(self, dtype: DType) -> DType:
        """The element type its operator gives."""
        return float32 if not self.narrow and dtype.itemsize == 2 else dtype

    def array(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """The value as an array, drawn now."""
        with interpreting(SILENT):
            return self.value(shape, dtype, self.seed or main_program().random_seed).array

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        """The value, by one call of an operator."""
        raise NotImplementedError


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many elements one of the output depends on, and how many one of the input reaches."""
    if not shape:
        return 1, 1
    if len(shape) < 3:
        return shape[0], shape[-1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def global_initializers() -> tuple[Any, Any]:
    """The initializers of all weights and of all biases that were set; or None."""
    found: tuple[Any, Any] = session.get("initializers")
    return found


def set_global_initializer(weight_init: Any, bias_init: Any = None) -> None:
    """Give parameters made from now on these first values, unless their ParamAttr says otherwise.

    Args:
        weight_init (Initializer, optional): of weights; None ends it.
        bias_init (Initializer, optional): of biases.

    Examples:
        >>> import scull as paddle
        >>> init = paddle.nn.initializer
        >>> init.set_global_initializer(init.Constant(2.0), init.Constant(3.0))
        >>> linear = paddle.nn.Linear(1, 2)
        >>> init.set_global_initializer(None)
        >>> linear.weight.tolist(), linear.bias.tolist()
        ([[2.0, 2.0]], [3.0, 3.0])
    """
    for name, given in (("weight_init", weight_init), ("bias_init", bias_init)):
        if given is not None and not isinstance(given, Initializer):
            raise ArgumentTypeError(
                f"`{name}` takes an Initializer or None, not {type(given).__name__}"
            )
    session.put("initializers", (weight_init, bias_init))


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """By how much to widen the first values of weights that a nonlinearity follows.

    Args:
        nonlinearity (str): sigmoid, linear, conv1d ... conv3d_transpose, tanh, relu, leaky_relu
            or selu.
        param (float, optional): the slope of leaky_relu below 0; 0.01 when None.

    Returns:
        float: the gain.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.nn.initializer.calculate_gain("tanh"), 4)
        1.6667
    """
    slope = 0.01 if param is None else float(param)
    gains = {
        **dict.fromkeys(("sigmoid", "linear"), 1),
        **dict.fromkeys((f"conv{n}d{t}" for n in (1, 2, 3) for t in ("", "_transpose")), 1),
        "tanh": 5.0 / 3,
        "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1 + slope**2)),
        "selu": 3.0 / 4,
    }
    if nonlinearity not in gains:
        raise ArgumentError(f"nonlinearity function {nonlinearity} is not suppported now.")
    return gains[nonlinearity]
