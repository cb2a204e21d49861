"""Printing from within a Program."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.variable import Variable
from scull.ops.effect import print_tensor


def Print(
    input: Any,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Any:
    """`input` itself; every run prints it, and its gradient when that is computed.

    Args:
        input (Variable): what to print.
        first_n (int): how often at most; -1 for always.
        message (str, optional): a line printed with it.
        summarize (int): how many elements; -1 for all.
        print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout,
            print_tensor_lod (bool): whether these lines are printed.
        print_phase (str): "forward", "backward" or "both".

    Returns:
        Variable: of the shape and dtype of `input`.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [2])
        ...     y = paddle.static.Print(x, message="here")
        ...     feed = {"x": np.ones(2, "float32")}
        ...     _ = paddle.static.Executor().run(feed=feed, fetch_list=[y])
        Variable: x
          - message: here
          - lod: {}
          - place: Place(cpu)
          - shape: [2]
          - layout: NCHW
          - dtype: float32
          - data: [1 1]
        >>> paddle.disable_static()
    """
    if not isinstance(input, Variable):
        raise ArgumentTypeError(f"`input` of Print must be a Variable, not {type(input).__name__}")
    if print_phase.upper() not in ("FORWARD", "BACKWARD", "BOTH"):
        raise ArgumentError(f"print_phase is {print_phase!r}, not forward, backward or both")
    return print_tensor(
        input,
        first_n=first_n,
        message=message or "",
        summarize=summarize,
        print_tensor_name=print_tensor_name,
        print_tensor_type=print_tensor_type,
        print_tensor_shape=print_tensor_shape,
        print_tensor_layout=print_tensor_layout,
        print_tensor_lod=print_tensor_lod,
        print_phase=print_phase.upper(),
    )
