"""What a saved file may name: the calls of Paddle's pickles, each as a function of plain values.

None of the named objects itself is called. `eval` is here for one form only, the one Paddle writes
around a tensor of a scope, and even that is not evaluated.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

DTYPE = re.compile(r"[<>|=]?(b1|\?|i[1248]|u[1248]|f[248]|c8|c16|[SU]\d{1,6})")
ELEMENTS = 1 << 20  # of an array whose elements have no bytes


class Reader(Protocol):
    """What a call may ask of the machine that reads the pickle."""

    used: dict[int, bytes]  # the memory of arrays, by identity

    def spend(self, size: int) -> None:
        """Count bytes that are made of other bytes."""

    def key(self, value: Any) -> Any:
        """The value, if it may be a key or the element of a set."""

    def unsafe(self, law: str) -> NoReturn:
        """Refuse the file, which would run code."""


@dataclass(frozen=True, slots=True)
class Global:
    """A global a file may name, and what calling it means."""

    name: str
    call: Callable[[Reader, tuple[Any, ...]], Any]
    unfinished: bool = False  # the result is an array whose elements come later


def find_global(module: str, name: str) -> Global | None:
    """The global of this name, None when a file may not name it."""
    return CALLS.get((MODULES.get(module, module), name))


def one(arguments: tuple[Any, ...], *kinds: type) -> Any:
    """The only argument, which is of one of these types exactly."""
    if len(arguments) != 1 or type(arguments[0]) not in kinds:
        raise TypeError(
            f"one argument of {' or '.join(kind.__name__ for kind in kinds)} belongs here"
        )
    return arguments[0]


def refuse_call(reader: Reader, arguments: tuple[Any, ...]) -> Any:
    raise TypeError("`numpy.ndarray` is called")


def reconstruct(reader: Reader, arguments: tuple[Any, ...]) -> NDArray[Any]:
    """An array without elements: its state follows."""
    kind, shape, code = arguments
    if kind is not CALLS["numpy", "ndarray"] or type(shape) is not tuple or shape not in ((0,), ()):
        raise TypeError("an array is not made as NumPy makes one")
    if type(code) not in (bytes, str) or code not in (b"b", "b"):
        raise TypeError("an array is not made of bytes first")
    return np.empty(0, np.int8)


def make_dtype(reader: Reader, arguments: tuple[Any, ...]) -> np.dtype[Any]:
    """A dtype of its own, since its byte order may be set later."""
    code = arguments[0] if arguments else None
    if type(code) is not str or not DTYPE.fullmatch(code) or len(arguments) > 3:
        raise TypeError("a dtype is none of numbers or text")
    return np.dtype(code, copy=True)


def build_dtype(target: np.dtype[Any], state: Any) -> None:
    """Set the byte order of a dtype; all else in its state must be as it is."""
    if type(state) is not tuple or len(state) != 8 or state[0] not in (3, 4):
        raise TypeError("the state of a dtype is not of version 3 or 4")
    order, inner, sizes = state[1], state[2:5], state[5:]
    if type(order) is not str or order not in "<>|=" or len(order) != 1 or inner != (None,) * 3:
        raise TypeError("a dtype has fields or metadata")
    if any(type(size) is not int for size in sizes):
        raise TypeError("the sizes of a dtype are no integers")
    if sizes not in ((-1, -1, 0), (target.itemsize, target.alignment, target.flags)):
        raise TypeError("the sizes of a dtype are not its own")
    target.__setstate__((3, *state[1:]))  # type: ignore[attr-defined]


def native(dtype: Any) -> np.dtype[Any]:
    """The one object NumPy has for a dtype in this machine's byte order."""
    if not isinstance(dtype, np.dtype):
        raise TypeError("the dtype of an array is none")
    return np.dtype(dtype.newbyteorder("=").str)


def payload(reader: Reader, data: Any, dtype: np.dtype[Any], count: int) -> bytes:
    """The bytes of that many elements, in this machine's byte order."""
    if type(data) is str:
        reader.spend(len(data))
        data = data.encode("latin1")
    if type(data) is not bytes or len(data) != count * dtype.itemsize:
        raise ValueError(f"{count} elements of {dtype} do not have the bytes that are there")
    if not dtype.isnative:
        reader.spend(len(data))
        data = np.frombuffer(data, dtype).astype(native(dtype)).tobytes()
    return bytes(data)


def elements(shape: Any, dtype: Any) -> int:
    """The number of elements of a shape, which must be one."""
    native(dtype)
    if type(shape) is not tuple or len(shape) > 64:
        raise TypeError("the shape of an array is none")
    if any(type(size) is not int or not 0 <= size < 1 << 48 for size in shape):
        raise ValueError("the shape of an array holds no sizes")
    if prod(max(size, 1) for size in shape) * max(dtype.itemsize, 1) >= 1 << 62:
        raise ValueError("the shape of an array is too large")
    count = prod(shape)
    if dtype.itemsize == 0 and count > ELEMENTS:
        raise ValueError(f"an array has {count} elements without bytes")
    return count


def build_array(reader: Reader, target: NDArray[Any], state: Any) -> None:
    """Give an array its shape, dtype and elements."""
    if type(state) is not tuple or len(state) != 5 or type(state[0]) is not int:
        raise TypeError("the state of an array has no version, shape, dtype, order and bytes")
    version, shape, dtype, fortran, data = state
    if version != 1 or type(fortran) not in (bool, int):
        raise TypeError("the state of an array has no version 1")
    data = payload(reader, data, dtype, elements(shape, dtype))
    if id(data) in reader.used:  # the array would share memory with another
        reader.spend(len(data))
        data = bytes(memoryview(data))
    reader.used[id(data)] = data
    target.__setstate__((1, shape, native(dtype), bool(fortran), data))  # type: ignore[arg-type]


def scalar(reader: Reader, arguments: tuple[Any, ...]) -> Any:
    """A number of NumPy's."""
    dtype, data = arguments
    data = payload(reader, data, dtype, elements((), dtype))
    return np.frombuffer(data, native(dtype))[0] if data else dtype.type()


def frombuffer(reader: Reader, arguments: tuple[Any, ...]) -> NDArray[Any]:
    """An array of protocol 5, with all it has."""
    data, dtype, shape, order = arguments
    count = elements(shape, dtype)
    if type(data) is bytearray:
        data = bytes(data)
    if type(order) is not str or order not in ("C", "F"):
        raise ValueError("the order of an array is none")
    data = payload(reader, data, dtype, count)
    reader.spend(2 * len(data))
    flat: NDArray[Any] = np.frombuffer(data, native(dtype)).copy()
    return flat.reshape(shape, order="F" if order == "F" else "C")


def encode(reader: Reader, arguments: tuple[Any, ...]) -> bytes:
    """Bytes, which protocol 2 writes as text."""
    text, encoding = arguments
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise TypeError("bytes are not written as Latin 1")
    reader.spend(len(text))
    return text.encode("latin1")


def make_tuple(reader: Reader, arguments: tuple[Any, ...]) -> Any:
    """The pair of a name and an array that stands for a Tensor."""
    values = one(arguments, tuple, list)
    reader.spend(8 * len(values))
    return tuple(values)


def make_set(reader: Reader, arguments: tuple[Any, ...]) -> set[Any]:
    values = one(arguments, list)
    reader.spend(8 * len(values))
    return {reader.key(value) for value in values}


def make_frozenset(reader: Reader, arguments: tuple[Any, ...]) -> frozenset[Any]:
    return frozenset(make_set(reader, arguments))


def ordered(reader: Reader, arguments: tuple[Any, ...]) -> OrderedDict[Any, Any]:
    """An empty dictionary: its items follow."""
    if arguments:
        raise TypeError("an OrderedDict is called with arguments")
    return OrderedDict()


def make_bytes(reader: Reader, arguments: tuple[Any, ...]) -> bytes:
    if arguments:
        raise TypeError("`bytes` is called with arguments")
    return b""


def make_bytearray(reader: Reader, arguments: tuple[Any, ...]) -> bytearray:
    if not arguments:
        return bytearray()
    data = encode(reader, arguments) if len(arguments) == 2 else one(arguments, bytes)
    reader.spend(len(data))
    return bytearray(data)


def make_complex(reader: Reader, arguments: tuple[Any, ...]) -> complex:
    real, imaginary = arguments
    if type(real) is not float or type(imaginary) is not float:
        raise TypeError("a complex number is not two floats")
    return complex(real, imaginary)


def named_data(reader: Reader, arguments: tuple[Any, ...]) -> NDArray[Any]:
    """The array in `eval('data', {'data': array})`; anything else would be code."""
    if len(arguments) == 2 and type(arguments[0]) is str and arguments[0] == "data":
        scope = arguments[1]
        if type(scope) is dict and list(scope) == ["data"] and type(scope["data"]) is np.ndarray:
            array: NDArray[Any] = scope["data"]
            return array
    reader.unsafe("an expression would be evaluated")


CALLS = {
    ("numpy.core.multiarray", "_reconstruct"): Global("_reconstruct", reconstruct, unfinished=True),
    ("numpy.core.multiarray", "scalar"): Global("scalar", scalar),
    ("numpy.core.numeric", "_frombuffer"): Global("_frombuffer", frombuffer),
    ("numpy", "ndarray"): Global("ndarray", refuse_call),
    ("numpy", "dtype"): Global("dtype", make_dtype),
    ("_codecs", "encode"): Global("encode", encode),
    ("collections", "OrderedDict"): Global("OrderedDict", ordered),
    ("builtins", "tuple"): Global("tuple", make_tuple),
    ("builtins", "set"): Global("set", make_set),
    ("builtins", "frozenset"): Global("frozenset", make_frozenset),
    ("builtins", "bytes"): Global("bytes", make_bytes),
    ("builtins", "bytearray"): Global("bytearray", make_bytearray),
    ("builtins", "complex"): Global("complex", make_complex),
    ("builtins", "eval"): Global("eval", named_data),
}

# Other names of the same modules: of Python 2 and of NumPy 2.
MODULES = {
    "__builtin__": "builtins",
    "numpy._core.multiarray": "numpy.core.multiarray",
    "numpy._core.numeric": "numpy.core.numeric",
}
