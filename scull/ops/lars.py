"""Momentum whose rate is that of each layer: as long as its parameter is for its gradient."""

from functools import partial
from typing import Any

from scull import lang
from scull.core.attribute import Floats
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import ArgumentError
from scull.ops.clip import sum_of_squares
from scull.ops.update import both_of, check_beside, check_single, single
from scull.ops.workspace import exact_of, matching, number, places

LISTS = ("param", "velocity", "master_param")


@primitive(
    outputs=tuple(n + "_out[]" for n in LISTS),
    in_place={n + "_out": n for n in LISTS},
    unsaid=("MasterParamOut",),
    infer_first=True,
)
def lars_momentum(
    param: list[Meta],
    grad: list[Meta],
    velocity: list[Meta],
    learning_rate: list[Meta],
    master_param: list[Meta] | None = None,
    *,
    mu: float,
    lars_coeff: float = 0.001,
    lars_weight_decay: Floats = (0.0005,),
    epsilon: float = 0.0,
    multi_precision: bool = False,
    rescale_grad: float = 1.0,
) -> tuple[Any, Any, Any]:
    """A step of momentum for each parameter, at a rate of its own.

    The rate is `learning_rate` times `lars_coeff` times the norm of the parameter over that of
    what changes it; `learning_rate` alone without decay, or where a norm is 0.
    """
    masters = master_param or [None] * len(param)
    given = {"grad": grad, "velocity": velocity, "learning_rate": learning_rate}
    given |= {"master_param": masters, "lars_weight_decay": lars_weight_decay}
    for name, items in given.items():
        if len(items) != len(param):
            raise ArgumentError(f"there are {len(param)} of param and {len(items)} of {name}")
    for p, g, v, rate, m in zip(param, grad, velocity, learning_rate, masters, strict=True):
        check_single(learning_rate=rate)
        check_beside(p, exact_of(None, m, multi_precision), g, velocity=v)
    return list(param), list(velocity), master_param and list(master_param)


@lars_momentum.kernel
def lars_momentum_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    velocity: Any,
    learning_rate: Any,
    master_param: Any = None,
    *,
    out: Any = None,
    lars_weight_decay: Any,
    multi_precision: bool,
    **how: Any,
) -> Any:
    masters = master_param or [None] * len(param)
    targets = [t or [None] * len(param) for t in out or (None,) * 3]
    found = []
    for i, decay in enumerate(lars_weight_decay):
        target = tuple([t[i] for t in targets])
        p, v, master = places((param[i], velocity[i], masters[i]), target)
        exact = exact_of(p, master, multi_precision)
        step(xp, exact, grad[i], v, learning_rate[i], decay, **how)
        if exact is not p:
            p[...] = exact
        found.append((p, v, master))
    params, velocities, exacts = (list(x) for x in zip(*found, strict=True))
    return params, velocities, exacts if master_param else None


def step(
    xp: Any,
    p: Any,
    grad: Any,
    v: Any,
    learning_rate: Any,
    decay: float,
    *,
    mu: float,
    lars_coeff: float,
    epsilon: float,
    rescale_grad: float,
) -> None:
    """One step, written into `p` and `v`."""
    t = p.dtype.type
    rate, g = number(learning_rate, p.dtype), matching(grad, p.dtype) * t(rescale_grad)
    own, pull = (xp.sqrt(xp.add.reduce(x * x, axis=None)) for x in (p, g))
    if decay > 0 and own > 0 and pull > 0:
        rate = rate * t(lars_coeff) * own / (pull + t(decay) * own + t(epsilon))
    g += t(decay) * p
    g *= rate
    g += v * t(mu)
    v[...] = g  # from here on nothing takes memory
    p -= v


lars_momentum.no_grad("it ends a step of training")


@lars_momentum.lower
def lars_momentum_at(
    index: Any,
    param: Any,
    grad: Any,
    velocity: Any,
    learning_rate: Any,
    master_param: Any,
    mu: float,
    lars_coeff: float,
    lars_weight_decay: Any,
    epsilon: float,
    multi_precision: bool,
    rescale_grad: float,
) -> Any:
    masters = master_param or [None] * len(param)
    columns = (param, grad, velocity, learning_rate, masters, lars_weight_decay)
    params, velocities, exacts = [], [], []
    for spot, p, g, v, rates, master, decay in zip(index, *columns, strict=False):
        exact = exact_of(p, master, multi_precision)
        how = {"coefficient": lars_coeff, "decay": decay, "epsilon": epsilon}
        rate = rate_at(exact, g, single(rates, exact.dtype), rescale_grad, **how)
        pull = scaled_at(g, rescale_grad, exact.dtype, spot) + exact[spot] * decay
        velocities.append(pull * rate + v[spot] * mu)
        found = exact[spot] - velocities[-1]
        one, both = both_of(found, p, master, multi_precision, spot)
        params.append(one)
        exacts.append(both)
    return (*params, *velocities, *(exacts if master_param else (None,)))


def rate_at(
    param: Any,
    grad: Any,
    rate: Any,
    rescale: float,
    *,
    coefficient: float,
    decay: float,
    epsilon: float,
) -> Any:
    """The rate of one parameter, for the lowering."""
    if not decay > 0:
        return rate
    dtype = param.dtype
    scaled = partial(scaled_at, grad, rescale, dtype)
    squares = [sum_of_squares(param.shape, at) for at in (param.__getitem__, scaled)]
    own, pull = (lang.cast(lang.sqrt(x), dtype) for x in squares)
    adapted = rate * coefficient * own / (pull + own * decay + epsilon)
    return lang.select((own > 0) & (pull > 0), adapted, rate)


def scaled_at(grad: Any, rescale: float, dtype: str, spot: Any) -> Any:
    """An element of a gradient times a number."""
    return lang.cast(grad[spot], dtype) * rescale


lars_momentum.op.rows_kernel = lars_momentum.op.cpu
lars_momentum.lower_rows("dense")
