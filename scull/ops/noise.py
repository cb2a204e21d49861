"""Activations with random parts: slopes drawn for each element, and drawn choices."""

from typing import Any

from scull import lang
from scull.core import random
from scull.core.eager import primitive
from scull.core.meta import Meta, axis_of, floating
from scull.errors import ArgumentError
from scull.ops.half import placed, wide_at, widening
from scull.ops.softmax import softmax_grad, softmax_kernel
from scull.ops.word import Draw, place_of, uniform_at


@primitive(outputs=("out", "noise"), hidden=("noise",), effects=("random",), infer_first=True)
def rrelu(
    x: Meta, *, is_test: bool = False, lower: float = 1 / 8, upper: float = 1 / 3
) -> tuple[Meta, Meta]:
    """`x` where it is not below 0, else times a number drawn between `lower` and `upper`.

    And what each element was multiplied by. `is_test` takes the middle instead.
    """
    floating(x)
    if not 0 <= lower <= upper <= 1:
        raise ArgumentError(f"lower is {lower} and upper {upper}; 0 <= lower <= upper <= 1 holds")
    return x, x


@rrelu.kernel
@widening
def rrelu_kernel(
    xp: Any, x: Any, *, out: Any = None, draw: Any, is_test: bool, lower: float, upper: float
) -> Any:
    out, noise = out or (None, None)
    if is_test:
        slope: Any = x.dtype.type((lower + upper) / 2)
    else:
        slope = random.uniform(draw, x.shape, x.dtype)
        slope = slope * x.dtype.type(upper - lower) + x.dtype.type(lower)
    found = xp.where(x < 0, slope, x.dtype.type(1))
    return placed(xp.asarray(x * found), x.dtype, out), placed(found, x.dtype, noise)


rrelu.grad("x")(lambda x_meta, noise, dout, dnoise=None: dout * noise)


@rrelu.lower
def rrelu_at(index: Any, x: Any, draw: Draw, is_test: bool, lower: float, upper: float) -> Any:
    at, _ = index
    value = wide_at(x[at])
    slope = lang.constant((lower + upper) / 2, value.dtype)
    if not is_test:
        slope = uniform_at(draw, place_of(at), value.dtype) * (upper - lower) + lower
    found = lang.select(value < 0.0, slope, lang.constant(1, value.dtype))
    return lang.cast(value * found, x.dtype), lang.cast(found, x.dtype)


@primitive(effects=("random",), infer_first=True)
def gumbel_softmax(
    x: Meta, *, temperature: float = 1.0, hard: bool = False, axis: int = -1
) -> Meta:
    """Chances drawn along `axis` with the logarithmic weights `x`: 1 for the largest if `hard`."""
    floating(x)
    if not temperature > 0:
        raise ArgumentError(f"temperature is {temperature}, not above 0")
    reach = max(x.ndim, 1)
    if not -reach <= axis < reach:
        raise ArgumentError(f"axis {axis} is outside [{-reach}, {reach}) of {x}")
    return x


@gumbel_softmax.kernel
@widening
def gumbel_softmax_kernel(
    xp: Any, x: Any, *, out: Any = None, draw: Any, temperature: float, hard: bool, axis: int
) -> Any:
    waits = random.source(draw).standard_exponential(x.shape).astype(x.dtype)
    noise = xp.log(xp.maximum(waits, 2.0**-54))
    chances = softmax_kernel(xp, (x - noise) / temperature, axis=axis)
    if not hard or not x.size or not x.ndim:
        return placed(chances, x.dtype, out)
    axis = axis_of(axis, x.ndim)
    found = xp.zeros(x.shape, x.dtype)
    xp.put_along_axis(found, xp.expand_dims(chances.argmax(axis), axis), 1, axis)
    return placed(found, x.dtype, out)


@gumbel_softmax.grad("x")
def gumbel_softmax_grad(out: Any, dout: Any, temperature: float, axis: int) -> Any:
    return softmax_grad(out, dout, axis) / temperature


gumbel_softmax.no_lowering("each of three passes over a row would draw its noise anew")
