"""Guarded arrays: what leaves them is noticed, what stays within them is not."""

import ctypes
import signal

import ml_dtypes
import numpy as np
import pytest

from scull.runtime import llvm
from scull.runtime.entry import address_of, entry
from tests.runtime.child import ended, fork
from tests.runtime.guard import FILL, guarded_array, needs_guards, run_guarded, surroundings
from tests.runtime.test_llvm import needs_llvm

pytestmark = needs_guards

# reads and writes `count` floats, `shift` of them further
COPY = """
define void @copy(ptr %table) {{
entry:
  %x.place = load ptr, ptr %table
  %second = getelementptr ptr, ptr %table, i64 1
  %y.place = load ptr, ptr %second
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %from = add i64 %k, {read}
  %x.at = getelementptr float, ptr %x.place, i64 %from
  %x = load float, ptr %x.at
  %to = add i64 %k, {write}
  %y.at = getelementptr float, ptr %y.place, i64 %to
  store float %x, ptr %y.at
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {count}
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def copy_kernel(read=0, write=0, count=5):
    """A kernel that copies floats."""
    text = COPY.format(read=read, write=write, count=count)
    library = llvm.build([llvm.Module(text, ("copy",))])

    def kernel(inputs, outputs):
        table = np.array([address_of(x) for x in (*inputs, *outputs)], np.uint64)
        entry(library, "copy", table)()

    return kernel


def touch(address, write):
    """How a child ends that reads or writes a byte."""
    byte = ctypes.c_uint8.from_address(address)

    def work():
        if write:
            byte.value = 1
        assert byte.value is not None

    return ended(fork(work))


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("shape", [5, (3, 7), (64, 128), (1,), ()])
def test_a_byte_beside_a_guarded_array_is_a_fault(shape, end, write):
    x = guarded_array(shape, np.float32, end)
    inside = (address_of(x), address_of(x) + x.nbytes - 1)
    assert [touch(place, write) for place in inside] == [0, 0]
    beside = address_of(x) + x.nbytes if end else address_of(x) - 1
    assert touch(beside, write) == -signal.SIGSEGV


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.bool_, np.int8])
@pytest.mark.parametrize("end", [True, False])
def test_a_guarded_array_is_an_array_like_others(dtype, end):
    x = guarded_array((3, 5), dtype, end)
    assert x.shape == (3, 5) and x.dtype == dtype and x.flags.c_contiguous and x.flags.aligned
    assert x.tobytes() == bytes([FILL]) * x.nbytes
    x[...] = 1
    assert (x == 1).all() and (surroundings(x) == FILL).all()
    assert len(surroundings(x)) % 4096 == -x.nbytes % 4096


def test_an_empty_array_may_be_guarded():
    x = guarded_array((3, 0), np.float32)
    assert x.size == 0 and touch(address_of(x), write=False) == -signal.SIGSEGV


def test_a_guarded_array_may_have_to_be_aligned():
    for size in (1, 5, 16, 1025):
        x = guarded_array(size, np.float32, alignment=64)
        assert address_of(x) % 64 == 0
        assert touch((address_of(x) + x.nbytes + 63) // 64 * 64, False) == -signal.SIGSEGV


def test_a_child_writes_what_its_parent_reads():
    x = guarded_array(4, np.int32)
    assert ended(fork(lambda: x.__setitem__(slice(None), 7))) == 0
    assert x.tolist() == [7] * 4


@needs_llvm
def test_a_kernel_that_stays_within_its_buffers_gives_its_outputs():
    x = np.arange(5, dtype=np.float32)
    (y,) = run_guarded(copy_kernel(), [x], [((5,), np.float32)])
    assert y.tolist() == x.tolist()


@needs_llvm
@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        ({"count": 6}, "after the end of a buffer was touched"),
        ({"read": 1}, "after the end of a buffer was touched"),
        ({"write": -1, "count": 4}, "bytes beside output 0 were written"),
        ({"read": -1, "write": 0, "count": 3}, "before the start of a buffer was touched"),
        ({"count": 4, "write": 1}, None),
    ],
)
def test_a_kernel_that_leaves_its_buffers_is_found(kernel, text):
    x, outputs = np.arange(5, dtype=np.float32), [((5,), np.float32)]
    if text is None:
        (y,) = run_guarded(copy_kernel(**kernel), [x], outputs)
        assert y[1:].tolist() == x[:4].tolist()
        return
    with pytest.raises(AssertionError, match=text):
        run_guarded(copy_kernel(**kernel), [x], outputs)


@needs_llvm
def test_a_kernel_that_writes_its_input_or_fails_is_found(capfd):
    x = np.arange(5, dtype=np.float32)
    copy = copy_kernel()
    with pytest.raises(AssertionError, match="input 0 was written"):
        run_guarded(lambda inputs, outputs: copy(outputs, inputs), [x], [((5,), np.float32)])
    with pytest.raises(AssertionError, match="the kernel ended with 1"):
        run_guarded(lambda inputs, outputs: 1 // 0, [x], [])
    assert "ZeroDivisionError" in capfd.readouterr().err
