"""Readers made of readers."""

import doctest
import threading

import pytest

import scull as paddle
from scull.errors import ArgumentError, RunError
from scull.reader import decorator
from scull.reader.decorator import (
    ComposeNotAligned,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    multiprocess_reader,
    shuffle,
    xmap_readers,
)


def broken():
    yield 1
    raise KeyError("the second")


def test_the_examples_print_what_they_say():
    results = doctest.testmod(decorator)
    assert results.attempted and not results.failed


def test_a_cache_reads_once():
    calls = []
    reader = cache(lambda: calls.append(1) or [1, 2])
    assert [list(reader()), list(reader()), calls] == [[1, 2], [1, 2], [1]]


def test_a_shuffle_mixes_only_so_many_at_a_time():
    found = list(shuffle(lambda: range(10), 5)())
    assert sorted(found[:5]) == list(range(5)) and sorted(found[5:]) == list(range(5, 10))


def test_composed_readers_open_tuples_and_end_together():
    pairs, numbers = (lambda: [(1, 2), (3, 4)]), (lambda: [5, 6])
    assert list(compose(pairs, numbers)()) == [(1, 2, 5), (3, 4, 6)]
    short = compose(pairs, lambda: [5])
    with pytest.raises(ComposeNotAligned, match="not aligned"):
        list(short())
    assert list(compose(pairs, lambda: [5], check_alignment=False)()) == [(1, 2, 5)]


def test_chains_maps_and_beginnings():
    assert list(chain(lambda: [1], lambda: [2, 3])()) == [1, 2, 3]
    assert list(map_readers(lambda a, b: a - b, lambda: [5, 6], lambda: [1])()) == [4]
    assert list(firstn(lambda: range(9), 3)()) == [0, 1, 2]


def test_what_is_read_ahead_comes_in_order_and_an_error_comes_in_its_place():
    assert list(buffered(lambda: range(100), 3)()) == list(range(100))
    source = buffered(broken, 3)()
    assert next(source) == 1
    with pytest.raises(KeyError, match="the second"):
        next(source)


def test_a_reader_ahead_ends_when_nobody_reads_any_more():
    before = threading.active_count()
    source = buffered(lambda: iter(int, 1), 2)()
    next(source)
    source.close()
    for thread in threading.enumerate()[before:]:
        thread.join(5)
    assert threading.active_count() == before


@pytest.mark.parametrize("order", [False, True])
def test_mapped_samples_keep_their_order(order):
    reader = xmap_readers(lambda x: x * x, lambda: range(20), 3, 4, order)
    assert list(reader()) == [x * x for x in range(20)]


def test_several_processes_read_into_one_stream():
    reader = multiprocess_reader([lambda: range(5), lambda: range(5, 9)], queue_size=2)
    assert sorted(reader()) == list(range(9))
    with pytest.raises(RunError, match="the second"):
        list(multiprocess_reader([broken])())
    with pytest.raises(ArgumentError, match="list of reader"):
        multiprocess_reader([])


def test_readers_are_found_as_paddle_has_them():
    assert paddle.reader.shuffle is shuffle and paddle.reader.decorator is decorator
