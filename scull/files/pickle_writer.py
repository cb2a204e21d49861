"""Writing plain values as the pickles that Paddle writes, so that Paddle reads them."""

import codecs
import pickle
from collections import OrderedDict
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, BinaryIO

import ml_dtypes
import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.files.checksum import mark
from scull.files.pickle_global import DTYPE
from scull.files.plain import MAPPINGS, SEQUENCES, SINGLE

# What is not plain becomes a pair of a name and an array, or an array; None refuses it.
Reduce = Callable[[Any], Any]

MULTIARRAY = "numpy.core.multiarray"  # the module that NumPy of every age finds
BUILTINS = "builtins"

# The objects that pickles name.
GLOBALS: dict[Any, tuple[str, str]] = {
    np.empty(0).__reduce__()[0]: (MULTIARRAY, "_reconstruct"),
    np.float32(0).__reduce__()[0]: (MULTIARRAY, "scalar"),
    np.ndarray: ("numpy", "ndarray"),
    np.dtype: ("numpy", "dtype"),
    codecs.encode: ("_codecs", "encode"),
    OrderedDict: ("collections", "OrderedDict"),
    **{kind: (BUILTINS, kind.__name__) for kind in (tuple, set, frozenset, complex)},
    **{kind: (BUILTINS, kind.__name__) for kind in (bytes, bytearray)},
}
PYTHON_2 = {BUILTINS: "__builtin__"}
STACK_GLOBAL, GLOBAL = pickle.STACK_GLOBAL, pickle.GLOBAL

FRAME = 9  # bytes before what is written together

INTEGER_BITS = 1000
DEPTH = 100  # the machine that reads allows as much


class Writer(pickle._Pickler):
    """Python's own pickler, which writes the modules older versions know and refuses the rest."""

    proto: int
    write: Callable[[bytes], None]
    memoize: Callable[[Any], None]
    framer: Any

    def __init__(self, stream: BinaryIO, protocol: int, reduce: Reduce | None) -> None:
        super().__init__(stream, protocol)
        self.reduce = reduce
        self.stream = stream
        self.name = ""  # of the array being written
        self.names: dict[int, str] = {}  # of what is saved as an array, by identity
        self.around: set[int] = set()  # the containers around the value being written

    def dump(self, value: Any) -> None:
        """Write a value, telling the stream where its arrays lie."""
        self.names = names_within(value)
        super().dump(value)

    def tell(self, name: str) -> None:
        """Tell the stream that the array of this name begins."""
        frame = self.framer.current_frame
        mark(self.stream, name, FRAME + frame.tell() if frame else 0)

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        """Write a value and what it holds, unless it holds itself or too much depth."""
        if type(value) is bytes and self.name:  # the elements of an array
            self.tell(self.name)
            self.name = ""
        if type(value) not in SEQUENCES + MAPPINGS:
            super().save(value, save_persistent_id)  # type: ignore[misc]
            return
        if id(value) in self.around:
            raise ArgumentError(f"a {type(value).__name__} is within itself")
        if len(self.around) == DEPTH:
            raise ArgumentError(f"containers nest deeper than {DEPTH}")
        self.around.add(id(value))
        super().save(value, save_persistent_id)  # type: ignore[misc]
        self.around.remove(id(value))

    def reducer_override(self, value: Any) -> Any:
        if id(value) in self.names:
            self.name = self.names[id(value)]
            self.tell(self.name)
        if isinstance(value, np.ndarray | np.generic):
            return storable(value).__reduce__()
        if isinstance(value, np.dtype):
            return value.__reduce__()
        if isinstance(value, type | BuiltinFunctionType) and value in GLOBALS:
            return GLOBALS[value][1]
        if type(value) in SINGLE + SEQUENCES + MAPPINGS:
            if type(value) is int and value.bit_length() > INTEGER_BITS:
                raise ArgumentError(f"an integer has more than {INTEGER_BITS} bits")
            return NotImplemented
        reduced = None if self.reduce is None else self.reduce(value)
        if reduced is None:
            raise ArgumentTypeError(f"a {type(value).__name__} cannot be saved")
        if isinstance(reduced, np.ndarray):
            return storable(reduced).__reduce__()
        name, array = reduced
        return tuple, ((name, array),)

    def save_global(self, value: Any, name: str | None = None) -> None:
        """Write the module and name of an object that pickles name."""
        module, name = GLOBALS[value]
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(STACK_GLOBAL)
        else:
            module = PYTHON_2.get(module, module) if self.proto == 2 else module
            self.write(GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(value)


def storable(value: Any) -> Any:
    """An array or number as files hold it: bfloat16 is uint16 there."""
    if value.dtype == ml_dtypes.bfloat16:
        return np.asarray(value).view(np.uint16)
    if not DTYPE.fullmatch(value.dtype.str):
        raise DtypeError(f"an array of {value.dtype} cannot be saved")
    return (
        value if type(value) is np.ndarray or isinstance(value, np.generic) else np.asarray(value)
    )


def names_within(value: Any) -> dict[int, str]:
    """What to call each array and Tensor in nested containers: the keys that lead to it."""
    names: dict[int, str] = {}
    pending: list[tuple[Any, str]] = [(value, "")]
    met: set[int] = set()
    while pending:
        current, name = pending.pop()
        if type(current) in MAPPINGS:
            inner = [(v, f"{name}.{key}" if name else str(key)) for key, v in current.items()]
        elif type(current) in SEQUENCES:
            inner = [(v, f"{name}.{i}" if name else str(i)) for i, v in enumerate(current)]
        else:
            if type(current) not in SINGLE:
                names[id(current)] = name or "the value"
            continue
        if id(current) not in met:
            met.add(id(current))
            pending += inner
    return names
