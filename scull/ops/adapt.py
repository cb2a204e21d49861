"""Updates akin to Adam: Adamax and Lamb."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import DtypeError
from scull.ops.clip import sum_of_squares
from scull.ops.update import both_of, check_beside, check_single, single
from scull.ops.workspace import constants, exact_of, matching, number, pieces, places, widened


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
    exact = widened(exact_of(found[0], found[3], multi_precision), found[1])
    step = number(learning_rate, exact.dtype) / (1 - number(beta1_pow, exact.dtype))
    t, gradient = exact.dtype.type, matching(grad, exact.dtype)
    step, by1, rest, by2, floor = constants(exact.dtype, step, beta1, t(1 - beta1), beta2, epsilon)
    for p, g, m, v, term in pieces(exact, gradient, found[1], found[2], room=1):
        xp.multiply(g, rest, term)
        m *= by1
        m += term
        v *= by2
        v += floor
        xp.maximum(v, xp.abs(g, term), out=v)
        xp.divide(m, v, term)
        term *= step
        p -= term
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
    dtype = moment.dtype
    g, own = lang.cast(grad[spot], dtype), lang.cast(exact[spot], dtype)
    m = moment[spot] * beta1 + g * (1 - beta1)
    v = lang.maximum(abs(g), inf_norm[spot] * beta2 + epsilon)
    step = single(learning_rate, dtype) / (1 - single(beta1_pow, dtype))
    p, master = both_of(own - m / v * step, param, master_param, multi_precision, spot)
    return p, m, v, master


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
    exact = widened(exact_of(param_out, master_out, multi_precision), m)
    t, g = exact.dtype.type, matching(grad, exact.dtype)
    first, second, root, step = (xp.empty(exact.shape, exact.dtype) for _ in range(4))
    xp.multiply(m, t(beta1), first)
    first += xp.multiply(g, t(1 - beta1), root)
    xp.multiply(v, t(beta2), second)
    second += xp.multiply(xp.multiply(g, g, root), t(1 - beta2), root)
    xp.divide(second, 1 - number(beta2_pow, exact.dtype), root)
    xp.sqrt(root, root)
    root += t(epsilon)
    xp.divide(first, 1 - number(beta1_pow, exact.dtype), step)
    step /= root
    step += xp.multiply(exact, t(weight_decay), root)
    rate = number(learning_rate, exact.dtype)
    if weight_decay > 0 or always_adapt:
        own, length = (xp.sqrt(xp.add.reduce(x * x, axis=None)) for x in (exact, step))
        rate = rate * own / length if own > 0 and length > 0 else rate
    step *= rate
    powers = [(x, np.array(by, x.dtype)) for x, by in ((pow1, beta1), (pow2, beta2))]
    m[...], v[...] = first, second  # from here on nothing takes memory
    exact -= step
    for x, by in powers:
        x *= by
    rounded_back(exact, param_out)
    return tuple(found)


@lamb.lower
def lamb_at(
    index: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    moment1: Any,
    moment2: Any,
    beta1_pow: Any,
    beta2_pow: Any,
    master_param: Any,
    skip_update: Any,
    weight_decay: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    always_adapt: bool,
    multi_precision: bool,
) -> Any:
    exact = exact_of(param, master_param, multi_precision)
    dtype, powers = moment1.dtype, (beta1_pow, beta2_pow)
    by1, by2 = (1 - single(x, dtype) for x in powers)

    def now(spot: Any) -> Any:
        return lang.cast(exact[spot], dtype)

    def moments(spot: Any) -> tuple[Any, Any]:
        g = lang.cast(grad[spot], dtype)
        m = moment1[spot] * beta1 + g * (1 - beta1)
        return m, moment2[spot] * beta2 + g * g * (1 - beta2)

    def step(spot: Any) -> Any:
        m, v = moments(spot)
        return m / by1 / (lang.sqrt(v / by2) + epsilon) + now(spot) * weight_decay

    spot, rate = index[0], single(learning_rate, dtype)
    if weight_decay > 0 or always_adapt:
        squares = [sum_of_squares(exact.shape, at) for at in (now, step)]
        own, length = (lang.cast(lang.sqrt(x), dtype) for x in squares)
        rate = lang.select((own > 0) & (length > 0), rate * own / length, rate)
    found = now(spot) - step(spot) * rate
    p, master = both_of(found, param, master_param, multi_precision, spot)
    new = [p, *moments(spot)]
    new += [x[at] * by for x, at, by in zip(powers, index[3:5], (beta1, beta2), strict=True)]
    old = [x[at] for x, at in zip((param, moment1, moment2, *powers), index, strict=False)]
    if master is not None:
        new, old = [*new, master], [*old, master_param[spot]]
    if skip_update is not None:
        skips = single(skip_update, "bool")
        new = [lang.select(skips, x, y) for x, y in zip(old, new, strict=True)]
    return (*new, *[None] * (6 - len(new)))


for function in (adamax, lamb):
    function.op.rows_kernel = function.op.cpu
    function.lower_rows("dense")
    function.no_grad("it ends a step of training")
