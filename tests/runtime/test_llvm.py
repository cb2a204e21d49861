"""Text IR to callables, and what keeps what alive."""

import ctypes
import gc
import importlib.util
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from scull.errors import UnsupportedError
from scull.runtime import llvm

INCREMENT = """
define void @increment(ptr %table) {
  %place = load ptr, ptr %table
  %x = load double, ptr %place
  %y = fadd double %x, 1.0
  store double %y, ptr %place
  ret void
}
"""
CALL = """
declare i32 @given(i32)
define void @call(ptr %table) {
  %place = load ptr, ptr %table
  %y = call i32 @given(i32 20)
  store i32 %y, ptr %place
  ret void
}
"""

needs_llvm = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def table_of(*arrays):
    """The addresses of arrays, as an entry passes them."""
    return np.array([llvm.data_pointer(array) for array in arrays], np.uint64)


def incrementing(x, *, release=True):
    library = llvm.compile_text(INCREMENT, ["increment"])
    return llvm.entry(library, "increment", table_of(x), release=release, keeps=(x,))


@needs_llvm
@pytest.mark.parametrize("release", [True, False])
def test_an_entry_runs_the_code_on_the_buffers_of_its_table(release):
    x = np.zeros(1)
    increment = incrementing(x, release=release)
    for _ in range(3):
        assert increment() is None
    assert x[0] == 3


@needs_llvm
def test_an_entry_takes_no_arguments():
    with pytest.raises(TypeError):
        incrementing(np.zeros(1))(1)


@needs_llvm
def test_an_entry_keeps_its_code_its_table_and_its_arrays():
    x = np.zeros(1)
    seen = weakref.ref(x)
    increment = incrementing(x)
    del x
    gc.collect()
    for _ in range(5):
        increment()
    assert seen()[0] == 5
    del increment
    gc.collect()
    assert seen() is None


@needs_llvm
def test_many_entries_come_and_go_without_growing_references_to_none():
    increment = incrementing(np.zeros(1))
    before = sys.getrefcount(None)
    for _ in range(1000):
        increment()
    assert abs(sys.getrefcount(None) - before) < 100


@needs_llvm
def test_entries_run_in_several_threads():
    arrays = [np.zeros(1) for _ in range(8)]
    entries = [incrementing(x) for x in arrays]
    start = threading.Barrier(4)

    def work(part):
        start.wait()
        for entry in part:
            for _ in range(500):
                entry()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [entries[i::4] for i in range(4)]))
    assert [x[0] for x in arrays] == [500] * 8


@needs_llvm
def test_code_may_call_an_address_it_is_given():
    given = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(lambda x: x + 1)
    address = ctypes.cast(given, ctypes.c_void_p).value
    library = llvm.compile_text(CALL, ["call"], {"given": address})
    out = np.zeros(1, np.int32)
    llvm.entry(library, "call", table_of(out), release=False, keeps=(out, given))()
    assert out[0] == 21


@needs_llvm
def test_an_object_file_runs_without_its_text():
    code = llvm.object_code(INCREMENT)
    library = llvm.link(code, ["increment"])
    assert library.code == code
    x = np.zeros(1)
    llvm.entry(library, "increment", table_of(x), keeps=(x,))()
    assert x[0] == 1


@needs_llvm
def test_the_same_text_gives_the_same_object():
    assert llvm.object_code(INCREMENT) == llvm.object_code(INCREMENT)


@needs_llvm
def test_an_object_may_be_made_for_another_cpu():
    host = llvm.host()
    plain = llvm.Target(host.triple, "", "", host.version)
    library = llvm.link(llvm.object_code(INCREMENT, plain), ["increment"])
    x = np.zeros(1)
    llvm.entry(library, "increment", table_of(x), keeps=(x,))()
    assert x[0] == 1


@needs_llvm
def test_the_host_is_named_with_its_features():
    host = llvm.host()
    assert host.triple
    assert host.cpu
    assert "," in host.features or not host.features
    assert host.version.count(".") == 2


@needs_llvm
def test_the_data_pointer_of_an_array_is_where_entries_read_it():
    assert llvm.data_pointer_is_where_expected()


@needs_llvm
def test_without_that_an_entry_goes_by_ctypes(monkeypatch):
    monkeypatch.setattr(llvm, "data_pointer_is_where_expected", lambda: False)
    x = np.zeros(1)
    increment = incrementing(x)
    gc.collect()
    assert increment() is None
    assert x[0] == 1


def test_without_llvmlite_one_notice_is_given(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    llvm._notice.cache_clear()
    with pytest.warns(UserWarning, match="llvmlite is not installed: programs run on NumPy"):
        assert llvm.available() is False
    assert llvm.available() is False  # silent: warnings are errors here
    llvm.binding.cache_clear()
    with pytest.raises(UnsupportedError, match="llvmlite is not installed"):
        llvm.binding()


def test_importing_the_module_loads_no_llvmlite():
    code = "import sys, scull.runtime.llvm, scull.compiler.llvm; print('llvmlite' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
