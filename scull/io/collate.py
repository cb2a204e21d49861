"""From samples to batches: stacking what a dataset gives, and turning arrays into Tensors."""

import numbers
from collections.abc import Mapping, Sequence

import numpy as np

from scull.core.dtype import of_array
from scull.core.interpreter import base
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError


def is_static():
    """Whether Programs are being described, by `enable_static`, rather than values computed."""
    return len(base) > 1


def tensor_of(array):
    """The Tensor of an array, whose memory it shares."""
    of_array(array.dtype)  # an array of objects or texts is refused here, not at its first use
    return Tensor(array)


def array_of(value):
    """The array of a Tensor; an array itself."""
    return np.asarray(value.array if isinstance(value, Tensor) else value)


def convert(batch, leaf):
    """`batch` with `leaf` applied to each array and Tensor in it; a tuple becomes a list."""
    if isinstance(batch, np.ndarray | Tensor):
        return leaf(batch)
    if isinstance(batch, str | bytes | numbers.Number):
        return batch
    if isinstance(batch, Mapping):
        return {key: convert(value, leaf) for key, value in batch.items()}
    if isinstance(batch, Sequence):
        return [convert(value, leaf) for value in batch]
    return batch


def default_collate_fn(batch):
    """Samples put together, field by field, along a new first axis.

    Args:
        batch (list): samples of one form: arrays, Tensors, numbers, texts, or lists and
            dictionaries of those.

    Returns:
        the same form, with an array for what was an array or a number and a Tensor for what was a
        Tensor, each one axis larger; texts stay a list.

    Examples:
        >>> images, labels = default_collate_fn([(np.zeros(3), 7), (np.ones(3), 8)])
        >>> images.shape, labels.tolist()
        ((2, 3), [7, 8])
        >>> default_collate_fn([{"name": "a"}, {"name": "b"}])
        {'name': ['a', 'b']}
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return np.stack(batch, axis=0)
    if isinstance(sample, Tensor):
        return tensor_of(np.stack([array_of(value) for value in batch], axis=0))
    if isinstance(sample, numbers.Number):
        return np.array(batch)
    if isinstance(sample, str | bytes):
        return batch
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([fields[key] for fields in batch]) for key in sample}
    if isinstance(sample, Sequence):
        if any(len(fields) != len(sample) for fields in batch):
            raise RuntimeError("fileds number not same among samples in a batch")
        return [default_collate_fn(fields) for fields in zip(*batch, strict=True)]
    raise ArgumentTypeError(
        "batch data con only contains: tensor, numpy.ndarray, dict, list, number, "
        f"but got {type(sample)}"
    )


def default_convert_fn(batch):
    """One sample as it is, tuples as lists: what a loader without batches gives.

    Args:
        batch: arrays, Tensors, numbers, texts, or lists and dictionaries of those.

    Returns:
        the same, with lists for tuples.

    Examples:
        >>> default_convert_fn(({"x": (1, 2)}, "a"))
        [{'x': [1, 2]}, 'a']
    """
    return convert(batch, lambda value: value)
