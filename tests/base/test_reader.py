"""Loaders made from generators, as PaddlePaddle 2.6.2 has them."""

import doctest

import numpy as np
import pytest

import scull as paddle
from scull.base import reader
from scull.errors import ArgumentError

from_generator = reader.DataLoader.from_generator


@pytest.fixture
def inputs():
    """Two inputs of a default Program, in static mode."""
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield [paddle.static.data("x", [-1, 3]), paddle.static.data("y", [-1, 1], "int64")]
    paddle.disable_static()


def samples():
    for i in range(5):
        yield np.full(3, i, "float32"), np.array([i])


def lists():
    for i in range(2):
        yield [(np.full(3, i, "float32"), [i])] * 4


def batches():
    for i in range(3):
        yield np.full((4, 3), i, "float32"), np.full((4, 1), i, "int64")


def shapes(batch):
    """Shapes and element types of a batch."""
    entries = batch.values() if isinstance(batch, dict) else batch
    return [f"{np.asarray(v).dtype}{list(np.asarray(v).shape)}" for v in entries]


def test_the_examples_print_what_they_say():
    results = doctest.testmod(reader)
    assert results.attempted and not results.failed


@pytest.mark.parametrize("drop_last", [True, False])
def test_samples_become_batches_to_feed(inputs, drop_last):
    loader = from_generator(inputs, capacity=2)
    loader.set_sample_generator(samples, 2, drop_last, places=paddle.CPUPlace())
    total = paddle.sum(inputs[0]) + paddle.sum(inputs[1]).astype("float32")
    for _ in range(2):
        exe = paddle.static.Executor()
        found = [exe.run(feed=batch, fetch_list=[total])[0].item() for batch in loader()]
        assert found == [4, 20] + [16] * (not drop_last)


def test_lists_of_samples_and_whole_batches_come_a_dictionary_a_place(inputs):
    loader = from_generator(inputs, capacity=2).set_sample_list_generator(lists, paddle.CPUPlace())
    assert [list(map(shapes, group)) for group in loader] == [
        [["float32[4, 3]", "int64[4, 1]"]]
    ] * 2
    loader = from_generator(inputs, capacity=2).set_batch_generator(
        batches, paddle.static.cpu_places(2)
    )
    assert [len(group) for group in loader] == [2]
    loader = from_generator(inputs, capacity=2, return_list=True, drop_last=False)
    loader.set_batch_generator(batches, paddle.static.cpu_places(2))
    assert [list(map(shapes, group)) for group in loader] == [
        [["float32[4, 3]", "int64[4, 1]"]] * n for n in (2, 1)
    ]


def test_a_program_reads_its_batches_until_there_are_no_more(inputs):
    loader = reader.PyReader(inputs, capacity=2, iterable=False)
    loader.decorate_batch_generator(batches)
    total = paddle.sum(inputs[0])
    exe = paddle.static.Executor()
    for _ in range(2):
        loader.start()
        assert [exe.run(fetch_list=[total])[0].item() for _ in range(3)] == [0, 12, 24]
        with pytest.raises(paddle.base.core.EOFException):
            exe.run(fetch_list=[total])
        loader.reset()
    with pytest.raises(AssertionError, match="is not iterable"):
        iter(loader)


def test_eager_loaders_give_tensors():
    loader = from_generator(capacity=2).set_sample_generator(samples, batch_size=2)
    found = list(loader())
    assert [list(map(str, shapes(batch))) for batch in found] == [
        ["float32[2, 3]", "int64[2, 1]"]
    ] * 2
    assert all(isinstance(v, paddle.Tensor) for batch in found for v in batch)


def test_an_error_of_a_generator_comes_in_the_place_of_a_batch(inputs):
    def broken():
        yield from batches()
        raise KeyError("the fourth")

    loader = from_generator(inputs, capacity=1).set_batch_generator(broken, paddle.CPUPlace())
    taken = iter(loader)
    assert len([next(taken) for _ in range(3)]) == 3
    with pytest.raises(KeyError, match="the fourth"):
        next(taken)


def test_mistakes_are_refused(inputs):
    for options, law in (({"feed_list": inputs}, "capacity"), ({"capacity": 2}, "Feed list")):
        with pytest.raises(ArgumentError, match=law):
            from_generator(**options)
    loader = from_generator(inputs, capacity=2)
    for call, law in (
        (lambda: iter(loader), "has not set yet"),
        (lambda: loader.set_batch_generator(batches), "Places cannot be None"),
        (lambda: loader.set_sample_generator(samples, 0), "larger than 0"),
        (loader.start, r"start\(\) cannot be called"),
        (loader.reset, r"reset\(\) cannot be called"),
    ):
        with pytest.raises(AssertionError, match=law):
            call()
    with pytest.raises(TypeError, match="dataset is a QueueDataset, not NoneType"):
        reader.DataLoader.from_dataset(None, None)
