"""Scaled losses: gradients are unscaled and looked at, and the scale follows what was found."""

import math
from functools import reduce
from typing import Any

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.core.op import meta_of
from scull.errors import DtypeError
from scull.ops.classify import isfinite, isfinite_at
from scull.ops.compare import where
from scull.ops.create import cast
from scull.ops.logic import logical_and, logical_not
from scull.ops.move import reshape
from scull.ops.reduce_given import reduce_all
from scull.ops.update import check_single, single


@primitive(outputs=("out[]", "found_infinite"), in_place={"out": "x"}, infer_first=True)
def check_finite_and_unscale(x: list[Meta], scale: Meta) -> tuple[Any, Meta]:
    """All of `x` divided by `scale`, and whether any element was infinite or no number.

    If one was, all stay as they are.
    """
    floating(*x, scale)
    check_single(scale=scale)
    return list(x), Meta((1,), bool_)


@check_finite_and_unscale.kernel
def check_finite_and_unscale_kernel(xp: Any, x: Any, scale: Any, *, out: Any = None) -> Any:
    found = not all([xp.isfinite(v).all() for v in x])
    factor = 1 / scale.reshape(())
    made = []
    for v, target in zip(x, (out and out[0]) or [None] * len(x), strict=True):
        target = xp.empty_like(v) if target is None else target
        target[...] = v if found else v * factor
        made.append(target)
    return made, xp.array([found])


def check_finite_and_unscale_steps(x: Any, scale: Any) -> tuple[Any, Any]:
    finite = reduce(logical_and, [reduce_all(isfinite(v), reduce_all=True) for v in x])
    factor = 1.0 / reshape(scale, shape=())
    return [where(finite, times(v, factor), v) for v in x], reshape(logical_not(finite), shape=(1,))


def times(x: Any, factor: Any) -> Any:
    """Products as elements of what `x` has, computed as the wider of both types."""
    own = meta_of(x).dtype
    wide = max(own, meta_of(factor).dtype, key=lambda dtype: dtype.itemsize)
    return cast(cast(x, out_dtype=wide) * cast(factor, out_dtype=wide), out_dtype=own)


check_finite_and_unscale.lower_by_steps(check_finite_and_unscale_steps)
check_finite_and_unscale.no_grad("it ends a backward pass")
check_finite_and_unscale.no_lowering("its results are written when every element was looked at")

STATES = {
    "out": "x",
    "loss_scaling": "prev_loss_scaling",
    "out_good_steps": "in_good_steps",
    "out_bad_steps": "in_bad_steps",
}


@primitive(
    outputs=("out[]", "loss_scaling", "out_good_steps", "out_bad_steps"),
    in_place=STATES,
    attrs={"keeps": "stop_update"},
    infer_first=True,
)
def update_loss_scaling(
    x: list[Meta] | None,
    found_infinite: Meta,
    prev_loss_scaling: Meta,
    in_good_steps: Meta,
    in_bad_steps: Meta,
    stop_update: Meta = None,
    *,
    incr_every_n_steps: int,
    decr_every_n_nan_or_inf: int,
    incr_ratio: float,
    decr_ratio: float,
    keeps: bool = False,
) -> tuple[Any, ...]:
    """`x`, or zeros where infinities were found; a scale after so many good or bad steps.

    It grows by `incr_ratio` unless that makes it infinite, and shrinks by `decr_ratio` to 1 at
    least. With `stop_update` it stays.
    """
    floating(*(x or ()), prev_loss_scaling)
    flags = {"found_infinite": found_infinite, "stop_update": stop_update}
    steps = {"in_good_steps": in_good_steps, "in_bad_steps": in_bad_steps}
    check_single(prev_loss_scaling=prev_loss_scaling, **flags, **steps)
    for name, m in flags.items():
        if m is not None and m.dtype is not bool_:
            raise DtypeError(f"{name} is {m.dtype.name}, not bool")
    for name, m in steps.items():
        if not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not an integer")
    return list(x or ()), prev_loss_scaling, in_good_steps, in_bad_steps


@update_loss_scaling.kernel
def update_loss_scaling_kernel(
    xp: Any,
    x: Any,
    found_infinite: Any,
    prev: Any,
    good: Any,
    bad: Any,
    stop_update: Any = None,
    *,
    out: Any = None,
    keeps: bool,
    **steps: Any,
) -> Any:
    found = bool(found_infinite.item())
    lists, *targets = out or (None,) * 4
    x = x or []
    made = lists or [xp.empty_like(v) for v in x]
    for v, target in zip(x, made, strict=True):
        if found or target is not v:
            target[...] = 0 if found else v
    keeps = keeps if stop_update is None else bool(stop_update.item())
    old = prev.reshape(())[()], good.item(), bad.item()
    values = old if keeps else next_scale(found, *old, **steps)
    states = []
    for source, value, target in zip((prev, good, bad), values, targets, strict=True):
        target = xp.empty_like(source) if target is None else target
        target[...] = value
        states.append(target)
    return made, *states


def next_scale(
    found: bool,
    scale: Any,
    good: int,
    bad: int,
    *,
    incr_every_n_steps: int,
    decr_every_n_nan_or_inf: int,
    incr_ratio: float,
    decr_ratio: float,
) -> tuple[Any, int, int]:
    """The scale and the numbers of good and bad steps after one more."""
    if found:
        shrinks = bad + 1 == decr_every_n_nan_or_inf
        return (max(scale * decr_ratio, 1.0), 0, 0) if shrinks else (scale, 0, bad + 1)
    if good + 1 != incr_every_n_steps:
        return scale, good + 1, 0
    larger = scale * scale.dtype.type(incr_ratio)
    return (larger if math.isfinite(larger) else scale), 0, 0


update_loss_scaling.no_grad("it ends a backward pass")


@update_loss_scaling.lower
def update_loss_scaling_at(
    index: Any,
    x: Any,
    found_infinite: Any,
    prev: Any,
    good: Any,
    bad: Any,
    stop_update: Any,
    incr_every_n_steps: int,
    decr_every_n_nan_or_inf: int,
    incr_ratio: float,
    decr_ratio: float,
    keeps: bool,
) -> Any:
    found = single(found_infinite, "bool")
    keeps = keeps if stop_update is None else single(stop_update, "bool")
    x = x or []
    made = [
        lang.select(found, lang.constant(0, v.dtype), v[i]) for v, i in zip(x, index, strict=False)
    ]
    scale, up, down = (single(v, v.dtype) for v in (prev, good, bad))
    grows, shrinks = (
        lang.equal(up + 1, incr_every_n_steps),
        lang.equal(down + 1, decr_every_n_nan_or_inf),
    )
    larger = scale * incr_ratio
    larger = lang.select(grows & isfinite_at(larger), larger, scale)
    smaller = lang.select(
        shrinks, lang.maximum(scale * decr_ratio, lang.constant(1, scale.dtype)), scale
    )
    none = lang.constant(0, good.dtype)
    states = (
        (scale, lang.select(found, smaller, larger)),
        (up, lang.select(found | grows, none, up + 1)),
        (down, lang.select(found & ~shrinks, down + 1, lang.constant(0, bad.dtype))),
    )
    if isinstance(keeps, bool):
        return (*made, *[old if keeps else new for old, new in states])
    return (*made, *[lang.select(keeps, old, new) for old, new in states])
