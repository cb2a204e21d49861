"""Sequences cut into frames that may overlap, and put together from them."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, at_least
from scull.errors import ArgumentError, ShapeError
from scull.ops.half import single_type

# A sequence lies along the first axis or the last. Of its frames the numbers of the frame and of
# the element in it are the first two axes, or in the other order the last two.


def check(hop_length: int, axis: int, frame_length: int = 1) -> None:
    """Refuse frames that have no length, do not move, or lie elsewhere."""
    if axis not in (0, -1):
        raise ArgumentError(f"axis is {axis}, not 0 or -1")
    if hop_length < 1 or frame_length < 1:
        lengths = f"hop_length is {hop_length} and frame_length {frame_length}"
        raise ArgumentError(f"{lengths}; both must be above 0")


def split(shape: tuple[int, ...], axis: int) -> tuple[tuple[int, ...], int, int]:
    """Of a shape of frames: what is not framed, how long they are and how many."""
    if axis == 0:
        return shape[2:], shape[1], shape[0]
    return shape[:-2], shape[-2], shape[-1]


def joined(shape: tuple[int, ...], axis: int, *sizes: int) -> tuple[int, ...]:
    """A shape with `sizes` at the end, or where `axis` is 0 in the other order at the beginning."""
    return (*sizes[::-1], *shape) if axis == 0 else (*shape, *sizes)


def frame_count(size: int, frame_length: int, hop_length: int) -> int:
    """How many whole frames there are in a sequence."""
    if -1 in (size, frame_length):
        return UNKNOWN
    return max((size - frame_length) // hop_length + 1, 0)


def last(xp: Any, x: Any, axis: int, count: int) -> Any:
    """`x` with the `count` axes of a sequence or its frames at the end: a view."""
    return xp.moveaxis(x, range(count), range(-1, -count - 1, -1)) if axis == 0 else x


def cut(xp: Any, x: Any, shape: tuple[int, ...], out: Any, hop_length: int, axis: int) -> Any:
    """The frames of sequences, in `shape`."""
    out = xp.empty(shape, x.dtype) if out is None else out
    frames, sequence = last(xp, out, axis, 2), last(xp, x, axis, 1)
    if frames.size:
        windows = xp.lib.stride_tricks.sliding_window_view(sequence, frames.shape[-2], axis=-1)
        frames[...] = windows[..., ::hop_length, :].swapaxes(-1, -2)
    return out


def overlap(xp: Any, x: Any, shape: tuple[int, ...], out: Any, hop_length: int, axis: int) -> Any:
    """Sequences of `shape`: the sums of what lies at each place in frames.

    Every frame is taken apart into pieces of `hop_length`, and pieces of the same number are added
    at once: those of neighbours lie side by side.
    """
    out = xp.empty(shape, x.dtype) if out is None else out
    frames, sequence = last(xp, x, axis, 2), last(xp, out, axis, 1)
    length, count = frames.shape[-2:]
    pieces = -(-length // hop_length)
    rest, rows = frames.shape[:-2], count + pieces - 1
    blocks = xp.zeros((*rest, rows, hop_length), single_type(x))
    for i in range(pieces):
        piece = frames[..., i * hop_length : (i + 1) * hop_length, :].swapaxes(-1, -2)
        blocks[..., i : i + count, : piece.shape[-1]] += piece
    whole = blocks.reshape(*rest, rows * hop_length)
    covered = min(whole.shape[-1], sequence.shape[-1])
    sequence[..., :covered] = whole[..., :covered]
    sequence[..., covered:] = 0
    return out


def cut_at(index: Any, x: Any, hop_length: int, axis: int) -> Any:
    """An element of a frame."""
    rest, element, number = split(index, axis)
    return x[joined(rest, axis, number * hop_length + element)]


def overlap_at(index: Any, x: Any, hop_length: int, axis: int) -> Any:
    """An element of a sequence: the sum over the frames that lie over it."""
    _, length, count = split(x.shape, axis)
    rest, place = (index[1:], index[0]) if axis == 0 else (index[:-1], index[-1])
    piece = lang.axis(-(-length // hop_length))
    element, number = place % hop_length + piece * hop_length, place // hop_length - piece
    there = lang.both(lang.both(number >= 0, number < count), element < length)
    value = x[joined(tuple(rest), axis, element, number)]
    return lang.sum(lang.guarded(there, value, lang.constant(0, value.dtype)), over=piece)


@primitive(infer_first=True)
def frame(x: Meta, *, frame_length: int, hop_length: int, axis: int = -1) -> Meta:
    """The elements of every whole frame, which begin each `hop_length` elements."""
    check(hop_length, axis, frame_length)
    at_least(1, x)
    rest, size = (x.shape[1:], x.shape[0]) if axis == 0 else (x.shape[:-1], x.shape[-1])
    count = frame_count(size, frame_length, hop_length)
    if count != -1 and count < 1:
        raise ShapeError(f"a frame of {frame_length} is longer than the sequence of {size}")
    return x.with_shape(joined(rest, axis, frame_length, count))


@frame.kernel
def frame_kernel(
    xp: Any, x: Any, *, out: Any = None, frame_length: int, hop_length: int, axis: int
) -> Any:
    rest, size = (x.shape[1:], x.shape[0]) if axis == 0 else (x.shape[:-1], x.shape[-1])
    count = frame_count(size, frame_length, hop_length)
    return cut(xp, x, joined(rest, axis, frame_length, count), out, hop_length, axis)


@frame.lower
def frame_at(index: Any, x: Any, frame_length: int, hop_length: int, axis: int) -> Any:
    return cut_at(index, x, hop_length, axis)


@primitive(infer_first=True)
def overlap_add(x: Meta, *, hop_length: int, axis: int = -1) -> Meta:
    """A sequence of frames that begin each `hop_length` elements: where they overlap they add."""
    check(hop_length, axis)
    at_least(2, x)
    rest, length, count = split(x.shape, axis)
    if length != -1 and hop_length > length:
        raise ArgumentError(f"hop_length is {hop_length}, and a frame has {length} elements only")
    size = UNKNOWN if -1 in (length, count) else (count - 1) * hop_length + length
    return x.with_shape(joined(rest, axis, size))


@overlap_add.kernel
def overlap_add_kernel(xp: Any, x: Any, *, out: Any = None, hop_length: int, axis: int) -> Any:
    rest, length, count = split(x.shape, axis)
    shape = joined(rest, axis, (count - 1) * hop_length + length)
    return overlap(xp, x, shape, out, hop_length, axis)


@overlap_add.lower
def overlap_add_at(index: Any, x: Any, hop_length: int, axis: int) -> Any:
    return overlap_at(index, x, hop_length, axis)


@primitive(infer_first=True)
def frames_like(x: Meta, like_meta: Meta, *, hop_length: int, axis: int) -> Meta:
    """Frames of `x`, as many and as long as those of `like`."""
    _, length, count = split(like_meta.shape, axis)
    size = x.shape[0 if axis == 0 else -1]
    agree(frame_count(size, length, hop_length), count, "x has {} frames and like has {}")
    return Meta(like_meta.shape, x.dtype)


@frames_like.kernel
def frames_like_kernel(
    xp: Any, x: Any, like: Any, *, out: Any = None, hop_length: int, axis: int
) -> Any:
    return cut(xp, x, like.shape, out, hop_length, axis)


@frames_like.lower
def frames_like_at(index: Any, x: Any, like: Any, hop_length: int, axis: int) -> Any:
    return cut_at(index, x, hop_length, axis)


@primitive(infer_first=True)
def overlap_like(x: Meta, like_meta: Meta, *, hop_length: int, axis: int) -> Meta:
    """Frames added up in a sequence as long as `like`; 0 where there are none."""
    _, length, count = split(x.shape, axis)
    size = like_meta.shape[0 if axis == 0 else -1]
    agree(frame_count(size, length, hop_length), count, "like has {} frames and x has {}")
    return Meta(like_meta.shape, x.dtype)


@overlap_like.kernel
def overlap_like_kernel(
    xp: Any, x: Any, like: Any, *, out: Any = None, hop_length: int, axis: int
) -> Any:
    return overlap(xp, x, like.shape, out, hop_length, axis)


@overlap_like.lower
def overlap_like_at(index: Any, x: Any, like: Any, hop_length: int, axis: int) -> Any:
    return overlap_at(index, x, hop_length, axis)


for cutting in (frame, frames_like):
    cutting.grad("x")(
        lambda x_meta, dout, hop_length, axis: overlap_like(
            dout, x_meta, hop_length=hop_length, axis=axis
        )
    )
for adding in (overlap_add, overlap_like):
    adding.grad("x")(
        lambda x_meta, dout, hop_length, axis: frames_like(
            dout, x_meta, hop_length=hop_length, axis=axis
        )
    )
