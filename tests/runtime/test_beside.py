"""Object files that are made while texts go on being written: by a thread, by processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scull.errors import RunError
from scull.flags import flags
from scull.runtime import elsewhere, llvm
from scull.runtime.background import Background
from scull.runtime.beside import Beside
from scull.runtime.elsewhere import Compiler, processes, started
from tests.runtime.child import ended, fork, needs_fork
from tests.runtime.test_llvm import needs_llvm, slow_text

pytestmark = needs_llvm
needs_processes = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="nothing lists the processes here"
)
KINDS = pytest.mark.parametrize("many", [0, 2])


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """A cache with nothing in it."""
    with flags(CACHE_DIR=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def threads(monkeypatch):
    """The threads of this process in which LLVM worked, by text."""
    found, original = {}, llvm.object_code

    def noted(text, target=None):
        found[text] = threading.current_thread()
        return original(text, target)

    monkeypatch.setattr(llvm, "object_code", noted)
    return found


@pytest.fixture
def compiler():
    """A process that compiles."""
    made = Compiler()
    yield made
    made.close()


def number(k):
    """IR of a function of its own."""
    return f"define i32 @number{k}() {{ ret i32 {k} }}"


@KINDS
def test_what_is_begun_is_made_by_others_and_what_is_not_by_this_thread(many, threads):
    texts = [number(k) for k in range(6)]
    wanted = [llvm.object_code(text) for text in texts]
    threads.clear()
    with Beside(None, many) as beside:
        for k in range(5):
            beside.begin(texts[k], f"kernel {k}")
            beside.begin(texts[k], f"kernel {k}")
        assert all(queue.wait() for queue in beside._threads)
        assert beside.codes_of(texts) == wanted
    here = threading.current_thread()
    assert threads.pop(texts[5]) is here
    assert len(threads) == (0 if many else 5) and here not in threads.values()


@KINDS
def test_texts_go_on_being_written_while_llvm_works(many):
    texts = [slow_text(1200 + k) for k in range(2)]
    with Beside(None, many) as beside:
        for text in texts:
            beside.begin(text, "slow")
        assert not any(task.ended for task in beside._tasks.values())
        assert beside.codes_of(texts) == [llvm.object_code(text) for text in texts]


def test_who_asks_makes_what_nobody_has_begun(threads):
    texts = [slow_text(300 + k) for k in range(6)]
    with Beside() as beside:
        for text in texts:
            beside.begin(text, "slow")
        assert len(beside.codes_of(texts)) == 6
    here = threading.current_thread()
    mine = [threads[text] is here for text in texts]
    assert mine == sorted(mine) and mine[-1]


@KINDS
def test_another_target_is_kept_to(many):
    kind = "<8 x float>"
    text = f"define {kind} @sum({kind} %x) {{ %y = fadd {kind} %x, %x ret {kind} %y }}"
    generic = llvm.target("generic")
    with Beside(generic, many) as beside:
        beside.begin(text, "sum")
        assert beside.codes_of([text]) == [llvm.object_code(text, generic)]


@KINDS
def test_what_llvm_does_not_understand_is_said_to_who_asks_for_it(many):
    with Beside(None, many) as beside:
        beside.begin("define nonsense", "kernel 7")
        beside.begin(number(1), "kernel 8")
        assert all(queue.wait() for queue in beside._threads)
        with pytest.raises(RuntimeError, match="LLVM IR parsing error") as caught:
            beside.codes_of(["define nonsense"])
        assert any("kernel 7" in note for note in caught.value.__notes__)
        assert beside.codes_of([number(1)]) == [llvm.object_code(number(1))]


@KINDS
def test_what_it_takes_is_taken_by_the_task_that_waits_for_it(many):
    queue, text = Background(), slow_text(600)

    def make():
        with Beside(None, many) as beside:
            beside.begin(text, "slow")
            assert beside._threads[0].wait()
            return beside.codes_of([text])

    task = queue.submit("kernel", make)
    assert task.wait(60) and task.result == [llvm.object_code(text)]
    assert task.seconds > 0.05


def test_where_no_thread_can_be_started_it_is_made_here(threads, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with Beside() as beside:
        beside.begin(number(1), "kernel 1")
        (code,) = beside.codes_of([number(1)])
    assert threads[number(1)] is threading.current_thread()
    assert code == llvm.object_code(number(1))


@KINDS
@needs_fork
def test_a_child_forked_meanwhile_ends_it_by_itself(many):
    texts = [slow_text(200 + k) for k in range(4)]
    with Beside(None, many) as beside:
        for k, text in enumerate(texts):
            beside.begin(text, f"kernel {k}")

        def work():
            assert all(beside.codes_of(texts))
            beside.__exit__(None, None, None)

        assert ended(fork(work)) == 0
        assert beside.codes_of(texts) == [llvm.object_code(text) for text in texts]


def test_a_process_that_is_closed_leaves_nothing_to_this_one(threads):
    compiler, text = Compiler(), slow_text(3000)
    told = []

    def ask():
        try:
            compiler.object_code(text, llvm.host())
        except RunError as error:
            told.append(error)

    compiler.object_code(number(1), llvm.host())
    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.2)
    compiler.close()
    asking.join(20)
    assert len(told) == 1 and not threads
    with pytest.raises(RunError):
        compiler.object_code(number(1), llvm.host())


@pytest.mark.parametrize(
    "says",
    [
        "print('hello')",
        "import os; os.write(1, b'LLVM works here.' + b'x' * 30)",
        "import os; os.write(1, b'LLVM works here.' + b'2' + b'0' * 7 + b'no JSON' + b'0' * 20)",
        "raise SystemExit",
    ],
)
def test_a_process_that_says_something_else_is_left(says, monkeypatch, threads):
    monkeypatch.setattr(elsewhere, "SERVE", says)
    compiler = started()
    assert compiler.object_code(number(1), llvm.host())
    assert number(1) in threads and compiler._process is None


def test_paths_of_modules_may_be_anything(monkeypatch, compiler):
    monkeypatch.setattr(sys, "path", [Path("somewhere"), *sys.path])
    other = started()
    assert other.object_code(number(1), llvm.host()) == llvm.object_code(number(1))
    other.close()


@needs_fork
@needs_processes
def test_a_child_that_goes_on_keeps_no_process_alive(compiler):
    assert compiler.object_code(number(1), llvm.host())
    process = compiler._process

    def work():
        assert compiler._process is None
        assert compiler.object_code(number(2), llvm.host())

    assert ended(fork(work)) == 0
    assert compiler._process is process
    assert compiler.object_code(number(3), llvm.host()) == llvm.object_code(number(3))


def test_a_process_that_is_gone_is_missed_by_nobody(compiler, threads):
    assert compiler.object_code(number(1), llvm.host())
    assert not threads
    compiler._process.kill()
    compiler._process.wait()
    assert compiler.object_code(number(2), llvm.host()) == llvm.object_code(number(2))
    assert compiler.object_code(number(3), llvm.host()) == llvm.object_code(number(3))


@pytest.mark.skipif(os.name != "posix", reason="terminals interrupt otherwise here")
def test_an_interrupt_is_for_who_asks(compiler):
    compiler.object_code(number(1), llvm.host())
    compiler._process.send_signal(signal.SIGINT)
    assert compiler.object_code(number(2), llvm.host()) == llvm.object_code(number(2))
    assert compiler._process is not None


@needs_processes
def test_it_ends_with_who_asks():
    text = (
        "import os, sys, time\n"
        "from scull.runtime import llvm\n"
        "from scull.runtime.elsewhere import Compiler\n"
        "compiler = Compiler()\n"
        "compiler.object_code('define void @f() { ret void }', llvm.host())\n"
        "print(compiler._process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    until = time.time() + 20
    while time.time() < until and is_there(int(done.stdout)):
        time.sleep(0.05)
    assert not is_there(int(done.stdout))


def is_there(process):
    """Whether a process runs; one that nobody waits for has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_program_that_is_no_python_starts_none(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/usr/bin/server")
    assert started() is None
    monkeypatch.setattr(sys, "executable", "/nowhere/python3")
    assert started() is None


@pytest.mark.parametrize(("cpus", "wanted"), [(1, 0), (2, 1), (3, 2), (64, 3)])
def test_how_many_processes_there_are(monkeypatch, cpus, wanted):
    monkeypatch.setattr(elsewhere, "usable_cpus", lambda: cpus)
    assert processes() == wanted
    with flags(COMPILERS=5):
        assert processes() == 5
