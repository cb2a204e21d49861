"""Waves that tell where in a sequence a row stands."""

from typing import Any

import numpy as np

from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import ShapeError
from scull.ops.half import placed, whole
from scull.ops.level import BY_VALUES, runs, unpacked
from scull.ops.ragged import OF_X

LONGEST = 10000.0


@primitive(**OF_X)
def add_position_encoding(
    x: Meta, levels: Meta = None, *, alpha: float = 1.0, beta: float = 1.0
) -> Meta:
    """`x` times `alpha`, and sines in the first half of the columns, cosines in the second one.

    They are of the place in the sequence, slower from column to column, times `beta`. Sequences
    stand one behind the other, or one above the other in a tensor of three axes.
    """
    whole(x)
    if x.ndim not in (2, 3):
        raise ShapeError(f"x has {x.ndim} axes, 2 or 3 are needed")
    if x.shape[-1] != -1 and x.shape[-1] % 2:
        raise ShapeError(f"x has {x.shape[-1]} columns, which cannot be halved")
    return x


@add_position_encoding.kernel
def add_position_kernel(
    xp: Any, x: Any, levels: Any = None, *, out: Any = None, alpha: float, beta: float
) -> Any:
    whole(x)
    given = [] if levels is None else unpacked(levels)
    if given and x.ndim == 2:
        lengths = np.diff(given[-1])
        place = runs(np.zeros_like(lengths), lengths)
    else:
        place = xp.arange(x.shape[-2])
    half = x.shape[-1] // 2
    slower = LONGEST ** (xp.arange(half) / (half - 1)) if half > 1 else xp.full(half, LONGEST)
    angle = place[:, None] / slower
    waves = xp.concatenate([xp.sin(angle), xp.cos(angle)], 1) * beta
    return placed(x * alpha + waves, x.dtype, out)


add_position_encoding.grad("x")(lambda dout, alpha: dout * alpha)
add_position_encoding.no_lowering(BY_VALUES)
