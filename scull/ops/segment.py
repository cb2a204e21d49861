"""Rows combined by numbers of groups: segments, and messages along the edges of graphs."""

from typing import Any

from scull.core.attribute import Longs
from scull.core.dtype import float32, int32
from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta, agree, broadcast, count
from scull.core.op import meta_of
from scull.errors import ArgumentError, RangeError, ShapeError, UnsupportedError
from scull.ops.compare import equal, where
from scull.ops.create import cast, fill_constant
from scull.ops.elementwise import add, maximum, multiply
from scull.ops.half import is_half
from scull.ops.index import gather, index_shape, inside, one_axis, scatter_axis
from scull.ops.like import full_like, reshape_like, sum_like, unsqueeze
from scull.ops.move import reshape
from scull.ops.pick import index_add
from scull.ops.sort import order_of

REDUCTIONS = {"SUM": "add", "MEAN": "add", "MAX": "maximum", "MIN": "minimum"}
COMPARED = ("MAX", "MIN")  # whose gradients go to the rows that equal the result
MESSAGES = {"ADD": add, "MUL": multiply}
LARGE = 1 << 11  # elements of a group of rows that are worth a call of their own
BY_VALUES = "how many rows meet depends on values"


def one_of(value: str, names: Any, attribute: str) -> None:
    """Refuse a word that an attribute does not know."""
    if value not in names:
        raise ArgumentError(f"{attribute} is {value!r}, not {', '.join(names)}")


def list_of(index: Meta, name: str) -> int:
    """The length of a list of numbers of rows."""
    places = index_shape(index)
    if not places:
        raise ShapeError(f"{name} is a number, not a list of them")
    return places[0]


def combined(xp: Any, x: Any, groups: Any, rows: int, reduction: str) -> tuple[Any, Any]:
    """The rows of each group made one, zeros for a group without any; and the counts of rows."""
    counts = xp.bincount(groups, minlength=rows)
    wide = x.astype("float32") if is_half(x) else x
    out = xp.zeros((rows, *x.shape[1:]), x.dtype)
    if not x.size:
        return out, counts
    rising = (groups[1:] >= groups[:-1]).all()
    ordered = wide if rising else wide[order_of(groups, 0)]
    some = counts.nonzero()[0]
    ends = xp.cumsum(counts[some])
    found = one_of_each(xp, getattr(xp, REDUCTIONS[reduction]), ordered, ends - counts[some], ends)
    if reduction == "MEAN":
        found = found / counts[some].reshape(-1, *(1,) * (x.ndim - 1)).astype(found.dtype)
    out[some] = found
    return out, counts


def one_of_each(xp: Any, ufunc: Any, x: Any, starts: Any, ends: Any) -> Any:
    """Rows of `x` from each start to its end made one; large groups of rows in calls of their own.

    There NumPy takes whole rows, which is work for vectors; `reduceat` takes column by column.
    """
    if x.size < LARGE * len(starts):
        return ufunc.reduceat(x, starts, 0)
    groups = zip(starts.tolist(), ends.tolist(), strict=True)
    return xp.stack([ufunc.reduce(x[start:end], 0) for start, end in groups])


def share(dout: Any, counts: Any, groups: Any) -> Any:
    """The gradient of every row of a mean: an equal part of that of its group."""
    each = cast(gather(counts, groups), out_dtype=meta_of(dout).dtype)
    return gather(dout, groups) / reshape(each, shape=(-1,) + (1,) * (len(dout.shape) - 1))


def spread(message: Any, groups: Any, out: Any, counts: Any, dout: Any, reduction: str) -> Any:
    """The gradients of the rows that were combined; of equal greatest ones each has the whole."""
    if reduction == "MEAN":
        return share(dout, counts, groups)
    each = gather(dout, groups)
    return each if reduction == "SUM" else where(equal(message, gather(out, groups)), each, 0.0)


@primitive(outputs=("out", "summed_ids"), hidden=("summed_ids",), infer_first=True)
def segment_pool(x: Meta, segment_ids: Meta, *, pooltype: str = "SUM") -> tuple[Meta, Meta]:
    """The rows of each segment made one; `segment_ids` rise. Beside it how many rows there were."""
    one_of(pooltype, REDUCTIONS, "pooltype")
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no rows")
    rows = list_of(segment_ids, "segment_ids")
    agree(x.shape[0], rows, "x has {} rows and segment_ids {}")
    return x.with_shape((UNKNOWN, *x.shape[1:])), Meta((UNKNOWN, 1), x.dtype)


@segment_pool.kernel
def segment_pool_kernel(
    xp: Any, x: Any, segment_ids: Any, *, out: Any = None, pooltype: str
) -> Any:
    groups = one_axis(segment_ids)
    if not groups.size:
        raise ShapeError("there is no segment: segment_ids has no element")
    if groups[0] < 0 or (groups[1:] < groups[:-1]).any():
        raise RangeError("segment_ids do not rise from 0 on")
    found, counts = combined(xp, x, groups, int(groups[-1]) + 1, pooltype)
    return found, counts.astype(x.dtype).reshape(-1, 1)


@segment_pool.grad("x")
def segment_pool_grad(
    x: Any,
    segment_ids: Any,
    out: Any,
    summed_ids: Any,
    dout: Any,
    pooltype: str,
    dsummed_ids: Any = None,
) -> Any:
    return spread(x, segment_ids, out, summed_ids, dout, pooltype)


segment_pool.no_lowering(BY_VALUES)

GRAPH = {"src_index": "Src_index", "dst_index": "Dst_index", "out_size_tensor": "Out_size"}
MADE: dict[str, Any] = {
    "outputs": ("out", "dst_count"),
    "slots": GRAPH | {"dst_count": "Dst_count"},
    "hidden": ("dst_count",),
    "infer_first": True,
}


def edges_of(src: Meta, dst: Meta) -> int:
    """The number of edges of a graph."""
    law = "src_index has {} edges and dst_index {}"
    return agree(list_of(src, "src_index"), list_of(dst, "dst_index"), law)


def received(x: Meta, row: Any, tensor: Any, out_size: Any) -> tuple[Meta, Meta]:
    """The metas of the rows that receive messages of shape `row`, and of their counts."""
    if len(out_size) > 1 or (tensor is not None and count(tensor.shape) not in (1, -1)):
        raise ShapeError("out_size is one number")
    size = x.shape[0]
    if tensor is not None:
        size = UNKNOWN
    elif out_size and out_size[0] > 0:
        size = out_size[0]
    return x.with_shape((size, *row)), Meta((size,), int32)


def receivers(x: Any, tensor: Any, out_size: Any) -> int:
    """How many rows receive messages, when run."""
    number = int(tensor.item()) if tensor is not None else out_size[0] if out_size else 0
    return number if number > 0 else x.shape[0]


@primitive(type="graph_send_recv", prefix="send_u_recv", **MADE)
def send_u_recv(
    x: Meta,
    src_index: Meta,
    dst_index: Meta,
    out_size_tensor: Meta = None,
    *,
    reduce_op: str = "SUM",
    out_size: Longs = (0,),
) -> tuple[Meta, Meta]:
    """What the rows `dst_index` receive of the rows `src_index` of `x`, and how many sent."""
    one_of(reduce_op, REDUCTIONS, "reduce_op")
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no rows")
    edges_of(src_index, dst_index)
    return received(x, x.shape[1:], out_size_tensor, out_size)


@send_u_recv.kernel
def send_u_recv_kernel(
    xp: Any,
    x: Any,
    src_index: Any,
    dst_index: Any,
    tensor: Any = None,
    *,
    out: Any = None,
    reduce_op: str,
    out_size: Any,
) -> Any:
    rows = receivers(x, tensor, out_size)
    sent = x[inside(one_axis(src_index), x.shape[0])]
    found, counts = combined(xp, sent, inside(one_axis(dst_index), rows), rows, reduce_op)
    return found, counts.astype("int32")


@send_u_recv.grad("x")
def send_u_recv_grad(
    x: Any, src_index: Any, dst_index: Any, out: Any, dst_count: Any, dout: Any, reduce_op: str
) -> Any:
    message = gather(x, src_index) if reduce_op in COMPARED else None
    each = spread(message, dst_index, out, dst_count, dout, reduce_op)
    return scatter_axis(each, src_index, x)


def send_u_recv_steps(
    x: Any, src: Any, dst: Any, tensor: Any, *, reduce_op: str, out_size: Any
) -> Any:
    return summed(gather(x, src), x, dst, tensor, reduce_op, out_size)


def summed(each: Any, x: Any, dst: Any, tensor: Any, reduce_op: str, out_size: Any) -> Any:
    """What rows receive of what `each` edge sends, as sums at places; and how many sent."""
    if tensor is not None or reduce_op in COMPARED:
        raise UnsupportedError(f"{reduce_op} {BY_VALUES}")
    rows, rest, kind = receivers(x, tensor, out_size), each.shape[1:], meta_of(each).dtype
    wide = float32 if kind.itemsize == 2 else kind
    ones = full_like(dst, value=1.0, dtype=int32)
    counts = index_add(fill_constant(shape=(rows,), dtype=int32), dst, ones)
    zeros = fill_constant(shape=(rows, *rest), dtype=wide)
    found = index_add(zeros, dst, cast(each, out_dtype=wide))
    if reduce_op == "MEAN":
        some = reshape(cast(maximum(counts, 1), out_dtype=wide), shape=(-1, *(1,) * len(rest)))
        found = found / some
    return cast(found, out_dtype=kind), counts


send_u_recv.lower_by_steps(send_u_recv_steps)
send_u_recv.no_lowering("sums at places come before what is divided by their numbers")


def rowwise(x: Any, y: Any) -> tuple[Any, Any]:
    """Rows of `x` and of `y` with axes of size 1 behind the first, so that both have as many."""
    ndim = max(len(x.shape), len(y.shape))
    return tuple([v if len(v.shape) == ndim else beside(v, ndim) for v in (x, y)])


def beside(x: Any, ndim: int) -> Any:
    """`x` with axes of size 1 behind the first."""
    return unsqueeze(x, axes=(1,) * (ndim - len(x.shape)))


def operand_gradients(message_op: str, x: Any, y: Any, dout: Any) -> tuple[Any, Any]:
    """The gradients of the two operands of messages."""
    dx, dy = (dout, dout) if message_op == "ADD" else (dout * y, dout * x)
    return sum_like(dx, x), sum_like(dy, y)


@primitive(type="graph_send_ue_recv", prefix="send_ue_recv", **MADE)
def send_ue_recv(
    x: Meta,
    y: Meta,
    src_index: Meta,
    dst_index: Meta,
    out_size_tensor: Meta = None,
    *,
    message_op: str = "ADD",
    reduce_op: str = "SUM",
    out_size: Longs = (0,),
) -> tuple[Meta, Meta]:
    """As `send_u_recv`, of the rows of `x` added to or multiplied by those of the edges, `y`."""
    one_of(message_op, MESSAGES, "message_op")
    one_of(reduce_op, REDUCTIONS, "reduce_op")
    if not x.ndim or not y.ndim:
        raise ShapeError("a 0-D tensor has no rows")
    edges = edges_of(src_index, dst_index)
    agree(y.shape[0], edges, "y has {} rows and there are {} edges")
    return received(x, broadcast(x.shape[1:], y.shape[1:]), out_size_tensor, out_size)


@send_ue_recv.kernel
def send_ue_recv_kernel(
    xp: Any,
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    tensor: Any = None,
    *,
    out: Any = None,
    message_op: str,
    reduce_op: str,
    out_size: Any,
) -> Any:
    rows = receivers(x, tensor, out_size)
    operands = rowwise(x[inside(one_axis(src_index), x.shape[0])], y)
    sent = (xp.add if message_op == "ADD" else xp.multiply)(*operands)
    found, counts = combined(xp, sent, inside(one_axis(dst_index), rows), rows, reduce_op)
    return found, counts.astype("int32")


@send_ue_recv.grad("x", "y")
def send_ue_recv_grad(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    out: Any,
    dst_count: Any,
    dout: Any,
    message_op: str,
    reduce_op: str,
) -> Any:
    rows = gather(x, src_index)
    sent, edge = rowwise(rows, y)
    message = MESSAGES[message_op](sent, edge) if reduce_op in COMPARED else None
    each = spread(message, dst_index, out, dst_count, dout, reduce_op)
    dsent, dedge = operand_gradients(message_op, sent, edge, each)
    return scatter_axis(reshape_like(dsent, rows), src_index, x), reshape_like(dedge, y)


def send_ue_recv_steps(
    x: Any,
    y: Any,
    src: Any,
    dst: Any,
    tensor: Any,
    *,
    message_op: str,
    reduce_op: str,
    out_size: Any,
) -> Any:
    each = MESSAGES[message_op](*rowwise(gather(x, src), y))
    return summed(each, x, dst, tensor, reduce_op, out_size)


send_ue_recv.lower_by_steps(send_ue_recv_steps)
send_ue_recv.no_lowering(send_u_recv.op.missing["lower"])


UV = {"x": "x", "y": "y", "src_index": "src_index", "dst_index": "dst_index", "out": "out"}


@composite(type="graph_send_uv", slots=UV)
def send_uv(x, y, src_index, dst_index, *, message_op: str = "ADD"):
    """Of each edge the row of `x` it leaves added to, or multiplied by, that of `y` it enters."""
    one_of(message_op, MESSAGES, "message_op")
    edges_of(meta_of(src_index), meta_of(dst_index))
    return MESSAGES[message_op](*rowwise(gather(x, src_index), gather(y, dst_index)))


@send_uv.grad("x", "y")
def send_uv_grad(x: Any, y: Any, src_index: Any, dst_index: Any, dout: Any, message_op: str) -> Any:
    left, right = gather(x, src_index), gather(y, dst_index)
    dleft, dright = operand_gradients(message_op, *rowwise(left, right), dout)
    dx = scatter_axis(reshape_like(dleft, left), src_index, x)
    return dx, scatter_axis(reshape_like(dright, right), dst_index, y)
