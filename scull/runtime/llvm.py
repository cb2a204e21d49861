"""LLVM, loaded when first asked for: text IR to machine code, and Python callables that enter it.

`import scull` never loads llvmlite. Where it has no wheel `available()` is False, and says so once.

What must live as long as the code may run is held by what can run it: a `Library` keeps its code,
an entry keeps its library and the table of buffers it passes.
"""

import ctypes
import importlib
import importlib.util
import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from scull.errors import UnsupportedError

NOTICE = "llvmlite is not installed: programs run on NumPy kernels, slower (`pip install llvmlite`)"
METHOD_WITHOUT_ARGUMENTS = 4
DATA_POINTER_OFFSET = 16  # of an ndarray in memory; probed before it is relied on

_numbers = itertools.count()

ENTER = """
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
@none = external global i8

; self is an ndarray of two addresses: a function, and the table it takes
define ptr @enter_holding(ptr %self, ptr %unused) {
  %place = getelementptr i8, ptr %self, i64 16
  %record = load ptr, ptr %place
  %function = load ptr, ptr %record
  %second = getelementptr ptr, ptr %record, i64 1
  %table = load ptr, ptr %second
  call void %function(ptr %table)
  call void @Py_IncRef(ptr @none)
  ret ptr @none
}

define ptr @enter_releasing(ptr %self, ptr %unused) {
  %place = getelementptr i8, ptr %self, i64 16
  %record = load ptr, ptr %place
  %function = load ptr, ptr %record
  %second = getelementptr ptr, ptr %record, i64 1
  %table = load ptr, ptr %second
  %thread = call ptr @PyEval_SaveThread()
  call void %function(ptr %table)
  call void @PyEval_RestoreThread(ptr %thread)
  call void @Py_IncRef(ptr @none)
  ret ptr @none
}
"""


@dataclass(frozen=True)
class Target:
    """A machine and the version of LLVM: all that code depends on besides its text."""

    triple: str
    cpu: str
    features: str
    version: str


class Library:
    """Machine code in memory. Its addresses are good as long as it lives."""

    def __init__(self, tracker: Any, names: Iterable[str], code: bytes) -> None:
        self._tracker = tracker
        self.code = code
        self.addresses: dict[str, int] = {name: tracker[name] for name in names}


class Record(np.ndarray[Any, Any]):
    """The two addresses an entry passes on, with what they need to stay good."""

    keeps: tuple[Any, ...]


class MethodDefinition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


def available() -> bool:
    """Whether code can be compiled here; the first time it cannot, a notice tells."""
    if importlib.util.find_spec("llvmlite") is not None:
        return True
    _notice()
    return False


@cache
def _notice() -> None:
    warnings.warn(NOTICE, stacklevel=3)


@cache
def binding() -> Any:
    """llvmlite's binding, initialised."""
    if not available():
        raise UnsupportedError(NOTICE)
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def host() -> Target:
    """This machine."""
    llvm = binding()
    version = ".".join(str(number) for number in llvm.llvm_version_info)
    features = llvm.get_host_cpu_features().flatten()
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, version)


def _target_machine(target: Target) -> Any:
    found = binding().Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=3,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _linker() -> Any:
    return binding().create_lljit_compiler(_target_machine(host()))


def object_code(text: str, target: Target | None = None) -> bytes:
    """An object file of text IR, for this machine unless another is named."""
    machine = _target_machine(target or host())
    module = binding().parse_assembly(text)
    module.triple = (target or host()).triple
    module.data_layout = str(machine.target_data)
    module.verify()
    return bytes(machine.emit_object(module))


def link(code: bytes, exports: Iterable[str], imports: dict[str, int] | None = None) -> Library:
    """An object file made runnable: `exports` are functions to find, `imports` what it needs."""
    names = list(exports)
    builder = binding().JITLibraryBuilder().add_object_img(code)
    for name, address in (imports or {}).items():
        builder.import_symbol(name, address)
    builder.add_current_process()
    for name in names:
        builder.export_symbol(name)
    return Library(builder.link(_linker(), f"scull{next(_numbers)}"), names, code)


def compile_text(
    text: str, exports: Iterable[str], imports: dict[str, int] | None = None
) -> Library:
    """Text IR as machine code in memory."""
    return link(object_code(text), exports, imports)


def data_pointer(array: np.ndarray[Any, Any]) -> int:
    """Where the elements of an array are."""
    return int(array.ctypes.data)


@cache
def data_pointer_is_where_expected() -> bool:
    """Whether an ndarray has its data pointer where machine code reads it."""
    for probe in (np.zeros(3), np.zeros((2, 5), np.int8)[1:, 2:], np.zeros(2).view(Record)):
        found = ctypes.c_void_p.from_address(id(probe) + DATA_POINTER_OFFSET).value
        if found != probe.ctypes.data:
            return False
    return True


@cache
def _methods() -> tuple[MethodDefinition, MethodDefinition, Library]:
    """How an entry is called: with the interpreter's lock released, or held."""
    api = ctypes.pythonapi
    imports = {"none": id(None)}
    for name in ("PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef"):
        address = ctypes.cast(getattr(api, name), ctypes.c_void_p).value
        assert address is not None
        imports[name] = address
    library = compile_text(ENTER, ("enter_holding", "enter_releasing"), imports)
    holding, releasing = (
        MethodDefinition(b"kernel", library.addresses[name], METHOD_WITHOUT_ARGUMENTS, None)
        for name in ("enter_holding", "enter_releasing")
    )
    return holding, releasing, library


def entry(
    library: Library,
    name: str,
    table: np.ndarray[Any, np.dtype[np.uint64]],
    *,
    release: bool = True,
    keeps: tuple[Any, ...] = (),
) -> Callable[[], None]:
    """A builtin that calls a function of the library with the address of `table`.

    It costs some ten nanoseconds over an empty function. It keeps the library, the table, and
    `keeps`: the arrays whose addresses the table holds. `release` lets other Python threads run
    meanwhile.
    """
    address = library.addresses[name]
    if not data_pointer_is_where_expected():
        return _entry_by_ctypes(address, (library, table, keeps))
    record = np.array([address, data_pointer(table)], np.uint64).view(Record)
    record.keeps = (library, table, keeps)
    holding, releasing, _ = _methods()
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    definition = ctypes.addressof(releasing if release else holding)
    made: Callable[[], None] = create(definition, record, None)
    return made


def _entry_by_ctypes(address: int, keeps: tuple[Any, ...]) -> Callable[[], None]:
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    table = data_pointer(keeps[1])

    def enter() -> None:
        assert keeps
        function(table)

    return enter
