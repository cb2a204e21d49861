"""Arrays with levels of detail: sequences of several lengths in one array."""

from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.runtime.scope import ScopeTensor


def create_lod_tensor(data: Any, recursive_seq_lens: Any, place: Any) -> ScopeTensor:
    """An array whose rows are sequences of the lengths given.

    Args:
        data (ndarray | list | LoDTensor): the rows; lists of one number a row become a column.
        recursive_seq_lens (list[list[int]]): lengths, the outer level first.
        place: where it lives.

    Returns:
        LoDTensor: the array with its lengths.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> rows = np.zeros([3, 1], "float32")
        >>> paddle.base.create_lod_tensor(rows, [[2, 1]], paddle.CPUPlace()).lod()
        [[0, 2, 3]]
    """
    made = ScopeTensor()
    if isinstance(data, list):
        lengths = [len(sequence) for sequence in data]
        if lengths != list(recursive_seq_lens[-1]):
            raise ArgumentError("data and recursive_seq_lens do not match")
        made.set(np.array([v for sequence in data for v in sequence], "int64").reshape(-1, 1))
    elif isinstance(data, ScopeTensor | np.ndarray | Tensor):
        made.set(np.array(data), place)
    else:
        raise ArgumentTypeError(
            "data should be either a LoDTensor, a Numpy array or a list, but you pass type "
            f"{type(data)} instead"
        )
    check_lengths(recursive_seq_lens, made.shape()[0])
    made.set_recursive_sequence_lengths(recursive_seq_lens)
    return made


def check_lengths(levels: Any, rows: int) -> None:
    """Refuse lengths that do not add up: a level counts the entries of the next, or the rows."""
    counts = [*map(len, levels[1:]), rows] if levels else []
    for level, count in zip(levels, counts, strict=True):
        if sum(level) != count:
            raise ArgumentError(
                f"The provided recursive_sequence_lengths info is invalid: {list(level)} adds "
                f"up to {sum(level)}, not to {count}"
            )


def create_random_int_lodtensor(
    recursive_seq_lens: Any, base_shape: Any, place: Any, low: int, high: int
) -> ScopeTensor:
    """Random integers in sequences of the lengths given.

    Args:
        recursive_seq_lens (list[list[int]]): lengths, the outer level first.
        base_shape (list[int]): the shape of a row.
        place: where it lives.
        low, high (int): the smallest and the largest integer.
    """
    shape = [sum(recursive_seq_lens[-1]), *base_shape]
    data = np.random.default_rng().integers(low, high + 1, shape, dtype="int64")
    return create_lod_tensor(data, recursive_seq_lens, place)
