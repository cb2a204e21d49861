"""Threads of Python share what is large: all of it is done once, and errors reach who asked."""

import threading
import time
import warnings
from itertools import accumulate

import numpy as np
import pytest

from scull.core.scratch import scratch, watching
from scull.flags import flags
from scull.ops.columns import convolve, convolve_across, convolve_back
from scull.ops.geometry import geometry
from scull.runtime.blas import at_most
from scull.runtime.workers import LARGE, share


def who_did(count, size=LARGE, threads=2):
    """The threads that did each of so many items; who asked waits for another at its first."""
    found, both = {i: [] for i in range(count)}, threading.Event()

    def begin():
        def work(i):
            found[i].append(threading.get_ident())
            if len({t for some in found.values() for t in some}) > 1:
                both.set()
            both.wait(0.2 if i == 0 else 0)
            time.sleep(0.001)

        return work

    with flags(NUM_THREADS=threads):
        share(begin, range(count), size)
    return found


def test_every_item_is_done_once_by_several_threads():
    found = who_did(20)
    assert [len(some) for some in found.values()] == [1] * 20
    assert len({some[0] for some in found.values()}) == 2


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_or_one_item_needs_no_helper(count):
    assert list(who_did(count).values()) == [[threading.get_ident()]] * count


def test_what_is_small_one_thread_does():
    found = who_did(3, size=LARGE - 1)
    assert set(map(tuple, found.values())) == {(threading.get_ident(),)}


def test_one_thread_does_it_where_others_have_all_or_bytes_are_counted():
    with at_most(1):
        alone = who_did(3)
    with watching(lambda _: None):
        watched = who_did(3)
    assert set(map(tuple, (*alone.values(), *watched.values()))) == {(threading.get_ident(),)}


def test_bytes_that_all_threads_would_take_are_counted_while_one_works():
    told = []

    def begin():
        mine = scratch(np, 100, np.float32)
        return lambda i: mine.fill(i)

    with watching(told.append), flags(NUM_THREADS=3):
        share(begin, range(20), LARGE)
    assert max(accumulate(told)) == 3 * 400
    assert sum(told) == 0


@pytest.mark.parametrize("helper", [False, True])
def test_an_error_of_any_thread_ends_the_work(helper):
    own, failed, done = threading.get_ident(), threading.Event(), []

    def begin():
        def work(i):
            if (threading.get_ident() != own) == helper:
                failed.set()
                raise OverflowError("too much")
            assert failed.wait(5)
            time.sleep(0.001)
            done.append(i)

        return work

    with flags(NUM_THREADS=2), pytest.raises(OverflowError, match="too much"):
        share(begin, range(200), LARGE)
    assert len(done) < 200


def test_helpers_compute_under_the_settings_of_who_asked():
    huge, seen = np.float32(3e38), set()

    def begin():
        def work(i):
            seen.add(threading.get_ident())
            np.multiply(np.full(8, huge), huge)
            while len(seen) < 2 and i == 0:
                pass

        return work

    with warnings.catch_warnings(), np.errstate(over="ignore"), flags(NUM_THREADS=2):
        warnings.simplefilter("error")
        share(begin, range(8), LARGE)
    assert len(seen) == 2


def results(threads, image, filter, strides):
    """A convolution and its gradients, on so many threads."""
    g = geometry(image, filter, strides, (1, 1), "EXPLICIT", (1, 1), 1)
    rng = np.random.default_rng(0)
    x, w, dout = (
        rng.standard_normal(s, dtype="float32")
        for s in (image, filter, (image[0], filter[0], *g.counts))
    )
    out, dx, dw = np.empty_like(dout), np.empty_like(x), np.empty_like(w)
    with flags(NUM_THREADS=threads):
        convolve(np, x, w, out, g)
        convolve_back(np, dout, w, dx, g)
        convolve_across(np, x, dout, dw, g)
    return g, (out, dx, dw)


@pytest.mark.parametrize(
    ("image", "filter", "strides"),
    [
        ((13, 16, 32, 32), (24, 16, 3, 3), (1, 1)),
        ((16, 64, 8, 8), (64, 64, 3, 3), (2, 2)),
        ((32, 128, 4, 4), (128, 128, 3, 3), (1, 1)),
    ],
)
def test_a_convolution_has_the_same_bits_on_any_number_of_threads(image, filter, strides):
    g, alone = results(1, image, filter, strides)
    assert g.work >= LARGE
    assert len(g.batches) > 1
    for threads in (2, 8):
        _, shared = results(threads, image, filter, strides)
        for a, b in zip(alone, shared, strict=True):
            np.testing.assert_array_equal(a, b)
