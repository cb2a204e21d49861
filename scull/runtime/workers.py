"""Threads of Python that help with what is large: NumPy lets others run while it computes."""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import TypeVar

from scull.core.scratch import is_watched, repeated
from scull.runtime.blas import limit, one_thread
from scull.runtime.pool import get_num_threads

Item = TypeVar("Item")
Work = Callable[[Item], None]

LARGE = 1 << 22  # steps of arithmetic that are worth a thread's waking


def share(begin: Callable[[], Work[Item]], items: Sequence[Item], size: float) -> None:
    """Do the work that `begin` gives for every item, on as many threads as may share a kernel.

    Each thread begins once, which makes what it needs for itself. Items must not depend on each
    other: nothing tells in which order they are done. What is of few steps (`size`, in all) one
    thread does alone, and so it is while another run has all threads. Where bytes are counted, one
    thread does it and those of all are counted. Products of matrices have the same bits for any
    number of threads.
    """
    waiting = deque(items)
    if len(items) < 2 or size < LARGE:
        serve(begin, waiting)
        return
    threads = int(min(get_num_threads(), limit(), len(items)))
    if is_watched():
        with one_thread(), repeated(threads):
            serve(begin, waiting)
        return
    helpers = threads - 1
    run = partial(serve, begin, waiting)
    with one_thread():
        pool = workers(helpers, os.getpid()) if helpers else None
        others = [pool.submit(copy_context().run, run) for _ in range(helpers) if pool]
        try:
            run()
        finally:
            found = [other.exception() for other in others if not other.cancel()]
    for error in found:
        if error is not None:
            raise error


def serve(begin: Callable[[], Work[Item]], waiting: deque[Item]) -> None:
    """Do what waits until nothing does, or an error ends it for all."""
    try:
        work = begin() if waiting else None
        while work and waiting:
            try:
                item = waiting.popleft()
            except IndexError:  # another took it
                return
            work(item)
    except BaseException:
        waiting.clear()
        raise


@cache
def workers(count: int, process: int) -> ThreadPoolExecutor:
    """The threads that help, made once in a process."""
    return ThreadPoolExecutor(count, thread_name_prefix="scull")
