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

INTEGER_BITS = 1000
DEPTH = 100  # the machine that reads allows as much


class Writer(pickle._Pickler):
    """Python's own pickler, which writes the modules older versions know and refuses the rest."""

    proto: int
    write: Callable[[bytes], None]
    memoize: Callable[[Any], None]

    def __init__(self, stream: BinaryIO, protocol: int, reduce: Reduce | None) -> None:
        super().__init__(stream, protocol)
        self.reduce = reduce
        self.around: set[int] = set()  # the containers around the value being written

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        """Write a value and what it holds, unless it holds itself or too much depth."""
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
