"""Tensors put together and taken apart along an axis."""

import itertools
import math
from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, axis_of
from scull.core.op import meta_of
from scull.errors import ArgumentError, AssertError, DtypeError, ShapeError, UnsupportedError
from scull.ops.like import whole_number


def alike(x: list[Any]) -> None:
    """Refuse tensors of differing element types or numbers of axes."""
    first = x[0]
    for other in x:
        if other.dtype != first.dtype:
            raise DtypeError(
                f"{meta_of(first)} and {meta_of(other)} differ in element type; cast one"
            )
        if len(other.shape) != len(first.shape):
            raise ShapeError(
                f"{meta_of(first)} and {meta_of(other)} differ in their number of axes"
            )


def given_axis(axis: int, tensor: Any) -> int:
    """Attribute `axis`, or the tensor that stands for it."""
    return axis if tensor is None else whole_number(tensor)


def hollow(m: Any) -> bool:
    """Whether `m` is the empty tensor of one axis, which joins anything."""
    return tuple(m.shape) == (0,)


@primitive
def concat(x: list[Meta], axis_tensor: Meta = None, *, axis: int = 0) -> Meta:
    """The tensors `x` one behind the other along `axis`."""
    x = [m for m in x if not hollow(m)] or x
    alike(x)
    first = x[0]
    if axis_tensor is not None:
        return first.with_shape((UNKNOWN,) * first.ndim)
    if not first.ndim:
        raise ShapeError("0-D tensors have no axis to be put together along; stack them")
    axis, sizes = axis_of(axis, first.ndim), list(first.shape)
    for m in x:
        for i, n in enumerate(m.shape):
            if i != axis:
                sizes[i] = agree(
                    sizes[i], n, f"axis {i} has sizes {{}} and {{}}, which is not `axis`"
                )
    total = [m.shape[axis] for m in x]
    sizes[axis] = UNKNOWN if -1 in total else sum(total)
    return first.with_shape(sizes)


@concat.kernel
def concat_kernel(xp: Any, x: Any, tensor: Any = None, *, out: Any = None, axis: int) -> Any:
    axis = given_axis(axis, tensor)
    for other in x:
        if other.dtype is not x[0].dtype or other.ndim != x[0].ndim:
            x = [v for v in x if not hollow(v)] or x
            alike(x)
            break
    return xp.concatenate(x, axis, out)


@concat.grad("x")
def concat_grad(x_meta: Any, axis_tensor: Any, dout: Any, axis: int) -> Any:
    return split_like(dout, x_meta, axis_tensor, axis=axis)


@concat.lower
def concat_at(index: Any, x: Any, axis_tensor: Any, axis: int) -> Any:
    fixed_axis(axis_tensor)
    x = [v for v in x if not hollow(v)] or x
    axis = axis_of(axis, x[0].ndim)
    place, stops = index[axis], list(itertools.accumulate(v.shape[axis] for v in x))
    value = None
    for piece, stop in zip(reversed(x), reversed(stops), strict=True):
        start = stop - piece.shape[axis]
        own = piece[(*index[:axis], place - start, *index[axis + 1 :])]
        inside = (place >= start) & (place < stop)
        zero = lang.constant(False if piece.dtype == "bool" else 0, piece.dtype)
        value = lang.guarded(inside, own, zero if value is None else value)
    return value


def fixed_axis(tensor: Any) -> None:
    """Refuse to lower what only a tensor's value decides."""
    if tensor is not None:
        raise UnsupportedError("an axis that a tensor gives is known only when run")


@primitive(outputs=("out[]",), views={"out": "x"})
def split_like(
    x: Meta, like_meta: list[Meta], axis_tensor: Meta = None, *, axis: int = 0
) -> list[Meta]:
    """The pieces of `x` that have the shapes of `like`, the reverse of `concat`."""
    return [x.with_shape(m.shape) for m in like_meta]


@split_like.kernel
def split_like_kernel(
    xp: Any, x: Any, like: Any, tensor: Any = None, *, out: Any = None, axis: int
) -> Any:
    axis = axis_of(given_axis(axis, tensor), x.ndim)
    return pieces(x, [0 if hollow(v) and x.ndim > 1 else v.shape[axis] for v in like], axis, like)


def pieces(x: Any, sizes: Any, axis: int, like: Any = ()) -> list[Any]:
    """Views of `x`, one behind the other along `axis`."""
    before, start, found = (slice(None),) * axis, 0, []
    for size in sizes:
        found.append(x[(*before, slice(start, start + size))])
        start += size
    return [
        v.reshape(like[i].shape) if like and hollow(like[i]) else v for i, v in enumerate(found)
    ]


@split_like.grad("x")
def split_like_grad(axis_tensor: Any, dout: Any, axis: int) -> Any:
    return concat(dout, axis_tensor, axis=axis)


@split_like.lower
def split_like_at(index: Any, x: Any, like: Any, axis_tensor: Any, axis: int) -> Any:
    fixed_axis(axis_tensor)
    axis = axis_of(axis, x.ndim)
    return pieces_at(index, x, [v.shape[axis] if v.ndim == x.ndim else 0 for v in like], axis)


def pieces_at(index: Any, x: Any, sizes: Any, axis: int) -> Any:
    """One element of each piece; a single piece has a single index."""
    several = len(sizes) > 1
    starts = itertools.accumulate(sizes[:-1], initial=0)
    places = zip(index if several else (index,), starts, strict=True)
    found = []
    for i, start in places:
        empty = len(i) != x.ndim
        zero = lang.constant(False if x.dtype == "bool" else 0, x.dtype)
        found.append(zero if empty else x[(*i[:axis], i[axis] + start, *i[axis + 1 :])])
    return tuple(found) if several else found[0]


@primitive(
    outputs=("out[]",),
    inline_gradient=True,
    fixed={"mkldnn_data_type": "float32", "use_mkldnn": False},
    printed=("mkldnn_data_type", "use_mkldnn"),
)
def split(
    x: Meta,
    axis_tensor: Meta = None,
    sections_tensor_list: list[Meta] | None = None,
    *,
    sections: Ints = (),
    num: int = 0,
    axis: int = 0,
) -> list[Meta]:
    """Pieces of `x` along `axis`: `num` equal ones, or of sizes `sections` (one may be -1)."""
    count = num or len(sections_tensor_list or sections)
    if axis_tensor is not None:
        return [x.with_shape((UNKNOWN,) * x.ndim)] * count
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no axis to be split along")
    axis = axis_of(axis, x.ndim)
    if sections_tensor_list:
        sizes = (UNKNOWN,) * count
    else:
        sizes = section_sizes(x.shape[axis], sections, num)
    return [x.with_shape((*x.shape[:axis], n, *x.shape[axis + 1 :])) for n in sizes]


def section_sizes(size: int, sections: tuple[int, ...], num: int) -> tuple[int, ...]:
    """The sizes of the pieces of an axis."""
    if num:
        if size != -1 and size % num:
            raise AssertError(f"an axis of size {size} does not split into {num} equal pieces")
        return (UNKNOWN if size == -1 else size // num,) * num
    if sections.count(-1) > 1 or min(sections, default=0) < -1:
        raise ArgumentError(f"sections {list(sections)} leave more open than one size")
    if size == -1:
        return tuple([UNKNOWN if n == -1 else n for n in sections])
    given = sum(n for n in sections if n != -1)
    if given > size or (given < size and -1 not in sections):
        raise ShapeError(f"sections {list(sections)} do not make up an axis of size {size}")
    return tuple([size - given if n == -1 else n for n in sections])


@split.kernel
def split_kernel(
    xp: Any,
    x: Any,
    tensor: Any = None,
    tensors: Any = None,
    *,
    out: Any = None,
    sections: Any,
    num: int,
    axis: int,
) -> Any:
    axis = axis_of(given_axis(axis, tensor), x.ndim)
    if tensors:
        sections = tuple([whole_number(v) for v in tensors])
    return [v.copy() for v in pieces(x, section_sizes(x.shape[axis], sections, num), axis)]


@split.grad("x")
def split_grad(axis_tensor: Any, dout: Any, axis: int) -> Any:
    return concat(dout, axis_tensor, axis=axis)


@split.lower
def split_at(
    index: Any, x: Any, axis_tensor: Any, tensors: Any, sections: Any, num: int, axis: int
) -> Any:
    fixed_axis(axis_tensor or tensors or None)
    axis = axis_of(axis, x.ndim)
    return pieces_at(index, x, section_sizes(x.shape[axis], sections, num), axis)


@primitive(outputs=("y",))
def stack(x: list[Meta], *, axis: int = 0) -> Meta:
    """The tensors `x` side by side along a new axis."""
    alike(x)
    sizes = list(x[0].shape)
    for m in x[1:]:
        law = f"{x[0]} and {m} are not of one shape"
        sizes = [agree(a, b, law) for a, b in zip(sizes, m.shape, strict=True)]
    sizes.insert(axis_of(axis, len(sizes) + 1), len(x))
    return x[0].with_shape(sizes)


@stack.kernel
def stack_kernel(xp: Any, x: Any, *, out: Any = None, axis: int) -> Any:
    first = x[0]
    axis = axis_of(axis, first.ndim + 1)
    if out is None:
        out = xp.empty((*first.shape[:axis], len(x), *first.shape[axis:]), first.dtype)
    before = (slice(None),) * axis
    for i, v in enumerate(x):
        if v.shape != first.shape or v.dtype != first.dtype:
            raise ShapeError(f"{meta_of(first)} and {meta_of(v)} are not alike")
        out[(*before, i)] = v
    return out


stack.grad(lambda x_meta, dy, axis: unbind(dy, axis=axis))


@stack.lower
def stack_at(index: Any, x: Any, axis: int) -> Any:
    axis = axis_of(axis, len(index))
    rest, value = (*index[:axis], *index[axis + 1 :]), x[-1]
    value = value[rest]
    for i, v in reversed(list(enumerate(x[:-1]))):
        value = lang.guarded(lang.equal(index[axis], i), v[rest], value)
    return value


@primitive(outputs=("out[]",), views={"out": "x"}, inline_gradient=True)
def unbind(x: Meta, *, axis: int = 0) -> list[Meta]:
    """The slices of `x` along `axis`, which they lack."""
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no axis to be taken apart along")
    axis = axis_of(axis, x.ndim)
    if x.shape[axis] == -1:
        raise ShapeError(f"axis {axis} of {x} has an unknown size: how many slices are there?")
    return [x.with_shape(x.shape[:axis] + x.shape[axis + 1 :])] * math.prod(
        x.shape[axis : axis + 1]
    )


@unbind.kernel
def unbind_kernel(xp: Any, x: Any, *, out: Any = None, axis: int) -> Any:
    axis = axis_of(axis, x.ndim)
    before = (slice(None),) * axis
    return [x[(*before, i, ...)] for i in range(x.shape[axis])]


unbind.grad(lambda dout, axis: stack(dout, axis=axis))


@unbind.lower
def unbind_at(index: Any, x: Any, axis: int) -> Any:
    axis, several = axis_of(axis, x.ndim), x.shape[axis] > 1
    indices = enumerate(index if several else (index,))
    found = tuple([x[(*i[:axis], number, *i[axis:])] for number, i in indices])
    return found if several else found[0]


@primitive(outputs=("y[]",))
def unstack(x: Meta, *, axis: int = 0, num: int = 0) -> list[Meta]:
    """The `num` slices of `x` along `axis`, which they lack."""
    if x.ndim and num and x.shape[axis_of(axis, x.ndim)] == -1:
        axis = axis_of(axis, x.ndim)
        return [x.with_shape(x.shape[:axis] + x.shape[axis + 1 :])] * num
    found = unbind.op.body(x, axis=axis)
    agree(num or len(found), len(found), "num is {} and there are {} slices")
    return found


@unstack.kernel
def unstack_kernel(xp: Any, x: Any, *, out: Any = None, axis: int, num: int) -> Any:
    if not x.ndim or num not in (0, x.shape[axis]):
        unstack.op.body(meta_of(x), axis=axis, num=num)
    return [v.copy() for v in unbind_kernel(xp, x, axis=axis)]


unstack.grad(lambda dy, axis: stack(dy, axis=axis))
unstack.lower(lambda index, x, axis, num: unbind_at(index, x, axis))
