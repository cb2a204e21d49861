"""Where updates compute: on what they write over, in parts, in memory taken before they write."""

from typing import Any

import numpy as np

from scull.core.tensor import Rows

PIECE = 1 << 15  # elements of each array worked on at once, so that all of them stay in the cache


def places(sources: tuple[Any, ...], out: Any) -> list[Any]:
    """The arrays for results, holding the values of `sources`: copies where `out` has none."""
    found = []
    for x, o in zip(sources, out or (None,) * len(sources), strict=True):
        if o is not None and o is not x and x is not None:
            o[...] = x
        found.append(x if x is None else x.copy() if o is None else o)
    return found


def exact_of(param: Any, master: Any, multi_precision: bool) -> Any:
    """What is updated: the master copy where the parameter is one of fewer digits."""
    return master if multi_precision and master is not None else param


def widened(exact: Any, state: Any) -> Any:
    """What is updated, as a copy where its `state` has more digits."""
    return exact if exact.dtype == state.dtype else exact.astype(state.dtype)


def number(x: Any, dtype: Any) -> Any:
    """The one element of `x`."""
    return x.reshape(()).astype(dtype)


def matching(grad: Any, dtype: Any) -> Any:
    """The whole gradient as elements of `dtype`."""
    dense = grad.dense() if isinstance(grad, Rows) else grad
    return dense if dense.dtype == dtype else dense.astype(dtype)


def constants(dtype: Any, *values: Any) -> list[Any]:
    """Numbers as arrays without axes: arithmetic with these takes no memory."""
    return [np.array(x, dtype) for x in values]


def pieces(*arrays: Any, room: int) -> list[tuple[Any, ...]]:
    """Arrays of one shape in parts of `PIECE` elements; whole where one of them has gaps.

    Beside each stand `room` more to compute in. All memory is taken here, before anything is
    written: an update for which there is not enough fails as a whole.
    """
    first = arrays[0]
    size = first.size
    if size <= PIECE or not all([x.flags.c_contiguous for x in arrays]):
        return [(*arrays, *[np.empty(first.shape, first.dtype) for _ in range(room)])]
    flat = [x.reshape(-1) for x in arrays]
    rooms = [np.empty(PIECE, first.dtype) for _ in range(room)]
    starts = range(0, size, PIECE)
    return [(*[x[i : i + PIECE] for x in flat], *[r[: size - i] for r in rooms]) for i in starts]
