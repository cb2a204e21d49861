"""Updates of parameters, and of the rate, that few networks are trained with."""

from typing import Any

from scull.core.attribute import Long
from scull.core.eager import composite, primitive
from scull.core.meta import Meta
from scull.core.op import meta_of
from scull.core.random import source
from scull.errors import ArgumentError, DtypeError
from scull.ops.adapt import in_place
from scull.ops.compare import where
from scull.ops.complex import abs as absolute
from scull.ops.complex import sign
from scull.ops.create import cast
from scull.ops.elementwise import maximum
from scull.ops.half import placed, whole
from scull.ops.math import sqrt, square
from scull.ops.random import NO_LOWERING, wide
from scull.ops.update import check_beside, check_single

ONCE = "an update is not differentiated"


def check(param: Any, grad: Any, rate: Any, **states: Any) -> None:
    """Refuse operands that do not go together."""
    metas = {name: meta_of(v) for name, v in states.items()}
    whole(param)
    check_single(learning_rate=meta_of(rate))
    check_beside(meta_of(param), None, meta_of(grad), **metas)


@composite(**in_place("param", "moment"))
def decayed_adagrad(
    param, grad, moment, learning_rate, *, decay: float = 0.95, epsilon: float = 1e-6
):
    """A step along the gradient, divided by the root of the mean of squares, which fade."""
    check(param, grad, learning_rate, moment=moment)
    mean = decay * moment + (1.0 - decay) * square(grad)
    return param - learning_rate * grad / (sqrt(mean) + epsilon), mean


@composite(**in_place("param"))
def proximal_gd(param, grad, learning_rate, *, l1: float = 0.0, l2: float = 0.0):
    """A step along the gradient, then nearer to 0: by `l1` times the rate, and a share by `l2`."""
    check(param, grad, learning_rate)
    near = param - learning_rate * grad
    if l1 > 0:
        near = sign(near) * maximum(absolute(near) - learning_rate * l1, 0.0)
    return near / (1.0 + learning_rate * l2)


@primitive(effects=("random",), **in_place("param"))
def dpsgd(
    param: Meta,
    grad: Meta,
    learning_rate: Meta,
    *,
    clip: float = 10.0,
    batch_size: float = 16.0,
    sigma: float = 1.0,
    seed: int = 0,
) -> Meta:
    """A step along a gradient no longer than `clip`, with noise of the deviation `sigma`."""
    check(param, grad, learning_rate)
    if clip <= 0 or batch_size <= 0:
        raise ArgumentError(f"clip is {clip} and batch_size {batch_size}; both are above 0")
    return param


@dpsgd.kernel
def dpsgd_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    *,
    out: Any = None,
    draw: Any,
    clip: float,
    batch_size: float,
    sigma: float,
    seed: int,
) -> Any:
    found = param.copy() if out is None else out
    exact = grad.astype(wide(grad.dtype))
    scale = max(float(xp.sqrt(xp.square(exact).sum())) / clip, 1.0)
    noise = source(draw).standard_normal() * sigma / batch_size
    found[...] = param - float(learning_rate.reshape(())) * (exact / scale + noise)
    return found


@composite(
    outputs=("learning_rate_out", "step_out"),
    in_place={"learning_rate_out": "learning_rate", "step_out": "step"},
    infer_first=True,
)
def pow2_decay_with_linear_warmup(
    learning_rate, step, *, warmup_steps: Long, total_steps: Long, base_lr: float, end_lr: float
):
    """The rate of the next step: it rises to `base_lr` in a line, then falls in a parabola."""
    check_single(learning_rate=meta_of(learning_rate), step=meta_of(step))
    whole(learning_rate)
    if not meta_of(step).dtype.is_integer:
        raise DtypeError(f"step is {meta_of(step).dtype.name}, not of integers")
    if not 0 <= warmup_steps < total_steps:
        raise ArgumentError(f"{warmup_steps} steps of {total_steps} are no warm-up")
    after = step + 1
    place = cast(after, out_dtype=meta_of(learning_rate).dtype)
    rising = base_lr * place / max(warmup_steps, 1)
    left = 1.0 - (place - warmup_steps) / (total_steps - warmup_steps)
    falling = (base_lr - end_lr) * square(left) + end_lr
    late = where(place < total_steps, falling, end_lr)
    return where(place <= warmup_steps, rising, late), after


def write_over(function: Any) -> None:
    """Let the results of a body be written where those of a kernel are."""
    body, several = function.op.body, len(function.op.outputs) > 1

    def kernel(xp: Any, *arrays: Any, out: Any = None, **attrs: Any) -> Any:
        found = body(*arrays, **attrs)
        if out is None:
            return found
        pairs = zip(out, found, strict=True) if several else [(out, found)]
        made = tuple([v if o is None else placed(v, v.dtype, o) for o, v in pairs])
        return made if several else made[0]

    function.kernel(kernel)


for operator in (decayed_adagrad, proximal_gd, pow2_decay_with_linear_warmup):
    write_over(operator)
for operator in (decayed_adagrad, proximal_gd, dpsgd, pow2_decay_with_linear_warmup):
    operator.no_grad(ONCE)
dpsgd.no_lowering(NO_LOWERING)
