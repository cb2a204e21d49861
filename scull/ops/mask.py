"""Elements picked by masks and by tensors of indices: `x[mask]`, `x[rows, columns] = y`."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, broadcast, of_shape
from scull.core.op import meta_of
from scull.core.tensor import add_at
from scull.errors import DtypeError, RangeError, ShapeError, UnsupportedError
from scull.ops.like import full_like, sum_like
from scull.ops.search import wrapped
from scull.ops.slicing import fits


@primitive(outputs=("y",))
def masked_select(x: Meta, mask: Meta) -> Meta:
    """The elements of `x` where `mask` holds, in order; either stretches to the other."""
    if mask.dtype.name != "bool":
        raise DtypeError(f"mask is {mask.dtype.name}, not bool")
    broadcast(x, mask)
    return x.with_shape((UNKNOWN,))


@masked_select.kernel
def masked_select_kernel(xp: Any, x: Any, mask: Any, *, out: Any = None) -> Any:
    if mask.dtype.kind != "b":
        raise DtypeError("mask is not bool")
    if x.shape != mask.shape:
        x, mask = xp.broadcast_arrays(x, mask)
    return x[mask]


@masked_select.grad("x")
def masked_select_grad(x_meta: Any, mask: Any, dy: Any) -> Any:
    return place_masked(dy, mask, x_meta)


masked_select.no_lowering("its length depends on values")


@primitive
def place_masked(x: Meta, mask: Meta, like_meta: Meta) -> Meta:
    """Zeros in the shape of `like` with the elements `x` added where `mask` holds."""
    of_shape(x, masked_select.op.body(like_meta, mask).shape)
    return Meta(like_meta.shape, x.dtype)


@place_masked.kernel
def place_masked_kernel(xp: Any, x: Any, mask: Any, like: Any, *, out: Any = None) -> Any:
    shape = broadcast(like.shape, mask.shape)
    whole = xp.zeros(shape, x.dtype)
    whole[xp.broadcast_to(mask, shape)] = x
    return whole if shape == like.shape else sum_like(whole, like)


place_masked.grad("x")(lambda mask, dout: masked_select(dout, mask))
place_masked.no_lowering("how many elements come before one depends on values")


def picked(x: Meta, indices: list[Meta]) -> tuple[int, ...]:
    """The shape of `x[indices]`: integers stretch to one, a mask stands for the axes it covers."""
    covered, shapes = 0, []
    for m in indices:
        if m.dtype.name == "bool":
            sizes = x.shape[covered : covered + m.ndim]
            pairs = zip(m.shape, sizes, strict=False)
            if len(sizes) < m.ndim or any(a != b and -1 not in (a, b) for a, b in pairs):
                raise RangeError(f"the mask {m} does not cover axes of {x} from {covered} on")
            covered += m.ndim
            shapes.append((UNKNOWN,))
        elif m.dtype.is_integer:
            covered += 1
            shapes.append(m.shape)
        else:
            raise DtypeError(f"the index {m} is neither of integers nor bool")
    if covered > x.ndim:
        raise ShapeError(f"{covered} indices are too many for {x}")
    return broadcast(*shapes) + x.shape[covered:]


def arrays_index(x: Any, indices: Any) -> tuple[Any, ...]:
    """The indices as arrays take them, once they are known to lie within `x`."""
    axis = 0
    for index in indices:
        if index.dtype.kind == "b":
            axis += index.ndim
            continue
        size = x.shape[axis]
        if index.size and (index.min() < -size or index.max() >= size):
            raise RangeError(f"an index lies outside [-{size}, {size}) of axis {axis}")
        axis += 1
    return tuple(indices)


@primitive
def index_get(x: Meta, indices: list[Meta]) -> Meta:
    """`x[indices]`: one tensor of integers for each of the first axes, or masks over them."""
    return x.with_shape(picked(x, indices))


@index_get.kernel
def index_get_kernel(xp: Any, x: Any, indices: Any, *, out: Any = None) -> Any:
    return x[arrays_index(x, indices)]


@index_get.grad("x")
def index_get_grad(x_meta: Any, indices: Any, dout: Any) -> Any:
    return index_put(full_like(x_meta, value=0.0, dtype=None), indices, dout, accumulate=True)


@index_get.lower
def index_get_at(index: Any, x: Any, indices: Any) -> Any:
    depth = max(places.ndim for places in indices)
    return x[(*spots(x, indices, index[:depth]), *index[depth:])]


def spots(x: Any, indices: Any, index: Any) -> list[Any]:
    """Where the indices point to at a place of theirs; those below 0 count from the end."""
    found = []
    for size, places in zip(x.shape, indices, strict=False):
        found.append(lang.within(wrapped(lang.at(places, index), size), size))
    return found


@primitive(slots={"x": "x", "indices": "indices", "value": "value", "out": "out"})
def index_put(x: Meta, indices: list[Meta], value: Meta, *, accumulate: bool = False) -> Meta:
    """`x` with `value` written to, or added at, `x[indices]`."""
    fits(value.shape, picked(x, indices))
    if value.dtype is not x.dtype:
        raise DtypeError(f"x is {x.dtype.name} and value is {value.dtype.name}; cast one")
    return x


@index_put.kernel
def index_put_kernel(
    xp: Any, x: Any, indices: Any, value: Any, *, out: Any = None, accumulate: bool
) -> Any:
    if value.dtype != x.dtype:
        raise DtypeError(f"{meta_of(x)} and {meta_of(value)} differ in element type; cast one")
    index = arrays_index(x, indices)
    if out is None:
        out = xp.array(x)
    else:
        out[...] = x
    if accumulate:
        add_at(xp, out, index, value)
    else:
        out[index] = value
    return out


@index_put.grad("x", "value")
def index_put_grad(indices: Any, value_meta: Any, dout: Any, accumulate: bool) -> Any:
    dvalue = sum_like(index_get(dout, indices), value_meta)
    if accumulate:
        return dout, dvalue
    zeros = full_like(value_meta, value=0.0, dtype=None)
    return index_put(dout, indices, zeros, accumulate=False), dvalue


@index_put.lower
def index_put_at(index: Any, x: Any, indices: Any, value: Any, accumulate: bool) -> Any:
    if any(places.dtype == "bool" for places in indices):
        raise UnsupportedError("how many places a mask names depends on values")
    picked_shape = broadcast(*(places.shape for places in indices))
    lead = len(picked_shape)
    over = [lang.axis(n) for n in (*picked_shape, *x.shape[len(indices) :])]
    spot = (*spots(x, indices, over[:lead]), *over[lead:])
    own = lang.at(value, over)
    if accumulate:
        return lang.scatter_add(x, spot, own, over)
    return lang.scatter_set(x, spot, own, over)
