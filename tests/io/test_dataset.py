"""Datasets give the samples they promise and refuse what does not fit together."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scull.core import session
from scull.core.interpreter import Interpreter
from scull.core.random import Generator
from scull.errors import ArgumentError, ArgumentTypeError
from scull.io import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Numbers(Dataset):
    def __init__(self, count, start=0):
        self.count, self.start = count, start

    def __getitem__(self, idx):
        return self.start + idx

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        yield from range(self.count)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: Dataset()[0], NotImplementedError, "'__getitem__' not implement in class Dataset"),
        (lambda: len(Dataset()), NotImplementedError, "'__len__' not implement in class Dataset"),
        (
            lambda: iter(IterableDataset()),
            NotImplementedError,
            "'__iter__' not implement in class IterableDataset",
        ),
        (
            lambda: Stream(3)[0],
            RuntimeError,
            "'__getitem__' should not be called for IterableDatasetStream",
        ),
        (
            lambda: len(Stream(3)),
            RuntimeError,
            "'__len__' should not be called for IterableDatasetStream",
        ),
        (
            lambda: TensorDataset([np.ones(3), np.ones(2)]),
            AssertionError,
            "tensors not have same shape of the 1st dimension",
        ),
        (lambda: ComposeDataset([]), AssertionError, "input datasets shoule not be empty"),
        (
            lambda: ComposeDataset([[1]]),
            AssertionError,
            "each input dataset should be paddle.io.Dataset",
        ),
        (
            lambda: ComposeDataset([Stream(3)]),
            AssertionError,
            "paddle.io.IterableDataset not supported",
        ),
        (
            lambda: ComposeDataset([Numbers(2), Numbers(3)]),
            AssertionError,
            "lengths of datasets should be same",
        ),
        (lambda: ChainDataset([]), AssertionError, "input datasets shoule not be empty"),
        (
            lambda: ChainDataset([Numbers(3)]),
            AssertionError,
            "ChainDataset only support paddle.io.IterableDataset",
        ),
        (lambda: ConcatDataset([]), AssertionError, "datasets should not be an empty iterable"),
        (
            lambda: ConcatDataset([Stream(3)]),
            AssertionError,
            "ConcatDataset does not support IterableDataset",
        ),
        (
            lambda: ConcatDataset([Numbers(2)])[-3],
            ArgumentError,
            "absolute value of index should not exceed dataset length",
        ),
        (
            lambda: random_split(Numbers(5), [2, 2]),
            ArgumentError,
            "Sum of input lengths does not equal the length of the input dataset!",
        ),
        (
            lambda: random_split(Numbers(2), [2], generator=3),
            ArgumentTypeError,
            "generator should be a Generator, but got <class 'int'>",
        ),
    ],
)
def test_misuse_is_refused_with_its_reason(use, error, message):
    with pytest.raises(error, match=re.escape(message) + "$"):
        use()


def test_a_tensor_dataset_gives_rows_side_by_side():
    dataset = TensorDataset([np.arange(6).reshape(3, 2), np.array([7, 8, 9])])
    row, number = dataset[1]
    assert (row.tolist(), number, len(dataset)) == ([2, 3], 8, 3)


def test_a_tensor_dataset_is_refused_in_static_mode(monkeypatch):
    monkeypatch.setattr("scull.io.collate.base", [Interpreter(), Interpreter()])
    with pytest.raises(RuntimeError, match="TensorDataset con only be used in imperative mode"):
        TensorDataset([np.ones(3)])


def test_composing_puts_the_fields_of_lists_and_single_samples_in_one_tuple():
    pairs = TensorDataset([np.array([1, 2]), np.array([3, 4])])
    assert ComposeDataset([pairs, Numbers(2, 10)])[1] == (2, 4, 11)


def test_chaining_goes_from_one_stream_to_the_next():
    assert list(iter(ChainDataset([Stream(2), Stream(0), Stream(3)]))) == [0, 1, 0, 1, 2]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_concatenating_is_concatenating_lists(lengths):
    parts = [Numbers(count, 100 * i) for i, count in enumerate(lengths)]
    whole = ConcatDataset(parts)
    listed = [part[i] for part in parts for i in range(len(part))]
    assert [whole[i] for i in range(len(whole))] == listed
    assert [whole[i - len(whole)] for i in range(len(whole))] == listed


def test_a_subset_of_a_subset_finds_the_samples_of_the_whole():
    outer = Subset(Subset(Numbers(10), [9, 7, 5]), [2, 0])
    assert ([outer[0], outer[1]], len(outer)) == ([5, 9], 2)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_a_split_deals_out_every_sample_once(lengths):
    parts = random_split(Numbers(sum(lengths)), lengths)
    assert [len(part) for part in parts] == lengths
    assert sorted(i for part in parts for i in part.indices) == list(range(sum(lengths)))


def test_the_seed_decides_a_split_and_a_given_generator_wins():
    def indices(**given_generator):
        return random_split(Numbers(50), [50], **given_generator)[0].indices

    with session.guarded(generator=Generator(7)):
        first, second = indices(), indices()
    with session.guarded(generator=Generator(7)):
        assert indices(generator=Generator(7)) == first
        assert indices() == first
        assert indices() == second
    assert first != second
