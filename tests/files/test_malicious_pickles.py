"""Pickles made to run code, to fill the memory or to stop the process: each is refused in time.

Nothing here is ever given to Python's own `pickle.load`.
"""

import io
import os
import pickle
import struct
import tracemalloc

import numpy as np
import pytest

import scull as paddle
from scull.errors import FileError, UnsafeFileError

MOST_BYTES = 100 << 20
STARTED = 0x80
SMALL = np.zeros(2, "float32")


def proto(code: bytes, version: int = 4) -> bytes:
    """A pickle of these opcodes."""
    return bytes((STARTED, version)) + code + b"."


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def named(module: str, name: str) -> bytes:
    """A global by two lines, the older way."""
    return f"c{module}\n{name}\n".encode()


def stacked(module: str, name: str) -> bytes:
    """A global by two texts on the stack."""
    return text(module) + text(name) + b"\x93"


def called(function: bytes, *arguments: bytes) -> bytes:
    return function + b"(" + b"".join(arguments) + b"tR"


class Reduced:
    """A value whose pickle is a call, with whatever may follow one."""

    def __init__(self, *parts):
        self.parts = parts

    def __reduce_ex__(self, protocol):
        return self.parts


def dumped(*parts, protocol=4) -> bytes:
    return pickle.dumps({"weight": Reduced(*parts)}, protocol)


ARRAY = named("numpy.core.multiarray", "_reconstruct") + b"(" + named("numpy", "ndarray")
ARRAY += b"K\0\x85C\1btR"
DTYPE = named("numpy", "dtype")
FLOAT32 = DTYPE + text("f4") + b"\x89\x88\x87R"
ECHO = text("echo pwned")
RUNS_CODE = {
    "os.system": dumped(os.system, ("true",)),
    "posix.system by its own name": proto(called(named("posix", "system"), ECHO)),
    "nt.system": proto(called(named("nt", "system"), ECHO)),
    "os.popen": dumped(os.popen, ("true",)),
    "os.execv": proto(called(named("os", "execv"), ECHO)),
    "subprocess.Popen": proto(called(named("subprocess", "Popen"), ECHO)),
    "subprocess.check_output": proto(called(stacked("subprocess", "check_output"), ECHO)),
    "builtins.exec": dumped(exec, ("1",)),
    "builtins.compile": proto(called(named("builtins", "compile"), ECHO, ECHO, text("exec"))),
    "builtins.eval of an expression": dumped(eval, ("1 + 1",)),
    "builtins.eval with another scope": dumped(eval, ("data", {"data": SMALL, "x": 1})),
    "builtins.eval with a list as data": dumped(eval, ("data", {"data": [1]})),
    "builtins.eval of two names": dumped(eval, ("data,data", {"data": SMALL})),
    "Python 2's eval": proto(called(named("__builtin__", "eval"), text("1"))),
    "Python 2's execfile": proto(called(named("__builtin__", "execfile"), text("/etc/passwd"))),
    "Python 2's apply": proto(called(named("__builtin__", "apply"))),
    "builtins.getattr": dumped(getattr, ("x", "upper")),
    "a chain of getattr": dumped(getattr, (Reduced(getattr, ("", "join")), "__class__")),
    "builtins.__import__": dumped(__import__, ("os",)),
    "importlib.import_module": proto(called(named("importlib", "import_module"), text("os"))),
    "builtins.open": dumped(open, ("/tmp/pwned", "w")),
    "io.open": proto(called(named("io", "open"), text("/tmp/pwned"), text("w"))),
    "builtins.globals": proto(named("builtins", "globals") + b")R"),
    "builtins.breakpoint": proto(named("builtins", "breakpoint") + b")R"),
    "builtins.input": proto(named("builtins", "input") + b")R"),
    "builtins.setattr": proto(called(named("builtins", "setattr"), ECHO, ECHO, ECHO)),
    "builtins.type, a class made anew": dumped(type, ("X", (), {})),
    "builtins.map": proto(called(named("builtins", "map"), named("os", "system"), ECHO)),
    "operator.attrgetter": proto(called(named("operator", "attrgetter"), text("system"))),
    "operator.methodcaller": proto(called(named("operator", "methodcaller"), ECHO)),
    "functools.partial": proto(called(named("functools", "partial"), named("os", "system"))),
    "functools.reduce": proto(called(named("functools", "reduce"))),
    "pickle.loads within a pickle": proto(called(named("pickle", "loads"), b"C\x02\x80\x04")),
    "_pickle.loads": proto(called(named("_pickle", "loads"), b"C\x02\x80\x04")),
    "marshal.loads": proto(called(named("marshal", "loads"), b"C\1N")),
    "types.CodeType": proto(named("types", "CodeType") + b")R"),
    "types.FunctionType": proto(named("types", "FunctionType") + b")R"),
    "ctypes.CDLL": proto(called(named("ctypes", "CDLL"), text("libc.so.6"))),
    "socket.create_connection": proto(called(named("socket", "create_connection"))),
    "urllib.request.urlopen": proto(called(named("urllib.request", "urlopen"), ECHO)),
    "webbrowser.open": proto(called(named("webbrowser", "open"), ECHO)),
    "runpy.run_path": proto(called(named("runpy", "run_path"), text("/tmp/x.py"))),
    "code.interact": proto(named("code", "interact") + b")R"),
    "pdb.run": proto(called(named("pdb", "run"), text("1"))),
    "timeit.timeit": proto(called(named("timeit", "timeit"), text("1"))),
    "cProfile.run": proto(called(named("cProfile", "run"), text("1"))),
    "copyreg._reconstructor": proto(named("copyreg", "_reconstructor") + b")R"),
    "copyreg.__newobj__": proto(named("copyreg", "__newobj__") + b")R"),
    "shutil.rmtree": proto(called(named("shutil", "rmtree"), text("/tmp/x"))),
    "numpy.load": proto(called(named("numpy", "load"), text("x"))),
    "numpy.fromfile": proto(called(named("numpy", "fromfile"), text("/etc/passwd"))),
    "numpy.f2py": proto(called(named("numpy.f2py", "compile"), ECHO)),
    "numpy.testing's runstring": proto(called(named("numpy.testing._private.utils", "runstring"))),
    "numpy.memmap": proto(called(named("numpy", "memmap"), text("/tmp/pwned"))),
    "a name that looks like an allowed one": proto(named("numpy.core.multiarray ", "scalar")),
    "an allowed name with a part of it": proto(stacked("builtins", "set.__class__")),
    "an allowed module, another name": proto(named("numpy.core.multiarray", "fromfile")),
    "an allowed name in Greek letters": proto(stacked("builtins", "sеt")),
    "a dotted path to a module": proto(stacked("collections", "OrderedDict.__init__.__globals__")),
    "scull's own module": proto(called(named("scull.files.pickle_global", "encode"), ECHO)),
    "scull's own loader": proto(called(named("scull", "load"), text("/etc/passwd"))),
    "a class made by INST": proto(b"(ios\nsystem\n"),
    "a class made by OBJ": proto(b"(" + named("collections", "OrderedDict") + b"o"),
    "a class made by NEWOBJ": proto(named("numpy", "ndarray") + b")\x81"),
    "a class made by NEWOBJ_EX": proto(named("numpy", "ndarray") + b")}\x92"),
    "a persistent id, as text": proto(b"Pos.system\n"),
    "a persistent id from the stack": proto(text("os.system") + b"Q"),
    "EXT1 of the registry": proto(b"\x82\x01"),
    "EXT2 of the registry": proto(b"\x83\x01\0"),
    "EXT4 of the registry": proto(b"\x84\x01\0\0\0"),
    "a buffer from outside": proto(b"\x97", 5),
    "a buffer from outside made read-only": proto(b"\x97\x98", 5),
    "the state of a list": proto(b"]}b"),
    "the state of a global": proto(named("numpy", "ndarray") + b"}b"),
    "the state of an OrderedDict": proto(named("collections", "OrderedDict") + b")R}b"),
    "__setstate__ of a set": dumped(set, ([],), {"__setstate__": 1}),
    "items for a class of its own": dumped(os.system, ("x",), None, iter([1])),
    "a second state for an array": proto(ARRAY + b"(K\1K\0\x85" + FLOAT32 + b"\x89C\0tbNb"),
    "a recarray": pickle.dumps(SMALL.view(np.recarray), 4),
    "a masked array": pickle.dumps(np.ma.masked_array([1, 2], [0, 1]), 4),
}

MINUS = b"\xff\xff\xff\xff"


def array(shape: bytes, dtype: bytes, data: bytes, version: bytes = b"K\1") -> bytes:
    """An array with a state of these parts."""
    return proto(ARRAY + b"(" + version + shape + dtype + b"\x89" + data + b"tb")


def long(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes((len(data),)) + data


def numbered(index: int) -> bytes:
    return b"j" + struct.pack("<I", index)


LAUGHS = b")" + b"".join(b"\x94" + numbered(i) + b"\x86" for i in range(100))
LISTS = b"]" + b"".join(b"\x94](" + numbered(2 * i) * 9 + b"e\x94" for i in range(50))
COMPLEX = named("builtins", "complex") + b"\x94"
COLLIDING = b"".join(
    b"h\0"
    + b"G"
    + struct.pack(">d", 2.0**52 - 1000003.0 * i)
    + b"G"
    + struct.pack(">d", i)
    + b"\x86RN"
    for i in range(40_000)
)
PIECES = "UnpackBigParamInfor@@"
REFUSED = {
    "nothing": b"",
    "text instead of a pickle": b"import os; os.system('true')",
    "a pickle of protocol 0": b"cos\nsystem\n(S'true'\ntR.",
    "a pickle of protocol 1": pickle.dumps([1], 1),
    "a protocol of the future": proto(b"N", 9),
    "a second protocol within": proto(b"\x80\x04N"),
    "a billion laughs of tuples": proto(LAUGHS),
    "a billion laughs of lists": proto(LISTS),
    "a list within itself": proto(b"]\x94h\0a"),
    "a dictionary within itself": proto(b"}\x94" + text("x") + b"h\0s"),
    "a tuple within itself by a list": proto(b"]\x94h\0\x85a"),
    "a deep list": proto(b"]" * 1000 + b"a" * 999),
    "a deep tuple": proto(b")" + b"\x85" * 3000),
    "a deep key": proto(b"}" + b")" + b"\x85" * 50 + b"Ns"),
    "a key that is a list": proto(b"}]Ns"),
    "a key that is a dictionary": proto(b"}}Ns"),
    "a set of lists": proto(b"\x8f(]\x90"),
    "a frozen set of sets": proto(b"(\x8f\x91"),
    "an array as a key": pickle.dumps([SMALL], 4)[:-2] + b"}" + FLOAT32 + b"Ns.",
    "an integer of 2 GB": proto(b"\x8b\xff\xff\xff\x7f"),
    "an integer of minus bytes": proto(b"\x8b\xff\xff\xff\xff"),
    "an integer of many digits": proto(b"I" + b"9" * 100_000 + b"\n"),
    "text of 4 GB": proto(b"X\xff\xff\xff\xff"),
    "text of 2 ** 63 bytes": proto(b"\x8d" + b"\xff" * 7 + b"\x7f"),
    "bytes of 2 ** 64": proto(b"\x8e" + b"\xff" * 8),
    "a bytearray of 2 ** 62": proto(b"\x96" + struct.pack("<Q", 1 << 62)),
    "a frame longer than the file": proto(b"\x95" + b"\xff" * 8 + b"N"),
    "text that is no UTF-8": proto(b"\x8c\x02\xc3\x28"),
    "a memo that was never put": proto(b"j\xff\xff\xff\xff"),
    "a memo of nothing": proto(b"\x94"),
    "a mark that is missing": proto(b"t"),
    "marks over marks": proto(b"(" * 2000),
    "a stack that is empty": proto(b"\x87"),
    "two values": proto(b"NN"),
    "no end": proto(b"N")[:-1],
    "an unknown opcode": proto(b"\xff"),
    "a call of a number": proto(b"K\1)R"),
    "a call of a text": proto(text("os.system") + b")R"),
    "a call with a list": proto(named("collections", "OrderedDict") + b"]R"),
    "a global as the value": proto(named("builtins", "eval")),
    "a global in a list": proto(b"]" + named("numpy", "ndarray") + b"a"),
    "a call of the class of arrays": proto(named("numpy", "ndarray") + b"K\5\x85R"),
    "an array that is never filled": proto(ARRAY),
    "a dtype with sizes of its own": proto(FLOAT32 + b"(K\3" + text("<") + b"NNNK\7K\7K\0tb"),
    "an array of objects": array(b"K\1\x85", DTYPE + text("O8") + b"\x89\x88\x87R", b"]Na"),
    "an array of records": array(
        b"K\1\x85", DTYPE + text("V8") + b"\x89\x88\x87R", b"C\x08" + b"a" * 8
    ),
    "an array of dates": array(
        b"K\1\x85", DTYPE + text("M8") + b"\x89\x88\x87R", b"C\x08" + b"a" * 8
    ),
    "a dtype with fields": proto(
        FLOAT32 + b"(K\3" + text("<") + b"N" + text("x") + b"\x85N" + 2 * (b"J" + MINUS) + b"K\0tb"
    ),
    "a dtype from a list": proto(DTYPE + b"](" + text("x") + text("O") + b"\x86e\x85R"),
    "an array larger than its bytes": array(long(1 << 40) + b"\x85", FLOAT32, b"C\4aaaa"),
    "an array of 2 ** 120 elements": array(b"(" + long(1 << 40) * 3 + b"t", FLOAT32, b"C\0"),
    "an empty array of 2 ** 96": array(b"(K\0" + long(1 << 47) * 2 + b"t", FLOAT32, b"C\0"),
    "an array of minus elements": array(b"J\xff\xff\xff\xff\x85", FLOAT32, b"C\4aaaa"),
    "an array of true elements": array(b"\x88\x85", FLOAT32, b"C\4aaaa"),
    "an array of 100 axes": array(b"(" + b"K\1" * 100 + b"t", FLOAT32, b"C\4aaaa"),
    "text elements without bytes": array(
        long(1 << 45) + b"\x85", DTYPE + text("S0") + b"\x89\x88\x87R", b"C\0"
    ),
    "text elements of a megabyte": array(
        b"K\2\x85", DTYPE + text("U999999") + b"\x89\x88\x87R", b"C\4aaaa"
    ),
    "a complex number of texts": proto(COMPLEX + text("1") + text("2") + b"\x86R"),
    "bytes by another encoding": proto(
        called(named("_codecs", "encode"), text("x"), text("zlib_codec"))
    ),
    "bytes by the encoding of code points": proto(
        called(named("_codecs", "encode"), text("x"), text("unicode_escape"))
    ),
    "complex keys that collide": proto(b"}" + COMPLEX + b"0(" + COLLIDING + b"u"),
    "two hundred thousand sets": proto(b"](" + b"\x8f" * 200_000 + b"e"),
    "pieces of different types": pickle.dumps(
        {
            "a": np.array(["x" * 200_000]),
            "b": np.array(["x"] * 200_000),
            PIECES: {"w": {"slices": ["a", "b"], "OriginShape": (200_001,)}},
        },
        4,
    ),
    "pieces that are lists": pickle.dumps(
        {"a": [1], PIECES: {"w": {"slices": ["a"], "OriginShape": (1,)}}}, 4
    ),
    "pieces of a size beyond numbers": pickle.dumps(
        {"a": SMALL, PIECES: {"w": {"slices": ["a"], "OriginShape": (1 << 80,)}}}, 4
    ),
    "names of parameters that are a number": pickle.dumps(
        {"w": SMALL, "StructuredToParameterName@@": 3}, 4
    ),
    "names of parameters that are lists": pickle.dumps(
        {"w": SMALL, "StructuredToParameterName@@": {"w": []}}, 4
    ),
}


@pytest.fixture(scope="module", autouse=True)
def ready():
    """What is loaded once is not counted."""
    paddle.load(io.BytesIO(pickle.dumps({"w": SMALL}, 4)))
    with pytest.raises(FileError):
        paddle.load(io.BytesIO(b"x"))


def measured(data: bytes) -> Exception:
    """The error a pickle is refused with, in bounded memory."""
    tracemalloc.start()
    try:
        with pytest.raises(FileError) as caught:
            paddle.load(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    return caught.value


@pytest.mark.parametrize("name", RUNS_CODE)
def test_a_pickle_that_would_run_code_is_refused_as_unsafe(name):
    assert isinstance(measured(RUNS_CODE[name]), UnsafeFileError)


@pytest.mark.parametrize("name", REFUSED)
def test_a_pickle_that_lies_or_grows_is_refused_in_bounded_memory(name):
    assert not isinstance(measured(REFUSED[name]), UnsafeFileError)


def test_there_are_many_kinds():
    assert len(RUNS_CODE) >= 60 and len(REFUSED) >= 50
