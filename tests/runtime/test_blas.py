"""How many threads a product of matrices takes while a run has several."""

import threading

import pytest

from scull.runtime import blas


@pytest.fixture
def library(monkeypatch):
    """A library of four threads in the place of NumPy's."""
    state = [4]
    fake = blas.Threads(lambda: state[0], lambda count: state.__setitem__(0, count))
    monkeypatch.setattr(blas, "threads", lambda: fake)
    return state


def test_a_product_takes_one_thread_within_the_block_and_as_many_as_before_after_it(library):
    with blas.one_thread():
        assert library == [1]
    assert library == [4]


def test_an_error_within_the_block_gives_the_threads_back(library):
    with pytest.raises(ZeroDivisionError), blas.one_thread():
        raise ZeroDivisionError
    assert library == [4]


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
def test_the_library_of_numpy_is_told_and_told_back():
    found = blas.threads()
    before = found.get()
    found.set(2)
    try:
        with blas.one_thread():
            assert found.get() == 1
        assert found.get() == 2
    finally:
        found.set(before)
