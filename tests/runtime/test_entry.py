"""Entries: what they take, what they answer, what they keep, and the arithmetic they set."""

import ctypes
import gc
import importlib.util
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, UnsupportedError
from scull.runtime import entry as entries
from scull.runtime import llvm
from scull.runtime.entry import (
    Argument,
    Failure,
    Outcome,
    address_of,
    entry,
    failure,
    refusal,
    suitable,
)
from scull.runtime.entry_body import ARRAY, entry_body, processor

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)

CODE = """
define void @increment(ptr %table) {
  %place = load ptr, ptr %table
  %x = load double, ptr %place
  %y = fadd double %x, 1.0
  store double %y, ptr %place
  ret void
}

define void @nothing(ptr %table) { ret void }

; out[0] = x[0] * y[0]
define void @multiply(ptr %table) {
  %x.place = load ptr, ptr %table
  %second = getelementptr ptr, ptr %table, i64 1
  %y.place = load ptr, ptr %second
  %third = getelementptr ptr, ptr %table, i64 2
  %out = load ptr, ptr %third
  %x = load float, ptr %x.place
  %y = load float, ptr %y.place
  %product = fmul float %x, %y
  store float %product, ptr %out
  ret void
}

; an index that is not below 10 is the second of operator 6
define void @check(ptr %table) {
  %place = load ptr, ptr %table
  %index = load i64, ptr %place
  %inside = icmp ult i64 %index, 10
  br i1 %inside, label %fine, label %wrong
wrong:
  %operator = getelementptr i64, ptr %table, i64 1
  store i64 7, ptr %operator
  %position = getelementptr i64, ptr %table, i64 2
  store i64 1, ptr %position
  %value = getelementptr i64, ptr %table, i64 3
  store i64 %index, ptr %value
  ret void
fine:
  ret void
}

declare void @call_back()
define void @call(ptr %table) {
  call void @call_back()
  ret void
}
"""
NAMES = ("increment", "nothing", "multiply", "check", "call")
FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def library():
    """The functions above; what `call` calls is `wait` of the tests that use it."""
    library = llvm.build([llvm.Module(CODE, NAMES)], {"call_back": HOOK_ADDRESS})
    return library


HOOKS = []
HOOK = ctypes.CFUNCTYPE(None)(lambda: HOOKS[-1]())
HOOK_ADDRESS = ctypes.cast(HOOK, ctypes.c_void_p).value


@pytest.fixture(params=["builtin", "ctypes"])
def way(request, monkeypatch):
    """Both ways in which an entry is made."""
    if request.param == "ctypes":
        monkeypatch.setattr(entries, "layout_is_as_expected", lambda: False)
    return request.param


def increment(library, x, **settings):
    table = np.array([address_of(x)], np.uint64)
    return entry(library, "increment", table, keeps=(x,), **settings)


def taking(library, *arguments, **settings):
    """An entry that does nothing with what it takes, and its table."""
    table = np.zeros(8, np.uint64)
    return entry(library, "nothing", table, arguments, **settings), table


@pytest.mark.parametrize("release", [True, False])
def test_an_entry_runs_the_code_on_the_buffers_of_its_table(library, way, release):
    x = np.zeros(1)
    run = increment(library, x, release=release)
    for _ in range(3):
        assert run() is None
    assert x[0] == 3


def test_an_entry_takes_as_many_arrays_as_it_has_arguments(library, way):
    x = np.zeros(3, np.float32)
    run, _ = taking(library, Argument("x", (3,), FLOAT, 0))
    for given in ((), (x, x)):
        with pytest.raises(TypeError, match="takes another number of arguments"):
            run(*given)
    with pytest.raises(TypeError):
        run(x=x)
    assert run(x) is None


def test_an_entry_keeps_its_code_its_table_and_its_arrays(way):
    x = np.zeros(1)
    seen = weakref.ref(x)
    run = increment(llvm.build([llvm.Module(CODE, NAMES)], {"call_back": HOOK_ADDRESS}), x)
    del x
    gc.collect()
    for _ in range(5):
        run()
    assert seen()[0] == 5
    del run
    gc.collect()
    assert seen() is None


def test_calls_leave_the_counts_of_references_as_they_were(library, way):
    x, answer = np.zeros((2, 3), np.float32), [object()]
    run, _ = taking(library, Argument("x", (2, 3), FLOAT, 0), answer=answer)
    watched = (None, answer, x, Outcome.REFUSED, x.dtype)
    wrong = np.zeros(3, np.float32)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(1000):
        run(x)
        run(wrong)
        run(None)
    after = [sys.getrefcount(each) for each in watched]
    assert all(abs(x - y) < 100 for x, y in zip(before, after, strict=True))


def test_entries_run_in_several_threads(library, way):
    arrays = [np.zeros(1) for _ in range(8)]
    runs = [increment(library, x) for x in arrays]
    start = threading.Barrier(4)

    def work(part):
        start.wait()
        for run in part:
            for _ in range(200):
                run()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [runs[i::4] for i in range(4)]))
    assert [x[0] for x in arrays] == [200] * 8


def test_the_places_of_the_arguments_go_into_their_slots(library, way):
    x, y = np.zeros((2, 3), np.float32), np.zeros((), np.int64)
    run, table = taking(
        library, Argument("x", (2, 3), FLOAT, 5), Argument("y", (), np.dtype(np.int64), 2)
    )
    assert run(x, y) is None
    assert table.tolist() == [0, 0, address_of(y), 0, 0, address_of(x), 0, 0]


def test_an_entry_computes_from_what_it_is_given_and_answers_its_outputs(library, way):
    out = np.zeros(1, np.float32)
    table = np.array([0, 0, address_of(out)], np.uint64)
    arguments = [Argument(name, (1,), FLOAT, slot) for slot, name in enumerate("xy")]
    run = entry(library, "multiply", table, arguments, answer=(out,))
    for k in range(4):
        answer = run(np.full(1, k, np.float32), np.full(1, 2.5, np.float32))
        assert answer == (out,) and out[0] == 2.5 * k


WRONG = {
    "nothing": None,
    "a number": 1.5,
    "a list": [0.0] * 6,
    "a scalar of NumPy": np.float32(1),
    "another dtype": np.zeros((2, 3)),
    "another kind of number": np.zeros((2, 3), np.int32),
    "the other order of bytes": np.zeros((2, 3), np.dtype(np.float32).newbyteorder()),
    "too few dimensions": np.zeros(6, np.float32),
    "too many dimensions": np.zeros((2, 3, 1), np.float32),
    "no dimensions": np.zeros((), np.float32),
    "another size": np.zeros((2, 4), np.float32),
    "another first size": np.zeros((3, 3), np.float32),
    "no elements": np.zeros((2, 0), np.float32),
    "strides": np.zeros((2, 6), np.float32)[:, ::2],
    "a transpose": np.zeros((3, 2), np.float32).T,
    "a broadcast": np.broadcast_to(np.float32(0), (2, 3)),
    "a subclass": np.zeros((2, 3), np.float32).view(np.matrix),
    "a masked array": np.ma.zeros((2, 3), np.float32),
    "an unaligned array": np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3),
    "an array of objects": np.full((2, 3), None),
    "a structure": np.zeros((2, 3), [("x", np.float32)]),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", WRONG)
def test_an_argument_that_does_not_fit_is_refused_and_nothing_runs(library, way, name):
    x, out = np.ones((2, 3), np.float32), np.zeros(1, np.float32)
    table = np.array([0, 0, address_of(out)], np.uint64)
    arguments = [Argument(each, (2, 3), FLOAT, slot) for slot, each in enumerate("xy")]
    run = entry(library, "multiply", table, arguments)
    assert run(x, WRONG[name]) is Outcome.REFUSED
    assert run(WRONG[name], x) is Outcome.REFUSED
    assert out[0] == 0
    assert run(x, x) is None and out[0] == 1


def test_what_is_written_must_be_writable(library, way):
    x = np.zeros(2, np.float32)
    reads, _ = taking(library, Argument("x", (2,), FLOAT, 0))
    writes, _ = taking(library, Argument("x", (2,), FLOAT, 0, writable=True))
    assert (reads(x), writes(x)) == (None, None)
    x.flags.writeable = False
    assert (reads(x), writes(x)) == (None, Outcome.REFUSED)


def test_an_argument_may_have_to_be_aligned_more_than_its_dtype(library, way):
    room = np.zeros(64, np.float32)
    first = -address_of(room) % 64 // 4
    run, _ = taking(library, Argument("x", (2,), FLOAT, 0, alignment=64))
    assert run(room[first : first + 2]) is None
    assert run(room[first + 1 : first + 3]) is Outcome.REFUSED


def test_sizes_of_one_may_have_any_stride(library, way):
    x = np.zeros((3, 5), np.float32)[:, :1][:1]
    run, _ = taking(library, Argument("x", (1, 1), FLOAT, 0))
    assert run(x) is None


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, ml_dtypes.bfloat16, np.complex128])
def test_arrays_of_any_dtype_are_taken(library, way, dtype):
    x = np.zeros((3, 0, 2), dtype)
    run, _ = taking(library, Argument("x", (3, 0, 2), np.dtype(dtype), 0))
    assert run(x) is None
    assert run(np.zeros((3, 0, 2), np.int64)) is Outcome.REFUSED


def test_a_dtype_equal_to_the_wanted_one_is_made_suitable(library, way):
    wanted = Argument("x", (2,), FLOAT, 0)
    run, _ = taking(library, wanted)
    x = np.array([1, 2], np.dtype(np.float32, metadata={"unit": "m"}))
    assert run(x) is Outcome.REFUSED
    assert refusal([wanted], [x]) is None
    assert run(suitable(wanted, x)) is None


@pytest.mark.parametrize("name", ["strides", "a subclass", "an unaligned array", "a broadcast"])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_what_has_the_right_values_is_made_suitable(library, way, name):
    wanted = Argument("x", (2, 3), FLOAT, 0, alignment=64)
    run, _ = taking(library, wanted)
    x = WRONG[name]
    assert refusal([wanted], [x]) is None
    found = suitable(wanted, x)
    assert run(found) is None
    assert (np.asarray(found) == np.asarray(x)).all()
    assert suitable(wanted, found) is found


def test_a_scalar_is_made_suitable():
    wanted = Argument("x", (), FLOAT, 0, alignment=32)
    assert suitable(wanted, np.array(2.5, np.float32)[()].reshape(())) == 2.5


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (None, ArgumentTypeError, "`x` is a NoneType, not an ndarray"),
        (np.zeros((2, 3)), DtypeError, "`x` is float32, given float64"),
        (np.zeros(3, np.float32), ShapeError, r"`x` is \[2, 3\], given \[3\]"),
        (np.broadcast_to(np.float32(0), (2, 3)), ArgumentError, "`x` is written, .* read-only"),
        (WRONG["strides"], ArgumentError, "`x` is written, .* not contiguous in memory: copy it"),
        (WRONG["an unaligned array"], ArgumentError, "`x` is written, .* at an odd place: copy it"),
    ],
)
def test_a_refusal_names_the_argument_and_the_law(given, error, text):
    wanted = [Argument("x", (2, 3), FLOAT, 0, writable=True)]
    with pytest.raises(error, match=text):
        raise refusal(wanted, [given])


def test_an_index_out_of_range_is_told_by_the_status(library, way):
    index = np.array(3)
    table = np.array([address_of(index), 0, 0, 0], np.uint64)
    run = entry(library, "check", table, status=1, keeps=(index,))
    assert run() is None
    assert failure(table, 1) is None
    index[...] = -4
    for _ in range(2):
        assert run() is Outcome.FAILED
        assert failure(table, 1) == Failure(operator=6, position=1, value=-4)
    index[...] = 9
    assert run() is None
    assert failure(table, 1) is None


def test_an_entry_that_another_thread_runs_is_busy(library, way):
    inside, leave = threading.Event(), threading.Event()

    def hook():
        inside.set()
        leave.wait()

    run = entry(library, "call", np.zeros(1, np.uint64))
    HOOKS.append(hook)
    try:
        worker = threading.Thread(target=run)
        worker.start()
        inside.wait()
        assert run() is Outcome.BUSY
        leave.set()
        worker.join()
        assert run() is None
    finally:
        HOOKS.pop()


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize("flush", [True, False])
def test_numbers_too_small_are_zero_where_the_entry_says_so(library, way, release, flush):
    out = np.full(1, 7, np.float32)
    table = np.array([0, 0, address_of(out)], np.uint64)
    arguments = [Argument(name, (1,), FLOAT, slot) for slot, name in enumerate("xy")]
    run = entry(library, "multiply", table, arguments, release=release, flush=flush)
    small, tiny, one, half = (np.full(1, x, np.float32) for x in (2.0**-126, 2.0**-140, 1, 0.5))
    run(small, half)  # a result
    assert out[0] == (0 if flush else 2.0**-127)
    run(tiny, one)  # an operand
    assert out[0] == (0 if flush else 2.0**-140)
    run(small, one)
    assert out[0] == np.float32(2.0**-126)
    assert (tiny * one)[0] == np.float32(2.0**-140)  # what was before is there again
    assert (small * half)[0] == np.float32(2.0**-127)


def test_numpy_keeps_numbers_too_small_and_so_does_an_entry_unless_told(library):
    x = np.full(64, 2.0**-140, np.float32)
    assert (x * np.float32(1) == x).all() and (x @ np.ones(64, np.float32)) == 64 * x[0]
    out = np.zeros(1, np.float32)
    arguments = [Argument(name, (1,), FLOAT, slot) for slot, name in enumerate("xy")]
    table = np.array([0, 0, address_of(out)], np.uint64)
    entry(library, "multiply", table, arguments)(x[:1], np.ones(1, np.float32))
    assert out[0] == x[0]


KEPT = """
import builtins, sys
import numpy as np
from scull.runtime import llvm
from scull.runtime.entry import entry

def make():
    return llvm.build([llvm.Module("define void @nothing(ptr %t) { ret void }", ("nothing",))])

def run():
    return entry(make(), "nothing", np.zeros(1, np.uint64))

class Cycle:
    def __init__(self):
        self.own, self.library, self.run = self, make(), run()

here, cycle = run(), Cycle()
builtins.kept, sys.kept, np.kept = make(), run(), run()
for each in (here, sys.kept, np.kept, cycle.run):
    each()
"""


def test_a_process_ends_quietly_wherever_entries_are_kept():
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


MET = """
import threading, time
import numpy as np
from scull.runtime import entry as entries, llvm

build = llvm.build

def slowly(*args, **kwargs):
    made = build(*args, **kwargs)
    time.sleep(0.2 if threading.current_thread() is threading.main_thread() else 0.4)
    return made

library = build([llvm.Module("define void @nothing(ptr %table) { ret void }", ("nothing",))])
llvm.build = slowly
table = np.zeros(1, np.uint64)
made = {}

def make(name):
    made[name] = entries.entry(library, "nothing", table)

other = threading.Thread(target=make, args=("other",))
other.start()
make("first")
other.join()
del made["first"]  # and its code with it, if another's is what is kept
build([llvm.Module("define void @nothing(ptr %table) { ret void }", ("nothing",))])
for name in range(100):
    make(name)
    made[name]()
made["other"]()
"""


def test_threads_that_meet_at_the_first_entry_share_its_code():
    done = subprocess.run([sys.executable, "-c", MET], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_layout_of_an_array_is_what_entries_read():
    assert entries.layout_is_as_expected()


@pytest.mark.parametrize("field", ARRAY)
def test_another_layout_is_noticed(monkeypatch, field):
    offset, kind = ARRAY[field]
    monkeypatch.setitem(ARRAY, field, (offset + 8 if field != "flags" else 24, kind))
    assert not entries.layout_is_as_expected.__wrapped__()


def test_the_body_of_entries_has_a_form_for_each_processor():
    for name in ("x86_64-unknown-linux-gnu", "aarch64-linux-gnu", "arm64-apple-darwin"):
        body = entry_body(name)
        assert " in array " not in body and " in record " not in body
        assert ("fpcr" in body) == (processor(name) == "aarch64")
    with pytest.raises(UnsupportedError, match="no entry has been written for riscv64"):
        entry_body("riscv64-linux-gnu")
