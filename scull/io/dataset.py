"""Datasets: samples by index or one after another, and datasets made of others."""

from bisect import bisect_right
from itertools import accumulate

from scull.errors import ArgumentError, UnsupportedError
from scull.io.collate import is_static
from scull.io.demand import demand
from scull.io.sampler import permutation


class Dataset:
    """Samples by index. A dataset of one's own has `__getitem__` and `__len__`.

    Examples:
        >>> class Squares(Dataset):
        ...     def __getitem__(self, idx):
        ...         return idx**2
        ...
        ...     def __len__(self):
        ...         return 10
        >>> Squares()[3], len(Squares())
        (9, 10)
    """

    def __getitem__(self, idx):
        raise UnsupportedError(f"'__getitem__' not implement in class {type(self).__name__}")

    def __len__(self):
        raise UnsupportedError(f"'__len__' not implement in class {type(self).__name__}")


class IterableDataset(Dataset):
    """Samples one after another. A dataset of one's own has `__iter__`.

    In a loader with workers each of them goes through a copy of the dataset: `get_worker_info`
    tells `__iter__` which share is its own.

    Examples:
        >>> class Countdown(IterableDataset):
        ...     def __iter__(self):
        ...         yield from (3, 2, 1)
        >>> list(iter(Countdown()))
        [3, 2, 1]
    """

    def __iter__(self):
        raise UnsupportedError(f"'__iter__' not implement in class {type(self).__name__}")

    def __getitem__(self, idx):
        raise RuntimeError(
            f"'__getitem__' should not be called for IterableDataset{type(self).__name__}"
        )

    def __len__(self):
        raise RuntimeError(
            f"'__len__' should not be called for IterableDataset{type(self).__name__}"
        )


class TensorDataset(Dataset):
    """The rows of several Tensors of equal length, side by side.

    Args:
        tensors (list | tuple): Tensors whose first axes are equally long.

    Examples:
        >>> import numpy as np
        >>> dataset = TensorDataset([np.eye(3), np.arange(3)])
        >>> row, number = dataset[2]
        >>> row.tolist(), number.item(), len(dataset)
        ([0.0, 0.0, 1.0], 2, 3)
    """

    def __init__(self, tensors):
        if is_static():
            raise RuntimeError("TensorDataset con only be used in imperative mode")
        lengths = {tensor.shape[0] for tensor in tensors}
        demand(len(lengths) == 1, "tensors not have same shape of the 1st dimension")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]


class ComposeDataset(Dataset):
    """The fields of several datasets of equal length, side by side.

    Args:
        datasets (list): datasets with as many samples each.

    Examples:
        >>> dataset = ComposeDataset([Subset("abc", [0, 1, 2]), Subset("xyz", [2, 1, 0])])
        >>> dataset[0], len(dataset)
        (('a', 'z'), 3)
    """

    def __init__(self, datasets):
        self.datasets = _datasets(datasets, "input datasets shoule not be empty")
        for dataset in self.datasets:
            demand(isinstance(dataset, Dataset), "each input dataset should be paddle.io.Dataset")
            demand(not is_iterable(dataset), "paddle.io.IterableDataset not supported")
            demand(len(dataset) == len(self.datasets[0]), "lengths of datasets should be same")

    def __len__(self):
        return len(self.datasets[0])

    def __getitem__(self, idx):
        fields = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields.extend(sample if isinstance(sample, list | tuple) else [sample])
        return tuple(fields)


class ChainDataset(IterableDataset):
    """The samples of one iterable dataset, then those of the next.

    Args:
        datasets (list): iterable datasets.

    Examples:
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         yield from range(2)
        >>> list(iter(ChainDataset([Count(), Count()])))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets):
        self.datasets = _datasets(datasets, "input datasets shoule not be empty")
        demand(
            all(map(is_iterable, self.datasets)),
            "ChainDataset only support paddle.io.IterableDataset",
        )

    def __iter__(self):
        for dataset in self.datasets:
            yield from dataset


class ConcatDataset(Dataset):
    """The samples of one dataset, then those of the next, by index.

    Args:
        datasets (iterable): datasets.

    Examples:
        >>> dataset = ConcatDataset([Subset("abc", [0, 1]), Subset("xyz", [2, 1, 0])])
        >>> len(dataset), dataset[1], dataset[2], dataset[-1]
        (5, 'b', 'z', 'x')
    """

    def __init__(self, datasets):
        self.datasets = _datasets(datasets, "datasets should not be an empty iterable")
        demand(
            not any(map(is_iterable, self.datasets)),
            "ConcatDataset does not support IterableDataset",
        )
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence):
        """Where each dataset ends in the whole."""
        return list(accumulate(map(len, sequence)))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ArgumentError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        begin = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][idx - begin]


class Subset(Dataset):
    """Some samples of a dataset, in an order of one's own.

    Args:
        dataset (Dataset): where the samples are.
        indices (list): which they are.

    Examples:
        >>> dataset = Subset("abcd", [3, 1])
        >>> dataset[0], len(dataset)
        ('d', 2)
    """

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx):
        return self.dataset[self.indices[idx]]

    def __len__(self):
        return len(self.indices)


def is_iterable(dataset):
    """Whether samples come one after another only."""
    return isinstance(dataset, IterableDataset)


def random_split(dataset, lengths, generator=None):
    """The samples of a dataset dealt out at random.

    Args:
        dataset (Dataset): what is split.
        lengths (list): how many samples each part gets; all of them together.
        generator (Generator, optional): what draws; None: the one that `seed` sets.

    Returns:
        list: a `Subset` for each length.

    Examples:
        >>> parts = random_split(range(10), [7, 3])
        >>> [len(part) for part in parts], sorted(parts[0].indices + parts[1].indices)
        ([7, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if sum(lengths) != len(dataset):
        raise ArgumentError("Sum of input lengths does not equal the length of the input dataset!")
    indices = permutation(len(dataset), generator)
    ends = accumulate(lengths)
    return [
        Subset(dataset, indices[end - length : end])
        for end, length in zip(ends, lengths, strict=True)
    ]


def _datasets(datasets, law):
    datasets = list(datasets)
    demand(datasets, law)
    return datasets
