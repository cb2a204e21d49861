"""What the families of networks share."""

import math

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.nn.initializer import Uniform
from scull.nn.param_attr import ParamAttr
from scull.tensor import flatten


def refuse_pretrained(name, pretrained):
    """Raise unless `pretrained` is False: scull downloads no weights."""
    if pretrained:
        raise UnsupportedError(
            f"`{name}` comes without trained weights, since nothing is downloaded: leave "
            "`pretrained` False and call `set_state_dict(scull.load(path))` of what it returns"
        )


def check_sizes(num_classes, scale=1.0):
    """Raise unless the number of classes is an int and the scale a finite number."""
    if not isinstance(num_classes, int | np.integer):
        raise ArgumentTypeError(f"num_classes is an int, not {num_classes!r}")
    if not isinstance(scale, int | float | np.number):
        raise ArgumentTypeError(f"scale is a number, not {scale!r}")
    if not math.isfinite(scale):
        raise ArgumentError(f"scale is a finite number, not {scale}")


def divisible(channels, divisor=8):
    """The multiple of `divisor` nearest to `channels`, but never less than nine tenths of it."""
    near = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * channels else near


def uniform(count, square=1.0):
    """An attribute: numbers whose square is `square` / `count` at most, uniformly distributed."""
    bound = math.sqrt(square / count)
    return ParamAttr(initializer=Uniform(-bound, bound))


def classified(x, pool, head):
    """Feature maps `x`, each pooled by `pool`, then classified by `head`; either may be None."""
    x = x if pool is None else pool(x)
    return x if head is None else head(flatten(x, 1))
