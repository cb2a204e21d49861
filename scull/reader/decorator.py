"""Readers made of readers. A reader is a function that returns an iterable of samples."""

import multiprocessing
import queue
import random
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, zip_longest
from typing import Any

from scull.errors import ArgumentError, RunError

Reader = Callable[[], Iterable[Any]]
END = object()  # what is behind the last sample


class ComposeNotAligned(ValueError):
    """Readers side by side have samples in different numbers."""


def cache(reader: Reader) -> Reader:
    """A reader of all samples of `reader`, which is read once, into memory.

    Args:
        reader (callable): what is read.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.cache(lambda: range(3))())
        [0, 1, 2]
    """
    samples = tuple(reader())
    return lambda: iter(samples)


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """A reader of what `func` makes of a sample of each reader.

    Args:
        func (callable): gets a sample of each.
        readers (callable): end with the shortest.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.map_readers(max, lambda: [1, 5], lambda: [3, 4])())
        [3, 5]
    """
    return lambda: map(func, *(reader() for reader in readers))


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """A reader of the same samples in random order, of `buf_size` at a time.

    Args:
        reader (callable): what is read.
        buf_size (int): how many samples are mixed.

    Examples:
        >>> import scull as paddle
        >>> sorted(paddle.reader.shuffle(lambda: range(4), 2)())
        [0, 1, 2, 3]
    """

    def mixed() -> Iterator[Any]:
        source = iter(reader())
        while samples := list(islice(source, buf_size)):
            random.shuffle(samples)
            yield from samples

    return mixed


def chain(*readers: Reader) -> Reader:
    """A reader of one reader after the other.

    Args:
        readers (callable): what is read.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.chain(lambda: [1], lambda: [2, 3])())
        [1, 2, 3]
    """
    return lambda: (sample for reader in readers for sample in reader())


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """A reader of tuples: the samples of all readers side by side, their own tuples opened.

    Args:
        readers (callable): what is read.
        check_alignment (bool): raise where one ends before another; else end with the shortest.

    Raises:
        ComposeNotAligned: when read.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.compose(lambda: [(1, 2)], lambda: [3])())
        [(1, 2, 3)]
    """

    def side_by_side() -> Iterator[tuple[Any, ...]]:
        sources = [reader() for reader in readers]
        rows = zip_longest(*sources, fillvalue=END) if check_alignment else zip(*sources)  # noqa: B905
        for row in rows:
            if any(sample is END for sample in row):
                raise ComposeNotAligned("outputs of readers are not aligned.")
            yield tuple(part for sample in row for part in as_tuple(sample))

    return side_by_side


def as_tuple(sample: Any) -> tuple[Any, ...]:
    """A sample as a tuple."""
    return sample if isinstance(sample, tuple) else (sample,)


def buffered(reader: Reader, size: int) -> Reader:
    """A reader of the same samples, up to `size` of which are read ahead by a thread.

    Args:
        reader (callable): what is read.
        size (int): how many.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.buffered(lambda: range(3), 2)())
        [0, 1, 2]
    """

    def ahead() -> Iterator[Any]:
        found: queue.Queue[Any] = queue.Queue(size)
        left = threading.Event()

        def read() -> None:
            last: tuple[Any, Any] = (END, None)
            try:
                for sample in reader():
                    if not put(found, (sample, None), left):
                        return
            except BaseException as error:  # it is raised where the sample would have come
                last = (END, error)
            put(found, last, left)

        threading.Thread(target=read, daemon=True).start()
        try:
            while (entry := found.get())[0] is not END:
                yield entry[0]
            if entry[1] is not None:
                raise entry[1]
        finally:
            left.set()

    return ahead


def put(target: "queue.Queue[Any]", entry: Any, left: threading.Event) -> bool:
    """Wait for room for an entry; False when nobody reads any more."""
    while not left.is_set():
        try:
            target.put(entry, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False


def firstn(reader: Reader, n: int) -> Reader:
    """A reader of the first `n` samples.

    Args:
        reader (callable): what is read.
        n (int): how many.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.firstn(lambda: range(9), 2)())
        [0, 1]
    """
    return lambda: islice(reader(), n)


def xmap_readers(
    mapper: Callable[[Any], Any],
    reader: Reader,
    process_num: int,
    buffer_size: int,
    order: bool = False,
) -> Reader:
    """A reader of what `mapper` makes of samples, on several threads.

    Args:
        mapper (callable): gets a sample.
        reader (callable): what is read.
        process_num (int): how many threads.
        buffer_size (int): how many samples are under way.
        order (bool): kept for Paddle's signature: the order always stays.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.reader.xmap_readers(abs, lambda: [-1, 2], 2, 4)())
        [1, 2]
    """

    def mapped() -> Iterator[Any]:
        source = iter(reader())
        with ThreadPoolExecutor(process_num) as pool:
            pending = deque(pool.submit(mapper, sample) for sample in islice(source, buffer_size))
            while pending:
                yield pending.popleft().result()
                pending.extend(pool.submit(mapper, sample) for sample in islice(source, 1))

    return mapped


def multiprocess_reader(
    readers: list[Reader], use_pipe: bool = True, queue_size: int = 1000
) -> Reader:
    """A reader of the samples of several readers, each read by a process of its own.

    Args:
        readers (list[callable]): what is read; the order between them is open.
        use_pipe (bool): kept for Paddle's signature.
        queue_size (int): how many samples wait to be taken.

    Raises:
        RunError: when read: a reader failed, or one of its samples is None.

    Examples:
        >>> import scull as paddle
        >>> sorted(paddle.reader.multiprocess_reader([lambda: [1], lambda: [2]])())
        [1, 2]
    """
    if not isinstance(readers, list) or not readers:
        raise ArgumentError("`readers` must be list of reader")

    def merged() -> Iterator[Any]:
        context = multiprocessing.get_context("fork")
        entries = context.Queue(queue_size)
        workers = [
            context.Process(target=send, args=(reader, entries), daemon=True) for reader in readers
        ]
        for worker in workers:
            worker.start()
        try:
            running = len(workers)
            while running:
                sample, problem = entries.get()
                if problem:
                    raise RunError(f"multiprocess_reader: a reader failed:\n{problem}")
                if sample is None:
                    running -= 1
                else:
                    yield sample
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()

    return merged


def send(reader: Reader, entries: Any) -> None:
    """Put every sample into a queue, then None, or what went wrong."""
    try:
        for sample in reader():
            if sample is None:
                raise ArgumentError("sample has None")
            entries.put((sample, ""))
        entries.put((None, ""))
    except Exception:
        entries.put((None, traceback.format_exc()))


__all__ = [
    "ComposeNotAligned",
    "buffered",
    "cache",
    "chain",
    "compose",
    "firstn",
    "map_readers",
    "multiprocess_reader",
    "shuffle",
    "xmap_readers",
]
