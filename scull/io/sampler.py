"""Samplers: in which order the indices of a dataset are asked for.

`RandomSampler` and `WeightedRandomSampler` draw from NumPy's global generator, as Paddle's do;
what permutes draws from the generator that `seed` sets.
"""

from itertools import islice

import numpy as np

from scull.core.random import Generator, words
from scull.core.session import generator as session_generator
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.io.collate import array_of
from scull.io.demand import demand


class Sampler:
    """Indices one after another. A sampler of one's own has `__iter__`, mostly `__len__` too.

    Args:
        data_source (Dataset, optional): what the indices are for.

    Examples:
        >>> class Backwards(Sampler):
        ...     def __iter__(self):
        ...         return iter(range(len(self.data_source) - 1, -1, -1))
        >>> list(iter(Backwards("abc")))
        [2, 1, 0]
    """

    def __init__(self, data_source=None):
        self.data_source = data_source

    def __iter__(self):
        raise UnsupportedError(f"{type(self).__name__} gives no indices: it has no `__iter__`")


class SequenceSampler(Sampler):
    """The indices in order.

    Args:
        data_source (Dataset): what the indices are for.

    Examples:
        >>> list(SequenceSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source):
        super().__init__(data_source)

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """The indices at random, each once, or with `replacement` each as chance has it.

    Args:
        data_source (Dataset): what the indices are for.
        replacement (bool, optional): an index may come again.
        num_samples (int, optional): how many, with replacement; None: as many as there are.
        generator (iterator, optional): gives the indices instead, `num_samples` of them.

    Examples:
        >>> sorted(RandomSampler("abc"))
        [0, 1, 2]
        >>> list(RandomSampler("abc", generator=iter([2, 2, 1])))
        [2, 2, 1]
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise ArgumentTypeError(
                f"expect boolean value for replacement, but got replacement={replacement}"
            )
        if num_samples is not None and not replacement:
            raise ArgumentError("num_samples should not be specified while replacement is False")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ArgumentError(
                f"num_samples should be a positive integer, but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self):
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        if self.generator is not None:
            yield from islice(self.generator, self.num_samples)
        else:
            indices = np.arange(len(self.data_source))
            count = self.num_samples if self.replacement else len(indices)
            yield from np.random.choice(indices, count, replace=self.replacement).tolist()

    def __len__(self):
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """Indices at random, in proportion to their weights.

    Args:
        weights (Tensor | numpy.ndarray | list | tuple): at least 0, one for each index; or rows of
            such weights, each drawn from on its own.
        num_samples (int): how many, for each row.
        replacement (bool, optional): an index may come again.

    Examples:
        >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], 3))
        [1, 1, 1]
    """

    def __init__(self, weights, num_samples, replacement=True):
        super().__init__()
        if not isinstance(num_samples, int) or num_samples <= 0:
            raise ArgumentError("num_samples should be a positive integer")
        if not isinstance(replacement, bool):
            raise ArgumentError("replacement should be a boolean value")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement

    def __iter__(self):
        for row in self._chances():
            yield from np.random.choice(len(row), self.num_samples, self.replacement, row).tolist()

    def __len__(self):
        return self.num_samples * len(_rows(self.weights))

    def _chances(self):
        rows = _rows(self.weights)
        demand(np.all(rows >= 0.0), "weights should be positive value")
        demand(not np.any(np.isinf(rows)), "weights shoule not be INF")
        possible = np.sum(rows > 0.0, axis=1)
        demand(np.all(possible > 0), "weights should have positive values")
        demand(
            self.replacement or np.all(possible >= self.num_samples),
            "weights positive value number should not less than num_samples when replacement=False",
        )
        return rows / rows.sum(axis=1, keepdims=True)


class SubsetRandomSampler(Sampler):
    """Some indices in random order.

    Args:
        indices (list): which.

    Examples:
        >>> sorted(SubsetRandomSampler([7, 3, 5]))
        [3, 5, 7]
    """

    def __init__(self, indices):
        super().__init__()
        if len(indices) == 0:
            raise ArgumentError(
                "The length of `indices` in SubsetRandomSampler should be greater than 0."
            )
        self.indices = indices

    def __iter__(self):
        return (self.indices[i] for i in permutation(len(self.indices)))

    def __len__(self):
        return len(self.indices)


def permutation(count, generator=None):
    """The numbers below `count` in the random order that a draw of the generator gives."""
    if generator is None:
        generator = session_generator()
    if not isinstance(generator, Generator):
        raise ArgumentTypeError(f"generator should be a Generator, but got {type(generator)}")
    return np.argsort(words(generator.draw(), count), kind="stable").tolist()


def _rows(weights):
    demand(
        isinstance(weights, Tensor | np.ndarray | list | tuple),
        "weights should be paddle.Tensor, numpy.ndarray, list or tuple",
    )
    weights = array_of(weights)
    demand(weights.ndim in (1, 2), "weights should be a 1-D or 2-D array")
    return weights.reshape(-1, weights.shape[-1]).astype(np.float64)
