"""Layers whose inner values are computed again for backward, so that they need not be kept."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from scull.autograd import PyLayer, backward
from scull.autograd.layer import tensors_in
from scull.autograd.saving import saved_tensors_hooks
from scull.core.interpreter import current, interpreting, is_recording
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, TapeError
from scull.nn import Sequential
from scull.tensor.random import get_rng_state, set_rng_state


class Again:
    """A call that can be made a second time, with the casts and random numbers of the first."""

    def __init__(self, function: Callable[..., Any], preserve: bool) -> None:
        self.function, self.mode = function, current()
        self.state = get_rng_state() if preserve else None

    def __call__(self, arguments: Any, options: dict[str, Any], hooks: Any = None) -> Any:
        now = get_rng_state()
        if self.state is not None:
            set_rng_state(self.state)
        try:
            with interpreting(self.mode), hooks or nullcontext():
                return self.function(*arguments, **options)
        finally:
            if self.state is not None:
                set_rng_state(now)


def cut(value: Any) -> Any:
    """`value` with leaves of their own in the place of Tensors."""
    if isinstance(value, list | tuple):
        return type(value)(map(cut, value))
    if not isinstance(value, Tensor):
        return value
    leaf = value.detach()
    leaf.stop_gradient = value.stop_gradient
    return leaf


class Recomputed(PyLayer):
    """A call that keeps what it is given, and is made again in backward."""

    @staticmethod
    def forward(ctx: Any, again: Again, *arguments: Any) -> Any:
        ctx.again, ctx.arguments = again, arguments
        return again.function(*arguments)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        leaves = cut(ctx.arguments)
        found = ctx.again(leaves, {})
        outs = tensors_in(found if isinstance(found, list | tuple) else [found])
        pairs = [p for p in zip(outs, grads, strict=True) if not p[0].stop_gradient]
        if not pairs:
            raise TapeError("none of the results of a recomputed function has a gradient")
        backward([t for t, _ in pairs], [g for _, g in pairs])
        return [t.grad for t in tensors_in(leaves)]


def forgetful(again: Again, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What the call gives, on a tape that computes what it saves when a gradient asks for it."""
    count, made = 0, []

    def forget(_: Any) -> int:
        nonlocal count
        count += 1
        return count - 1

    def keep(tensor: Any) -> None:
        made.append(tensor.detach())

    def compute(place: int) -> Any:
        if not made:
            again(arguments, options, saved_tensors_hooks(keep, keep))
        if len(made) != count:
            raise TapeError("a recomputed function did not do the same the second time")
        return made[place]

    with saved_tensors_hooks(forget, compute):
        return again.function(*arguments, **options)


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `function` gives, whose inner values are computed again for backward, not kept.

    Args:
        function (callable): a layer or a function of Tensors and other things.
        *args: what it is given. Where no Tensor among it has a gradient, the result has none.
        **kwargs: `preserve_rng_state` (bool), whether both calls draw the same random numbers,
            by default True. With `use_reentrant` False, by default True, gradients need no
            Tensor among `args`, `paddle.grad` reaches parameters within, and what else is named
            is given to `function`.

    Returns:
        Tensor: what `function` returns.

    Examples:
        >>> import scull as paddle
        >>> from scull.distributed.fleet.utils import recompute
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> recompute(lambda v: v * v, x).backward()
        >>> x.grad.tolist()
        [6.0]
    """
    preserve, reentrant = kwargs.pop("preserve_rng_state", True), kwargs.pop("use_reentrant", True)
    if kwargs and reentrant:
        raise ArgumentError(
            "Error, if you want to send kwargs(dict parameter) to function, "
            "please set use_reentrant=False."
        )
    if not is_recording():  # a Program decides by itself what it keeps
        return function(*args, **kwargs)
    again = Again(function, preserve)
    if not reentrant:
        return forgetful(again, args, kwargs)
    if all(t.stop_gradient for t in tensors_in(args)):
        warnings.warn(
            "[Recompute]: None of the inputs to current recompute block need grad, therefore "
            "there is NO need to recompute this block in backward !",
            stacklevel=2,
        )
    return Recomputed.apply(again, *args)


def recompute_sequential(ctx: dict[str, Any], functions: Any, *args: Any, **kwargs: Any) -> Any:
    """What `functions` give one after another, all but the last segment of them recomputed.

    Args:
        ctx (dict): `segments`, into how many parts the functions are divided, by default 1;
            `preserve_rng_state`, as in `recompute`.
        functions (Sequential | list[callable]): each takes what the one before returns.
        *args: what the first is given.
        **kwargs: as in `recompute`.

    Returns:
        Tensor: what the last returns.
    """
    segments, preserve = ctx.get("segments", 1), ctx.get("preserve_rng_state", True)
    if isinstance(functions, Sequential):
        functions = functions.children()
    functions = list(functions)
    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        part = chain(functions[start : start + size])
        args = (recompute(part, *args, preserve_rng_state=preserve, **kwargs),)
    return chain(functions[size * (segments - 1) :])(*args)


def chain(functions: list[Callable[..., Any]]) -> Callable[..., Any]:
    """The functions one after another, as one."""

    def run(*values: Any) -> Any:
        for f in functions:
            values = f(*values)
            values = values if isinstance(values, tuple) else (values,)
        return values[0] if len(values) == 1 else values

    return run


__all__ = ["recompute", "recompute_sequential"]
