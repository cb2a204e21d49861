"""A weight divided by its largest singular value, which power iterations find."""

from typing import Any

from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta
from scull.errors import ArgumentError
from scull.ops.convolution import same_floats
from scull.ops.half import by_body, narrowed, widening
from scull.ops.like import reshape_like, unsqueeze
from scull.ops.move import flatten, transpose
from scull.ops.norm import check_vector
from scull.ops.reduce import reduce_sum

MOST = 100_000  # iterations: more would only seem to hang


def check(weight: Any, u: Any, v: Any, dim: int, power_iters: int) -> None:
    """Refuse operands that do not fit together."""
    if dim not in (0, 1) or len(weight.shape) < 2:
        law = f"dim is {dim} and weight has {len(weight.shape)} axes"
        raise ArgumentError(f"{law}; it must be 0 or 1, of 2 axes or more")
    if not 0 <= power_iters <= MOST:
        raise ArgumentError(f"power_iters is {power_iters}, outside [0, {MOST}]")
    same_floats(weight, u, "weight is {} and u is {}; cast one")
    rows, rest = weight.shape[dim], (*weight.shape[:dim], *weight.shape[dim + 1 :])
    columns: Any = 1
    for n in rest:
        columns = UNKNOWN if -1 in rest else columns * n
    check_vector(u, "u", rows, weight.dtype)
    check_vector(v, "v", columns, weight.dtype)


def order(weight: Any, dim: int) -> tuple[int, ...]:
    """The axes of `weight` with `dim` first; the same axes put them back."""
    axes = range(len(weight.shape))
    return (1, 0, *axes[2:]) if dim else tuple(axes)


def matrix(weight: Any, dim: int) -> Any:
    """`weight` with the axis `dim` as rows, the others as columns."""
    return flatten(transpose(weight, perm=order(weight, dim)), start_axis=1, stop_axis=-1)


@primitive(outputs=("left", "right"))
def singular_vectors(
    weight: Meta, u: Meta, v: Meta, *, dim: int, power_iters: int, eps: float
) -> tuple[Meta, Meta]:
    """The singular vectors of the largest value, found by going on from `u` and `v`."""
    check(weight, u, v, dim, power_iters)
    return u, v


@singular_vectors.kernel
@widening
def singular_vectors_kernel(
    xp: Any, weight: Any, u: Any, v: Any, *, out: Any = None, dim: int, power_iters: int, eps: float
) -> Any:
    check(weight, u, v, dim, power_iters)
    rows = xp.moveaxis(weight, dim, 0).reshape(weight.shape[dim], -1)
    left, right = u.copy(), v.copy()
    for _ in range(power_iters):
        right = rows.T @ left
        right /= xp.sqrt(right @ right) + eps
        left = rows @ right
        left /= xp.sqrt(left @ left) + eps
    outs = out or (None, None)
    found = zip((left, right), outs, strict=True)
    return tuple([narrowed(xp, vector, u.dtype, o) for vector, o in found])


singular_vectors.no_grad("they are taken as constants")
singular_vectors.no_lowering("iterations, each a product with what the last one gave")


def largest(weight: Any, u: Any, v: Any, **attrs: Any) -> tuple[Any, Any, Any]:
    """The matrix, the product of its singular vectors, and its largest singular value."""
    left, right = singular_vectors(weight, u, v, **attrs)
    rows, outer = matrix(weight, attrs["dim"]), unsqueeze(left, axes=(1,)) * right
    return rows, outer, reduce_sum(rows * outer, axis=(0, 1))


@composite
def spectral_norm(weight, u, v, *, dim: int = 0, power_iters: int = 1, eps: float = 1e-12):
    """`weight` over its largest singular value; `u` and `v` are what the iterations begin with."""
    check(weight, u, v, dim, power_iters)
    return weight / largest(weight, u, v, dim=dim, power_iters=power_iters, eps=eps)[2]


@spectral_norm.grad("weight")
def spectral_norm_grad_weight(
    weight: Any, u: Any, v: Any, dout: Any, dim: int, power_iters: int, eps: float
) -> Any:
    """The derivative; the reference's own is that only where `dout` is the same everywhere."""
    rows, outer, value = largest(weight, u, v, dim=dim, power_iters=power_iters, eps=eps)
    g = matrix(dout, dim)
    found = (g - outer * (reduce_sum(g * rows, axis=(0, 1)) / value)) / value
    perm = order(weight, dim)
    return transpose(reshape_like(found, transpose(weight, perm=perm)), perm=perm)


by_body(spectral_norm)
