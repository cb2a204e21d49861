"""Updates divided by what gradients add up to: Adagrad, Adadelta, RMSProp, FTRL."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import SlotError
from scull.ops.adapt import in_place, rounded_back
from scull.ops.update import both_of, check_beside, check_single, single
from scull.ops.workspace import constants, exact_of, matching, number, pieces, places


@primitive(**in_place("param", "moment", "master_param"))
def adagrad(
    param: Meta,
    grad: Meta,
    moment: Meta,
    learning_rate: Meta,
    master_param: Meta = None,
    *,
    epsilon: float = 1e-6,
    multi_precision: bool = False,
) -> Any:
    """A step along the gradient, divided by the root of the sum of all squares so far."""
    check_single(learning_rate=learning_rate)
    master = exact_of(None, master_param, multi_precision)
    check_beside(param, master, grad, moment=moment)
    return param, moment, master_param


@adagrad.kernel
def adagrad_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    moment: Any,
    learning_rate: Any,
    master: Any = None,
    *,
    out: Any = None,
    epsilon: float,
    multi_precision: bool,
) -> Any:
    found = places((param, moment, master), out)
    exact = exact_of(found[0], found[2], multi_precision)
    rate, gradient = number(learning_rate, exact.dtype), matching(grad, exact.dtype)
    (floor,) = constants(exact.dtype, epsilon)
    for p, g, m, root, step in pieces(exact, gradient, found[1], room=2):
        m += xp.multiply(g, g, root)
        xp.sqrt(m, root)
        root += floor
        xp.multiply(g, rate, step)
        step /= root
        p -= step
    rounded_back(exact, found[0])
    return tuple(found)


@adagrad.lower
def adagrad_at(
    index: Any,
    param: Any,
    grad: Any,
    moment: Any,
    learning_rate: Any,
    master_param: Any,
    epsilon: float,
    multi_precision: bool,
) -> Any:
    spot, exact = index[0], exact_of(param, master_param, multi_precision)
    g = lang.cast(grad[spot], exact.dtype)
    m = moment[spot] + g * g
    p = exact[spot] - g * single(learning_rate, exact.dtype) / (lang.sqrt(m) + epsilon)
    param_out, master_out = both_of(p, param, master_param, multi_precision, spot)
    return param_out, m, master_out


@primitive(**in_place("param", "avg_squared_grad", "avg_squared_update", "master_param"))
def adadelta(
    param: Meta,
    grad: Meta,
    avg_squared_grad: Meta,
    avg_squared_update: Meta,
    learning_rate: Meta,
    master_param: Meta = None,
    *,
    rho: float = 0.95,
    epsilon: float = 1e-6,
    multi_precision: bool = False,
) -> Any:
    """A step along the gradient, of the size of earlier steps beside earlier gradients."""
    check_single(learning_rate=learning_rate)
    states = {"avg_squared_grad": avg_squared_grad, "avg_squared_update": avg_squared_update}
    check_beside(param, exact_of(None, master_param, multi_precision), grad, **states)
    return param, avg_squared_grad, avg_squared_update, master_param


@adadelta.kernel
def adadelta_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    avg_squared_grad: Any,
    avg_squared_update: Any,
    learning_rate: Any,
    master: Any = None,
    *,
    out: Any = None,
    rho: float,
    epsilon: float,
    multi_precision: bool,
) -> Any:
    found = places((param, avg_squared_grad, avg_squared_update, master), out)
    exact = exact_of(found[0], found[3], multi_precision)
    rate, gradient = number(learning_rate, exact.dtype), matching(grad, exact.dtype)
    kept, rest, floor = constants(exact.dtype, rho, 1 - rho, epsilon)
    for p, g, a, b, step, term in pieces(exact, gradient, found[1], found[2], room=2):
        xp.multiply(g, g, term)
        term *= rest
        a *= kept
        a += term
        xp.add(b, floor, step)
        step /= xp.add(a, floor, term)
        xp.sqrt(step, step)
        step *= g
        xp.multiply(step, step, term)
        term *= rest
        b *= kept
        b += term
        step *= rate
        p -= step
    rounded_back(exact, found[0])
    return tuple(found)


@adadelta.lower
def adadelta_at(
    index: Any,
    param: Any,
    grad: Any,
    avg_squared_grad: Any,
    avg_squared_update: Any,
    learning_rate: Any,
    master_param: Any,
    rho: float,
    epsilon: float,
    multi_precision: bool,
) -> Any:
    spot, exact = index[0], exact_of(param, master_param, multi_precision)
    g = lang.cast(grad[spot], exact.dtype)
    a = avg_squared_grad[spot] * rho + g * g * (1 - rho)
    step = lang.sqrt((avg_squared_update[spot] + epsilon) / (a + epsilon)) * g
    b = avg_squared_update[spot] * rho + step * step * (1 - rho)
    p = exact[spot] - step * single(learning_rate, exact.dtype)
    param_out, master_out = both_of(p, param, master_param, multi_precision, spot)
    return param_out, a, b, master_out


@primitive(**in_place("param", "moment", "mean_square", "mean_grad", "master_param"))
def rmsprop(
    param: Meta,
    mean_square: Meta,
    grad: Meta,
    moment: Meta,
    learning_rate: Meta,
    mean_grad: Meta = None,
    master_param: Meta = None,
    *,
    epsilon: float = 1e-10,
    decay: float = 0.9,
    momentum: float = 0.0,
    centered: bool = False,
    multi_precision: bool = False,
) -> Any:
    """A step along the gradient, divided by the root of the mean of its squares.

    If `centered` the square of the mean gradient is taken off the mean of squares.
    """
    check_single(learning_rate=learning_rate)
    states = {"moment": moment, "mean_square": mean_square}
    if centered:
        if mean_grad is None:
            raise SlotError("`centered` needs mean_grad")
        states["mean_grad"] = mean_grad
    check_beside(param, exact_of(None, master_param, multi_precision), grad, **states)
    return param, moment, mean_square, mean_grad, master_param


@rmsprop.kernel
def rmsprop_kernel(
    xp: Any,
    param: Any,
    mean_square: Any,
    grad: Any,
    moment: Any,
    learning_rate: Any,
    mean_grad: Any = None,
    master: Any = None,
    *,
    out: Any = None,
    epsilon: float,
    decay: float,
    momentum: float,
    centered: bool,
    multi_precision: bool,
) -> Any:
    found = places((param, moment, mean_square, mean_grad, master), out)
    exact = exact_of(found[0], found[4], multi_precision)
    rate, gradient = number(learning_rate, exact.dtype), matching(grad, exact.dtype)
    kept, rest, floor, by = constants(exact.dtype, decay, 1 - decay, epsilon, momentum)
    states = (found[1], found[2], *[found[3]] * centered)
    for p, g, m, s, *mean, spread, term in pieces(exact, gradient, *states, room=2):
        xp.multiply(g, g, term)
        term *= rest
        s *= kept
        s += term
        xp.add(s, floor, spread)
        for x in mean:
            x *= kept
            x += xp.multiply(g, rest, term)
            spread -= xp.multiply(x, x, term)
        m *= by
        xp.multiply(g, rate, term)
        term /= xp.sqrt(spread, spread)
        m += term
        p -= m
    rounded_back(exact, found[0])
    return tuple(found)


@rmsprop.lower
def rmsprop_at(
    index: Any,
    param: Any,
    mean_square: Any,
    grad: Any,
    moment: Any,
    learning_rate: Any,
    mean_grad: Any,
    master_param: Any,
    epsilon: float,
    decay: float,
    momentum: float,
    centered: bool,
    multi_precision: bool,
) -> Any:
    spot, exact = index[0], exact_of(param, master_param, multi_precision)
    g = lang.cast(grad[spot], exact.dtype)
    s = mean_square[spot] * decay + g * g * (1 - decay)
    mean = None if mean_grad is None else mean_grad[spot]
    spread = s + epsilon
    if centered:
        mean = mean * decay + g * (1 - decay)
        spread = spread - mean * mean
    m = moment[spot] * momentum + g * single(learning_rate, exact.dtype) / lang.sqrt(spread)
    p, master = both_of(exact[spot] - m, param, master_param, multi_precision, spot)
    return p, m, s, mean, master


FTRL = {"squared_accumulator": "SquaredAccumOut", "linear_accumulator": "LinearAccumOut"}


@primitive(**in_place("param", "squared_accumulator", "linear_accumulator", **FTRL))
def ftrl(
    param: Meta,
    squared_accumulator: Meta,
    linear_accumulator: Meta,
    grad: Meta,
    learning_rate: Meta,
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    lr_power: float = -0.5,
) -> Any:
    """To the least of the sum of all steps so far, of `l1` times sizes and `l2` times squares."""
    check_single(learning_rate=learning_rate)
    squared, linear = squared_accumulator, linear_accumulator
    check_beside(param, None, grad, squared_accumulator=squared, linear_accumulator=linear)
    return param, squared, linear


@ftrl.kernel
def ftrl_kernel(
    xp: Any,
    param: Any,
    squared: Any,
    linear: Any,
    grad: Any,
    learning_rate: Any,
    *,
    out: Any = None,
    l1: float,
    l2: float,
    lr_power: float,
) -> Any:
    found = places((param, squared, linear), out)
    rate, gradient = number(learning_rate, param.dtype), matching(grad, param.dtype)
    power, low, high, twice = constants(param.dtype, -lr_power, -l1, l1, 2 * l2)
    for p, s, z, g, after, term in pieces(*found, gradient, room=2):
        xp.power(s, power, term)
        s += xp.multiply(g, g, after)
        xp.power(s, power, after)
        z += g
        xp.subtract(after, term, term)
        term /= rate
        term *= p
        z -= term
        xp.clip(z, low, high, out=term)
        term -= z
        after /= rate
        after += twice
        xp.divide(term, after, out=p)
    return tuple(found)


@ftrl.kernel(rows=True)
def ftrl_rows(
    xp: Any,
    param: Any,
    squared: Any,
    linear: Any,
    grad: Any,
    learning_rate: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    """The rows that the gradient lacks stay as they are."""
    found, some = places((param, squared, linear), out), grad.merged()
    parts = [x[some.rows] for x in found]
    ftrl_kernel(xp, *parts, some.values, learning_rate, out=tuple(parts), **attrs)
    for x, part in zip(found, parts, strict=True):
        x[some.rows] = part
    return tuple(found)


@ftrl.lower
def ftrl_at(
    index: Any,
    param: Any,
    squared_accumulator: Any,
    linear_accumulator: Any,
    grad: Any,
    learning_rate: Any,
    l1: float,
    l2: float,
    lr_power: float,
) -> Any:
    spot, dtype = index[0], param.dtype
    g, s, rate = grad[spot], squared_accumulator[spot], single(learning_rate, dtype)
    power = lang.constant(-lr_power, dtype)
    total = s + g * g
    after = total**power
    z = linear_accumulator[spot] + g - (after - s**power) / rate * param[spot]
    near = lang.minimum(lang.maximum(z, lang.constant(-l1, dtype)), lang.constant(l1, dtype))
    return (near - z) / (after / rate + 2 * l2), total, z


for function in (adagrad, adadelta, rmsprop):
    function.op.rows_kernel = function.op.cpu
    function.lower_rows("dense")
for function in (adagrad, adadelta, rmsprop, ftrl):
    function.no_grad("it ends a step of training")
