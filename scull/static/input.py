"""What a Program is fed."""

from typing import Any

from scull.core import session
from scull.core.dtype import dtype_of
from scull.core.meta import Meta
from scull.core.operand import meta_or_none
from scull.eager.index import setitem as written
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program
from scull.ir.variable import with_batch


def data(name: str, shape: Any, dtype: Any = None, lod_level: int = 0) -> Any:
    """An input of the default main Program, fed by its name.

    Args:
        name (str): the name to feed.
        shape (list | tuple): the sizes; None or -1 for one that is known when run.
        dtype (str, optional): the element type; the default dtype when None.
        lod_level (int): levels of detail, for old Programs.

    Returns:
        Variable: the input.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 3])
        >>> x.shape
        (-1, 3)
        >>> paddle.disable_static()
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"The type of 'name' in data must be str, but received {type(name)}."
        )
    if not isinstance(shape, list | tuple):
        raise ArgumentTypeError(
            f"The type of 'shape' in data must be list or tuple, but received {type(shape)}."
        )
    kind = session.default_dtype() if dtype is None else dtype_of(dtype)
    block, meta = main_program().current_block(), Meta(with_batch(shape), kind)
    before = block.vars.get(name)
    if before is not None and before.meta != meta:
        raise ArgumentError(
            f"Variable '{name}' has been created before, as {before.meta}, now as {meta}. "
            "They are not matched."
        )
    if before is not None:
        return before
    return block.variable(
        name,
        meta,
        stop_gradient=True,
        is_data=True,
        need_check_feed=True,
        lod_level=lod_level,
    )


class InputSpec:
    """Shape, dtype and name of an input, before there is one.

    Args:
        shape (list | tuple): the sizes; None or -1 for one not known.
        dtype (str): the element type.
        name (str, optional): its name.
        stop_gradient (bool): whether no gradient is wanted.
    """

    def __init__(
        self,
        shape: Any,
        dtype: Any = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ) -> None:
        if not isinstance(shape, list | tuple):
            raise ArgumentTypeError(
                f"shape should be list or tuple, but got {type(shape).__name__}"
            )
        for n in shape:
            if n is not None and not isinstance(n, int):
                raise ArgumentTypeError(f"the sizes of `shape` are integers or None, not {n!r}")
        self.shape = tuple(-1 if n is None else int(n) for n in shape)
        self.dtype = dtype_of(dtype) if dtype is not None else None
        self.name, self.stop_gradient = name, stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> "InputSpec":
        """The description of `tensor`."""
        return cls(list(tensor.shape), tensor.dtype, name or getattr(tensor, "name", None))

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> "InputSpec":
        """The description of a NumPy array."""
        meta = meta_or_none(ndarray)
        return cls(list(meta.shape), meta.dtype, name)

    def batch(self, batch_size: Any) -> "InputSpec":
        """Put an axis of `batch_size` in front."""
        if isinstance(batch_size, list | tuple):
            if len(batch_size) != 1:
                raise ArgumentError(
                    f"Length of batch_size: {batch_size} shall be 1, but received "
                    f"{len(batch_size)}."
                )
            batch_size = batch_size[0]
        elif not isinstance(batch_size, int):
            raise ArgumentTypeError(
                f"type(batch_size) shall be `int`, but received {type(batch_size).__name__}."
            )
        self.shape = (batch_size, *self.shape)
        return self

    def unbatch(self) -> "InputSpec":
        """Take the first axis away."""
        if not self.shape:
            raise ArgumentError("Not support to unbatch a InputSpec when len(shape) == 0.")
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.stop_gradient))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and vars(self) == vars(other)


def setitem(x: Any, index: Any, value: Any) -> Any:
    """`x` with `value` written at `index`, as a new variable.

    Args:
        x (Variable): the elements.
        index (int | slice | Tensor | tuple): where, as in ``x[index]``.
        value (number | ndarray | Tensor): what is written; it stretches to fit.
    """
    return written(x, index, value)
