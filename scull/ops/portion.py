"""Large operands in portions, so that what a kernel takes for itself stays small and in cache."""

from collections.abc import Iterator
from typing import Any

CHUNK = 1 << 14  # elements that stay in the nearest cache through all steps of a polynomial
MOST = 1 << 16  # elements of a portion of images


def portions(size: int, most: int) -> list[slice]:
    """`size` elements in portions of nearly one size, of at most `most` unless that is below 1."""
    if size <= most:
        return [slice(0, size)]
    return cut(size, -(-size // max(most, 1)))


def cut(size: int, count: int) -> list[slice]:
    """`size` elements in so many portions of nearly one size."""
    return [slice(i * size // count, (i + 1) * size // count) for i in range(count)]


def largest(portions: list[slice]) -> int:
    """How many elements the largest portion has."""
    return max([p.stop - p.start for p in portions], default=0)


def pieces(images: int, channels: int, size: int) -> Iterator[tuple[slice, slice]]:
    """A batch in portions of images, or of channels of one; a channel has `size` elements."""
    few = portions(channels, MOST // max(size, 1))
    many = portions(images, MOST // max(size * channels, 1))
    for some in many:
        for part in few:
            yield some, part


def chunked(xp: Any, step: Any, out: Any, *arrays: Any) -> Any:
    """`step` of portions of `arrays` that stay in the nearest cache, into `out` or a new array."""
    x = arrays[0]
    lines = [xp.ascontiguousarray(v).reshape(-1) for v in arrays]
    found = xp.empty(x.size, x.dtype)
    for i in range(0, x.size, CHUNK):
        step(xp, *[v[i : i + CHUNK] for v in lines], found[i : i + CHUNK])
    if out is None:
        return found.reshape(x.shape)
    out[...] = found.reshape(x.shape)
    return out
