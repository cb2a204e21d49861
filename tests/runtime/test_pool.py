"""The pool of threads: every chunk runs once, whoever is late, forked, ended or refused."""

import ctypes
import importlib.util
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import scull
from scull.core.cpus import usable_cpus
from scull.errors import ArgumentError, ArgumentTypeError
from scull.flags import flags
from scull.runtime import blas, llvm
from scull.runtime.pool import Pool, get_num_threads, pool, set_num_threads
from tests.runtime.child import ended, fork, needs_fork

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="kernels run on one thread here"),
]

# Raises counts[chunk] by one, after it has yielded counts[-1] times.
COUNTING = """
declare void @share(ptr, ptr, i64, i64, i64)
declare void @sched_yield()

define internal void @mark(ptr %counts, i64 %first, i64 %last, i64 %worker) nounwind {
entry:
  %slow.at = getelementptr i64, ptr %counts, i64 -1
  %slow = load i64, ptr %slow.at
  br label %each
each:
  %i = phi i64 [%first, %entry], [%next, %after]
  br label %yield
yield:
  %k = phi i64 [0, %each], [%k.next, %yield]
  call void @sched_yield()
  %k.next = add i64 %k, 1
  %again = icmp ult i64 %k.next, %slow
  br i1 %again, label %yield, label %after
after:
  %at = getelementptr i64, ptr %counts, i64 %i
  %old = atomicrmw add ptr %at, i64 1 monotonic
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %each, label %done
done:
  ret void
}

define void @count(ptr %counts, i64 %chunks, i64 %most) nounwind {
  call void @share(ptr @mark, ptr %counts, i64 %chunks, i64 1000000, i64 %most)
  ret void
}
"""


def counting(share):
    """A function that runs so many chunks, and tells how often each was run."""
    library = llvm.build([llvm.Module(COUNTING, ("count",))], {"share": share})
    kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    function = ctypes.CFUNCTYPE(None, *kinds)(library.addresses["count"])

    def counted(chunks, *, most=0, slow=1, times=1):
        counts = np.zeros(chunks + 1, np.int64)
        counts[0] = slow
        for _ in range(times):
            function(counts[1:].ctypes.data, chunks, most)
        assert library
        return counts[1:]

    return counted


@pytest.fixture(scope="module")
def count():
    return counting(pool().share)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("chunks", [1, 2, 3, 7, 64, 1000])
def test_every_chunk_runs_once(count, threads, chunks):
    with flags(NUM_THREADS=threads):
        assert (count(chunks, times=50) == 50).all()
        assert (count(chunks, slow=20) == 1).all()
        assert pool().started <= min(threads, chunks) - 1


def test_threads_start_when_they_are_needed(count):
    with flags(NUM_THREADS=4):
        assert pool().started == 0
        count(1)
        assert pool().started == 0
        count(300, most=2)
        assert pool().started == 1
        count(300)
        assert pool().started == 3
        assert pool().count == 4


@pytest.mark.skipif(usable_cpus() < 2, reason="there is one CPU for all threads")
def test_a_thread_that_wakes_on_the_cpu_of_who_woke_it_leaves_that(count):
    cpus = os.sched_getaffinity(0)
    one = min(cpus)
    with flags(NUM_THREADS=2):
        pool().resize(2)
        tasks = set(os.listdir("/proc/self/task"))
        count(2, slow=1000)
        (worker,) = {int(n) for n in set(os.listdir("/proc/self/task")) - tasks}
        assert comes(lambda: sleeps(worker))  # one that has not begun would know of one CPU alone
        try:
            os.sched_setaffinity(0, {one})
            os.sched_setaffinity(worker, {one})
            for _ in range(200):
                time.sleep(0.01)  # it sleeps, too
                count(2, slow=1000)
                if os.sched_getaffinity(worker) != {one}:
                    break
            assert os.sched_getaffinity(worker) == cpus - {one}
        finally:
            os.sched_setaffinity(0, cpus)


def sleeps(thread):
    """Whether a thread of this process is asleep."""
    told = Path(f"/proc/self/task/{thread}/stat").read_text()
    return told.rpartition(")")[2].split()[0] == "S"


def comes(true, seconds=60):
    """Whether something is true before long."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.001)
    return found


def test_a_thread_sleeps_where_no_job_comes_for_a_while(count):
    with flags(NUM_THREADS=3):
        count(300)
        assert pool().started == 2
        assert comes(lambda: pool().get("sleepers") == 2)


def test_a_thread_whose_core_others_want_sleeps_soon(count):
    with flags(NUM_THREADS=2):
        kept, busy = pool().get("patience"), [sys.executable, "-c", "while True: pass"]
        pool().set("patience", 1 << 62)  # it would never sleep
        pool().resize(2)  # by a thread that has not slept
        others = [subprocess.Popen(busy) for _ in range(usable_cpus())]
        try:
            assert comes(lambda: count(2).any() and pool().get("sleepers"))
        finally:
            pool().set("patience", kept)
            for each in others:
                each.kill()
                each.wait()


def test_threads_of_python_share_at_the_same_time(count):
    found, stop = [], threading.Event()

    def work():
        for chunks in range(1, 400, 7):
            found.append(bool((count(chunks, slow=2) == 1).all()))

    def change():
        while not stop.is_set():
            for n in (3, 1, 2):
                pool().resize(n)

    changing = threading.Thread(target=change)
    workers = [threading.Thread(target=work) for _ in range(4)]
    with flags(NUM_THREADS=3):
        for each in (changing, *workers):
            each.start()
        for each in workers:
            each.join()
        stop.set()
        changing.join()
    assert found == [True] * len(workers) * 57


@needs_fork
def test_a_child_starts_threads_of_its_own(count):
    with flags(NUM_THREADS=3):
        count(300)

        def work():
            assert pool().started == 0
            assert (count(300, times=20) == 20).all()
            assert pool().started == 2
            pool().resize(1)

        assert ended(fork(work)) == 0
        assert (count(300, times=20) == 20).all()


@needs_fork
def test_a_child_forked_in_the_middle_of_a_job_goes_on(count):
    with flags(NUM_THREADS=2):
        stop = threading.Event()

        def busy():
            while not stop.is_set():
                count(500, slow=20)

        running = threading.Thread(target=busy)
        running.start()
        try:
            for _ in range(20):
                assert ended(fork(lambda: np.testing.assert_array_equal(count(300), 1))) == 0
        finally:
            stop.set()
            running.join()


@needs_fork
def starved():
    """Work for eight threads in a process that may have hardly more memory than it has."""
    count = counting(pool().share)
    pool().resize(8)
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    used = int(pages) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (12 << 20), hard))
    assert (count(300, times=20) == 20).all()
    assert pool().started < 7
    assert pool().count == pool().started + 1


def test_where_no_thread_can_be_had_one_does_it_all():
    # a process of its own: others may keep the stacks of threads that ended
    command = [sys.executable, "-c", "from tests.runtime.test_pool import starved; starved()"]
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_where_the_pool_was_never_tried_one_thread_does_it_all(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    other = Pool(4)
    assert (counting(other.share)(300, times=3) == 3).all()
    other.resize(8)
    other.renew()
    assert (other.count, other.started) == (1, 0)


ENDING = """
import threading
import numpy as np
import scull as paddle
import scull.nn.functional as F
from scull.flags import flags
from scull.runtime.pool import pool

paddle.enable_static()
x = paddle.static.data("x", [512, 1024])
y = F.softmax(F.gelu(x))
exe = paddle.static.Executor()
feed = {"x": np.ones([512, 1024], "float32")}

def forever():
    with flags(COMPILE="eager"):
        while True:
            exe.run(feed=feed, fetch_list=[y])

with flags(COMPILE="eager"):
    exe.run(feed=feed, fetch_list=[y])
assert pool().started == 2, pool().started
threading.Thread(target=forever, daemon=True).start()
"""


def test_a_process_ends_while_threads_are_at_work():
    environment = {**os.environ, "SCULL_NUM_THREADS": "3"}
    done = subprocess.run(
        [sys.executable, "-c", ENDING], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_number_of_threads_is_one_setting():
    before, products = get_num_threads(), blas.threads()
    held = products and products.get()
    try:
        set_num_threads(1)
        assert get_num_threads() == 1 == pool().count
        assert products is None or products.get() == 1
        with flags(NUM_THREADS=2):
            assert get_num_threads() == 2 == pool().count
        assert get_num_threads() == 1 == pool().count
    finally:
        set_num_threads(before)
        if products:
            products.set(held)
    assert scull.set_num_threads is set_num_threads
    assert scull.get_num_threads is get_num_threads


def test_without_a_setting_there_are_as_many_threads_as_cpus_for_this_process():
    with flags(NUM_THREADS=0):
        assert get_num_threads() == usable_cpus() == pool().count


@pytest.mark.parametrize("number", [0, -1, 257])
def test_a_number_of_threads_that_cannot_be_is_refused(number):
    with pytest.raises(ArgumentError, match=f"`num` is {number}: a kernel runs on 1 .. 256"):
        set_num_threads(number)


@pytest.mark.parametrize("number", [1.5, "2", None, True])
def test_a_number_of_threads_is_a_whole_number(number):
    with pytest.raises(ArgumentTypeError, match="`num` is a number of threads, not a"):
        set_num_threads(number)


def test_more_threads_than_cpus_are_noticed():
    before, products = get_num_threads(), blas.threads()
    held = products and products.get()
    many = usable_cpus() + 1
    try:
        with pytest.warns(UserWarning, match=f"{many} threads on {usable_cpus()} CPUs"):
            set_num_threads(many)
        assert pool().count == many
    finally:
        set_num_threads(before)
        if products:
            products.set(held)
