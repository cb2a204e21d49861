"""Arrays that begin where a line of a cache does.

What NumPy allocates begins 16 bytes behind such a place: every vector lies in two lines then, and
one line more is read for a few vectors side by side. Values that stay in a scope are moved once.
"""

from typing import Any

import numpy as np

LINE = 64  # bytes
LEAST = 1 << 12  # bytes of an array that is worth moving


def at_line(array: Any) -> Any:
    """The array, or a copy that begins at a line, where it is large and does not."""
    misplaced = array.nbytes >= LEAST and array.ctypes.data % LINE
    if not misplaced or array.dtype.hasobject or not array.flags.c_contiguous:
        return array
    found = aligned(array.nbytes).view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def aligned(size: int) -> np.ndarray[Any, Any]:
    """So many bytes, beginning at a line."""
    whole = np.empty(size + LINE, np.uint8)
    start = -whole.ctypes.data % LINE
    return whole[start : start + size]
