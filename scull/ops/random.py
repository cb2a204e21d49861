"""Operators that draw random numbers: the same ones for the same draw, whoever asks."""

import math
from typing import Any

import numpy as np

from scull import lang
from scull.core import random
from scull.core.attribute import Dtype, Ints, Longs
from scull.core.dtype import float32, int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, floating
from scull.core.normal import quantile
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.create import given_sizes, new_shape, sized_like
from scull.ops.half import wide_at
from scull.ops.portion import MOST, portions
from scull.ops.sort import first_in_order
from scull.ops.word import Draw, gaussian_at, place_of, quantile_at, uniform_at

NO_GRADIENT = "random numbers depend on no operand"
NO_LOWERING = "how many words an element takes depends on them"


def wide(dtype: Any) -> Any:
    """The element type random numbers of `dtype` are computed in."""
    return np.float64 if dtype.name == "float64" else np.float32


def finished(found: Any, dtype: Any, out: Any) -> Any:
    """The numbers in their element type, in `out` if there is one."""
    if out is None:
        return np.asarray(found, dtype.array)
    out[...] = found
    return out


def real(dtype: Any) -> None:
    """Refuse element types that hold no fractions."""
    if dtype is not None and not dtype.is_float:
        raise DtypeError(f"random numbers of {dtype.name} have no fractions; draw floats and cast")


@primitive(
    enlarges=("shape",),
    type="uniform_random",
    prefix="uniform",
    effects=("random",),
    infer_first=True,
)
def uniform(
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Longs = (),
    dtype: Dtype = float32,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    diag_num: int = 0,
    diag_step: int = 0,
    diag_val: float = 1.0,
) -> Meta:
    """Numbers from `min` to before `max`, all equally likely."""
    real(dtype)
    return Meta(new_shape(shape, shape_tensor, shape_tensor_list), dtype)


@uniform.kernel
def uniform_kernel(
    xp: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, draw: Any, **attrs: Any
) -> Any:
    sizes, dtype = given_sizes(attrs["shape"], tensor, tensors), attrs["dtype"]
    kind = wide(dtype)
    low, high = attrs["min"], attrs["max"]
    found = random.uniform(draw, sizes, kind)
    found *= kind(high - low)
    found += kind(low)
    if attrs["diag_num"]:
        step = attrs["diag_step"] + 1
        places = np.arange(attrs["diag_num"]) * step
        found.reshape(-1)[places] = attrs["diag_val"]
    return finished(found, dtype, out)


@uniform.lower
def uniform_lowered(
    index: Any, tensor: Any, tensors: Any, draw: Draw, dtype: Any, min: float, max: float, **at: Any
) -> Any:
    place = place_of(index)
    kind = "float64" if dtype.name == "float64" else "float32"
    found = uniform_at(draw, place, kind) * (max - min) + min
    if at["diag_num"]:
        step = at["diag_step"] + 1
        on = lang.equal(place % step, 0) & (place < at["diag_num"] * step)
        found = lang.select(on, lang.constant(at["diag_val"], kind), found)
    return lang.cast(found, dtype.name)


@primitive(enlarges=("shape",), slots={"x": "Input"}, effects=("random",), infer_first=True)
def uniform_random_batch_size_like(
    x_meta: Meta,
    *,
    shape: Ints,
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    diag_num: int = 0,
    diag_step: int = 0,
    diag_val: float = 1.0,
    dtype: Dtype = float32,
) -> Meta:
    """As `uniform`, where one of the sizes is that of an axis of `x`."""
    real(dtype)
    return Meta(sized_like(x_meta.shape, shape, input_dim_idx, output_dim_idx), dtype)


@uniform_random_batch_size_like.kernel
def uniform_like_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    draw: Any,
    shape: Any,
    input_dim_idx: int,
    output_dim_idx: int,
    **attrs: Any,
) -> Any:
    sizes = sized_like(x.shape, shape, input_dim_idx, output_dim_idx)
    return uniform_kernel(xp, out=out, draw=draw, shape=sizes, **attrs)


@uniform_random_batch_size_like.lower
def uniform_like_lowered(index: Any, x: Any, **attrs: Any) -> Any:
    return uniform_lowered(index, None, None, **attrs)


@primitive(
    enlarges=("shape",),
    type="gaussian_random",
    prefix="gaussian",
    effects=("random",),
    infer_first=True,
)
def gaussian(
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Longs = (),
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    dtype: Dtype = float32,
) -> Meta:
    """Normal numbers around `mean` with the deviation `std`."""
    real(dtype)
    return Meta(new_shape(shape, shape_tensor, shape_tensor_list), dtype)


@gaussian.kernel
def gaussian_kernel(
    xp: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, draw: Any, **attrs: Any
) -> Any:
    sizes, dtype = given_sizes(attrs["shape"], tensor, tensors), attrs["dtype"]
    kind = wide(dtype)
    found = random.gaussian(draw, sizes, kind)
    found *= kind(attrs["std"])
    found += kind(attrs["mean"])
    return finished(found, dtype, out)


@gaussian.lower
def gaussian_lowered(
    index: Any, tensor: Any, tensors: Any, draw: Draw, dtype: Any, mean: float, std: float, **_: Any
) -> Any:
    found = gaussian_at(draw, place_of(index))
    found = found if dtype.name == "float64" else lang.cast(found, "float32")
    return lang.cast(found * std + mean, dtype.name)


@primitive(enlarges=("shape",), effects=("random",))
def truncated_gaussian_random(
    *, shape: Ints, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Dtype = float32
) -> Meta:
    """Normal numbers around `mean`, none further away than twice `std`."""
    real(dtype)
    return Meta(new_shape(shape, None, None), dtype)


@truncated_gaussian_random.kernel
def truncated_gaussian_kernel(
    xp: Any,
    *,
    out: Any = None,
    draw: Any,
    shape: Any,
    mean: float,
    std: float,
    seed: int,
    dtype: Any,
) -> Any:
    edge = math.erf(math.sqrt(2.0)) / 2
    unit = random.uniform(draw, shape, np.float64)
    line = unit.reshape(-1)
    for few in portions(line.size, MOST):
        line[few] = np.clip(quantile((line[few] * 2 - 1) * edge), -2.0, 2.0) * std + mean
    return finished(unit, dtype, out)


@truncated_gaussian_random.lower
def truncated_gaussian_lowered(
    index: Any, draw: Draw, dtype: Any, mean: float, std: float, **_: Any
) -> Any:
    edge = math.erf(math.sqrt(2.0)) / 2
    q = (uniform_at(draw, place_of(index), "float64") * 2.0 - 1.0) * edge
    found = lang.maximum(lang.minimum(quantile_at(q), 2.0), -2.0)
    return lang.cast(found * std + mean, dtype.name)


@primitive(enlarges=("shape",), effects=("random",))
def randint(
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    low: int,
    high: int,
    shape: Longs = (),
    dtype: Dtype = int64,
    seed: int = 0,
) -> Meta:
    """Integers from `low` to before `high`, all equally likely."""
    if high <= low:
        raise ArgumentError(f"there is no integer from {low} to before {high}")
    return Meta(new_shape(shape, shape_tensor, shape_tensor_list), dtype)


@randint.kernel
def randint_kernel(
    xp: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, draw: Any, **attrs: Any
) -> Any:
    low, high = attrs["low"], attrs["high"]
    if high <= low:
        raise ArgumentError(f"there is no integer from {low} to before {high}")
    sizes = given_sizes(attrs["shape"], tensor, tensors)
    found = random.uniform(draw, sizes, np.float64)
    found *= high - low
    np.floor(found, found)
    found += low
    return finished(found, attrs["dtype"], out)


@randint.lower
def randint_lowered(
    index: Any, tensor: Any, tensors: Any, draw: Draw, low: int, high: int, dtype: Any, **_: Any
) -> Any:
    found = lang.floor(uniform_at(draw, place_of(index), "float64") * float(high - low))
    return lang.cast(found + float(low), dtype.name)


@primitive(enlarges=("n",), effects=("random",), unprinted=("seed",))
def randperm(*, n: int, dtype: Dtype = int64, seed: int = 0) -> Meta:
    """The integers from 0 to before `n` in any order."""
    if n is not UNKNOWN and n < 0:
        raise ArgumentError(f"{n} is no count of integers")
    return Meta((n,), dtype)


@randperm.kernel
def randperm_kernel(xp: Any, *, out: Any = None, draw: Any, n: int, dtype: Any, seed: int) -> Any:
    low = xp.uint64(max(n - 1, 0).bit_length())  # of each word's bits hold its number
    numbers = xp.arange(n, dtype=xp.uint64)
    drawn = (random.words(draw, n) >> low << low) | numbers
    drawn.sort()
    return finished(drawn & ((xp.uint64(1) << low) - xp.uint64(1)), dtype, out)


@primitive(effects=("random",), fixed={"deterministic": False, "force_cpu": False, "rng_name": ""})
def seed(*, seed: int = 0) -> Meta:
    """A seed for operators that take one as a tensor: `seed`, or one drawn when that is 0."""
    return Meta((1,), int32)


@seed.kernel
def seed_kernel(xp: Any, *, out: Any = None, draw: Any, seed: int) -> Any:
    found = seed or int(random.words(draw, 1)[0]) % (1 << 31)
    return finished(xp.array([found], "int64"), int32, out)


@seed.lower
def seed_lowered(index: Any, draw: Draw, seed: int) -> Any:
    found = lang.constant(seed, "int64") if seed else lang.random_bits(draw, 0) & ((1 << 31) - 1)
    return lang.cast(found, "int32")


@primitive(prefix="randint", effects=("random",), infer_first=True)
def bernoulli(x: Meta) -> Meta:
    """1 with the probability that `x` says, else 0."""
    floating(x)
    return x


@bernoulli.kernel
def bernoulli_kernel(xp: Any, x: Any, *, out: Any = None, draw: Any) -> Any:
    if x.size and not (x.min() >= 0 and x.max() <= 1):
        raise ArgumentError("a probability lies outside [0, 1]")
    kind = np.float64 if x.dtype == np.float64 else np.float32
    found = random.uniform(draw, x.shape, kind) < x
    if out is None:
        return found.astype(x.dtype)
    out[...] = found
    return out


@bernoulli.lower
def bernoulli_lowered(index: Any, x: Any, draw: Draw) -> Any:
    chance = wide_at(x[index])
    chance = lang.sure(chance, (chance >= 0.0) & (chance <= 1.0))
    return lang.cast(uniform_at(draw, place_of(index), chance.dtype) < chance, x.dtype)


@primitive(effects=("random",), infer_first=True)
def multinomial(x: Meta, *, num_samples: int = 1, replacement: bool = False) -> Meta:
    """Places drawn with the weights in `x`, a row each."""
    floating(x)
    if x.ndim not in (1, 2):
        raise ShapeError(f"{x} has {x.ndim} axes; weights are a row or a table")
    if num_samples < 1:
        raise ArgumentError(f"num_samples is {num_samples}, not above 0")
    if not replacement and x.shape[-1] != -1 and num_samples > x.shape[-1]:
        raise ArgumentError(f"{num_samples} of {x.shape[-1]} places are not drawn once each")
    return Meta((*x.shape[:-1], num_samples), int64)


@multinomial.kernel
def multinomial_kernel(
    xp: Any, x: Any, *, out: Any = None, draw: Any, num_samples: int, replacement: bool
) -> Any:
    weights = x.astype("float64")
    if x.size and not (weights.min() >= 0 and weights.max() < xp.inf):
        raise ArgumentError("a weight is below 0, infinite or NaN")
    positive = (weights > 0).sum(-1)
    if positive.size and positive.min() < (1 if replacement else num_samples):
        raise ArgumentError(f"only {positive.min()} places have a weight above 0")
    if replacement or num_samples == 1:  # one number a draw, not one a place
        unit = random.uniform(draw, (*x.shape[:-1], num_samples), xp.float64)
        running = xp.add.accumulate(weights, -1)
        drawn = unit * running[..., -1:]
        found = xp.empty(drawn.shape, "int64")
        few = max(MOST // max(drawn.shape[-1] * x.shape[-1], 1), 1)
        for rows in portions(len(drawn), few) if x.ndim == 2 else [...]:
            found[rows] = counted(xp, running[rows], drawn[rows])
    else:  # the shortest of exponentially distributed waits
        waits = random.source(draw).standard_exponential(x.shape)
        xp.divide(waits, weights, out=waits)
        waits[weights == 0] = xp.inf
        found = first_in_order(waits, num_samples, waits.ndim - 1, descending=False)
    return finished(found, int64, out)


def counted(xp: Any, running: Any, drawn: Any) -> Any:
    """How many of the rising sums in a row each drawn number has reached."""
    if running.ndim == 1 or len(running) == 1:
        line = xp.searchsorted(running.reshape(-1), drawn.reshape(-1), "right")
        return line.reshape(drawn.shape)
    return (running[:, None] <= drawn[..., None]).sum(-1)


operators = (uniform, gaussian, truncated_gaussian_random, randint, randperm, bernoulli)
for operator in (*operators, multinomial, seed, uniform_random_batch_size_like):
    operator.no_grad(NO_GRADIENT)
for operator in (randperm, multinomial):
    operator.no_lowering("it sorts")
