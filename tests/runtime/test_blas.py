"""How many threads a product of matrices takes while a run has several."""

import gc
import threading

import pytest

from scull.runtime import blas


@pytest.fixture
def library(monkeypatch):
    """A library of four threads in the place of NumPy's."""
    state = [4]
    fake = blas.Threads(lambda: state[0], lambda count: state.__setitem__(0, count))
    monkeypatch.setattr(blas, "threads", lambda: fake)
    monkeypatch.setattr(blas, "_shared", blas.Shared())
    return state


def test_a_product_takes_one_thread_within_the_block_and_as_many_as_before_after_it(library):
    with blas.one_thread():
        assert library == [1]
    assert library == [4]


def test_an_error_within_the_block_gives_the_threads_back(library):
    with pytest.raises(ZeroDivisionError), blas.one_thread():
        raise ZeroDivisionError
    assert library == [4]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_interrupt_in_the_block_s_own_work_gives_the_threads_back(monkeypatch, library, number):
    """It comes once a call has ended: that which asks, or sets at the beginning or the end."""
    real, left = blas.threads(), [number]

    def counted(call):
        def wrapped(*arguments):
            found = call(*arguments)
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            return found

        return wrapped

    fake = blas.Threads(counted(real.get), counted(real.set))
    with monkeypatch.context() as patch:
        patch.setattr(blas, "threads", lambda: fake)
        with pytest.raises(KeyboardInterrupt), blas.one_thread():
            pass
    gc.collect()
    with blas.one_thread():
        assert library == [1]
    assert (library, blas._shared.limits) == ([4], {})


def test_a_block_that_never_ended_itself_ends_when_it_is_gone(library):
    limit = blas.one_thread()
    limit.__enter__()
    assert library == [1]
    del limit
    gc.collect()
    assert (library, blas._shared.limits) == ([4], {})


def test_the_last_of_several_blocks_gives_the_threads_back(library):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with blas.one_thread():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with blas.one_thread():
        thread.start()
        inside.wait()
    assert library == [1]
    leave.set()
    thread.join()
    assert library == [4]


def test_a_library_that_is_not_known_keeps_its_settings(monkeypatch):
    monkeypatch.setattr(blas, "NAMES", [("no_get", "no_set")])
    blas.threads.cache_clear()
    try:
        assert blas.threads() is None
        with blas.one_thread():
            pass
    finally:
        monkeypatch.undo()
        blas.threads.cache_clear()


@pytest.mark.skipif(blas.threads() is None, reason="NumPy was not linked with OpenBLAS")
def test_the_library_of_numpy_is_told_and_told_back(monkeypatch):
    monkeypatch.setattr(blas, "_shared", blas.Shared())
    found = blas.threads()
    before = found.get()
    found.set(2)
    try:
        with blas.one_thread():
            assert found.get() == 1
        assert found.get() == 2
    finally:
        found.set(before)
