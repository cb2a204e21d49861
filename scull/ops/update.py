"""Updates of parameters by their gradients. Every result overwrites the input it comes from."""

import math
from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Long
from scull.core.dtype import bool_, float32
from scull.core.eager import primitive
from scull.core.meta import Meta, count
from scull.core.tensor import Rows
from scull.errors import DtypeError, ShapeError
from scull.ops.workspace import constants, exact_of, matching, number, pieces, places, widened


def check_single(**values: Meta) -> None:
    """Refuse values that are not of one element; absent ones are left out."""
    for name, x in values.items():
        if x is not None and count(x.shape) not in (1, -1):
            raise ShapeError(f"{name} has {count(x.shape)} elements, not one")


def check_beside(param: Meta, master: Meta | None, grad: Meta, **states: Meta) -> None:
    """Refuse a gradient or a state that does not fit `param`, or the `master` copy of it.

    The states of a parameter of float16 or bfloat16 may be of float32.
    """
    exact = (master or param).dtype
    if grad.dtype is not param.dtype and grad.dtype is not exact:
        raise DtypeError(f"grad is {grad.dtype.name} and param is {param.dtype.name}; cast one")
    given = {"grad": grad, "master_param": master} | states
    for name, x in given.items():
        if x is not None and not same_shape(x.shape, param.shape):
            raise ShapeError(f"{name} is {x} and param is {param}: their shapes differ")
    for name, x in states.items():
        if x.dtype is not exact and not (x.dtype is float32 and exact.itemsize == 2):
            raise DtypeError(f"{name} is {x.dtype.name}, not {exact.name} as what it updates")


def same_shape(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether two shapes are equal as far as they are known."""
    return len(x) == len(y) and all(m == n or -1 in (m, n) for m, n in zip(x, y, strict=True))


@primitive(
    outputs=("param_out", "master_param_out"),
    unsaid=("MasterParamOut",),
    in_place={"param_out": "param", "master_param_out": "master_param"},
    infer_first=True,
)
def sgd(
    param: Meta,
    learning_rate: Meta,
    grad: Meta,
    master_param: Meta = None,
    *,
    multi_precision: bool = False,
) -> Any:
    """Gradient descent: ``param - learning_rate * grad``."""
    check_single(learning_rate=learning_rate)
    check_beside(param, exact_of(None, master_param, multi_precision), grad)
    return param, master_param


@sgd.kernel
def sgd_kernel(
    xp: Any,
    param: Any,
    learning_rate: Any,
    grad: Any,
    master: Any = None,
    *,
    out: Any = None,
    multi_precision: bool,
) -> Any:
    param_out, master_out = places((param, master), out)
    exact = exact_of(param_out, master_out, multi_precision)
    rate = number(learning_rate, exact.dtype)
    if isinstance(grad, Rows):
        some = grad.merged()
        exact[some.rows] -= some.values.astype(exact.dtype) * rate
    else:
        for p, g, term in pieces(exact, matching(grad, exact.dtype), room=1):
            xp.multiply(g, rate, term)
            p -= term
    if exact is not param_out:
        param_out[...] = exact
    return param_out, master_out


sgd.op.rows_kernel = sgd.op.cpu
sgd.lower_rows("rows")


@sgd.lower
def sgd_at(
    index: Any, param: Any, learning_rate: Any, grad: Any, master_param: Any, multi_precision: bool
) -> Any:
    exact = exact_of(param, master_param, multi_precision)
    g = lang.cast(grad[index[0]], exact.dtype)
    found = exact[index[0]] - g * single(learning_rate, exact.dtype)
    return both_of(found, param, master_param, multi_precision, index[0])


def single(x: Any, dtype: str) -> Any:
    """The one element of `x` in a lowering."""
    return lang.cast(x[(0,) * len(x.shape)], dtype)


def both_of(
    found: Any, param: Any, master: Any, multi_precision: bool, index: Any
) -> tuple[Any, Any]:
    """The new element of the parameter and of its master copy, if there is one."""
    if master is None:
        return lang.cast(found, param.dtype), None
    return lang.cast(found, param.dtype), found if multi_precision else master[index]


@primitive(
    outputs=("param_out", "velocity_out", "master_param_out"),
    unsaid=("MasterParamOut",),
    in_place={"param_out": "param", "velocity_out": "velocity", "master_param_out": "master_param"},
    infer_first=True,
)
def momentum(
    param: Meta,
    grad: Meta,
    velocity: Meta,
    learning_rate: Meta,
    master_param: Meta = None,
    *,
    mu: float,
    use_nesterov: bool = False,
    regularization_method: str = "",
    regularization_coeff: float = 0.0,
    multi_precision: bool = False,
    rescale_grad: float = 1.0,
) -> Any:
    """Gradient descent with a velocity ``mu * v + grad``; Nesterov goes along ``grad + mu * v``."""
    check_single(learning_rate=learning_rate)
    check_beside(param, exact_of(None, master_param, multi_precision), grad, velocity=velocity)
    return param, velocity, master_param


@momentum.kernel
def momentum_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    velocity: Any,
    learning_rate: Any,
    master: Any = None,
    *,
    out: Any = None,
    mu: float,
    use_nesterov: bool,
    regularization_method: str,
    regularization_coeff: float,
    multi_precision: bool,
    rescale_grad: float,
) -> Any:
    param_out, velocity_out, master_out = places((param, velocity, master), out)
    exact = exact_of(param_out, master_out, multi_precision)
    rate = number(learning_rate, exact.dtype)
    decay = regularization_coeff if regularization_method == "l2_decay" else 0.0
    by, scale, fading = constants(exact.dtype, mu, rescale_grad, decay)
    gradient = matching(grad, exact.dtype)
    for p, g, v, term, other in pieces(exact, gradient, velocity_out, room=2):
        if rescale_grad != 1.0:
            g = xp.multiply(g, scale, term)
        if decay:
            g = xp.add(g, xp.multiply(p, fading, other), term)
        v *= by
        v += g
        if use_nesterov:
            xp.multiply(v, by, other)
            other += g
            other *= rate
        else:
            xp.multiply(v, rate, other)
        p -= other
    if exact is not param_out:
        param_out[...] = exact
    return param_out, velocity_out, master_out


momentum.op.rows_kernel = momentum.op.cpu
momentum.lower_rows("dense")


@momentum.lower
def momentum_at(
    index: Any,
    param: Any,
    grad: Any,
    velocity: Any,
    learning_rate: Any,
    master_param: Any,
    mu: float,
    use_nesterov: bool,
    regularization_method: str,
    regularization_coeff: float,
    multi_precision: bool,
    rescale_grad: float,
) -> Any:
    spot = index[0]
    exact = exact_of(param, master_param, multi_precision)
    p, g = exact[spot], lang.cast(grad[spot], exact.dtype) * rescale_grad
    if regularization_method == "l2_decay":
        g = g + p * regularization_coeff
    v = velocity[spot] * mu + g
    rate = single(learning_rate, exact.dtype)
    p = p - (g + v * mu) * rate if use_nesterov else p - v * rate
    param_out, master_out = both_of(p, param, master_param, multi_precision, spot)
    return param_out, v, master_out


ADAM_PLACES = {
    "param_out": "param",
    "moment1_out": "moment1",
    "moment2_out": "moment2",
    "beta1_pow_out": "beta1_pow",
    "beta2_pow_out": "beta2_pow",
    "master_param_out": "master_param",
}
ADAM = {
    "outputs": tuple(ADAM_PLACES),
    "unsaid": ("MasterParamOut",),
    "in_place": ADAM_PLACES,
    "infer_first": True,
}


@primitive(**ADAM)
def adam(
    param: Meta,
    grad: Meta,
    learning_rate: Meta,
    moment1: Meta,
    moment2: Meta,
    beta1_pow: Meta,
    beta2_pow: Meta,
    master_param: Meta = None,
    skip_update: Meta = None,
    beta1_tensor: Meta = None,
    beta2_tensor: Meta = None,
    epsilon_tensor: Meta = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    lazy_mode: bool = False,
    min_row_size_to_use_multithread: Long = 1000,
    multi_precision: bool = False,
    use_global_beta_pow: bool = False,
) -> Any:
    """Adam: a step along the mean of gradients, divided by the root of the mean of their squares.

    The rows that a row-sparse gradient lacks have gradient 0; `lazy_mode` leaves them alone.
    """
    check_single(
        learning_rate=learning_rate,
        beta1_pow=beta1_pow,
        beta2_pow=beta2_pow,
        skip_update=skip_update,
        beta1_tensor=beta1_tensor,
        beta2_tensor=beta2_tensor,
        epsilon_tensor=epsilon_tensor,
    )
    if skip_update is not None and skip_update.dtype is not bool_:
        raise DtypeError(f"skip_update is {skip_update.dtype.name}, not bool")
    master = exact_of(None, master_param, multi_precision)
    check_beside(param, master, grad, moment1=moment1, moment2=moment2)
    return param, moment1, moment2, beta1_pow, beta2_pow, master_param


@primitive(**ADAM)
def adamw(
    param: Meta,
    grad: Meta,
    learning_rate: Meta,
    moment1: Meta,
    moment2: Meta,
    beta1_pow: Meta,
    beta2_pow: Meta,
    master_param: Meta = None,
    skip_update: Meta = None,
    beta1_tensor: Meta = None,
    beta2_tensor: Meta = None,
    epsilon_tensor: Meta = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    lr_ratio: float = 1.0,
    coeff: float = 0.01,
    with_decay: bool = False,
    lazy_mode: bool = False,
    min_row_size_to_use_multithread: Long = 1000,
    multi_precision: bool = False,
    use_global_beta_pow: bool = False,
) -> Any:
    """Adam after a decay: ``param * (1 - learning_rate * lr_ratio * coeff)``."""
    states = (moment1, moment2, beta1_pow, beta2_pow, master_param, skip_update)
    numbers = (beta1_tensor, beta2_tensor, epsilon_tensor)
    return adam.op.body(
        param, grad, learning_rate, *states, *numbers, multi_precision=multi_precision
    )


def adam_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    moment1: Any,
    moment2: Any,
    beta1_pow: Any,
    beta2_pow: Any,
    master_param: Any = None,
    skip_update: Any = None,
    beta1_tensor: Any = None,
    beta2_tensor: Any = None,
    epsilon_tensor: Any = None,
    *,
    out: Any = None,
    beta1: float,
    beta2: float,
    epsilon: float,
    lazy_mode: bool,
    min_row_size_to_use_multithread: int,
    multi_precision: bool,
    use_global_beta_pow: bool,
    lr_ratio: float = 1.0,
    coeff: float = 0.0,
    with_decay: bool = False,
) -> Any:
    """The kernel of `adam` and `adamw`."""
    sources = (param, moment1, moment2, beta1_pow, beta2_pow, master_param)
    param_out, m, v, beta1_out, beta2_out, master_out = found = places(sources, out)
    if skip_update is not None and skip_update.item():
        return tuple(found)
    beta1 = beta1 if beta1_tensor is None else beta1_tensor.item()
    beta2 = beta2 if beta2_tensor is None else beta2_tensor.item()
    epsilon = epsilon if epsilon_tensor is None else epsilon_tensor.item()
    rate, near = learning_rate.item(), math.sqrt(1 - beta2_pow.item())
    step = rate * near / (1 - beta1_pow.item())
    exact = widened(exact_of(param_out, master_out, multi_precision), m)
    kept = 1 - rate * lr_ratio * coeff if with_decay else 1.0
    numbers = adam_numbers(exact.dtype, (beta1, beta2), step, epsilon * near, kept)
    powers = [(x, np.array(by, x.dtype)) for x, by in ((beta1_out, beta1), (beta2_out, beta2))]
    if lazy_mode and isinstance(grad, Rows):
        adam_rows(xp, exact, grad.merged(), m, v, numbers)
    else:
        for piece in pieces(exact, matching(grad, exact.dtype), m, v, room=1):
            adam_step(xp, *piece, *numbers)
    for x, by in () if use_global_beta_pow else powers:
        x *= by
    if exact is not param_out:
        param_out[...] = exact
    return tuple(found)


def adam_numbers(
    dtype: Any, betas: tuple[float, float], step: float, floor: float, kept: float
) -> list[Any]:
    """The numbers of one step; for `kept` None where nothing decays."""
    first, second = map(dtype.type, betas)
    numbers = constants(dtype, step, floor, first, 1 - first, second, 1 - second)
    return [*numbers, np.array(kept, dtype) if kept != 1 else None]


def adam_rows(xp: Any, param: Any, grad: Rows, m: Any, v: Any, numbers: list[Any]) -> None:
    """One step of the rows that `grad` has."""
    parts = [x[grad.rows] for x in (param, m, v)]
    term = xp.empty_like(parts[0])
    adam_step(xp, parts[0], grad.values.astype(param.dtype), *parts[1:], term, *numbers)
    param[grad.rows], m[grad.rows], v[grad.rows] = parts


def adam_step(
    xp: Any,
    p: Any,
    g: Any,
    m: Any,
    v: Any,
    term: Any,
    step: Any,
    floor: Any,
    *fades: Any,
) -> None:
    """One step, written into `p`, `m` and `v`; all the memory it takes is `term`."""
    beta1, rest1, beta2, rest2, kept = fades
    xp.multiply(g, rest1, term)
    m *= beta1
    m += term
    xp.multiply(g, g, term)
    term *= rest2
    v *= beta2
    v += term
    xp.sqrt(v, term)
    term += floor
    xp.divide(m, term, term)
    term *= step
    if kept is not None:
        p *= kept
    p -= term


def adam_at(
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
    beta1_tensor: Any,
    beta2_tensor: Any,
    epsilon_tensor: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
    lazy_mode: bool,
    min_row_size_to_use_multithread: int,
    multi_precision: bool,
    use_global_beta_pow: bool,
    lr_ratio: float = 1.0,
    coeff: float = 0.0,
    with_decay: bool = False,
) -> Any:
    """The lowering of `adam` and `adamw`."""
    spot, exact = index[0], exact_of(param, master_param, multi_precision)
    dtype, p = moment1.dtype, lang.cast(exact[spot], moment1.dtype)
    rate = single(learning_rate, dtype)
    pow1, pow2 = single(beta1_pow, dtype), single(beta2_pow, dtype)
    near = lang.sqrt(1 - pow2)
    g = lang.cast(grad[spot], dtype)
    by1, by2, by_epsilon = (
        lang.constant(x, dtype) if given is None else single(given, dtype)
        for x, given in ((beta1, beta1_tensor), (beta2, beta2_tensor), (epsilon, epsilon_tensor))
    )
    m = moment1[spot] * by1 + g * (1 - by1)
    v = moment2[spot] * by2 + g * g * (1 - by2)
    kept = p * (1 - rate * lr_ratio * coeff) if with_decay else p
    p = kept - m / (lang.sqrt(v) + by_epsilon * near) * (rate * near / (1 - pow1))
    powers = [
        x[i] if use_global_beta_pow else x[i] * lang.cast(by, x.dtype)
        for x, i, by in ((beta1_pow, index[3], by1), (beta2_pow, index[4], by2))
    ]
    param_out, master_out = both_of(p, param, master_param, multi_precision, spot)
    return unless(
        skip_update,
        index,
        (param_out, m, v, *powers, master_out),
        (param, moment1, moment2, beta1_pow, beta2_pow, master_param),
    )


def unless(
    skip: Any, index: Any, found: tuple[Any, ...], sources: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The new elements, or those of `sources` where `skip` says to leave everything as it is."""
    if skip is None:
        return found
    skipped = single(skip, "bool")
    return tuple(
        x if x is None else lang.select(skipped, source[i], x)
        for x, source, i in zip(found, sources, index, strict=True)
    )


for function in (adam, adamw):
    function.kernel(adam_kernel)
    function.op.rows_kernel = function.op.cpu
    function.lower(adam_at)
    function.lower_rows("rows", when="lazy_mode")

for function in (sgd, momentum, adam, adamw):
    function.no_grad("it ends a step of training")
