"""Updates of parameters with a step size for each element, that follows its gradients."""

from typing import Any

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import DtypeError, SlotError
from scull.ops.update import (
    both_of,
    check_beside,
    check_single,
    exact_of,
    matching,
    number,
    pieces,
    places,
    single,
)


def in_place(*names: str, **spelling: str) -> dict[str, Any]:
    """The options of an operator whose results overwrite the inputs `names`."""
    return {
        "outputs": tuple(n + "_out" for n in names),
        "in_place": {n + "_out": n for n in names},
        "unsaid": ("MasterParamOut",),
        "slots": {k + "_out": v for k, v in spelling.items()},
        "infer_first": True,
    }


def rounded_back(exact: Any, param: Any) -> None:
    """Give a parameter of fewer digits the value of its master copy."""
    if exact is not param:
        param[...] = exact


@primitive(**in_place("param", "moment", "inf_norm", "master_param"))
def adamax(
    param: Meta,
    grad: Meta,
    learning_rate: Meta,
    moment: Meta,
    inf_norm: Meta,
    beta1_pow: Meta,
    master_param: Meta = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    multi_precision: bool = False,
) -> Any:
    """Adam with the largest of fading gradients in place of the root of their mean square."""
    check_single(learning_rate=learning_rate, beta1_pow=beta1_pow)
    master = exact_of(None, master_param, multi_precision)
    check_beside(param, master, grad, moment=moment, inf_norm=inf_norm)
    return param, moment, inf_norm, master_param


@adamax.kernel
def adamax_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    moment: Any,
    inf_norm: Any,
    beta1_pow: Any,
    master: Any = None,
    *,
    out: Any = None,
    beta1: float,
    beta2: float,
    epsilon: float,
    multi_precision: bool,
) -> Any:
    found = places((param, moment, inf_norm, master), out)
    exact = exact_of(found[0], found[3], multi_precision)
    t = exact.dtype.type
    step = number(learning_rate, exact.dtype) / (1 - number(beta1_pow, exact.dtype))
    for p, g, m, v in pieces(exact, matching(grad, exact.dtype), found[1], found[2]):
        m *= t(beta1)
        m += g * t(1 - beta1)
        v *= t(beta2)
        v += t(epsilon)
        xp.maximum(v, xp.abs(g), out=v)
        p -= m / v * step
    rounded_back(exact, found[0])
    return tuple(found)


@adamax.lower
def adamax_at(
    index: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    moment: Any,
    inf_norm: Any,
    beta1_pow: Any,
    master_param: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
    multi_precision: bool,
) -> Any:
    spot, exact = index[0], exact_of(param, master_param, multi_precision)
    dtype = exact.dtype
    g = lang.cast(grad[spot], dtype)
    m = moment[spot] * beta1 + g * (1 - beta1)
    v = lang.maximum(abs(g), inf_norm[spot] * beta2 + epsilon)
    step = single(learning_rate, dtype) / (1 - single(beta1_pow, dtype))
    p, master = both_of(exact[spot] - m / v * step, param, master_param, multi_precision, spot)
    return p, m, v, master


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
    rate = number(learning_rate, exact.dtype)
    for p, g, m in pieces(exact, matching(grad, exact.dtype), found[1]):
        m += g * g
        root = xp.sqrt(m)
        root += exact.dtype.type(epsilon)
        p -= g * rate / root
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
    t, rate = exact.dtype.type, number(learning_rate, exact.dtype)
    for p, g, a, b in pieces(exact, matching(grad, exact.dtype), found[1], found[2]):
        a *= t(rho)
        a += g * g * t(1 - rho)
        step = xp.sqrt((b + t(epsilon)) / (a + t(epsilon)))
        step *= g
        b *= t(rho)
        b += step * step * t(1 - rho)
        p -= step * rate
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
    t, rate = exact.dtype.type, number(learning_rate, exact.dtype)
    means = (found[3],) if centered else ()
    for p, g, m, s, *mean in pieces(exact, matching(grad, exact.dtype), found[1], found[2], *means):
        s *= t(decay)
        s += g * g * t(1 - decay)
        spread = s + t(epsilon)
        for x in mean:
            x *= t(decay)
            x += g * t(1 - decay)
            spread -= x * x
        m *= t(momentum)
        m += g * rate / xp.sqrt(spread)
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


@primitive(**in_place("param", "moment1", "moment2", "beta1_pow", "beta2_pow", "master_param"))
def lamb(
    param: Meta,
    grad: Meta,
    learning_rate: Meta,
    moment1: Meta,
    moment2: Meta,
    beta1_pow: Meta,
    beta2_pow: Meta,
    master_param: Meta = None,
    skip_update: Meta = None,
    *,
    weight_decay: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    always_adapt: bool = False,
    multi_precision: bool = False,
) -> Any:
    """The step of Adam, with decay, made as long as the parameter times the learning rate."""
    powers = {"beta1_pow": beta1_pow, "beta2_pow": beta2_pow}
    check_single(learning_rate=learning_rate, skip_update=skip_update, **powers)
    if skip_update is not None and skip_update.dtype is not bool_:
        raise DtypeError(f"skip_update is {skip_update.dtype.name}, not bool")
    master = exact_of(None, master_param, multi_precision)
    check_beside(param, master, grad, moment1=moment1, moment2=moment2)
    return param, moment1, moment2, beta1_pow, beta2_pow, master_param


@lamb.kernel
def lamb_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    moment1: Any,
    moment2: Any,
    beta1_pow: Any,
    beta2_pow: Any,
    master: Any = None,
    skip_update: Any = None,
    *,
    out: Any = None,
    weight_decay: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    always_adapt: bool,
    multi_precision: bool,
) -> Any:
    sources = (param, moment1, moment2, beta1_pow, beta2_pow, master)
    param_out, m, v, pow1, pow2, master_out = found = places(sources, out)
    if skip_update is not None and skip_update.item():
        return tuple(found)
    exact = exact_of(param_out, master_out, multi_precision)
    t, g = exact.dtype.type, matching(grad, exact.dtype)
    m *= t(beta1)
    m += g * t(1 - beta1)
    v *= t(beta2)
    v += g * g * t(1 - beta2)
    root = xp.sqrt(v / (1 - number(beta2_pow, exact.dtype)))
    root += t(epsilon)
    step = m / (1 - number(beta1_pow, exact.dtype)) / root
    step += exact * t(weight_decay)
    rate = number(learning_rate, exact.dtype)
    if weight_decay > 0 or always_adapt:
        own, length = (xp.sqrt(xp.add.reduce(x * x, axis=None)) for x in (exact, step))
        rate = rate * own / length if own > 0 and length > 0 else rate
    exact -= step * rate
    pow1 *= beta1
    pow2 *= beta2
    rounded_back(exact, param_out)
    return tuple(found)


lamb.no_lowering("its step is as long as the whole parameter: two sums come first")


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
    t, rate = param.dtype.type, number(learning_rate, param.dtype)
    for p, s, z, g in pieces(*found, matching(grad, param.dtype)):
        before = xp.power(s, t(-lr_power))
        s += g * g
        after = xp.power(s, t(-lr_power))
        z += g
        z -= (after - before) / rate * p
        rest = xp.clip(z, t(-l1), t(l1)) - z
        xp.divide(rest, after / rate + t(2 * l2), out=p)
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


for function in (adamax, adagrad, adadelta, rmsprop, lamb, ftrl):
    function.op.rows_kernel = function.op.cpu
    function.no_grad("it ends a step of training")
