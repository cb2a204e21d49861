"""Rows and elements picked by tensors of indices, and written there."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Dtype, Long, Longs, Strings
from scull.core.dtype import float32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Kind, Meta, agree, axis_of, of_shape
from scull.core.op import meta_of
from scull.core.tensor import Rows, add_at
from scull.errors import ArgumentError, DtypeError, IndexDtypeError, RangeError, ShapeError
from scull.ops.half import gathered, single
from scull.ops.join import fixed_axis, given_axis
from scull.ops.like import full_like, whole_number
from scull.ops.move import reshape
from scull.ops.sort import order_of


def whole_numbers(index: Meta) -> None:
    """Refuse indices that are not integers."""
    if not index.dtype.is_integer:
        raise IndexDtypeError(f"the index {index} is not of integers")


def inside(index: Any, size: int) -> Any:
    """`index` itself, once it is known to lie in [0, size)."""
    if index.size:
        low, high = index.min(), index.max()
        if low < 0 or high >= size:
            raise RangeError(f"index {low if low < 0 else high} is outside [0, {size})")
    return index


def one_axis(index: Any) -> Any:
    """An index of shape (n, 1) as (n); numbers and lists as they are."""
    if index.ndim < 2:
        return index
    if index.ndim > 2 or index.shape[1] != 1:
        raise ShapeError(f"the index {meta_of(index)} is neither a number nor a list of them")
    return index.reshape(-1)


def index_shape(index: Meta) -> tuple[int, ...]:
    """The axes an index of `gather` or `scatter` puts in the place of one."""
    whole_numbers(index)
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] not in (1, -1)):
        raise ShapeError(f"the index {index} is neither a number nor a list of them")
    return index.shape[:1]


@primitive(slots={"axis_tensor": "Axis"})
def gather(x: Meta, index: Meta, axis_tensor: Meta = None, *, axis: int = 0) -> Meta:
    """The slices of `x` along `axis` that `index` lists."""
    places = index_shape(index)
    if axis_tensor is not None:
        return x.with_shape((UNKNOWN,) * (x.ndim - 1 + len(places)))
    if not x.ndim:
        raise ShapeError("a 0-D tensor has nothing to gather from")
    axis = axis_of(axis, x.ndim)
    return x.with_shape(x.shape[:axis] + places + x.shape[axis + 1 :])


@gather.kernel
def gather_kernel(
    xp: Any, x: Any, index: Any, tensor: Any = None, *, out: Any = None, axis: int
) -> Any:
    axis = axis_of(given_axis(axis, tensor), x.ndim)
    if index.dtype.kind not in "iu" or not x.ndim:
        raise DtypeError(f"{meta_of(index)} picks nothing of {meta_of(x)}")
    return x.take(inside(one_axis(index), x.shape[axis]), axis, out, "clip")


@gather.grad("x")
def gather_grad(x_meta: Any, index: Any, axis_tensor: Any, dout: Any, axis: int) -> Any:
    return scatter_axis(dout, index, x_meta, axis_tensor, axis=axis)


def listed(places: Any, k: Any) -> Any:
    """The `k`-th of a list of places."""
    return lang.cast(places[(k, *(0,) * (places.ndim - 1))], "int64")


def read_place(load: Any, size: int) -> Any:
    """A loaded index as a place in an axis; one outside is an error."""
    return lang.within(lang.cast(load, "int64"), size)


@gather.lower
def gather_at(index: Any, x: Any, places: Any, axis_tensor: Any, axis: int) -> Any:
    fixed_axis(axis_tensor)
    axis = axis_of(axis, x.ndim)
    many = places.ndim > 0
    load = places[(index[axis], *(0,) * (places.ndim - 1))] if many else places[()]
    place = read_place(load, x.shape[axis])
    return x[(*index[:axis], place, *index[axis + many :])]


@primitive
def scatter_axis(
    x: Meta, index: Meta, like_meta: Meta, axis_tensor: Meta = None, *, axis: int = 0
) -> Meta:
    """Zeros in the shape of `like` with the slices `x` added where `gather` would read them."""
    of_shape(x, gather.op.body(like_meta, index, axis_tensor, axis=axis).shape)
    return Meta(like_meta.shape, x.dtype)


@scatter_axis.kernel
def scatter_axis_kernel(
    xp: Any, x: Any, index: Any, like: Any, tensor: Any = None, *, out: Any = None, axis: int
) -> Any:
    axis = axis_of(given_axis(axis, tensor), len(like.shape))
    places = one_axis(index)
    wanted = like.shape[:axis] + places.shape + like.shape[axis + 1 :]
    if x.shape != wanted:  # NumPy dies where there are more axes
        raise ShapeError(f"x is of shape {list(x.shape)}, {list(wanted)} is needed")
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    add_at(xp, out, (*(slice(None),) * axis, places) if axis else places, x)
    return out


@scatter_axis.grad("x")
def scatter_axis_grad(index: Any, axis_tensor: Any, dout: Any, axis: int) -> Any:
    return gather(dout, index, axis_tensor, axis=axis)


@scatter_axis.lower
def scatter_axis_at(index: Any, x: Any, places: Any, like: Any, axis_tensor: Any, axis: int) -> Any:
    fixed_axis(axis_tensor)
    axis = axis_of(axis, like.ndim)
    over = [lang.axis(n) for n in x.shape]
    many = places.ndim > 0
    load = places[(over[axis], *(0,) * (places.ndim - 1))] if many else places[()]
    place = lang.cast(load, "int64")
    where = (*over[:axis], place, *over[axis + many :])
    return lang.scatter_add(like.shape, where, x[tuple(over)], over=over)


@primitive
def gather_nd(x: Meta, index: Meta) -> Meta:
    """The parts of `x` at the places that the last axis of `index` spells."""
    whole_numbers(index)
    if not index.ndim or index.shape[-1] == -1 or index.shape[-1] > x.ndim:
        raise ShapeError(f"the last axis of the index {index} does not name places in {x}")
    return x.with_shape(index.shape[:-1] + x.shape[index.shape[-1] :])


def place_columns(x: Any, index: Any) -> Any:
    """The index of each axis, checked."""
    return tuple([inside(index[..., i], x.shape[i]) for i in range(index.shape[-1])])


@gather_nd.kernel
def gather_nd_kernel(xp: Any, x: Any, index: Any, *, out: Any = None) -> Any:
    if not index.shape[-1]:
        return xp.broadcast_to(x, index.shape[:-1] + x.shape).copy()
    return x[place_columns(x, index)]


@gather_nd.grad("x")
def gather_nd_grad(x_meta: Any, index: Any, dout: Any) -> Any:
    return scatter_nd_add(full_like(x_meta, value=0.0, dtype=None), index, dout)


@gather_nd.lower
def gather_nd_at(index: Any, x: Any, places: Any) -> Any:
    lead = places.ndim - 1
    loads = [places[(*index[:lead], i)] for i in range(places.shape[-1])]
    spots = [read_place(v, x.shape[i]) for i, v in enumerate(loads)]
    return x[(*spots, *index[lead:])]


@primitive
def scatter_nd_add(x: Meta, index: Meta, updates: Meta) -> Meta:
    """`x` with `updates` added at the places that the last axis of `index` spells."""
    expected = gather_nd.op.body(x, index)
    if len(expected.shape) != updates.ndim:
        raise ShapeError(f"updates {updates} do not have the shape of {expected}")
    for a, b in zip(expected.shape, updates.shape, strict=True):
        agree(a, b, f"updates {updates} do not have the shape of {expected}")
    if updates.dtype is not x.dtype:
        raise DtypeError(f"x is {x.dtype.name} and updates are {updates.dtype.name}; cast one")
    return x


@scatter_nd_add.kernel
def scatter_nd_add_kernel(xp: Any, x: Any, index: Any, updates: Any, *, out: Any = None) -> Any:
    scatter_nd_add.op.body(meta_of(x), meta_of(index), meta_of(updates))
    out = xp.empty_like(x) if out is None else out
    out[...] = x
    if index.shape[-1]:
        add_at(xp, out, place_columns(x, index), updates)
    else:
        lead = tuple(range(index.ndim - 1))
        out[...] = single(x) + gathered(xp.add, single(updates), lead)
    return out


scatter_nd_add.grad("x")(lambda dout: dout)
scatter_nd_add.grad("updates")(lambda index, updates_meta, dout: gather_nd(dout, index))


@scatter_nd_add.lower
def scatter_nd_add_at(index: Any, x: Any, places: Any, updates: Any) -> Any:
    over, lead = [lang.axis(n) for n in updates.shape], places.ndim - 1
    loads = [places[(*over[:lead], i)] for i in range(places.shape[-1])]
    spots = [read_place(load, x.shape[i]) for i, load in enumerate(loads)]
    return lang.scatter_add(x, (*spots, *over[lead:]), updates[tuple(over)], over)


@primitive
def scatter(x: Meta, ids: Meta, updates: Meta, *, overwrite: bool = True) -> Meta:
    """`x` with the rows `ids` replaced by `updates`, or by the sums of those of each row."""
    expected = index_shape(ids) + x.shape[1:]
    if not x.ndim or len(expected) != updates.ndim:
        raise ShapeError(f"updates {updates} are not the rows {list(map(int, expected))}")
    for a, b in zip(expected, updates.shape, strict=True):
        agree(a, b, "updates have a size {1} where {0} are written")
    return x


@scatter.kernel
def scatter_kernel(
    xp: Any, x: Any, ids: Any, updates: Any, *, out: Any = None, overwrite: bool
) -> Any:
    scatter.op.body(meta_of(x), meta_of(ids), meta_of(updates))
    out = xp.empty_like(x) if out is None else out
    out[...] = x
    ids = inside(one_axis(ids), x.shape[0])
    out[ids] = updates if overwrite else 0
    if not overwrite:
        add_at(xp, out, ids, updates)
    return out


@scatter.grad("x")
def scatter_grad_x(ids: Any, updates_meta: Any, dout: Any) -> Any:
    return scatter(dout, ids, full_like(updates_meta, value=0.0, dtype=None), overwrite=True)


scatter.grad("updates")(lambda ids, updates_meta, dout: gather(dout, ids))


@scatter.lower
def scatter_at(index: Any, x: Any, ids: Any, updates: Any, overwrite: bool) -> Any:
    over = [lang.axis(n) for n in updates.shape]
    many = min(ids.ndim, 1)
    place = read_place(ids[(*over[:many], *(0,) * (ids.ndim - many))], x.shape[0])
    spot, value = (place, *over[many:]), updates[tuple(over)]
    if overwrite:
        return lang.scatter_set(x, spot, value, over)
    return lang.scatter_add(x, spot, value, over, anew=True)


@primitive(
    type="lookup_table_v2",
    prefix="embedding",
    unprinted=(
        "is_sparse",
        "is_distributed",
        "remote_prefetch",
        "trainer_id",
        "slot",
        "epmap",
        "table_names",
        "height_sections",
    ),
)
def embedding(
    ids: Meta,
    w: Meta,
    *,
    padding_idx: Long = -1,
    is_sparse: bool = False,
    is_distributed: bool = False,
    remote_prefetch: bool = False,
    trainer_id: int = 0,
    slot: int = 0,
    epmap: Strings = (),
    table_names: Strings = (),
    height_sections: Longs = (),
) -> Meta:
    """The rows of `w` that `ids` names; `padding_idx` gives zeros."""
    whole_numbers(ids)
    if w.ndim != 2:
        raise ShapeError(f"the table {w} is not a matrix")
    return Meta((*ids.shape, w.shape[1]), w.dtype)


@embedding.kernel
def embedding_kernel(
    xp: Any, ids: Any, w: Any, *, out: Any = None, padding_idx: int = -1, **_: Any
) -> Any:
    if w.ndim != 2 or ids.dtype.kind not in "iu":
        raise ShapeError(f"{meta_of(ids)} picks no rows of {meta_of(w)}")
    out = w.take(inside(ids, w.shape[0]), 0, out, "clip")
    if padding_idx != -1:
        out[ids == padding_idx] = 0
    return out


@embedding.kernel(rows=True)
def embedding_of_rows(
    xp: Any, ids: Any, w: Rows, *, out: Any = None, padding_idx: int = -1, **_: Any
) -> Any:
    """A row-sparse table has the rows whose numbers it holds."""
    order = order_of(w.rows, 0)
    places = order.take(xp.searchsorted(w.rows, ids, sorter=order), mode="clip")
    if (w.rows[places] != ids).any():
        raise RangeError(f"ids name rows that the table lacks; it has {w.rows.tolist()}")
    return embedding_kernel(xp, places, w.values, out=out, padding_idx=padding_idx)


@embedding.grad("w")
def embedding_grad(ids: Any, w_meta: Any, dout: Any, padding_idx: int, is_sparse: bool) -> Any:
    return scatter_rows(dout, ids, w_meta, padding_idx=padding_idx, is_sparse=is_sparse)


@embedding.lower
def embedding_at(index: Any, ids: Any, w: Any, padding_idx: int, **attrs: Any) -> Any:
    load = ids[tuple(index[:-1])]
    value = w[read_place(load, w.shape[0]), index[-1]]
    if padding_idx == -1:
        return value
    padding = lang.equal(lang.cast(load, "int64"), padding_idx)
    return lang.select(padding, lang.constant(0, w.dtype), value)


@primitive
def scatter_rows(
    x: Meta, ids: Meta, like_meta: Meta, *, padding_idx: Long = -1, is_sparse: bool = False
) -> Meta:
    """Zeros in the shape of `like` with the rows `x` added at `ids`; row-sparse if `is_sparse`."""
    of_shape(x, embedding.op.body(ids, like_meta).shape)
    return Meta(like_meta.shape, x.dtype, Kind.ROWS if is_sparse else Kind.DENSE)


@scatter_rows.kernel
def scatter_rows_kernel(
    xp: Any, x: Any, ids: Any, like: Any, *, out: Any = None, padding_idx: int, is_sparse: bool
) -> Any:
    rows, values = ids.reshape(-1), x.reshape(-1, like.shape[1])
    if padding_idx != -1 and not is_sparse:
        kept = rows != padding_idx
        rows, values = rows[kept], values[kept]
    if is_sparse:
        return Rows(rows.astype(np.int64), values, like.shape[0])
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    add_at(xp, out, rows, values)
    return out


def parts_of_rows(x: Any, ids: Any, like: Any, is_sparse: bool, **_: Any) -> Any:
    """The numbers of the rows, and `x` as these; None where the result is dense."""
    if not is_sparse:
        return None
    return reshape(ids, shape=(-1,)), reshape(x, shape=(-1, like.shape[1]))


scatter_rows.lower_rows("made", parts_of_rows)
scatter_rows.grad("x")(lambda ids, dout, padding_idx: embedding(ids, dout, padding_idx=padding_idx))


@scatter_rows.lower
def scatter_rows_at(
    index: Any, x: Any, ids: Any, like: Any, padding_idx: int, is_sparse: bool
) -> Any:
    over = [lang.axis(n) for n in x.shape]
    row = lang.cast(ids[tuple(over[:-1])], "int64")
    value = x[tuple(over)]
    if padding_idx != -1:
        value = lang.select(lang.equal(row, padding_idx), lang.constant(0, x.dtype), value)
    return lang.scatter_add(like.shape, (row, over[-1]), value, over=over)


@primitive(enlarges=("depth",), slots={"depth_tensor": "depth_tensor"})
def one_hot_v2(
    x: Meta,
    depth_tensor: Meta = None,
    *,
    depth: int = -1,
    dtype: Dtype = float32,
    allow_out_of_range: bool = False,
) -> Meta:
    """A new last axis with 1 at the place `x` says and 0 elsewhere."""
    whole_numbers(x)
    if depth_tensor is None and depth < 1:
        raise ArgumentError(f"depth {depth} is not positive")
    return Meta((*x.shape, UNKNOWN if depth_tensor is not None else depth), dtype)


@one_hot_v2.kernel
def one_hot_kernel(xp: Any, x: Any, tensor: Any = None, *, out: Any = None, **attrs: Any) -> Any:
    depth = attrs["depth"] if tensor is None else whole_number(tensor)
    if not attrs["allow_out_of_range"]:
        inside(x, depth)
    out = xp.empty((*x.shape, depth), attrs["dtype"].array) if out is None else out
    out[...] = x[..., None] == xp.arange(depth)
    return out


one_hot_v2.no_grad("an index is not differentiable")


@one_hot_v2.lower
def one_hot_at(
    index: Any, x: Any, depth_tensor: Any, dtype: Any, depth: int, allow_out_of_range: bool
) -> Any:
    place = lang.cast(x[tuple(index[:-1])], "int64")
    if not allow_out_of_range:
        place = lang.within(place, index[-1].size)
    return lang.cast(lang.equal(place, index[-1]), dtype.name)
