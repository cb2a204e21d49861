"""Classes as leaves of a binary tree: one yes or no at each node on the way to a leaf."""

from typing import Any

from scull.core.dtype import int64
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.compare import where
from scull.ops.complex import abs as absolute
from scull.ops.elementwise import maximum, minimum
from scull.ops.half import by_body, placed
from scull.ops.index import embedding, scatter_rows
from scull.ops.like import unsqueeze
from scull.ops.math import exp, log, sigmoid
from scull.ops.reduce import reduce_sum

MOST = 40.0  # what a node may say


def check_paths(x: Any, w: Any, label: Any, path_table: Any, path_code: Any, classes: int) -> None:
    """Refuse operands that do not go together."""
    floating(meta_of(x), meta_of(w))
    if len(x.shape) != 2 or len(w.shape) != 2:
        raise ShapeError(f"x is {meta_of(x)} and w {meta_of(w)}; both are matrices")
    agree(x.shape[1], w.shape[1], "x has {} columns and w {}")
    if (path_table is None) != (path_code is None):
        raise ArgumentError("path_table and path_code are given together, or none of them")
    for m in (label, path_table, path_code):
        if m is not None and not meta_of(m).dtype.is_integer:
            raise DtypeError(f"{meta_of(m)} is not of integers")
    if path_table is None and classes < 2:
        raise ArgumentError(f"num_classes is {classes}; at least 2 are needed")


@primitive(outputs=("table", "code"))
def class_path(
    label: Meta, w_meta: Meta, path_table: Meta = None, path_code: Meta = None, *, num_classes: int
) -> tuple[Meta, Meta]:
    """The nodes on the way to each label, and the answer at each; -1 behind the last."""
    if path_table is None or path_code is None:
        size = (label.shape[0], (num_classes - 1).bit_length())
        return Meta(size, int64), Meta(size, int64)
    for m in (path_table, path_code):
        if m.ndim != 2:
            raise ShapeError(f"a path is {m}; paths are the rows of a matrix")
    size = tuple(map(agree, path_table.shape, path_code.shape, ["paths have {} and {}"] * 2))
    rows = agree(label.shape[0], size[0], "there are {} labels and {} paths")
    return Meta((rows, size[1]), int64), Meta((rows, size[1]), int64)


@class_path.kernel
def class_path_kernel(
    xp: Any,
    label: Any,
    w: Any,
    path_table: Any = None,
    path_code: Any = None,
    *,
    out: Any = None,
    num_classes: int,
) -> Any:
    outs = out or (None, None)
    if path_table is None or path_code is None:
        found = default_path(xp, label.reshape(-1), num_classes)
    else:
        ended = xp.logical_or.accumulate(path_table < 0, 1)
        found = tuple([xp.where(ended, -1, v).astype("int64") for v in (path_table, path_code)])
        if found[0].size and found[0].max() >= len(w):
            raise RangeError(f"path_table names node {found[0].max()} and w has {len(w)} rows")
    return tuple([placed(v, v.dtype, o) for v, o in zip(found, outs, strict=True)])


def default_path(xp: Any, label: Any, classes: int) -> tuple[Any, Any]:
    """The way to leaf `label` of the tree where node i has the children 2i + 1 and 2i + 2."""
    if label.size and (label.min() < 0 or label.max() >= classes):
        wrong = label.min() if label.min() < 0 else label.max()
        raise RangeError(f"label {wrong} is outside [0, {classes})")
    bits = xp.arange((classes - 1).bit_length())
    leaf = (label.astype("int64") + classes)[:, None]
    node, answer = (leaf >> (bits + 1)) - 1, (leaf >> bits) & 1
    return xp.where(node >= 0, node, -1), xp.where(node >= 0, answer, -1)


class_path.no_grad("a path is not differentiable")
class_path.no_lowering("labels decide how long paths are")


def looked_up(table: Any, rows: Any) -> Any:
    """The rows of a matrix that a table names; its entries below 0 give rows that are not used."""
    return embedding(where(table < 0, table * 0, table), rows)


@composite(
    outputs=("out", "pre_out"),
    prefix="hsigmoid_loss",
    hidden=("pre_out",),
    fixed={"epmap": [], "height_sections": [], "table_names": [], "trainer_id": 0},
)
def hierarchical_sigmoid(
    x,
    w,
    label,
    path_table=None,
    path_code=None,
    bias=None,
    *,
    num_classes: int = 2,
    is_sparse: bool = False,
):
    """How many nats the answers of the nodes need to say each label, and log(1 + e^answer).

    What lies behind the end of a path counts log(2), as if its node knew nothing.
    """
    check_paths(x, w, label, path_table, path_code, num_classes)
    table, code = class_path(label, w, path_table, path_code, num_classes=num_classes)
    answer = answers(x, w, table, bias)
    soft = log(1.0 + exp(answer))
    right = where(code > 0, answer, 0.0)
    return reduce_sum(soft - right, axis=(1,), keepdim=True), soft


def answers(x: Any, w: Any, table: Any, bias: Any) -> Any:
    """What each node on the way says, within limits; 0 behind the end."""
    found = reduce_sum(looked_up(table, w) * unsqueeze(x, axes=(1,)), axis=(-1,))
    if bias is not None:
        found = found + reduce_sum(looked_up(table, bias), axis=(-1,))
    return where(table < 0, 0.0, maximum(minimum(found, MOST), -MOST))


@hierarchical_sigmoid.grad("x", "w", "bias")
def hierarchical_sigmoid_grad(
    x: Any,
    w: Any,
    label: Any,
    path_table: Any,
    path_code: Any,
    bias: Any,
    pre_out_meta: Any,
    dout: Any,
    num_classes: int,
    is_sparse: bool,
) -> Any:
    table, code = class_path(label, w, path_table, path_code, num_classes=num_classes)
    answer = answers(x, w, table, bias)
    wrong = where(code > 0, -sigmoid(-answer), sigmoid(answer))
    wrong = where(table < 0, 0.0, where(absolute(answer) < MOST, wrong, 0.0))
    share = unsqueeze(wrong * dout, axes=(2,))
    rows, nodes = looked_up(table, w), where(table < 0, table * 0, table)
    dw = scatter_rows(share * unsqueeze(x, axes=(1,)), nodes, w, is_sparse=is_sparse)
    dbias = None if bias is None else scatter_rows(share, nodes, bias)
    return reduce_sum(share * rows, axis=(1,)), dw, dbias


by_body(hierarchical_sigmoid)
