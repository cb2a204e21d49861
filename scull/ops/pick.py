"""Elements picked along one axis by tensors of places, and written there."""

from typing import Any

from scull import lang
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, axis_of, of_shape
from scull.core.tensor import add_at
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from scull.ops.compare import equal, where
from scull.ops.half import single
from scull.ops.index import inside, listed, one_axis, read_place, scatter_axis, whole_numbers
from scull.ops.like import full_like
from scull.ops.product import same_type
from scull.ops.search import along, counted, place_along, take_along_axis, topk


def places_of(index: Meta) -> tuple[int, ...]:
    """The one axis a list of places has."""
    whole_numbers(index)
    if index.ndim not in (1, 2) or (index.ndim == 2 and index.shape[1] not in (1, -1)):
        raise ShapeError(f"the index {index} is not a list of places")
    return index.shape[:1]


def axis_inside(x: Meta, axis: int) -> int:
    """`axis` of `x` counted from 0; a 0-D tensor has none."""
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no axis to pick from")
    return axis_of(axis, x.ndim)


@primitive(attrs={"axis": "dim"}, infer_first=True)
def index_select(x: Meta, index: Meta, *, axis: int = 0) -> Meta:
    """The slices of `x` along `axis` that `index` lists."""
    places = places_of(index)
    axis = axis_inside(x, axis)
    return x.with_shape(x.shape[:axis] + places + x.shape[axis + 1 :])


@index_select.kernel
def index_select_kernel(xp: Any, x: Any, index: Any, *, out: Any = None, axis: int) -> Any:
    axis = axis_of(axis, x.ndim)
    return x.take(inside(one_axis(index), x.shape[axis]), axis, out, "clip")


@index_select.grad("x")
def index_select_grad(x_meta: Any, index: Any, dout: Any, axis: int) -> Any:
    return scatter_axis(dout, index, x_meta, axis=axis)


@index_select.lower
def index_select_at(index: Any, x: Any, places: Any, axis: int) -> Any:
    axis = axis_of(axis, x.ndim)
    place = read_place(listed(places, index[axis]), x.shape[axis])
    return x[(*index[:axis], place, *index[axis + 1 :])]


@primitive(infer_first=True)
def index_add(x: Meta, index: Meta, add_value: Meta, *, axis: int = 0) -> Meta:
    """`x` with the slices `add_value` added along `axis` where `index` says."""
    same_type(x, add_value)
    expected = index_select.op.body(x, index, axis=axis).shape
    if len(expected) != add_value.ndim:
        raise ShapeError(f"{add_value} is not of the {len(expected)} axes of {x}")
    for a, b in zip(expected, add_value.shape, strict=True):
        agree(a, b, "slices of size {1} do not fit where the size is {0}")
    return x


@index_add.kernel
def index_add_kernel(
    xp: Any, x: Any, index: Any, add_value: Any, *, out: Any = None, axis: int
) -> Any:
    axis = axis_of(axis, x.ndim)
    out = xp.empty_like(x) if out is None else out
    out[...] = x
    places = inside(one_axis(index), x.shape[axis])
    add_at(xp, out, (*(slice(None),) * axis, places), add_value)
    return out


index_add.grad("x")(lambda dout: dout)


@index_add.grad("add_value")
def index_add_grad_value(index: Any, add_value_meta: Any, dout: Any, axis: int) -> Any:
    return index_select(dout, index, axis=axis)


@index_add.lower
def index_add_at(index: Any, x: Any, places: Any, add_value: Any, axis: int) -> Any:
    axis = axis_of(axis, x.ndim)
    over = [lang.axis(n) for n in add_value.shape]
    place = read_place(listed(places, over[axis]), x.shape[axis])
    spot = (*over[:axis], place, *over[axis + 1 :])
    return lang.scatter_add(x, spot, add_value[tuple(over)], over)


@primitive(infer_first=True)
def index_sample(x: Meta, index: Meta) -> Meta:
    """From each row of a matrix the elements that the same row of `index` lists."""
    whole_numbers(index)
    for m in (x, index):
        if m.ndim != 2:
            raise ShapeError(f"{m} is not a matrix")
    rows = agree(x.shape[0], index.shape[0], "x has {} rows and the index has {}")
    return x.with_shape((rows, index.shape[1]))


@index_sample.kernel
def index_sample_kernel(xp: Any, x: Any, index: Any, *, out: Any = None) -> Any:
    found = x[xp.arange(len(x)).reshape(-1, 1), inside(index, x.shape[1])]
    if out is None:
        return found
    out[...] = found
    return out


index_sample.grad("x")(lambda x_meta, index, dout: place_along(dout, index, x_meta, axis=1))


@index_sample.lower
def index_sample_at(index: Any, x: Any, places: Any) -> Any:
    return x[index[0], read_place(places[tuple(index)], x.shape[1])]


REDUCES = {"add": "add", "mul": "multiply", "multiply": "multiply", "mean": "add"}
REDUCES |= {"amin": "minimum", "amax": "maximum"}
STARTS = {"add": 0, "mean": 0, "mul": 1, "multiply": 1}


@primitive(
    slots={"x": "Input"},
    attrs={"axis": "Axis", "reduce": "Reduce", "include_self": "Include_self"},
    outputs=("result",),
    infer_first=True,
)
def put_along_axis(
    x: Meta,
    index: Meta,
    value: Meta,
    *,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
) -> Meta:
    """`x` with `value` written at the places along `axis`, or combined with what is there."""
    whole_numbers(index)
    same_type(x, value)
    if reduce != "assign" and reduce not in REDUCES:
        raise ArgumentError(f"reduce is {reduce!r}, not assign, {', '.join(REDUCES)}")
    axis = axis_inside(x, axis)
    if not x.ndim == index.ndim == value.ndim:
        raise ShapeError(f"{x}, {index} and {value} differ in their number of axes")
    for i, (n, m, k) in enumerate(zip(x.shape, index.shape, value.shape, strict=True)):
        agree(m, k, f"axis {i} of the index and of value has sizes {{}} and {{}}")
        if i != axis and -1 not in (n, m) and m > n:
            raise ShapeError(f"axis {i} of {index} is longer than that of {x}")
    return x


@put_along_axis.kernel
def put_along_axis_kernel(
    xp: Any,
    x: Any,
    index: Any,
    value: Any,
    *,
    out: Any = None,
    axis: int,
    reduce: str,
    include_self: bool,
) -> Any:
    axis = axis_of(axis, x.ndim)
    out = xp.empty_like(x) if out is None else out
    out[...] = x
    spots = along(out, inside(index, x.shape[axis]), axis)
    if reduce == "assign":
        out[spots] = value
        return out
    total, value = single(out), single(value)
    if not include_self:
        total[spots] = STARTS.get(reduce, value)
    getattr(xp, REDUCES[reduce]).at(total, spots, value)
    if reduce == "mean":
        count = xp.full(x.shape, int(include_self))
        xp.add.at(count, spots, 1)
        inexact = total.dtype.kind in "fc"
        out[...] = total / xp.maximum(count, 1) if inexact else total // count.clip(1)
    elif total is not out:
        out[...] = total
    return out


@put_along_axis.grad("x", "value")
def put_along_axis_grad(
    x: Any,
    index: Any,
    value: Any,
    result: Any,
    dresult: Any,
    axis: int,
    reduce: str,
    include_self: bool,
) -> Any:
    """Each value gets the gradient of its place; of equal extremes each gets the same part."""
    ones = full_like(value, value=1.0, dtype=None)
    count = place_along(ones, index, x, axis=axis)
    untouched = dresult if include_self else where(count > 0.0, 0.0, dresult)
    if reduce == "assign":
        dvalue = take_along_axis(dresult, index, axis=axis) * last_along(index, x, axis=axis)
        return where(count > 0.0, 0.0, dresult), dvalue
    if reduce == "add":
        return untouched, take_along_axis(dresult, index, axis=axis)
    if reduce in ("mul", "multiply"):
        whole = dresult * result
        dx = whole / x if include_self else untouched
        return dx, take_along_axis(whole, index, axis=axis) / value
    if reduce == "mean":
        own, mine = full_like(x, value=1.0, dtype=None), ones
    else:
        own = where(equal(x, result), full_like(x, value=1.0, dtype=None), 0.0)
        mine = where(equal(value, take_along_axis(result, index, axis=axis)), ones, 0.0)
    ties = place_along(mine, index, x, axis=axis) + (own if include_self else 0.0)
    share = dresult / where(count > 0.0, ties, full_like(x, value=1.0, dtype=None))
    dx = share * where(count > 0.0, own, 1.0) if include_self else untouched
    return dx, take_along_axis(share, index, axis=axis) * mine


@put_along_axis.lower
def put_along_axis_at(
    index: Any, x: Any, places: Any, value: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    if reduce not in ("assign", "add"):
        raise UnsupportedError(f"places are not combined by {reduce!r} in machine code")
    axis = axis_of(axis, x.ndim)
    over = [lang.axis(n) for n in value.shape]
    place = read_place(places[tuple(over)], x.shape[axis])
    spot, own = (*over[:axis], place, *over[axis + 1 :]), value[tuple(over)]
    if reduce == "assign":
        return lang.scatter_set(x, spot, own, over)
    return lang.scatter_add(x, spot, own, over, anew=not include_self)


@primitive
def last_along(index: Meta, like_meta: Meta, *, axis: int) -> Meta:
    """1 where nothing behind it names the same place along `axis`, else 0."""
    return Meta(index.shape, like_meta.dtype)


@last_along.kernel
def last_along_kernel(xp: Any, index: Any, like: Any, *, out: Any = None, axis: int) -> Any:
    out = xp.empty(index.shape, like.dtype) if out is None else out
    axis = axis_of(axis, index.ndim)
    numbers = xp.arange(index.shape[axis]).reshape((-1,) + (1,) * (index.ndim - 1 - axis))
    last = xp.zeros(like.shape, "int64")
    spots = along(last, index, axis)
    last[spots] = xp.broadcast_to(numbers, index.shape)
    out[...] = last[spots] == numbers
    return out


last_along.no_grad("it tells places apart")
last_along.no_lowering("which of several values for a place comes last depends on values")


@primitive(slots={"k_tensor": "K"}, outputs=("out", "indices"), infer_first=True)
def top_k(x: Meta, k_tensor: Meta = None, *, k: int = 1) -> tuple[Meta, Meta]:
    """The `k` greatest elements along the last axis, in order, and their places."""
    axis_inside(x, -1)
    out = counted(x, k if k_tensor is None else UNKNOWN, -1)
    return out, out.with_dtype(int64)


@top_k.kernel
def top_k_kernel(xp: Any, x: Any, tensor: Any = None, *, out: Any = None, k: int) -> Any:
    return topk.op.cpu(x, tensor, k=k, axis=-1, largest=True, sorted=True)


@top_k.grad("x")
def top_k_grad(x_meta: Any, indices: Any, dout: Any) -> Any:
    return place_along(dout, indices, x_meta, axis=-1)


top_k.no_lowering("selection is no loop over elements")


@primitive(infer_first=True)
def multiplex(x: list[Meta], ids: Meta) -> Meta:
    """Row by row, that of the tensor whose number `ids` holds."""
    if len(x) < 2:
        raise ArgumentError(f"there are 2 tensors or more to choose from, not {len(x)}")
    whole_numbers(ids)
    if ids.dtype.name not in ("int32", "int64"):
        raise DtypeError(f"the numbers {ids} are not int32 or int64")
    if ids.ndim != 2:
        raise ShapeError(f"the numbers {ids} are not a column")
    sizes = x[0].shape
    for m in x:
        same_type(x[0], m)
        if m.ndim != x[0].ndim or m.ndim < 2:
            raise ShapeError(f"{x[0]} and {m} are not tensors of the same 2 axes or more")
        law = f"{x[0]} and {m} are not of one shape"
        sizes = tuple([agree(a, b, law) for a, b in zip(sizes, m.shape, strict=True)])
    if -1 not in (ids.shape[0], sizes[0]) and ids.shape[0] > sizes[0]:
        raise ShapeError(f"{ids} has more rows than {x[0]}")
    return x[0].with_shape((ids.shape[0], *sizes[1:]))


@multiplex.kernel
def multiplex_kernel(xp: Any, x: Any, ids: Any, *, out: Any = None) -> Any:
    column = inside(ids[:, 0], len(x))
    out = xp.empty((len(ids), *x[0].shape[1:]), x[0].dtype) if out is None else out
    for i, v in enumerate(x):
        chosen = column == i
        out[chosen] = v[: len(ids)][chosen]
    return out


@multiplex.grad("x")
def multiplex_grad(x_meta: Any, ids: Any, dout: Any) -> Any:
    return [place_chosen(dout, ids, m, number=i) for i, m in enumerate(x_meta)]


@multiplex.lower
def multiplex_at(index: Any, x: Any, ids: Any) -> Any:
    number, value = read_place(ids[index[0], 0], len(x)), x[-1][tuple(index)]
    for i, v in reversed(list(enumerate(x[:-1]))):
        value = lang.select(lang.equal(number, i), v[tuple(index)], value)
    return value


@primitive
def place_chosen(x: Meta, ids: Meta, like_meta: Meta, *, number: int) -> Meta:
    """Zeros in the shape of `like` with those rows of `x` for which `ids` holds `number`."""
    of_shape(x, (ids.shape[0], *like_meta.shape[1:]))
    return Meta(like_meta.shape, x.dtype)


@place_chosen.kernel
def place_chosen_kernel(
    xp: Any, x: Any, ids: Any, like: Any, *, out: Any = None, number: int
) -> Any:
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    chosen = ids[:, 0] == number
    out[: len(ids)][chosen] = x[chosen]
    return out


@place_chosen.grad("x")
def place_chosen_grad(x_meta: Any, ids: Any, dout: Any, number: int) -> Any:
    return take_chosen(dout, ids, number=number)


@place_chosen.lower
def place_chosen_at(index: Any, x: Any, ids: Any, like: Any, number: int) -> Any:
    row, zero = index[0], lang.constant(0, x.dtype)
    return lang.guarded(row < ids.shape[0], chosen_at(index, x, ids, number), zero)


def chosen_at(index: Any, x: Any, ids: Any, number: int) -> Any:
    """The element of `x` if its row is chosen, else 0."""
    mine = lang.equal(lang.cast(ids[index[0], 0], "int64"), number)
    return lang.select(mine, x[tuple(index)], lang.constant(0, x.dtype))


@primitive
def take_chosen(x: Meta, ids: Meta, *, number: int) -> Meta:
    """The rows of `x` for which `ids` holds `number`; zeros where it holds another."""
    return x.with_shape((ids.shape[0], *x.shape[1:]))


@take_chosen.kernel
def take_chosen_kernel(xp: Any, x: Any, ids: Any, *, out: Any = None, number: int) -> Any:
    out = xp.empty((len(ids), *x.shape[1:]), x.dtype) if out is None else out
    out[...] = 0
    chosen = ids[:, 0] == number
    out[chosen] = x[: len(ids)][chosen]
    return out


take_chosen.grad("x")(
    lambda x_meta, ids, dout, number: place_chosen(dout, ids, x_meta, number=number)
)
take_chosen.lower(lambda index, x, ids, number: chosen_at(index, x, ids, number))
