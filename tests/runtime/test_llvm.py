"""Text IR to machine code: modules, libraries, targets; what forks, ends and is lacking."""

import ctypes
import importlib.util
import subprocess
import sys
import threading

import numpy as np
import pytest

from scull.errors import ArgumentError, UnsupportedError
from scull.flags import flags
from scull.runtime import llvm
from scull.runtime.entry import address_of, entry
from scull.runtime.object_cache import object_cache
from tests.runtime.child import ended, fork, needs_fork

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
GIVEN = """
define internal i32 @one() { ret i32 1 }
define i32 @given(i32 %x) {
  %one = call i32 @one()
  %y = add i32 %x, %one
  ret i32 %y
}
"""
WIDE = """
define void @wide(ptr %table) {
  %place = load ptr, ptr %table
  %x = load <16 x float>, ptr %place, align 4
  %y = fmul <16 x float> %x, %x
  store <16 x float> %y, ptr %place, align 4
  ret void
}
"""

needs_llvm = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def run(library, name, x):
    """The array after a call of a function with a table of its address."""
    entry(library, name, np.array([address_of(x)], np.uint64), keeps=(x,))()
    return x


def slow_text(blocks):
    """IR that takes LLVM about a third of a millisecond a block."""
    lines, last = ["define double @slow(double %x0) {"], "%x0"
    for k in range(blocks):
        lines += [
            f"%c{k} = fcmp olt double {last}, {k}.0",
            f"br i1 %c{k}, label %a{k}, label %b{k}",
        ]
        lines += [f"a{k}:", f"%y{k} = fmul double {last}, {k}.5", f"br label %b{k}", f"b{k}:"]
        before = f"%b{k - 1}" if k else "%entry"
        lines += [f"%x{k + 1} = phi double [{last}, {before}], [%y{k}, %a{k}]"]
        last = f"%x{k + 1}"
    lines[1:1] = ["entry:"]
    return "\n".join([*lines, f"ret double {last}", "}"])


@needs_llvm
def test_code_may_call_an_address_it_is_given():
    given = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(lambda x: x + 1)
    address = ctypes.cast(given, ctypes.c_void_p).value
    library = llvm.build([llvm.Module(CALL, ("call",))], {"given": address})
    assert run(library, "call", np.zeros(1, np.int32))[0] == 21
    assert given


@needs_llvm
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_module_calls_a_function_of_another_by_its_name(order):
    modules = (llvm.Module(CALL, ("call",)), llvm.Module(GIVEN))
    library = llvm.build([modules[k] for k in order])
    assert sorted(library.addresses) == ["call"]
    assert run(library, "call", np.zeros(1, np.int32))[0] == 21


@needs_llvm
def test_two_modules_may_have_internal_functions_of_one_name():
    other = GIVEN.replace("@given", "@other").replace("ret i32 1 ", "ret i32 2 ")
    library = llvm.build([llvm.Module(GIVEN, ("given",)), llvm.Module(other, ("other",))])
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
    assert [kind(library.addresses[name])(5) for name in ("given", "other")] == [6, 7]


@needs_llvm
def test_a_library_of_forty_modules_has_all_their_functions():
    texts = [
        GIVEN.replace("@given", f"@given{k}").replace("i32 1 ", f"i32 {k} ") for k in range(40)
    ]
    library = llvm.build([llvm.Module(text, (f"given{k}",)) for k, text in enumerate(texts)])
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
    found = [kind(library.addresses[f"given{k}"])(100) for k in range(40)]
    assert found == [100 + k for k in range(40)]


@needs_llvm
def test_an_object_file_runs_without_its_text():
    code = llvm.object_code(INCREMENT)
    library = llvm.link([code], ["increment"])
    assert library.codes == (code,)
    assert run(library, "increment", np.zeros(1))[0] == 1


@needs_llvm
def test_the_same_text_gives_the_same_object():
    assert llvm.object_code(INCREMENT) == llvm.object_code(INCREMENT)


@needs_llvm
def test_what_is_built_twice_is_compiled_once(tmp_path):
    modules = [llvm.Module(INCREMENT, ("increment",)), llvm.Module(GIVEN, ("given",))]
    with flags(CACHE_DIR=str(tmp_path)):
        first = llvm.build(modules)
        second = llvm.build(modules)
        seen = object_cache().statistics
    assert (seen.misses, seen.hits) == (2, 2)
    assert seen.bytes_read == seen.bytes_written == sum(map(len, first.codes))
    assert seen.seconds > 0
    assert first.codes == second.codes
    assert run(second, "increment", np.zeros(1))[0] == 1


@needs_llvm
def test_each_target_has_its_own_code_in_the_cache(tmp_path):
    with flags(CACHE_DIR=str(tmp_path)):
        for level in (*llvm.levels(), *llvm.levels()):
            llvm.build([llvm.Module(WIDE, ("wide",))], target=llvm.target(level))
        assert object_cache().statistics.misses == len(llvm.levels())


@needs_llvm
def test_code_of_every_level_runs_here_and_gives_the_same_bits():
    x = np.random.default_rng(0).standard_normal(16).astype(np.float32)
    for level in llvm.levels():
        library = llvm.build([llvm.Module(WIDE, ("wide",))], target=llvm.target(level))
        assert (run(library, "wide", x.copy()) == x * x).all()


@needs_llvm
def test_code_of_a_level_uses_no_wider_vectors():
    if not llvm.host().triple.startswith("x86_64"):
        pytest.skip("the registers looked for are those of x86-64")
    widest = {"avx512": "zmm", "avx2": "ymm", "generic": "xmm"}
    widest = {"amx": "zmm", "avx512bf16": "zmm"} | widest
    for level in llvm.levels():
        text = llvm.machine_text(WIDE, llvm.target(level))
        found = {name for name in widest.values() if f"%{name}" in text}
        wider = set(list(widest.values())[: list(widest).index(level)]) - {widest[level]}
        assert widest[level] in found and found.isdisjoint(wider)


@needs_llvm
def test_a_level_this_machine_has_not_is_refused():
    with pytest.raises(ArgumentError, match=r"this machine runs .*generic; not 'avx1024'"):
        llvm.target("avx1024")


@needs_llvm
def test_a_target_knows_its_features():
    generic = llvm.target("generic")
    assert not generic.has("avx2")
    assert all(llvm.target(level).has("avx2") for level in llvm.levels() if level != "generic")


@needs_llvm
def test_an_object_may_be_made_for_another_cpu():
    host = llvm.host()
    plain = llvm.Target(host.triple, "", "", host.version)
    library = llvm.link([llvm.object_code(INCREMENT, plain)], ["increment"])
    assert run(library, "increment", np.zeros(1))[0] == 1


@needs_llvm
def test_the_host_is_named_with_its_features():
    host = llvm.host()
    assert host.triple
    assert host.cpu
    assert "," in host.features or not host.features
    assert host.version.count(".") == 2


@needs_llvm
def test_text_that_is_no_code_says_where_and_leaves_nothing_in_the_cache(tmp_path):
    with flags(CACHE_DIR=str(tmp_path)):
        with pytest.raises(RuntimeError, match="expected type"):
            llvm.build([llvm.Module("define void @wrong( {", ("wrong",))])
        assert object_cache().entries() == []
    assert run(llvm.build([llvm.Module(INCREMENT, ("increment",))]), "increment", np.zeros(1))[0]


@needs_llvm
def test_a_name_nobody_defines_is_an_error(capfd):
    with pytest.raises(RuntimeError, match=r"given|call"):
        llvm.build([llvm.Module(CALL, ("call",))])
    assert "given" in capfd.readouterr().err


ENDS = """
import sys, threading
from llvmlite.binding import TargetMachine
from scull.runtime import llvm
entered = threading.Event()
emit = TargetMachine.emit_object
def emit_object(self, module):
    entered.set()
    return emit(self, module)
TargetMachine.emit_object = emit_object
text = sys.stdin.read()
threading.Thread(target=llvm.object_code, args=(text,), daemon=True).start()
entered.wait()
"""


@needs_llvm
def test_a_process_may_end_while_llvm_compiles():
    command = [sys.executable, "-c", ENDS]
    done = subprocess.run(command, input=slow_text(2000), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@needs_llvm
@needs_fork
def test_a_child_forked_while_llvm_compiles_compiles_too():
    started, stop = threading.Event(), threading.Event()

    def compile_on():
        text = slow_text(100)
        while not stop.is_set():
            llvm.object_code(text)
            started.set()

    worker = threading.Thread(target=compile_on)
    worker.start()
    try:
        started.wait()
        for _ in range(5):
            assert ended(fork(lambda: llvm.object_code(INCREMENT))) == 0
    finally:
        stop.set()
        worker.join()


@needs_llvm
def test_several_threads_build_at_once():
    found = {}

    def work(k):
        text = GIVEN.replace("i32 1 ", f"i32 {k} ")
        library = llvm.build([llvm.Module(text, ("given",))])
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(library.addresses["given"])
        found[k] = function(10)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: 10 + k for k in range(8)}


def test_without_llvmlite_one_notice_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    llvm._notice.cache_clear()
    monkeypatch.setattr(llvm, "_loads", llvm._loads.__wrapped__)
    with pytest.warns(UserWarning, match="llvmlite does not load: programs run on NumPy"):
        assert llvm.available() is False
    assert llvm.available() is False  # silent: warnings are errors here
    with pytest.raises(UnsupportedError, match="llvmlite does not load"):
        llvm.binding.__wrapped__()


def test_importing_the_module_loads_no_llvmlite():
    code = "import sys, scull.runtime.llvm, scull.compiler.native; print('llvmlite' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
