"""Variables and tensors that get their values later."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import DType, dtype_of
from scull.core.tensor import Tensor
from scull.ir.program import main_program
from scull.tensor.size import is_static


def waiting(dtype: DType) -> Tensor:
    """A tensor of no axes that counts as without a value until it gets one."""
    made = Tensor(np.zeros((), dtype.array))
    made.array.flags.writeable = False  # a value is taken over, for it cannot be written
    made.__dict__["_awaited"] = made.array, None
    return made


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Any:
    """A variable of a Program without a value yet; a tensor that waits for one in eager mode.

    Args:
        dtype (str): the element type.
        name (str, optional): its name; a new one when None.
        persistable (bool): whether its value outlives a run.

    Returns:
        Variable | Tensor: of the element type `dtype`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.tensor.create_tensor("int64")
        >>> paddle.assign(paddle.to_tensor([1, 2]), x).tolist()
        [1, 2]
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     print(paddle.tensor.create_tensor("float32", "x").name)
        x
        >>> paddle.disable_static()
    """
    called = name or session.unique_name("_generated_var")
    if not is_static():
        made: Any = waiting(dtype_of(dtype))
        made.name, made.persistable = called, persistable
        return made
    block = main_program().current_block()
    return block.create_var(called, dtype=dtype, persistable=persistable)
