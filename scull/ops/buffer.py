"""Several tensors in one buffer."""

import math
from typing import Any

from scull.core.attribute import Dtype, Longs
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, count
from scull.errors import ArgumentError, DtypeError, ShapeError

CHUNK = 4096  # bytes that a tensor takes a multiple of, where no other number is given


def step_of(size: int, bytes_of: int, use_align: bool, align_size: int) -> int:
    """How many elements of a buffer a tensor of `size` elements takes."""
    if not use_align:
        return size
    unit = align_size if align_size > 0 else CHUNK
    return -(-size * bytes_of // unit) * unit // bytes_of


def shapes_given(shapes: Any, sizes: Any, ranks: Any) -> list[tuple[int, ...]]:
    """The shapes of the tensors: their own, or those that stand in a row in `sizes`."""
    if not shapes:
        raise ArgumentError("there is no tensor to lay into a buffer")
    if not sizes:
        return list(shapes)
    if len(ranks) != len(shapes) or sum(ranks) != len(sizes):
        raise ShapeError(f"{len(sizes)} sizes do not make {len(shapes)} shapes of ranks {ranks}")
    ends = [sum(ranks[: i + 1]) for i in range(len(ranks))]
    return [tuple(sizes[e - r : e]) for e, r in zip(ends, ranks, strict=True)]


@primitive(
    outputs=("output[]", "fused_output"),
    views={"output": "fused_output"},
    infer_first=True,
)
def coalesce_tensor(
    input: list[Meta],
    *,
    dtype: Dtype,
    copy_data: bool = False,
    set_constant: bool = False,
    persist_output: bool = False,
    constant: float = 0.0,
    use_align: bool = True,
    align_size: int = -1,
    user_defined_size_of_dtype: int = -1,
    concated_shapes: Longs = (),
    concated_ranks: Longs = (),
) -> tuple[Any, Meta]:
    """Parts of one buffer in the shapes of `input`, and the buffer.

    They hold the values of `input` if `copy_data`, `constant` if `set_constant`, else zeros.
    """
    if dtype is None:
        raise DtypeError("dtype says nothing of the elements of the buffer")
    for m in input:
        if m.dtype is not dtype:
            raise DtypeError(f"a tensor is {m.dtype.name}, the buffer is of {dtype.name}")
    shapes = shapes_given([m.shape for m in input], concated_shapes, concated_ranks)
    sizes = [count(s) for s in shapes]
    if -1 in sizes:
        return [Meta(s, dtype) for s in shapes], Meta((UNKNOWN,), dtype)
    width = user_defined_size_of_dtype if user_defined_size_of_dtype > 0 else dtype.itemsize
    total = sum(step_of(n, width, use_align, align_size) for n in sizes)
    return [Meta(s, dtype) for s in shapes], Meta((total,), dtype)


@coalesce_tensor.kernel
def coalesce_tensor_kernel(
    xp: Any,
    input: Any,
    *,
    out: Any = None,
    dtype: Any,
    copy_data: bool,
    set_constant: bool,
    constant: float,
    use_align: bool,
    align_size: int,
    user_defined_size_of_dtype: int,
    concated_shapes: Any,
    concated_ranks: Any,
    **_: Any,
) -> Any:
    shapes = shapes_given([x.shape for x in input], concated_shapes, concated_ranks)
    width = user_defined_size_of_dtype if user_defined_size_of_dtype > 0 else dtype.itemsize
    steps = [step_of(math.prod(s), width, use_align, align_size) for s in shapes]
    buffer = xp.zeros(sum(steps), dtype.array)
    if set_constant and not copy_data:
        buffer[...] = constant
    parts, start = [], 0
    for x, shape, step in zip(input, shapes, steps, strict=True):
        part = buffer[start : start + math.prod(shape)].reshape(shape)
        if copy_data:
            part[...] = x.reshape(shape)
        parts.append(part)
        start += step
    return parts, buffer


coalesce_tensor.no_grad("Paddle gives it none")
coalesce_tensor.no_lowering("its results lie in one another")


@primitive(outputs=("out[]",), views={"out": "x"})
def nop(x: list[Meta]) -> Any:
    """`x` as it is."""
    return list(x)


nop.kernel(lambda xp, x, *, out=None: list(x))
nop.no_grad("Paddle gives it none")
nop.no_lowering("it does nothing")
