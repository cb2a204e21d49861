"""A run of a block of dataflow on several threads: whoever has time takes what is ready.

Who holds the lock moves tokens and runs what is small; large regions run without it.
"""

import os
import threading
from typing import TYPE_CHECKING

from scull.runtime.blas import one_thread
from scull.runtime.workers import workers

if TYPE_CHECKING:
    from scull.executor.flow import Round, Run
    from scull.executor.region import Region


class Sharing:
    """What the threads of one run have in common."""

    def __init__(self, run: "Run") -> None:
        self.run = run
        self.change = threading.Condition()
        self.own: list[tuple[Round, Region]] = []  # for the thread that asked for the run
        self.busy = 0  # threads that run something without the lock
        self.failed: BaseException | None = None

    def serve(self, leads: bool) -> None:
        """Run what is ready until nothing is and nobody is at work."""
        with self.change:
            try:
                while not self.failed and (self.run.ready or self.own or self.busy):
                    self.serve_one(leads)
            except BaseException as error:
                self.failed = self.failed or error
            self.change.notify_all()
            while leads and self.busy:
                self.change.wait()

    def serve_one(self, leads: bool) -> None:
        """Run one region, or wait for what others do."""
        ready = self.own if leads and self.own else None
        if ready is None and not self.run.ready:
            self.change.wait()
            return
        here, region = ready.pop(0) if ready else self.run.ready.popleft()
        if region.calls_python and not leads:
            self.own.append((here, region))
            self.change.notify_all()
            return
        if region.is_large:
            self.compute_aside(here, region)
        else:
            self.run.compute(here, region)
        if not self.failed:
            self.run.finish(here, region)
        if self.busy or len(self.run.ready) > 1:
            self.change.notify_all()

    def compute_aside(self, here: "Round", region: "Region") -> None:
        """Run a region while others do what else is ready."""
        self.busy += 1
        if self.run.ready:
            self.change.notify()
        self.change.release()
        try:
            self.run.compute(here, region)
        finally:
            self.change.acquire()
            self.busy -= 1


def run_shared(run: "Run", threads: int) -> None:
    """Run on this thread and `threads - 1` others."""
    sharing = Sharing(run)
    with one_thread():
        helpers = workers(threads - 1, os.getpid())
        for _ in range(threads - 1):
            helpers.submit(sharing.serve, False)
        sharing.serve(True)
    if sharing.failed is not None:
        raise sharing.failed
