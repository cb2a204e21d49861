"""How well the words of two texts match, pair by pair."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta, agree
from scull.core.op import meta_of
from scull.errors import ShapeError
from scull.ops.half import whole
from scull.ops.level import BY_VALUES, LEVELS, begun, inner
from scull.ops.like import reshape_like
from scull.ops.linear import matmul
from scull.ops.move import reshape
from scull.ops.ragged import OF_BOTH


def parts(x: Any, y: Any, levels: list[Any]) -> list[tuple[slice, slice]]:
    """The rows of each text, and of that which it is matched with."""
    offsets = [inner([v for v in levels if v is not None], i) for i in (0, 1)]
    agree(len(offsets[0]) - 1, len(offsets[1]) - 1, "x has {} texts and y {}")
    for name, v, ends in (("x", x, offsets[0]), ("y", y, offsets[1])):
        agree(len(v), int(ends[-1]), f"{name} has {{}} rows and its levels tell of {{}}")
    return [
        (slice(a, b), slice(c, d)) for (a, b), (c, d) in zip(*map(pairwise, offsets), strict=True)
    ]


@primitive(infer_first=True, **OF_BOTH)
def matched(x: Meta, y: Meta, x_levels: Meta = None, y_levels: Meta = None) -> Meta:
    """The products of each row of `x`, of several channels, with each row of `y`, text by text."""
    whole(x, y)
    return Meta((UNKNOWN, 1), x.dtype)


@matched.kernel
def matched_kernel(
    xp: Any, x: Any, y: Any, x_levels: Any = None, y_levels: Any = None, *, out: Any = None
) -> Any:
    pairs = parts(x, y, [x_levels, y_levels])
    found = [xp.matmul(x[a].swapaxes(0, 1), y[b].T).reshape(-1, 1) for a, b in pairs]
    return xp.concatenate(found) if found else xp.zeros((0, 1), x.dtype)


@primitive(outputs=("dx", "dy"), infer_first=True, **OF_BOTH)
def matched_backward(
    x: Meta, y: Meta, dout: Meta, x_levels: Meta = None, y_levels: Meta = None
) -> tuple[Meta, Meta]:
    """The gradients of what `matched` reads."""
    whole(x, y, dout)
    return x, y


@matched_backward.kernel
def matched_backward_kernel(
    xp: Any,
    x: Any,
    y: Any,
    dout: Any,
    x_levels: Any = None,
    y_levels: Any = None,
    *,
    out: Any = None,
) -> Any:
    dx, dy, begin = xp.zeros_like(x), xp.zeros_like(y), 0
    for a, b in parts(x, y, [x_levels, y_levels]):
        shape = (x.shape[1], a.stop - a.start, b.stop - b.start)
        size = shape[0] * shape[1] * shape[2]
        each = dout[begin : begin + size].reshape(shape)
        begin += size
        dx[a] = xp.matmul(each, y[b]).swapaxes(0, 1)
        dy[b] = xp.matmul(each.swapaxes(1, 2), x[a].swapaxes(0, 1)).sum(0)
    return dx, dy


@matched.grad("x", "y")
def matched_grad(x: Any, y: Any, x_levels: Any, y_levels: Any, dout: Any) -> Any:
    return matched_backward(x, y, dout, x_levels, y_levels)


@matched_backward.grad("x", "y", "dout")
def matched_second(
    x: Any, y: Any, dout: Any, x_levels: Any, y_levels: Any, ddx: Any, ddy: Any
) -> Any:
    levels = x_levels, y_levels
    first, _ = matched_backward(x, ddy, dout, *levels)
    _, second = matched_backward(ddx, y, dout, *levels)
    return first, second, matched(ddx, y, *levels) + matched(x, ddy, *levels)


def channels(x: Any, w: Any, dim_t: int) -> tuple[Any, Any]:
    """The rows of `x` in each channel of `w`, side by side and on each other."""
    found = matmul(x, reshape(w, shape=(w.shape[0], -1)))
    return found, reshape(found, shape=(-1, dim_t, w.shape[2]))


@composite(outputs=("out", "tmp"), infer_first=True, **OF_BOTH)
def match_matrix_tensor(x, y, w, x_levels=None, y_levels=None, *, dim_t: int = 1):
    """`x` times `w` times `y` for each pair of rows of two texts, by channel; and `x` times `w`."""
    metas = [meta_of(v) for v in (x, y, w)]
    if any(m.ndim != n for m, n in zip(metas, (2, 2, 3), strict=True)):
        law = f"x is {metas[0]}, y {metas[1]} and w {metas[2]}"
        raise ShapeError(f"{law}; 2, 2 and 3 axes are needed")
    whole(*metas)
    agree(x.shape[1], w.shape[0], "x has {} columns and w {} rows")
    agree(y.shape[1], w.shape[2], "y has {} columns and w {}")
    agree(w.shape[1], dim_t, "w has {} channels, dim_t is {}")
    found, each = channels(x, w, dim_t)
    return matched(each, y, x_levels, y_levels), reshape(found, shape=(-1, 1))


@match_matrix_tensor.grad("x", "y", "w")
def match_matrix_grad(
    x: Any,
    y: Any,
    w: Any,
    x_levels: Any,
    y_levels: Any,
    tmp_meta: Any,
    dout: Any,
    dim_t: int,
) -> Any:
    found, each = channels(x, w, dim_t)
    deach, dy = matched_backward(each, y, dout, x_levels, y_levels)
    dfound = reshape_like(deach, found)
    dx = matmul(dfound, reshape(w, shape=(w.shape[0], -1)), transpose_y=True)
    return dx, dy, reshape_like(matmul(x, dfound, transpose_x=True), w)


def matched_levels(operands: Any, dim_t: int) -> Any:
    """Those of the products of each pair of texts."""
    return [begun(dim_t * np.diff(inner(operands)) * np.diff(inner(operands, 1)))]


LEVELS["matched"] = matched_levels
for operator in (matched, matched_backward):
    operator.no_lowering(BY_VALUES)
