"""The places of elements in order along an axis, equal ones in theirs.

Numbers of up to 32 bits, and integers that differ by no more, are sorted as words that hold the
number above its place: NumPy sorts words with vectors, which it does not find places with.
"""

from typing import Any

import numpy as np

LEAST = 256  # elements that are worth to be made words
FEW = 8  # times so many elements are more than it pays to sort for the first of them
SINGLE = 16  # elements that are found one by one
HALF = np.int64(32)
NAN = np.int32(2**31 - 1)  # behind every number


def order_of(x: Any, axis: int, descending: bool = False) -> Any:
    """The places of the elements along `axis` in order; equal ones stay in theirs.

    NaN is behind all numbers; the order is that turned round when `descending`.
    """
    words = words_of(x, axis, descending)
    if words is None:
        return by_places(x, axis, descending)
    words.sort(axis)
    return places_in(words)


def first_in_order(x: Any, k: int, axis: int, descending: bool) -> Any:
    """The places of the first `k` elements along `axis` in order; equal ones stay in theirs."""
    size, first = x.shape[axis], (*(slice(None),) * axis, slice(k))
    if 0 < k <= SINGLE and 2 * k * FEW <= size and x.dtype.kind in "fiu":
        lines = np.moveaxis(x, axis, -1)
        found = one_by_one(lines.reshape(-1, size), k, descending)
        if found is not None:
            return np.ascontiguousarray(np.moveaxis(found.reshape(*lines.shape[:-1], k), -1, axis))
    words = words_of(x, axis, descending)
    if words is None:
        return by_places(x, axis, descending)[first].copy()
    if 0 < k < size:
        words.partition(k - 1, axis)
    words = words[first].copy()
    words.sort(axis)
    return places_in(words)


def one_by_one(rows: Any, k: int, descending: bool) -> Any:
    """The first `k` places of each row, each found among what is left.

    None where one of the elements may be the number that stands for those which were found, or is
    NaN.
    """
    if rows.dtype.kind == "f":
        taken = -np.inf if descending else np.inf
    else:
        taken = np.iinfo(rows.dtype).min if descending else np.iinfo(rows.dtype).max
    rest, lines = rows.copy(), np.arange(len(rows))
    found = np.empty((len(rows), k), np.intp)
    for i in range(k):
        found[:, i] = rest.argmax(-1) if descending else rest.argmin(-1)
        spot = lines, found[:, i]
        least = rest[spot]
        if (least == taken).any() or (least != least).any():
            return None
        rest[spot] = taken
    return found


def words_of(x: Any, axis: int, descending: bool) -> Any:
    """New words of the elements, each above its place along `axis`; None where there are none."""
    words = keys_of(x) if x.size >= LEAST and x.shape[axis] < 2**31 else None
    if words is None:
        return None
    if descending:
        np.invert(words, out=words)
    words <<= HALF
    words |= np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    return words


def places_in(words: Any) -> Any:
    """The places in words, over these."""
    words &= np.int64(2**32 - 1)
    return words


def by_places(x: Any, axis: int, descending: bool) -> Any:
    """The same for any elements that have an order."""
    if not descending:
        return x.argsort(axis, "stable")
    turned = (*(slice(None),) * axis, slice(None, None, -1))
    return x.shape[axis] - 1 - x[turned].argsort(axis, "stable")[turned]


def keys_of(x: Any) -> Any:
    """New integers of 32 bits, as words, in the order of the elements; None where there are none.

    The bits of a floating-point number, of which all but the sign are turned over in negative ones,
    rise as the numbers do.
    """
    kind = x.dtype.kind
    if kind == "f" and x.dtype.itemsize <= 4:
        bits = np.add(x, 0, dtype=np.float32).view(np.int32)  # of -0.0 and 0.0 the same
        bits ^= (bits >> 31) & NAN
        bits[x != x] = NAN
        return bits.astype(np.int64)
    if kind not in "iub":
        return None
    if x.dtype.itemsize < 4 or x.dtype == np.int32:
        return x.astype(np.int64)
    least = int(x.min())
    if int(x.max()) - least >= 2**31:
        return None
    return np.subtract(x, x.dtype.type(least)).astype(np.int64)
