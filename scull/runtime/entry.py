"""Entries: Python callables made at run time that go straight into machine code.

An entry is a builtin whose body LLVM made. It checks the arrays it is given, puts the places of
their elements into the table the code reads, runs the code, and answers. Where an ndarray is not
laid out in memory as the body reads it, ctypes does the same, slower.
"""

import ctypes
import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, ScullError, ShapeError
from scull.runtime import llvm
from scull.runtime.entry_body import ARRAY, FLUSH, MISCOUNTED, RECORD, RELEASE, entry_body

NumpyArray = np.ndarray[Any, Any]
Table = np.ndarray[Any, np.dtype[np.uint64]]

METHOD_WITH_ARGUMENTS = 0x80  # METH_FASTCALL: an array of them and their number
STATUS_WORDS = 3
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
FLAGS = {CONTIGUOUS: "c_contiguous", ALIGNED: "aligned", WRITEABLE: "writeable"}
C_TYPES: dict[str, Any] = {
    "ptr": ctypes.c_void_p,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
}


class Outcome(enum.Enum):
    """What an entry answers when it did not do its work; code looks for its own answer."""

    REFUSED = "an argument is not what the code was made for"
    BUSY = "another thread runs this entry"
    FAILED = "the code found an index out of range: its status tells"


@dataclass(frozen=True)
class Argument:
    """An array that an entry takes: its elements' place goes into a slot of the table."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    slot: int
    writable: bool = False
    alignment: int = 1  # in bytes, if more than that of the dtype

    @property
    def flags(self) -> int:
        """What NumPy has to say of the array."""
        return CONTIGUOUS | ALIGNED | (WRITEABLE if self.writable else 0)


@dataclass(frozen=True)
class Failure:
    """An index out of range: the operator's number, which index it was, its value."""

    operator: int
    position: int
    value: int


class Record(np.ndarray[Any, Any]):
    """What an entry knows, as its body reads it, with all that must stay where it is."""

    keeps: tuple[Any, ...]


class MethodDefinition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


def entry(
    library: llvm.Library,
    name: str,
    table: Table,
    arguments: Sequence[Argument] = (),
    *,
    answer: Any = None,
    release: bool = True,
    flush: bool = False,
    status: int | None = None,
    keeps: tuple[Any, ...] = (),
) -> Callable[..., Any]:
    """A builtin that takes arrays and calls a function of the library with the table's address.

    It costs some tens of nanoseconds over an empty function. It gives back `answer`, or an
    `Outcome`: then nothing was computed, but for FAILED. One thread at a time runs an entry.

    Args:
        library: what has the function; the entry keeps it, the table and the answer.
        name: of the function, which takes the address of the table.
        table: contiguous uint64, the addresses and numbers the function reads.
        arguments: the arrays the entry is called with, in order; another number is a TypeError.
        answer: what a call gives back.
        release: let other Python threads run meanwhile.
        flush: numbers too small for a full mantissa are zero meanwhile, in this thread.
        status: the first of three slots of the table. The function sets them where an index is out
            of range: 1 + the operator's number, which index, its value. They are 0 before.
        keeps: what else must live as long as the entry, such as arrays the table tells of.
    """
    assert table.dtype == np.uint64 and table.flags.c_contiguous
    assert all(0 <= each.slot < table.size for each in arguments)
    assert status is None or 0 <= status <= table.size - STATUS_WORDS
    where = address_of(table)
    options = RELEASE * release | FLUSH * flush
    place = 0 if status is None else where + 8 * status
    words = [library.addresses[name], where, id(answer), options, 0, place, len(arguments)]
    for each in arguments:
        words += [id(each.dtype), each.flags, each.alignment - 1, where + 8 * each.slot]
        words += [len(each.shape), *each.shape]
    record = np.array(words, np.uint64).view(Record)
    kept = tuple(arguments)
    method = _method()  # what a builtin is defined by must outlive it
    record.keeps = (library, table, answer, kept, keeps, method, _code())
    if not layout_is_as_expected():
        return _entry_by_ctypes(record, kept)
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = create(ctypes.addressof(method), record, None)
    return made


def failure(table: Table, status: int) -> Failure | None:
    """What the code found when an entry last answered FAILED."""
    operator, position, value = table[status : status + STATUS_WORDS].view(np.int64).tolist()
    return Failure(operator - 1, position, value) if operator else None


def refusal(arguments: Sequence[Argument], given: Sequence[Any]) -> ScullError | None:
    """Why an entry refuses these; None where `suitable` makes them what it takes."""
    for wanted, each in zip(arguments, given, strict=True):
        if not isinstance(each, np.ndarray):
            return ArgumentTypeError(f"`{wanted.name}` is a {type(each).__name__}, not an ndarray")
        if each.dtype != wanted.dtype:
            return DtypeError(f"`{wanted.name}` is {wanted.dtype}, given {each.dtype}")
        if each.shape != wanted.shape:
            return ShapeError(f"`{wanted.name}` is {list(wanted.shape)}, given {list(each.shape)}")
        if wanted.writable and not _fits(wanted, each):
            return ArgumentError(f"`{wanted.name}` is written, {_hindrance(each)}")
    return None


def _hindrance(given: NumpyArray) -> str:
    """Why an array cannot be written as it is."""
    if not given.flags.writeable:
        return "and the array is read-only"
    if not given.flags.c_contiguous:
        return "and the array is not contiguous in memory: copy it first"
    return "and the array is of another class or begins at an odd place: copy it first"


def suitable(wanted: Argument, given: NumpyArray) -> NumpyArray:
    """The array, or a copy of it that an entry takes; its shape and dtype are those wanted."""
    if _fits(wanted, given):
        return given
    room = np.empty(given.nbytes + wanted.alignment, np.uint8)
    skipped = -address_of(room) % max(wanted.alignment, 1)
    array = room[skipped : skipped + given.nbytes].view(wanted.dtype).reshape(wanted.shape)
    array[...] = given
    return array


def address_of(array: NumpyArray) -> int:
    """Where the elements of an array are."""
    return int(array.ctypes.data)


def _fits(wanted: Argument, given: Any) -> bool:
    """What the body of an entry checks."""
    return (
        type(given) is np.ndarray
        and given.dtype is wanted.dtype
        and given.shape == wanted.shape
        and given.flags.c_contiguous
        and given.flags.aligned
        and (given.flags.writeable or not wanted.writable)
        and address_of(given) % wanted.alignment == 0
    )


@cache
def layout_is_as_expected() -> bool:
    """Whether an ndarray has in memory what the body of an entry reads, where it reads it."""
    frozen = np.zeros((2, 5), np.int8)
    frozen.flags.writeable = False
    probes: list[NumpyArray] = [np.zeros(3), frozen[1:, 2:], np.zeros(()), np.zeros(2).view(Record)]
    return all(map(_is_laid_out, [*probes, np.zeros((2, 0, 4), np.float32).T]))


def _is_laid_out(array: NumpyArray) -> bool:
    def read(field: str) -> int:
        offset, kind = ARRAY[field]
        return int(C_TYPES[kind].from_address(id(array) + offset).value or 0)

    found = {name: read(name) for name in ARRAY}
    shape = found.pop("shape")
    found["flags"] &= sum(FLAGS)
    expected = {
        "type": id(type(array)),
        "data": address_of(array),
        "elements": address_of(array),
        "dimensions": array.ndim,
        "dtype": id(array.dtype),
        "flags": sum(bit for bit, name in FLAGS.items() if getattr(array.flags, name)),
    }
    if found != expected:
        return False
    sizes = (ctypes.c_ssize_t * array.ndim).from_address(shape) if array.ndim else ()
    return tuple(sizes) == tuple(array.shape)


@cache
def _code() -> llvm.Library:
    """The body of entries. All threads get the same: two would go their ways, with their code."""
    with llvm.working:
        return _only_code()


@cache
def _only_code() -> llvm.Library:
    """The same, for one thread at a time, with what it refers to."""
    text = entry_body(llvm.host().triple)
    api = ctypes.pythonapi
    imports = {"ndarray": id(np.ndarray), "type_error": id(TypeError)}
    imports |= {outcome.name.lower(): id(outcome) for outcome in Outcome}
    for name in ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_SetString", "Py_IncRef"):
        address = ctypes.cast(getattr(api, name), ctypes.c_void_p).value
        assert address is not None
        imports[name] = address
    return llvm.build([llvm.Module(text, ("enter", "perform"))], imports)


@cache
def _method() -> MethodDefinition:
    address = _code().addresses["enter"]
    return MethodDefinition(b"kernel", address, METHOD_WITH_ARGUMENTS, None)


def _entry_by_ctypes(record: Record, arguments: tuple[Argument, ...]) -> Callable[..., Any]:
    _, table, answer, *_ = record.keeps
    words = record  # which keeps what it tells of
    options, busy, status = (RECORD[name][0] // 8 for name in ("options", "busy", "status"))
    releases = bool(int(words[options]) & RELEASE)
    make = ctypes.CFUNCTYPE if releases else ctypes.PYFUNCTYPE
    perform = make(None, ctypes.c_void_p)(_code().addresses["perform"])
    place = address_of(record)
    slot = (int(words[status]) - address_of(table)) // 8 if words[status] else None

    def enter(*given: Any) -> Any:
        if len(given) != len(arguments):
            raise TypeError(MISCOUNTED)
        if words[busy]:
            return Outcome.BUSY
        words[busy] = 1
        try:
            if not all(map(_fits, arguments, given)):
                return Outcome.REFUSED
            for wanted, each in zip(arguments, given, strict=True):
                table[wanted.slot] = address_of(each)
            perform(place)
            return Outcome.FAILED if slot is not None and table[slot] else answer
        finally:
            words[busy] = 0

    return enter
