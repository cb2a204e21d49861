"""Samplers give the orders of the reference where NumPy draws, each index as often as they say."""

import re
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scull.core import session
from scull.core.random import Generator
from scull.core.tensor import Tensor
from scull.io import (
    BatchSampler,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


@pytest.fixture(autouse=True)
def numpy_seed():
    state = np.random.get_state()
    np.random.seed(3)
    yield
    np.random.set_state(state)


def test_random_orders_are_those_the_reference_draws_from_numpy():
    assert list(RandomSampler(range(6))) == [3, 5, 4, 1, 0, 2]
    assert list(RandomSampler(range(6), replacement=True, num_samples=4)) == [0, 5, 5, 3]


def test_weighted_draws_are_those_the_reference_draws_from_numpy():
    assert list(WeightedRandomSampler(np.array([0.1, 0.2, 0.7]), 5)) == [2, 2, 1, 2, 2]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda w: Tensor(np.array(w, np.float32))])
def test_weights_of_any_kind_are_drawn_from(kind):
    sampler = WeightedRandomSampler(kind([0.0, 3.0, 0.0, 1.0]), 2, replacement=False)
    assert sorted(sampler) == [1, 3]
    assert len(sampler) == 2


def test_rows_of_weights_are_drawn_from_one_by_one():
    sampler = WeightedRandomSampler([[0.0, 2.0, 0.0], [0.0, 0.0, 5.0]], 2)
    assert list(sampler) == [1, 1, 2, 2]
    assert len(sampler) == 4


def test_a_given_generator_wins_and_may_end_early():
    assert list(RandomSampler(range(3), generator=iter([2, 0, 1, 1]))) == [2, 0, 1]
    assert list(RandomSampler(range(3), generator=iter([2]))) == [2]


@given(st.integers(1, 50))
def test_without_replacement_every_index_comes_once(count):
    assert sorted(RandomSampler(range(count))) == list(range(count))
    assert sorted(SubsetRandomSampler(list(range(count)))) == list(range(count))


def test_the_order_of_a_subset_follows_the_seed():
    with session.guarded(generator=Generator(1)):
        first = list(SubsetRandomSampler(range(30)))
    with session.guarded(generator=Generator(1)):
        assert list(SubsetRandomSampler(range(30))) == first
    with session.guarded(generator=Generator(2)):
        assert list(SubsetRandomSampler(range(30))) != first


@given(st.integers(0, 30), st.integers(1, 7), st.booleans())
def test_batches_are_the_indices_in_order_and_as_many_as_the_length_says(count, size, drop_last):
    sampler = BatchSampler(range(count), batch_size=size, drop_last=drop_last)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    assert list(chain(*batches)) == list(range(count - count % size if drop_last else count))
    assert all(len(batch) == size for batch in batches[:-1])


def test_batches_of_a_sampler_keep_its_order():
    class Backwards(Sampler):
        def __iter__(self):
            return iter([3, 2, 1, 0])

    assert list(BatchSampler(sampler=Backwards(), batch_size=3)) == [[3, 2, 1], [0]]


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_ranks_share_every_sample_evenly(count, size, ranks, shuffle):
    samplers = [
        DistributedBatchSampler(range(count), size, ranks, i, shuffle) for i in range(ranks)
    ]
    shares = [list(chain(*sampler)) for sampler in samplers]
    assert {len(share) for share in shares} == {-(-count // ranks)}
    assert set(chain(*shares)) == set(range(count))
    assert [len(sampler) for sampler in samplers] == [-(-len(shares[0]) // size)] * ranks


def test_ranks_shuffle_as_the_reference_does():
    sampler = DistributedBatchSampler(range(10), 2, num_replicas=2, rank=1, shuffle=True)
    passes = [list(sampler) for _ in range(2)]
    sampler.set_epoch(1)
    assert list(sampler) == passes[1]
    assert passes == RANK_1_OF_2


RANK_1_OF_2 = [[[4, 9], [7, 3], [5]], [[6, 4], [1, 7], [5]]]


def test_a_launched_process_knows_its_rank(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    assert list(DistributedBatchSampler(range(6), 2)) == [[4, 5]]
    monkeypatch.delenv("PADDLE_TRAINERS_NUM")
    monkeypatch.delenv("PADDLE_TRAINER_ID")
    assert list(DistributedBatchSampler(range(3), 2)) == [[0, 1], [2]]


class Stream(IterableDataset):
    pass


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: iter(Sampler()), NotImplementedError, "Sampler gives no indices"),
        (
            lambda: RandomSampler([1], replacement=1),
            TypeError,
            "expect boolean value for replacement, but got replacement=1",
        ),
        (
            lambda: RandomSampler([1], num_samples=2),
            ValueError,
            "num_samples should not be specified while replacement is False",
        ),
        (
            lambda: RandomSampler([1], True, -1),
            ValueError,
            "num_samples should be a positive integer, but got num_samples=-1",
        ),
        (
            lambda: RandomSampler([]),
            ValueError,
            "num_samples should be a positive integer, but got num_samples=0",
        ),
        (
            lambda: WeightedRandomSampler([1.0], 0),
            ValueError,
            "num_samples should be a positive integer",
        ),
        (
            lambda: WeightedRandomSampler([1.0], 1, 2),
            ValueError,
            "replacement should be a boolean value",
        ),
        (
            lambda: list(WeightedRandomSampler("ab", 1)),
            AssertionError,
            "weights should be paddle.Tensor, numpy.ndarray, list or tuple",
        ),
        (
            lambda: list(WeightedRandomSampler(np.ones((1, 1, 1)), 1)),
            AssertionError,
            "weights should be a 1-D or 2-D array",
        ),
        (
            lambda: list(WeightedRandomSampler([1.0, -1.0], 1)),
            AssertionError,
            "weights should be positive value",
        ),
        (
            lambda: list(WeightedRandomSampler([1.0, np.inf], 1)),
            AssertionError,
            "weights shoule not be INF",
        ),
        (
            lambda: list(WeightedRandomSampler([0.0, 0.0], 1)),
            AssertionError,
            "weights should have positive values",
        ),
        (
            lambda: list(WeightedRandomSampler([1.0, 0.0], 2, False)),
            AssertionError,
            "weights positive value number should not less than num_samples when replacement=False",
        ),
        (
            lambda: SubsetRandomSampler([]),
            ValueError,
            "The length of `indices` in SubsetRandomSampler should be greater than 0.",
        ),
        (lambda: BatchSampler(), AssertionError, "either dataset or sampler should be set"),
        (
            lambda: BatchSampler(sampler=[0]),
            AssertionError,
            "sampler should be a paddle.io.Sampler, but got <class 'list'>",
        ),
        (
            lambda: BatchSampler(sampler=SequenceSampler([0]), shuffle=True),
            AssertionError,
            "shuffle should be False when sampler is set",
        ),
        (
            lambda: BatchSampler(Stream()),
            AssertionError,
            "dataset should not be a paddle.io.IterableDataset",
        ),
        (
            lambda: BatchSampler([0], SequenceSampler([0])),
            AssertionError,
            "should not set both dataset and sampler",
        ),
        (
            lambda: BatchSampler([0], shuffle=1),
            AssertionError,
            "shuffle should be a boolean value, but got <class 'int'>",
        ),
        (
            lambda: BatchSampler([0], batch_size=0),
            AssertionError,
            "batch_size should be a positive integer, but got 0",
        ),
        (
            lambda: BatchSampler([0], drop_last=1),
            AssertionError,
            "drop_last should be a boolean value, but got <class 'int'>",
        ),
        (
            lambda: DistributedBatchSampler([0], -1),
            AssertionError,
            "batch_size should be a positive integer",
        ),
        (
            lambda: DistributedBatchSampler([0], 1, num_replicas=0),
            AssertionError,
            "num_replicas should be a positive integer",
        ),
        (
            lambda: DistributedBatchSampler([0], 1, rank=-1),
            AssertionError,
            "rank should be a non-negative integer",
        ),
    ],
)
def test_misuse_is_refused_with_its_reason(use, error, message):
    with pytest.raises(error, match=re.escape(message)):
        use()
