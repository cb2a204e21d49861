"""`save` and `load`: Paddle's pickles, written atomically, read without running code."""

import io
import os
import pickle
import warnings
from typing import Any

import numpy as np

from scull.core.dtype import bfloat16
from scull.core.tensor import Rows, Tensor
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    UnsafeFileError,
    UnsupportedError,
)
from scull.files.checksum import seal, unsealed
from scull.files.file_set import is_there, open_file, write_file
from scull.files.pickles import dump
from scull.files.pickles import load as load_pickle
from scull.files.plain import children
from scull.files.program import bytes_of, program_of
from scull.files.safetensors import is_safetensors, read_tensors, write_tensors
from scull.files.saved import PARAMETERS, read_model, read_values
from scull.files.tensor_stream import (
    LevelledTensor,
    read_rows,
    read_tensor,
    write_rows,
    write_tensor,
)
from scull.files.tensor_stream import SelectedRows as StoredRows
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import Program
from scull.runtime.scope import Cell, ScopeTensor
from scull.runtime.selected_rows import SelectedRows

SAFETENSORS = ".safetensors"


def as_stored(value: Any) -> Any:
    """A Tensor as (name, array), which Paddle loads as a Tensor; None for what it does not know."""
    if isinstance(value, Tensor):
        array = value.array.dense() if isinstance(value.array, Rows) else value.array
        return value.name, np.ascontiguousarray(array).reshape(array.shape)  # type: ignore[attr-defined]
    if isinstance(value, ScopeTensor):
        return initialized(value.cell.value)
    return None


def initialized(value: Any) -> Any:
    """The value of a tensor of a scope, which must have one."""
    if value is None or (isinstance(value, Rows) and not value.values.size):
        raise ArgumentError("The saved tensor is not initialized.")
    return np.asarray(value) if not isinstance(value, Rows) else value


def save(obj: Any, path: Any, protocol: int = 4, **configs: Any) -> None:
    """Write `obj` to `path`, whole or not at all; Paddle 2.6 reads it.

    In the file the checksum of each array follows; Paddle does not read as far. A path that ends
    with `.safetensors` gets a file of that format.

    Args:
        obj: a state dictionary, a Tensor, a Program, or nested containers of them; for
            `.safetensors` a dictionary of Tensors or arrays.
        path (str | BytesIO): where; folders are made.
        protocol (int): of the pickle: 2, 3 or 4.
        configs: `use_binary_format=True` writes one tensor or SelectedRows without a pickle;
            `pickle_protocol` is the older name of `protocol`.

    Examples:
        >>> import io
        >>> import scull as paddle
        >>> stream = io.BytesIO()
        >>> paddle.save({"w": paddle.ones([2])}, stream)
        >>> _ = stream.seek(0)
        >>> paddle.load(stream)["w"].tolist()
        [1.0, 1.0]
    """
    protocol = configs.get("pickle_protocol", protocol)
    if isinstance(protocol, bool) or not isinstance(protocol, int):
        raise ArgumentError(f"The 'protocol' MUST be `int`, but received {type(protocol)}")
    if not 1 < protocol < 5:
        raise ArgumentError(f"Expected 1<'protocol'<5, but received protocol={protocol}")
    binary = wants_binary(configs)
    if isinstance(path, io.BytesIO):
        write(obj, path, protocol, binary)
        return
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(
            f"only supports saving objects to file and `BytesIO`, but got {type(path)}"
        )
    name = os.fspath(path)
    if os.path.basename(name) == "":
        raise ArgumentError(
            "The input path MUST be format of dirname/filename "
            "[dirname\\filename in Windows system], but received filename is empty string."
        )
    if name.endswith(SAFETENSORS) and not binary:
        arrays = tensors_of(obj)
        write_file(name, lambda stream: write_tensors(stream, arrays))
    else:
        write_file(name, lambda stream: write(obj, stream, protocol, binary))


def tensors_of(obj: Any) -> dict[str, Any]:
    """The arrays of a dictionary of Tensors and arrays, by name."""
    if not isinstance(obj, dict):
        raise ArgumentTypeError(
            f"a file of safetensors holds a dictionary of Tensors, not a {type(obj).__name__}"
        )
    arrays = {}
    for name, value in obj.items():
        stored = as_stored(value)
        array = stored[1] if isinstance(stored, tuple) else value if stored is None else stored
        if not isinstance(array, np.ndarray):
            raise ArgumentTypeError(
                f"a file of safetensors holds Tensors alone, and {name!r} is a "
                f"{type(value).__name__}"
            )
        arrays[name] = array
    return arrays


def wants_binary(configs: dict[str, Any]) -> bool:
    """Whether the settings of `save` ask for a file without a pickle."""
    unknown = configs.keys() - {"use_binary_format", "pickle_protocol"}
    if unknown:
        raise ArgumentError(
            f"The additional config ({', '.join(sorted(unknown))}) of `paddle.save` is not "
            "supported."
        )
    binary = configs.get("use_binary_format", False)
    if not isinstance(binary, bool):
        raise ArgumentTypeError(
            f"Type of `use_binary_format` should be bool, but received {type(binary)}."
        )
    return binary


def write(obj: Any, stream: Any, protocol: int, binary: bool) -> None:
    """Append `obj` to a stream."""
    if binary:
        write_binary(obj, stream)
        return
    if isinstance(obj, Program):
        stream.write(bytes_of(obj))
        return
    if callable(obj) and hasattr(obj, "state_dict"):
        raise ArgumentTypeError(
            "a Layer is saved by its state_dict(), or by jit.save with its network"
        )
    if isinstance(obj, dict) and obj and all(isinstance(k, str) for k in obj) and is_state(obj):
        obj = named_state(obj)
    start = stream.tell()
    try:
        dump(obj, stream, protocol, as_stored)
    except ArgumentTypeError as plain:
        stream.seek(start)
        stream.truncate()
        dump_by_name(obj, stream, protocol, plain)


class ByName(pickle.Pickler):
    """Stores objects of classes as Paddle does, by the names of these; Tensors as always."""

    def reducer_override(self, obj: Any) -> Any:
        if callable(obj) and hasattr(obj, "state_dict") and not isinstance(obj, type):
            raise ArgumentTypeError(f"a {type(obj).__name__} cannot be saved within other things")
        stored = as_stored(obj)
        if isinstance(stored, tuple):
            return tuple, (stored,)
        return NotImplemented if stored is None else stored.__reduce_ex__(4)


def dump_by_name(obj: Any, stream: Any, protocol: int, plain: ArgumentTypeError) -> None:
    """Append what is no plain value, which `load` does not make again; where it can be written."""
    try:
        ByName(stream, protocol).dump(obj)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ArgumentTypeError(f"{plain}: {error}") from None
    warnings.warn(
        f"{plain} as a plain value: it is stored by the name of its class. `load` runs no code "
        "and refuses the file; `pickle.load` reads it",
        stacklevel=2,
    )


def write_binary(obj: Any, stream: Any) -> None:
    """Append one tensor, or some rows of one, in the form of Paddle's own operators."""
    if isinstance(obj, SelectedRows):
        rows = initialized(obj.cell.value)
        write_rows(stream, StoredRows(rows.rows.tolist(), rows.height, rows.values))
    elif isinstance(obj, ScopeTensor):
        write_tensor(stream, initialized(obj.cell.value), obj.cell.lod)
    elif isinstance(obj, Tensor):
        write_tensor(stream, np.asarray(obj.array))
    else:
        raise UnsupportedError(
            "When use_binary_format = True, `paddle.save` expected Tensor, but received "
            f"{type(obj)}."
        )
    seal(stream)


def is_state(obj: dict[Any, Any]) -> bool:
    """Whether a dictionary is a state of a Layer or an optimizer: Tensors, and settings."""
    return all(
        not holds_tensor(v) if isinstance(v, dict) else isinstance(v, Tensor) for v in obj.values()
    )


def holds_tensor(value: Any) -> bool:
    """Whether there is a Tensor in nested containers."""
    pending, met = [value], set[int]()
    while pending:
        current = pending.pop()
        inner = children(current)
        if inner is None and isinstance(current, Tensor | ScopeTensor):
            return True
        if inner is not None and id(current) not in met:
            met.add(id(current))
            pending += inner
    return False


def named_state(state: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a state dictionary, and under a key of Paddle's the names of its tensors."""
    arrays: dict[str, Any] = {
        k: np.ascontiguousarray(v.array).reshape(v.array.shape) if isinstance(v, Tensor) else v
        for k, v in state.items()
    }
    arrays["StructuredToParameterName@@"] = {
        k: v.name for k, v in state.items() if isinstance(v, Tensor)
    }
    return arrays


SETTINGS = {"return_numpy", "keep_name_table", "model_filename", "params_filename", "allow_ops"}


def load(path: Any, **configs: Any) -> Any:
    """What `save` of scull or Paddle wrote; no code of the file runs.

    Args:
        path (str | BytesIO): where; or the path of a model that `jit.save` wrote, of which the
            values are had, as arrays by the names that its layer has for them; or the folder that
            `save_vars` wrote, a file a value.
        configs: `return_numpy=True` gives arrays instead of Tensors; `keep_name_table=True` keeps
            parameter names; `model_filename=`, `params_filename=` of an older model in a folder;
            `allow_ops=` the types of operators with effects outside that a Program may have.

    Returns:
        The object, with Tensors where there were some.
    """
    unknown = configs.keys() - SETTINGS
    if unknown:
        raise ArgumentError(f"load has no setting {', '.join(sorted(unknown))}")
    if isinstance(path, io.BytesIO):
        return restored(read(path, configs.get("allow_ops", ())), configs)
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(f"load takes a file name or a BytesIO, not {type(path).__name__}")
    name = os.fspath(path)
    if not is_there(name):
        return state_of_model(name, configs)
    with open_file(name) as stream:
        return restored(read(stream, configs.get("allow_ops", ())), configs)


def state_of_model(name: str, configs: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a model that `jit.save` or `save_inference_model` wrote, by name."""
    beside = [name + suffix for suffix in (".pdparams", ".pdopt")]
    found = [path for path in beside if os.path.isfile(path)]
    if found and not os.path.isfile(name + PARAMETERS):
        raise ArgumentError(
            f"The ``path`` ({name}) to load model not exists. There is `{found[0]}`: name the "
            "whole file."
        )
    model, parameters = configs.get("model_filename"), configs.get("params_filename")
    if os.path.isdir(name) and not (model or os.path.exists(os.path.join(name, "__model__"))):
        return read_values(name)
    return read_model(name, model, parameters, configs.get("allow_ops", ())).state()


def read(stream: Any, allow_ops: Any) -> Any:
    """A pickle, a Program, a tensor or safetensors, told apart by their first bytes."""
    if is_safetensors(stream):
        return {name: own(array) for name, array in read_tensors(stream).items()}
    start = stream.tell()
    head = stream.read(4)
    stream.seek(start)
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return load_pickle(stream)
    if head == b"\0\0\0\0":
        return read_binary(stream)
    data = stream.read()
    try:
        return program_of(data, allow_ops)
    except UnsafeFileError:
        raise
    except FileError as error:
        raise FileError(f"the file is neither a pickle, a tensor nor a Program: {error}") from None


def own(array: Any) -> Any:
    """A copy, in memory of its own; bfloat16 is uint16 as in pickles."""
    copied = np.array(array)
    return copied.view(np.uint16) if copied.dtype == bfloat16.array else copied


def read_binary(stream: Any) -> Any:
    """Some rows of a matrix, when what the stream holds can be that; else a tensor."""
    start = stream.tell()
    found: StoredRows | LevelledTensor
    with unsealed(stream):
        try:
            found = read_rows(stream)
        except FileError:
            stream.seek(start)
            found = read_tensor(stream)
    if isinstance(found, StoredRows):
        rows = Rows(np.array(found.rows), found.array, found.height)
        return SelectedRows(cell=Cell("", rows))
    if in_dynamic_mode():
        return Tensor(found.array)
    made = ScopeTensor(Cell("", found.array))
    made.set_lod(found.lod)
    return made


def restored(value: Any, configs: dict[str, Any]) -> Any:
    """Tensors for named arrays, and for arrays of a state dictionary."""
    numpy = bool(configs.get("return_numpy"))
    if numpy and isinstance(value, Tensor | ScopeTensor):
        return value.numpy()
    if isinstance(value, dict) and "StructuredToParameterName@@" in value:
        names = value["StructuredToParameterName@@"]
        if type(names) is not dict or not all(type(n) is str for n in names.values()):
            raise FileError("the names of the parameters are no dictionary of texts")
        rest = {
            k: v
            for k, v in value.items()
            if k != "StructuredToParameterName@@" or configs.get("keep_name_table")
        }
        return {
            k: named(v, names.get(k), numpy) if isinstance(v, np.ndarray) else v
            for k, v in rest.items()
        }
    return revived(value, numpy, any_pair(value))


def is_pair(value: Any) -> bool:
    """Whether a value is a name and an array, as a Tensor is stored."""
    return (
        type(value) is tuple
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], np.ndarray)
    )


def any_pair(value: Any) -> bool:
    """Whether a Tensor is stored anywhere in `value`; arrays beside it are then arrays."""
    if is_pair(value):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list | tuple | set) and any(map(any_pair, inner))


def revived(value: Any, numpy: bool, pairs: bool) -> Any:
    """Containers with what stands for Tensors made Tensors."""
    if is_pair(value):
        return named(value[1], value[0], numpy)
    if isinstance(value, np.ndarray):
        return value if pairs else named(value, None, numpy)
    if isinstance(value, dict):
        return type(value)((k, revived(v, numpy, pairs)) for k, v in value.items())
    if isinstance(value, list | tuple | set):
        return type(value)(revived(v, numpy, pairs) for v in value)
    return value


def named(array: Any, name: str | None, numpy: bool) -> Any:
    """An array as a Tensor of its name; uint16 stands for bfloat16, as in Paddle's arrays."""
    if numpy:
        return array
    if array.dtype == np.uint16:
        array = array.view(bfloat16.array)
    if not in_dynamic_mode():
        return ScopeTensor(Cell("", array))
    made = Tensor(array)
    if name is not None:
        made.name = name  # type: ignore[attr-defined]
    return made
