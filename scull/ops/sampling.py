"""Random numbers whose distribution the elements of a tensor say."""

from typing import Any

from scull.core.dtype import int64
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, at_least, count
from scull.core.random import Draw, source
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.half import placed
from scull.ops.index import gather, scatter
from scull.ops.like import full_like, reshape_like
from scull.ops.move import flatten
from scull.ops.random import NO_GRADIENT, NO_LOWERING

MOST = 2.0**62  # the greatest mean of counts that fit 64 bits


def fractions(x: Meta) -> Meta:
    """`x`, refused where its elements are not floating-point numbers."""
    if not x.dtype.is_float:
        raise DtypeError(f"{x} is not of floating-point elements")
    return x


@primitive(effects=("random",), infer_first=True)
def poisson(x: Meta) -> Meta:
    """How many events there are, for the mean number that each element says."""
    return fractions(x)


@poisson.kernel
def poisson_kernel(xp: Any, x: Any, *, out: Any = None, draw: Any) -> Any:
    means = x.astype("float64")
    if not ((means >= 0) & (means <= MOST)).all():
        raise ArgumentError(f"a mean number of events lies from 0 to {MOST:.0f}")
    return placed(xp.asarray(source(draw).poisson(means)), x.dtype, out)


poisson.grad(lambda dout: full_like(dout, value=0.0))
poisson.no_lowering(NO_LOWERING)


@primitive(
    attrs={"rate": "lambda"},
    in_place={"out": "x"},
    effects=("random",),
    inline_gradient=True,
    infer_first=True,
)
def exponential(x: Meta, *, rate: float = 1.0) -> Meta:
    """Exponentially distributed numbers in the place of `x`."""
    if not rate > 0:
        raise ArgumentError(f"lambda is {rate}, not above 0")
    return fractions(x)


@exponential.kernel
def exponential_kernel(xp: Any, x: Any, *, out: Any = None, draw: Any, rate: float) -> Any:
    found = xp.asarray(source(draw).standard_exponential(x.shape) / rate)
    return placed(found, x.dtype, out)


exponential.grad(lambda dout: full_like(dout, value=0.0))
exponential.no_lowering(NO_LOWERING)


@primitive(effects=("random",), infer_first=True)
def dirichlet(alpha: Meta) -> Meta:
    """Shares of a whole along the last axis, with the concentrations `alpha`."""
    at_least(1, alpha)
    return fractions(alpha)


@dirichlet.kernel
def dirichlet_kernel(xp: Any, alpha: Any, *, out: Any = None, draw: Any) -> Any:
    wide = alpha.astype("float64")
    if not (wide > 0).all():
        raise ArgumentError("a concentration lies above 0")
    parts = source(draw).standard_gamma(wide)
    parts /= xp.maximum(parts.sum(-1, keepdims=True), xp.finfo("float64").tiny)
    return placed(parts, alpha.dtype, out)


dirichlet.no_grad(NO_GRADIENT)
dirichlet.no_lowering(NO_LOWERING)


@primitive(effects=("random",), infer_first=True)
def sampling_id(x: Meta, *, min: float = 0.0, max: float = 1.0, seed: int = 0) -> Meta:
    """A place for each row, each as likely as the share that stands there.

    It is where the running sum passes a number from `min` to before `max`, or the last one.
    """
    fractions(x)
    if x.ndim != 2 or x.shape[1] == 0:
        raise ShapeError(f"x is {x}, not a matrix of shares")
    if not min <= max:
        raise ArgumentError(f"there are no numbers from {min} to {max}")
    return Meta((x.shape[0],), int64)


@sampling_id.kernel
def sampling_id_kernel(
    xp: Any, x: Any, *, out: Any = None, draw: Any, min: float, max: float, seed: int
) -> Any:
    drawn = min + (max - min) * source(draw).random(len(x))
    reached = x.astype("float64").cumsum(1) <= drawn[:, None]
    found = xp.minimum(reached.sum(1), x.shape[1] - 1)
    return placed(found, xp.dtype("int64"), out)


sampling_id.no_grad(NO_GRADIENT)
sampling_id.no_lowering(NO_LOWERING)


# ---- rows in another order ----

MULTIPLIER, MODULUS = 16807, 2**31 - 1  # of the generator that tells the next seed


@primitive(outputs=("shuffled_rows",), infer_first=True)
def shuffled_rows(x_meta: Meta, seed: Meta) -> Meta:
    """The places where the rows of `x` go, by a seed."""
    at_least(2, x_meta)
    if not seed.dtype.is_integer:
        raise DtypeError(f"seed is {seed.dtype.name}, not of integers")
    if count(seed.shape) not in (1, -1):
        raise ShapeError(f"seed has {count(seed.shape)} elements, not one")
    return Meta((count(x_meta.shape[:-1]),), int64)


@shuffled_rows.kernel
def shuffled_rows_kernel(xp: Any, x: Any, seed: Any, *, out: Any = None) -> Any:
    found = source(Draw(int(seed.item()) % 2**64, 0)).permutation(count(x.shape[:-1]))
    return placed(found, xp.dtype("int64"), out)


@composite(outputs=("out", "shuffle_idx", "seed_out"), infer_first=True)
def shuffle_batch(x, seed, *, startup_seed: int = 0):
    """The rows of `x` in an order that `seed` tells, where each goes, and the next seed."""
    places = shuffled_rows(x, seed)
    rows = flatten(x, start_axis=0, stop_axis=len(x.shape) - 2)
    return reshape_like(scatter(rows, places, rows), x), places, seed * MULTIPLIER % MODULUS


@shuffle_batch.grad("x")
def shuffle_batch_grad(shuffle_idx: Any, dout: Any) -> Any:
    rows = flatten(dout, start_axis=0, stop_axis=len(dout.shape) - 2)
    return reshape_like(gather(rows, shuffle_idx), dout)


shuffled_rows.no_grad(NO_GRADIENT)
shuffled_rows.no_lowering(NO_LOWERING)
