"""Normalisation of rows by the sums over all rows so far, which training keeps up."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops.half import narrowed, refuse_integers, wide_at, widening
from scull.ops.like import full_like
from scull.ops.math import square
from scull.ops.norm import check_vector
from scull.ops.reduce import reduce_sum

ROWS = (0,)
VECTORS = ("batch_size", "batch_sum", "batch_square_sum", "scale_w", "bias")


def check(x: Any, vectors: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    """Refuse operands that do not fit together."""
    refuse_integers(x)
    if len(x.shape) != 2:
        raise ShapeError(f"x has {len(x.shape)} axes, 2 are needed")
    if attrs["data_layout"] not in ("NCHW", "NHWC"):
        raise ArgumentError(f"data_layout is {attrs['data_layout']!r}, neither NCHW nor NHWC")
    if attrs["slot_dim"] > 0:
        raise UnsupportedError(f"slot_dim is {attrs['slot_dim']}; slots are not told apart")
    for name, vector in zip(VECTORS, vectors, strict=True):
        check_vector(vector, name, x.shape[1], x.dtype)
    if attrs["enable_scale_and_shift"] != (vectors[3] is not None) or (
        (vectors[3] is None) != (vectors[4] is None)
    ):
        law = f"enable_scale_and_shift is {attrs['enable_scale_and_shift']}"
        raise ArgumentError(f"{law}; scale_w and bias go with it, and only with it")


@primitive(
    outputs=("y", "means", "scales"),
    hidden=("means", "scales"),
    slots={"scale_w": "scale_w", "bias": "bias"},
    fixed={"use_mkldnn": False},
)
def data_norm(
    x: Meta,
    batch_size: Meta,
    batch_sum: Meta,
    batch_square_sum: Meta,
    scale_w: Meta = None,
    bias: Meta = None,
    *,
    epsilon: float = 1e-4,
    slot_dim: int = -1,
    summary_decay_rate: float = 0.9999999,
    enable_scale_and_shift: bool = False,
    data_layout: str = "NCHW",
    sync_stats: bool = False,
) -> tuple[Meta, ...]:
    """Each column less its mean, over the root of its mean square; then `scale_w` and `bias`.

    What is counted is given: how many rows there were, their sum and that of their squares. The
    gradients of these are no derivatives but what the rows of `x` add to them.
    """
    attrs = {"slot_dim": slot_dim, "data_layout": data_layout}
    attrs["enable_scale_and_shift"] = enable_scale_and_shift
    check(x, (batch_size, batch_sum, batch_square_sum, scale_w, bias), attrs)
    return x, batch_sum, batch_sum


@data_norm.kernel
@widening
def data_norm_kernel(
    xp: Any,
    x: Any,
    size: Any,
    total: Any,
    squares: Any,
    scale_w: Any = None,
    bias: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    check(x, (size, total, squares, scale_w, bias), attrs)
    means, scales = total / size, xp.sqrt(size / squares)
    y = (x - means) * scales
    y = y if scale_w is None else y * scale_w + bias
    outs = out or (None,) * 3
    found = zip((y, means, scales), outs, strict=True)
    return tuple([narrowed(xp, v, x.dtype, o) if o is not None else v for v, o in found])


@data_norm.grad("x")
def data_norm_grad_x(
    x_meta: Any, scale_w: Any, scales: Any, dy: Any, dmeans: Any = None, dscales: Any = None
) -> Any:
    return dy * scales if scale_w is None else dy * (scales * scale_w)


@data_norm.grad("batch_size")
def data_norm_grad_size(x_meta: Any, dy: Any) -> Any:
    return reduce_sum(full_like(x_meta, value=1.0), axis=ROWS)


@data_norm.grad("batch_sum")
def data_norm_grad_sum(x: Any, dy: Any) -> Any:
    return reduce_sum(x, axis=ROWS)


@data_norm.grad("batch_square_sum")
def data_norm_grad_squares(
    x: Any, means: Any, dy: Any, epsilon: float, dmeans: Any = None, dscales: Any = None
) -> Any:
    count = reduce_sum(full_like(x, value=1.0), axis=ROWS)
    return reduce_sum(square(x - means), axis=ROWS) + count * epsilon


@data_norm.grad("scale_w")
def data_norm_grad_scale(
    x: Any,
    scale_w_meta: Any,
    means: Any,
    scales: Any,
    dy: Any,
    dmeans: Any = None,
    dscales: Any = None,
) -> Any:
    return None if scale_w_meta is None else reduce_sum((x - means) * scales * dy, axis=ROWS)


@data_norm.grad("bias")
def data_norm_grad_bias(bias_meta: Any, dy: Any) -> Any:
    return None if bias_meta is None else reduce_sum(dy, axis=ROWS)


@data_norm.lower
def data_norm_at(
    index: Any, x: Any, size: Any, total: Any, squares: Any, scale_w: Any, bias: Any, **attrs: Any
) -> Any:
    """One element of each result."""

    def moments(column: Any) -> tuple[Any, Any]:
        count = wide_at(size[column])
        return wide_at(total[column]) / count, lang.sqrt(count / wide_at(squares[column]))

    found: list[Any] = [None] * 3
    if index[0] is not None:
        column = index[0][1]
        mean, factor = moments(column)
        y = (wide_at(x[index[0]]) - mean) * factor
        y = y if scale_w is None else y * wide_at(scale_w[column]) + wide_at(bias[column])
        found[0] = lang.cast(y, x.dtype)
    for i in (1, 2):
        if index[i] is not None:
            found[i] = lang.cast(moments(index[i][0])[i - 1], x.dtype)
    return tuple(found)
