"""Images pooled to several sizes, so that what comes out is of one size."""

from scull.core.eager import composite
from scull.core.op import meta_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.join import concat
from scull.ops.move import flatten
from scull.ops.pool import pool2d

TALLEST = 12  # a level has four times as many windows as the one before


@composite
def spp(x, *, pyramid_height: int, pooling_type: str):
    """Images pooled to one window, to 2 by 2, 4 by 4 and so on, in a row behind each other."""
    if len(x.shape) != 4:
        raise ShapeError(f"{meta_of(x)} has {len(x.shape)} axes, 4 are needed")
    if not 0 < pyramid_height <= TALLEST:
        raise ArgumentError(f"pyramid_height is {pyramid_height}, not from 1 to {TALLEST}")
    levels = []
    for level in range(pyramid_height):
        count, sizes, paddings = 2**level, [], []
        for n in x.shape[2:]:
            size = (n + count - 1) // count
            sizes.append(size)
            paddings += [(size * count - n + 1) // 2, (size * count - n) // 2]
        windows = {"ksize": tuple(sizes), "strides": tuple(sizes), "paddings": tuple(paddings)}
        found = pool2d(x, **windows, pooling_type=pooling_type)
        levels.append(flatten(found, start_axis=1, stop_axis=-1))
    return concat(levels, axis=1)
