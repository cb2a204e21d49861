"""Compiling in the background: order, states, budget, forks and ends of processes."""

import subprocess
import sys
import threading
import weakref

import pytest

from scull.errors import RunError
from scull.flags import flags
from scull.runtime import llvm
from scull.runtime.background import (
    COMPILING,
    FAILED,
    READY,
    REFUSED,
    TURN,
    WAITING,
    Background,
    background,
)
from tests.runtime.child import ended, fork, needs_fork
from tests.runtime.test_llvm import needs_llvm, slow_text


class Gate:
    """Work that begins, tells so, and ends when it may."""

    def __init__(self, result=None):
        self.begun, self.leave, self.result = threading.Event(), threading.Event(), result

    def __call__(self):
        self.begun.set()
        self.leave.wait()
        return self.result


@pytest.fixture
def gate():
    """Some such work, which ends with the test."""
    gate = Gate("made")
    yield gate
    gate.leave.set()


def spin():
    """Something that takes the processor's time."""
    return sum(range(200_000))


def test_tasks_are_done_in_the_order_in_which_they_came():
    queue, done = Background(), []
    tasks = [queue.submit(f"kernel {k}", lambda k=k: done.append(k) or k * k) for k in range(20)]
    assert queue.wait()
    assert done == list(range(20))
    assert [task.result for task in tasks] == [k * k for k in range(20)]
    assert all(task.ended for task in tasks)


def test_a_task_tells_how_far_it_is(gate):
    queue = Background()
    first, second = queue.submit("first", gate), queue.submit("second", lambda: 2)
    gate.begun.wait()
    assert (first.state, second.state) == (COMPILING, WAITING)
    assert queue.tasks() == [first, second]
    with pytest.raises(RunError, match="second is not compiled yet"):
        _ = second.result
    assert not second.wait(0.001)
    gate.leave.set()
    assert second.wait()
    assert (first.state, first.result, second.state, second.result) == (READY, "made", READY, 2)
    assert queue.wait() and queue.tasks() == []


def test_a_task_that_fails_names_what_was_compiled_and_the_others_are_done():
    queue = Background()
    bad = queue.submit("kernel 3 (matmul_v2)", lambda: 1 // 0)
    good = queue.submit("kernel 4", lambda: 4)
    assert good.wait() and good.result == 4
    assert bad.state == FAILED and isinstance(bad.error, ZeroDivisionError)
    with pytest.raises(ZeroDivisionError) as caught:
        _ = bad.result
    assert caught.value.__notes__ == ["compiling kernel 3 (matmul_v2) in the background"]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_nothing_that_is_raised_stops_the_thread(error):
    def fail():
        raise error

    queue = Background()
    bad, good = queue.submit("bad", fail), queue.submit("good", lambda: 1)
    assert good.wait() and bad.state == FAILED and good.result == 1
    assert type(bad.error) is error


def test_more_than_may_wait_are_refused(gate):
    queue = Background(longest=2)
    first = queue.submit("first", gate)
    gate.begun.wait()
    waiting = [queue.submit(f"{k}", spin) for k in range(2)]
    refused = queue.submit("kernel 9", spin)
    assert refused.state == REFUSED and refused.ended
    with pytest.raises(RunError, match="kernel 9: 2 others wait to be compiled"):
        _ = refused.result
    gate.leave.set()
    assert queue.wait() and first.state == READY
    assert all(task.state == READY for task in waiting)
    assert queue.submit("kernel 9", spin).wait()


def test_nothing_is_begun_when_the_budget_is_spent():
    queue = Background(seconds=1e-6)
    tasks = [queue.submit(f"kernel {k}", spin) for k in range(3)]
    assert queue.wait()
    assert tasks[0].state == READY and tasks[0].seconds > 1e-6
    assert [task.state for task in tasks[1:]] == [REFUSED] * 2
    late = queue.submit("kernel 3", spin)
    assert late.state == REFUSED
    assert str(late.error) == "kernel 3: 1e-06 seconds of compiling in the background are spent"
    assert queue.spent >= tasks[0].seconds


def test_the_budget_is_a_setting():
    background.cache_clear()
    with flags(BACKGROUND_SECONDS=12.5):
        assert background().seconds == 12.5
        assert background() is background()
    background.cache_clear()


def test_no_thread_is_left_when_nothing_is_to_do():
    queue = Background()
    for _ in range(3):
        queue.submit("kernel", spin)
        assert queue.wait()
        assert queue.wait()
    names = [thread.name for thread in threading.enumerate() if thread.is_alive()]
    assert names.count("scull compiler") <= 1  # the last one is about to end


def test_an_ended_task_keeps_its_result_and_not_its_work():
    class Work:
        def __call__(self):
            return "made"

    work, queue = Work(), Background()
    seen = weakref.ref(work)
    task = queue.submit("kernel", work)
    del work
    assert task.wait() and queue.wait() and task.result == "made"
    assert seen() is None


def test_where_no_thread_can_be_started_tasks_are_refused(monkeypatch):
    def fail(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    queue = Background()
    task = queue.submit("kernel", spin)
    assert task.state == REFUSED and str(task.error) == "can't start new thread"
    assert task.wait() and queue.wait()


def test_several_threads_submit_and_wait():
    queue, found = Background(longest=1000), []

    def work(k):
        tasks = [queue.submit(f"{k}.{n}", lambda n=n: (k, n)) for n in range(20)]
        assert all(task.wait() for task in tasks)
        found.extend(task.result for task in tasks)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(k, n) for k in range(6) for n in range(20)]


@needs_fork
def test_a_child_goes_on_with_what_its_parent_had_begun_and_queued(gate):
    queue = Background(seconds=1000)
    first, second = queue.submit("first", gate), queue.submit("second", lambda: 2)
    gate.begun.wait()

    def work():
        assert (first.state, second.state, queue.spent) == (WAITING, WAITING, 0)
        assert queue.tasks() == [first, second]
        gate.leave.set()
        assert second.wait() and first.result == "made" and second.result == 2
        third = queue.submit("third", lambda: 3)
        assert third.wait() and third.result == 3

    for _ in range(3):
        assert ended(fork(work)) == 0
    assert (first.state, second.state) == (COMPILING, WAITING)
    gate.leave.set()
    assert queue.wait() and (first.result, second.result) == ("made", 2)


@needs_fork
def test_children_forked_at_any_moment_lose_no_task():
    queue = Background(longest=10_000)
    for _ in range(20):
        tasks = [queue.submit(f"{k}", lambda k=k: k) for k in range(50)]

        def work(tasks=tasks):
            assert all(task.wait() for task in tasks)
            assert [task.result for task in tasks] == list(range(50))

        assert ended(fork(work)) == 0
    assert queue.wait()


def test_threads_take_turns_more_often_while_something_is_compiled(gate):
    usual, queue = sys.getswitchinterval(), Background()
    queue.submit("first", gate)
    assert gate.begun.wait(10)
    assert sys.getswitchinterval() == pytest.approx(TURN) != usual
    gate.leave.set()
    assert queue.wait()
    assert sys.getswitchinterval() == usual


def test_turns_are_short_until_the_last_of_several_threads_has_ended(gate):
    usual, first, second = sys.getswitchinterval(), Background(), Background()
    first.submit("first", gate)
    assert gate.begun.wait(10)
    second.submit("second", lambda: None)
    assert second.wait()
    assert sys.getswitchinterval() == pytest.approx(TURN)
    gate.leave.set()
    assert first.wait()
    assert sys.getswitchinterval() == usual


def test_an_interval_that_somebody_sets_meanwhile_stays(gate):
    usual, queue = sys.getswitchinterval(), Background()
    queue.submit("first", gate)
    assert gate.begun.wait(10)
    try:
        sys.setswitchinterval(0.01)
        gate.leave.set()
        assert queue.wait()
        assert sys.getswitchinterval() == 0.01
    finally:
        sys.setswitchinterval(usual)


@needs_fork
def test_a_child_takes_turns_as_usual(gate):
    usual, queue = sys.getswitchinterval(), Background()
    queue.submit("first", gate)
    assert gate.begun.wait(10)

    def work():
        assert sys.getswitchinterval() == usual

    assert ended(fork(work)) == 0


@needs_llvm
def test_the_program_goes_on_while_llvm_compiles():
    llvm.host()
    queue, text = Background(), slow_text(1000)
    task = queue.submit("slow", lambda: llvm.object_code(text))
    rounds = 0
    while not task.ended:
        rounds += 1
    assert task.result and rounds > 1000


ENDS = """
import sys
from scull.runtime import llvm
from scull.runtime.background import background
text = open(sys.argv[1]).read()
llvm.host()
tasks = [background().submit(str(k), lambda: llvm.object_code(text)) for k in range(100)]
while tasks[0].state == "waiting":
    pass
{ending}
"""


@needs_llvm
@pytest.mark.parametrize(("ending", "code"), [("", 0), ("raise SystemExit(3)", 3)])
def test_a_process_ends_whatever_waits_to_be_compiled(tmp_path, ending, code):
    (tmp_path / "slow.ll").write_text(slow_text(300))
    command = [sys.executable, "-c", ENDS.format(ending=ending), str(tmp_path / "slow.ll")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
