"""Variables of a Program that get their values later."""

from typing import Any

from scull.core import session
from scull.errors import UnsupportedError
from scull.ir.program import main_program
from scull.tensor.size import is_static


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Any:
    """A variable of a Program without a value yet.

    Args:
        dtype (str): the element type.
        name (str, optional): its name; a new one when None.
        persistable (bool): whether its value outlives a run.

    Returns:
        Variable: of the element type `dtype`.

    Raises:
        UnsupportedError: in eager mode, where every tensor has a value.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     print(paddle.tensor.create_tensor("float32", "x").name)
        x
        >>> paddle.disable_static()
    """
    if not is_static():
        raise UnsupportedError("a tensor of eager mode has a value: use to_tensor or empty")
    called = name or session.unique_name("_generated_var")
    block = main_program().current_block()
    return block.create_var(called, dtype=dtype, persistable=persistable)
