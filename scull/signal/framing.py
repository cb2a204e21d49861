"""Sequences cut into frames, and put together from them."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops import frame as ops
from scull.tensor.size import integer, needs_tensor


def positive(value: Any, name: str) -> int:
    """A length."""
    found = integer(value, name)
    if found < 1:
        raise ArgumentError(f"`{name}` is a length above 0, not {found}")
    return found


def end(axis: Any) -> int:
    """An axis that is the first or the last."""
    found = integer(axis, "axis")
    if found not in (0, -1):
        raise ArgumentError(f"`axis` is 0 or -1, not {found}")
    return found


def frame(x: Any, frame_length: Any, hop_length: Any, axis: Any = -1, name: str | None = None):
    """Frames of sequences, which may overlap; what is left behind the last whole one is dropped.

    Args:
        x (Tensor): sequences along the first or the last axis.
        frame_length (int): how long a frame is.
        hop_length (int): how far one begins behind another.
        axis (int): 0 or -1: where the sequences lie.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the dtype of `x`: [..., frame_length, frames], or [frames, frame_length, ...].

    Raises:
        ValueError: a length or `axis` is out of range, or a frame longer than the sequences.

    Examples:
        >>> import scull as paddle
        >>> paddle.signal.frame(paddle.arange(6), 4, 2).tolist()
        [[0, 2], [1, 3], [2, 4], [3, 5]]
    """
    needs_tensor(x, "frame")
    lengths = {"frame_length": frame_length, "hop_length": hop_length}
    sizes = {n: positive(v, n) for n, v in lengths.items()}
    return ops.frame(x, **sizes, axis=end(axis), name=name)


def overlap_add(x: Any, hop_length: Any, axis: Any = -1, name: str | None = None):
    """Sequences put together from frames, which add up where they overlap.

    Args:
        x (Tensor): frames: [..., frame_length, frames], or [frames, frame_length, ...].
        hop_length (int): how far one begins behind another; not more than its length.
        axis (int): -1 or 0: which of these two it is.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the dtype of `x`, with sequences along the last or the first axis.

    Raises:
        ValueError: `hop_length` or `axis` is out of range, or `x` has less than two axes.

    Examples:
        >>> import scull as paddle
        >>> paddle.signal.overlap_add(paddle.to_tensor([[1, 10], [2, 20], [3, 30]]), 2).tolist()
        [1, 2, 13, 20, 30]
    """
    needs_tensor(x, "overlap_add")
    hop = positive(hop_length, "hop_length")
    return ops.overlap_add(x, hop_length=hop, axis=end(axis), name=name)
