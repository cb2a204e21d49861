"""Worker processes: each makes some of the batches, the loader gives them out in order.

A worker has a pipe for its tasks and one for its batches: no lock is left held when one dies, and
workers end when the loader's process does, since their tasks do. Tasks go round the workers; each
sends from a thread of its own, so that it never waits for the reader before its next task.
"""

import multiprocessing
import os
import pickle
import queue
import random
import signal
import sys
import threading
import traceback
import warnings
import weakref
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from scull.core import interpreter, session
from scull.io.collate import array_of, convert
from scull.io.fetch import fetcher_of

PATIENCE = 5.0  # seconds a worker has for its last batch before it is ended
_here = []  # the WorkerInfo of this process, if it is a worker


class WorkerInfo:
    """What a worker may know of itself: `id`, `num_workers`, `dataset`, `seed`."""

    def __init__(self, **facts):
        vars(self).update(facts)

    def __setattr__(self, name, value):
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")


def get_worker_info():
    """Which worker of a DataLoader this process is.

    Returns:
        WorkerInfo: its `id`, `num_workers`, `dataset` and `seed`; None outside of workers.

    Examples:
        >>> get_worker_info() is None
        True
    """
    return _here[0] if _here else None


@dataclass(frozen=True)
class Job:
    """What all workers of a loader do."""

    dataset: Any
    recipe: Any  # how samples become batches
    initialise: Any  # called with the worker's number first, unless None
    workers: int
    seed: int


@dataclass(frozen=True)
class Failure:
    """An exception on its way to the loader's process."""

    error: Exception
    text: str


class Restart:
    """The task to go through an iterable dataset from its start again."""


class Ended:
    """The reply of a worker whose iterable dataset has no more samples."""


class Worker:
    """A worker process, as seen by the loader."""

    def __init__(self, context, job, number, stopping):
        tasks, self.tasks = context.Pipe(duplex=False)
        self.replies, replies = context.Pipe(duplex=False)
        ours = (self.tasks, self.replies)
        self.process = context.Process(
            target=_work, args=(job, number, tasks, replies, ours, stopping), daemon=True
        )
        with warnings.catch_warnings():  # Python 3.12 warns that threads of NumPy's are not copied
            warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
            self.process.start()
        tasks.close()
        replies.close()

    def give(self, task):
        """Hand a task over; a worker that is gone is noticed when its reply is missing."""
        try:
            self.tasks.send(task)
        except BrokenPipeError:
            return

    def reply(self):
        """What the worker answers to the oldest open task."""
        wait([self.replies, self.process.sentinel])
        try:
            if self.replies.poll():
                return self.replies.recv()
        except EOFError:
            pass
        raise RuntimeError(f"DataLoader 1 workers exit unexpectedly, pids: {self.process.pid}")

    def close(self):
        """Take what the worker still sends, so that it can end, and end it if it does not."""
        try:
            while self.replies.poll(PATIENCE):
                self.replies.recv_bytes()
        except (EOFError, OSError):
            self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()
        self.tasks.close()
        self.replies.close()


class Pool:
    """The workers of one loader; they end when nobody holds it. `ahead` tasks are out at a time."""

    def __init__(self, job, ahead):
        context = multiprocessing.get_context("fork")
        stopping = context.Event()
        self.ahead = ahead
        self.out = deque()  # the workers that owe a reply, in the order of the tasks
        self.workers = []
        for number in range(job.workers):
            self.workers.append(Worker(context, job, number, stopping))
        weakref.finalize(self, _end, os.getpid(), stopping, self.workers)

    def batches(self, tasks):
        """The batches of `tasks`, in their order."""
        self._restart()
        tasks, active, out = iter(tasks), deque(self.workers), self.out
        while True:
            while active and len(out) < self.ahead and (task := next(tasks, Ended)) is not Ended:
                active[0].give(task)
                out.append(active[0])
                active.rotate(-1)
            if not out:
                return
            worker = out.popleft()
            reply = worker.reply()
            if isinstance(reply, Failure):
                raise _explained(reply)
            if not isinstance(reply, Ended):
                yield reply
            elif worker in active:
                active.remove(worker)

    def _restart(self):
        """Forget what a pass that was left early had asked for."""
        while self.out:
            self.out.popleft().reply()
        for worker in self.workers:
            worker.give(Restart())


def _end(owner, stopping, workers):
    """End all workers, unless this process is itself a copy of their owner."""
    if os.getpid() == owner:
        stopping.set()
        for worker in workers:
            worker.give(None)
        for worker in workers:
            worker.close()


def _work(job, number, tasks, replies, ours, stopping):
    """The life of a worker process."""
    for end in ours:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the loader's process decides
    _settle(job, number)
    outbox = queue.SimpleQueue()
    sender = threading.Thread(target=_send, args=(outbox, replies), daemon=True)
    sender.start()
    fetch = None
    try:
        if job.initialise is not None:
            job.initialise(number)
        trouble = None
    except Exception as error:
        trouble = error
    while True:
        try:
            task = tasks.recv()
        except EOFError:
            break
        if task is None:
            break
        if isinstance(task, Restart):
            fetch = None
        elif not stopping.is_set():
            try:
                if trouble is not None:
                    raise trouble
                fetch = fetch or fetcher_of(job.dataset, job.recipe)
                outbox.put(_packed(fetch, task))
            except Exception as error:
                outbox.put(_packed_failure(number, error))
    outbox.put(None)
    sender.join()


def _settle(job, number):
    """Random numbers of its own, eager mode, and the knowledge of which worker this is."""
    seed = job.seed + number
    random.seed(seed)
    words = np.random.SeedSequence([number, job.seed & 0xFFFFFFFF, job.seed >> 32, 0])
    np.random.seed(words.generate_state(4))
    session.generator().manual_seed(seed)
    if interpreter.base:
        interpreter.set_base(interpreter.base[0])
    _here[:] = [WorkerInfo(id=number, num_workers=job.workers, dataset=job.dataset, seed=job.seed)]


def _send(outbox, replies):
    try:
        while (message := outbox.get()) is not None:
            replies.send_bytes(message)
    except BrokenPipeError:
        return


def _packed(fetch, task):
    try:
        batch = fetch(task)
    except StopIteration:
        return ForkingPickler.dumps(Ended())
    return ForkingPickler.dumps(convert(batch, array_of))


def _packed_failure(number, error):
    """The exception itself where it can travel, else one that says the same."""
    text = "".join(traceback.format_exception(error))
    text = f"DataLoader worker({number}) caught {type(error).__name__} with message:\n{text}"
    try:
        packed = pickle.dumps(Failure(error, text))
        pickle.loads(packed)
    except Exception:
        packed = pickle.dumps(Failure(RuntimeError(text), ""))
    return packed


def _explained(failure):
    if failure.text:
        failure.error.add_note(failure.text)
    return failure.error


def fresh_seed():
    """A seed for workers, drawn from NumPy's global generator."""
    return int(np.random.randint(low=0, high=sys.maxsize))
