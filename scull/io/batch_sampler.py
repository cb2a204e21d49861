"""Batch samplers: lists of indices, a batch each."""

import math
import os
from itertools import islice, repeat

import numpy as np

from scull.io.dataset import is_iterable
from scull.io.demand import demand
from scull.io.sampler import RandomSampler, Sampler, SequenceSampler


class BatchSampler(Sampler):
    """The indices of a dataset or a sampler, `batch_size` at a time.

    Args:
        dataset (Dataset, optional): what the indices are for; or `sampler` is given.
        sampler (Sampler, optional): where they come from.
        shuffle (bool, optional): the indices of `dataset` in random order.
        batch_size (int, optional): how many a batch has.
        drop_last (bool, optional): leave out a last batch that is smaller.

    Examples:
        >>> list(BatchSampler("abcde", batch_size=2))
        [[0, 1], [2, 3], [4]]
        >>> list(BatchSampler(sampler=SequenceSampler("abcde"), batch_size=2, drop_last=True))
        [[0, 1], [2, 3]]
    """

    def __init__(self, dataset=None, sampler=None, shuffle=False, batch_size=1, drop_last=False):
        super().__init__()
        if dataset is None:
            demand(sampler is not None, "either dataset or sampler should be set")
            demand(
                isinstance(sampler, Sampler),
                f"sampler should be a paddle.io.Sampler, but got {type(sampler)}",
            )
            demand(not shuffle, "shuffle should be False when sampler is set")
            self.sampler = sampler
        else:
            demand(
                not is_iterable(dataset),
                "dataset should not be a paddle.io.IterableDataset",
            )
            demand(sampler is None, "should not set both dataset and sampler")
            demand(
                isinstance(shuffle, bool),
                f"shuffle should be a boolean value, but got {type(shuffle)}",
            )
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        demand(
            isinstance(batch_size, int) and batch_size > 0,
            f"batch_size should be a positive integer, but got {batch_size}",
        )
        demand(
            isinstance(drop_last, bool),
            f"drop_last should be a boolean value, but got {type(drop_last)}",
        )
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        return batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self):
        return batch_count(len(self.sampler), self.batch_size, self.drop_last)


class DistributedBatchSampler(BatchSampler):
    """The batches of one process of several, which share a dataset evenly.

    The dataset is repeated from its start until its length divides by the number of processes.
    The epoch seeds the shuffle, so that all processes agree; each pass is a new epoch.

    Args:
        dataset (Dataset): what the indices are for.
        batch_size (int): how many a batch has.
        num_replicas (int, optional): how many processes; None: what the launcher says.
        rank (int, optional): which of them this is; None: what the launcher says.
        shuffle (bool, optional): the indices in random order.
        drop_last (bool, optional): leave out a last batch that is smaller.

    Examples:
        >>> list(DistributedBatchSampler("abcdef", 2, num_replicas=2, rank=1))
        [[2, 3], [5]]
    """

    def __init__(
        self, dataset, batch_size, num_replicas=None, rank=None, shuffle=False, drop_last=False
    ):
        demand(
            isinstance(batch_size, int) and batch_size > 0,
            "batch_size should be a positive integer",
        )
        demand(isinstance(shuffle, bool), "shuffle should be a boolean value")
        demand(isinstance(drop_last, bool), "drop_last should be a boolean number")
        demand(
            num_replicas is None or (isinstance(num_replicas, int) and num_replicas > 0),
            "num_replicas should be a positive integer",
        )
        demand(
            rank is None or (isinstance(rank, int) and rank >= 0),
            "rank should be a non-negative integer",
        )
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.nranks = _launched("PADDLE_TRAINERS_NUM", 1) if num_replicas is None else num_replicas
        self.local_rank = _launched("PADDLE_TRAINER_ID", 0) if rank is None else rank
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self):
        indices = list(range(len(self.dataset)))
        repeats = math.ceil(self.total_size / len(indices)) if indices else 0
        indices = (indices * repeats)[: self.total_size]
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(indices)
            self.epoch += 1
        return batches(self._own(indices), self.batch_size, self.drop_last)

    def _own(self, indices):
        """Every `nranks`-th whole batch, and an equal share of the rest."""
        size, rank = self.batch_size, self.local_rank
        rest = self.total_size % (size * self.nranks)
        whole, own = self.total_size - rest, []
        for begin in range(rank * size, whole, size * self.nranks):
            own += indices[begin : begin + size]
        share = rest // self.nranks
        return own + indices[whole + rank * share : whole + (rank + 1) * share]

    def __len__(self):
        return batch_count(self.num_samples, self.batch_size, self.drop_last)

    def set_epoch(self, epoch):
        """Shuffle the next pass as that of `epoch`.

        Args:
            epoch (int): its number.

        Examples:
            >>> sampler = DistributedBatchSampler("abcd", 4, 1, 0, shuffle=True)
            >>> first, second = list(sampler), list(sampler)
            >>> sampler.set_epoch(0)
            >>> list(sampler) == first
            True
        """
        self.epoch = epoch


class EndlessSampler:
    """Batches without indices, without end: an iterable dataset says itself when it ends."""

    def __init__(self, batch_size):
        self.batch_size = batch_size

    def __iter__(self):
        return repeat([None] * self.batch_size)


def batches(indices, size, drop_last):
    """`indices` in lists of `size`; a smaller last one unless it is to be dropped."""
    indices = iter(indices)
    while batch := list(islice(indices, size)):
        if len(batch) == size or not drop_last:
            yield batch


def batch_count(samples, size, drop_last):
    """How many batches `batches` gives."""
    return samples // size if drop_last else (samples + size - 1) // size


def _launched(name, default):
    return int(os.environ.get(name, default))
