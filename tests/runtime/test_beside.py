"""Object files that are made while texts go on being written."""

import threading
import time

import pytest

from scull.flags import flags
from scull.runtime import beside, llvm
from scull.runtime.background import Background
from scull.runtime.beside import Beside
from tests.runtime.child import ended, fork, needs_fork
from tests.runtime.test_llvm import needs_llvm, slow_text

pytestmark = needs_llvm


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """A cache with nothing in it."""
    with flags(CACHE_DIR=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def threads(monkeypatch):
    """The threads in which object files were made, by text."""
    found, original = {}, beside.cached_code

    def noted(text, target=None):
        found[text] = threading.current_thread()
        return original(text, target)

    monkeypatch.setattr(beside, "cached_code", noted)
    return found


def number(k):
    """IR of a function of its own."""
    return f"define i32 @number{k}() {{ ret i32 {k} }}"


def test_what_is_begun_is_made_by_another_thread_and_what_is_not_by_this_one(threads):
    made = Beside()
    for k in range(5):
        made.begin(number(k), f"kernel {k}")
        made.begin(number(k), f"kernel {k}")
    codes = [made.code_of(number(k)) for k in range(6)]
    assert codes == [llvm.object_code(number(k)) for k in range(6)]
    here = threading.current_thread()
    assert [threads[number(k)] is here for k in range(6)] == [False] * 5 + [True]


def test_texts_go_on_being_written_while_llvm_works():
    made, text = Beside(), slow_text(1500)
    made.begin(text, "slow")
    assert not made._tasks[text].ended
    assert made.code_of(text) == llvm.object_code(text)


def test_another_target_is_kept_to():
    text = "define <8 x float> @sum(<8 x float> %x) { %y = fadd <8 x float> %x, %x ret <8 x float> %y }"
    generic = llvm.target("generic")
    made = Beside(generic)
    made.begin(text, "sum")
    assert made.code_of(text) == llvm.object_code(text, generic)


def test_what_llvm_does_not_understand_is_said_to_who_asks_for_it():
    made = Beside()
    made.begin("define nonsense", "kernel 7")
    made.begin(number(1), "kernel 8")
    with pytest.raises(RuntimeError, match="LLVM IR parsing error") as caught:
        made.code_of("define nonsense")
    assert any("kernel 7" in note for note in caught.value.__notes__)
    assert made.code_of(number(1)) == llvm.object_code(number(1))


def test_what_it_takes_is_taken_by_the_task_that_waits_for_it():
    queue, text = Background(), slow_text(600)

    def make():
        made = Beside()
        made.begin(text, "slow")
        return made.code_of(text)

    start = time.process_time()
    task = queue.submit("kernel", make)
    assert task.wait(60) and task.result == llvm.object_code(text)
    assert 0.05 < task.seconds <= time.process_time() - start


def test_where_no_thread_can_be_started_it_is_made_here(threads, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    made = Beside()
    made.begin(number(1), "kernel 1")
    assert made.code_of(number(1)) == llvm.object_code(number(1))
    assert threads[number(1)] is threading.current_thread()


@needs_fork
def test_a_child_forked_meanwhile_ends_it_by_itself():
    made = Beside()
    texts = [slow_text(200 + k) for k in range(4)]
    for k, text in enumerate(texts):
        made.begin(text, f"kernel {k}")

    def work():
        assert [len(made.code_of(text)) > 0 for text in texts] == [True] * 4

    assert ended(fork(work)) == 0
    work()
