"""Paddle's binary tensors: alone in a stream, one after another in a file, or each in its own file.

A tensor is a version, its levels of detail, then version, dtype and dims, and its elements. The
files of a Program's parameters (`.pdiparams`) hold no names: they lie in the order of their names.
"""

import math
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from scull.errors import (
    ArgumentError,
    DtypeError,
    FileError,
    MissingFileError,
    UnsafeFileError,
)
from scull.files import varint
from scull.files.atomic import atomic_file
from scull.files.checksum import mark, unsealed
from scull.files.file_set import located, write_set
from scull.files.source import Source

Array = NDArray[Any]
Levels = Sequence[Sequence[int]]

# The numbers of dtypes in the files.
DTYPES: dict[int, np.dtype[Any]] = {
    0: np.dtype(np.bool_),
    1: np.dtype(np.int16),
    2: np.dtype(np.int32),
    3: np.dtype(np.int64),
    4: np.dtype(np.float16),
    5: np.dtype(np.float32),
    6: np.dtype(np.float64),
    20: np.dtype(np.uint8),
    21: np.dtype(np.int8),
    22: np.dtype(ml_dtypes.bfloat16),
    23: np.dtype(np.complex64),
    24: np.dtype(np.complex128),
}
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}

DIMS = 64  # NumPy's own limit
LEVELS = 64
DESCRIPTION = 2 + DIMS * 11  # bytes of a dtype and that many dims

LONGEST_NAME = 2048  # bytes of the name of a value that has a file of its own

DTYPE_TAG, DIM_TAG = 0x08, 0x10  # of the fields of a TensorDesc


class LevelledTensor(NamedTuple):
    """An array and the offsets of its levels of detail, outermost first."""

    array: Array
    lod: list[list[int]]


class SelectedRows(NamedTuple):
    """Some rows of a matrix of this height: their indices and their values."""

    rows: list[int]
    height: int
    array: Array


def write_tensor(
    stream: BinaryIO, array: Array, lod: Levels = (), name: str = "the tensor"
) -> None:
    """Append one tensor with its levels of detail; `name` is what its checksums are told by."""
    mark(stream, name)
    stream.write(struct.pack("<IQ", 0, len(lod)))
    for level in lod:
        stream.write(struct.pack(f"<Q{len(level)}Q", 8 * len(level), *level))
    write_dense(stream, array, name)


def write_rows(stream: BinaryIO, value: SelectedRows) -> None:
    """Append rows of a matrix."""
    count = len(value.rows)
    mark(stream, "the rows")
    stream.write(struct.pack(f"<IQ{count}qq", 0, count, *value.rows, value.height))
    write_dense(stream, value.array, "the rows")


def write_dense(stream: BinaryIO, array: Array, name: str) -> None:
    """Append version, dtype, dims and elements."""
    array = np.asarray(array)
    native = array.dtype.newbyteorder("=")
    if native not in NUMBERS:
        raise DtypeError(f"no tensor of {array.dtype} can be written")
    array = np.asarray(array, dtype=native.newbyteorder("<"), order="C")
    description = bytes((DTYPE_TAG,)) + varint.encode(NUMBERS[native])
    for size in array.shape:
        description += bytes((DIM_TAG,)) + varint.encode(size)
    stream.write(struct.pack("<Ii", 0, len(description)) + description)
    mark(stream, name)
    stream.write(octets(array))


def octets(array: Array) -> memoryview:
    """The memory of a contiguous array, byte by byte."""
    return array.reshape(-1).view(np.uint8).data


def read_tensor(stream: BinaryIO) -> LevelledTensor:
    """The tensor at the position of the stream, which is left behind it."""
    source = Source(stream)
    require_version(source, "tensor")
    (count,) = source.unpack("<Q", "the number of levels")
    if count > LEVELS:
        source.refuse(f"{count} levels of detail are declared, {LEVELS} are allowed")
    lod = []
    for _ in range(count):
        (size,) = source.unpack("<Q", "the size of a level")
        if size % 8:
            source.refuse(f"a level of detail has {size} bytes, no multiple of 8")
        lod.append(list(struct.unpack(f"<{size // 8}Q", source.take(size, "a level of detail"))))
    return LevelledTensor(read_dense(source), lod)


def read_rows(stream: BinaryIO) -> SelectedRows:
    """The rows at the position of the stream, which is left behind them."""
    source = Source(stream)
    require_version(source, "rows")
    (count,) = source.unpack("<Q", "the number of rows")
    rows = list(struct.unpack(f"<{count}q", source.take(8 * count, "the rows")))
    (height,) = source.unpack("<q", "the height")
    array = read_dense(source)
    if array.ndim == 0 or len(array) != count:
        source.refuse(f"{count} rows have an array of shape {array.shape}")
    if any(not 0 <= row < height for row in rows):
        source.refuse(f"a row is outside of a height of {height}")
    return SelectedRows(rows, height, array)


def require_version(source: Source, kind: str) -> None:
    """Step over the version, which is 0."""
    (version,) = source.unpack("<I", f"the version of a {kind}")
    if version != 0:
        source.refuse(f"the version of a {kind} is {version}, known is 0")


def read_dense(source: Source) -> Array:
    """The array at the position of the source."""
    require_version(source, "tensor")
    (size,) = source.unpack("<i", "the size of a description")
    if not 0 < size <= DESCRIPTION:
        source.refuse(f"the description of a tensor has {size} bytes")
    dtype, shape = read_description(source, source.take(size, "the description of a tensor"))
    source.require(math.prod(shape) * dtype.itemsize, f"a tensor of {dtype} {list(shape)}")
    if math.prod(max(dim, 1) for dim in shape) * dtype.itemsize >= 1 << 62:
        source.refuse(f"the shape {list(shape)} is too large")
    array: Array = np.empty(shape, dtype)
    source.fill(octets(array), "a tensor")
    return array


def read_description(source: Source, data: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype and shape that a TensorDesc message says: pairs of a tag and an integer."""
    integers, position = [], 0
    while position < len(data):
        try:
            value, position = varint.decode(data, position, len(data))
        except FileError:
            source.refuse("the description of a tensor is cut off")
        integers.append(value)
    tags, values = integers[::2], integers[1::2]
    if len(tags) != len(values) or not set(tags) <= {DTYPE_TAG, DIM_TAG}:
        source.refuse("the description of a tensor is not a dtype and dims")
    pairs = list(zip(tags, values, strict=True))
    shape = tuple(varint.signed(value) for tag, value in pairs if tag == DIM_TAG)
    numbers = [value for tag, value in pairs if tag == DTYPE_TAG]
    if len(numbers) != 1 or numbers[0] not in DTYPES:
        source.refuse(f"the dtype of a tensor is {numbers}, known are {list(DTYPES)}")
    if len(shape) > DIMS or any(size < 0 for size in shape):
        source.refuse(f"the shape of a tensor is {list(shape)}")
    return DTYPES[numbers[0]], shape


def write_combined(stream: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Append tensors in the order of their names."""
    for name in sorted(arrays):
        write_tensor(stream, arrays[name], name=name)


def read_combined(stream: BinaryIO, names: Iterable[str]) -> dict[str, Array]:
    """The tensors of these names, which must be all that the rest of the stream holds."""
    wanted = sorted(names)
    if len(set(wanted)) != len(wanted):
        raise ArgumentError("a name occurs twice")
    arrays = {}
    with unsealed(stream) as end:
        for index, name in enumerate(wanted):
            if stream.tell() == end:
                raise FileError(f"the file holds {index} tensors, `{name}` is number {index + 1}")
            try:
                arrays[name] = read_tensor(stream).array
            except FileError as error:
                raise FileError(f"{error}, in `{name}`") from error
        if stream.tell() != end:
            law = f"{end - stream.tell()} bytes follow the last of {len(wanted)} tensors"
            raise FileError(f"{law} at byte {stream.tell()}")
    return arrays


def write_separate(folder: str | os.PathLike[str], arrays: Mapping[str, Array]) -> None:
    """Write each tensor into the file of its name, all together where that is possible."""
    target = Path(os.path.realpath(folder))
    writers = {
        f"/{tensor_path('', name).as_posix()}": partial(write_tensor, array=array, name=name)
        for name, array in arrays.items()
    }
    os.makedirs(target, exist_ok=True)
    if has_room_beside(target):
        write_set(target, writers, keep=True)
        return
    for suffix, write in writers.items():
        with atomic_file(f"{target}{suffix}") as stream:
            write(stream)


def has_room_beside(folder: Path) -> bool:
    """Whether what is written beside a folder can be moved into it."""
    parent = folder.parent
    alike = folder != parent and folder.stat().st_dev == parent.stat().st_dev
    return alike and os.access(parent, os.W_OK)


def read_separate(folder: str | os.PathLike[str], names: Iterable[str]) -> dict[str, Array]:
    """The tensors of the files of these names."""
    places = {name: f"/{tensor_path('', name).as_posix()}" for name in names}
    arrays = {}
    with located(os.path.realpath(folder), places.values()) as paths:
        for name, suffix in places.items():
            with value_file(paths.get(suffix, tensor_path(folder, name)), name) as stream:
                arrays.update(read_combined(stream, [name]))
    return arrays


def value_file(path: Path, name: str) -> BinaryIO:
    """The open file of a value; a typed error where it cannot be read."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise MissingFileError(f"there is no file `{path}`, the value of `{name[:200]}`") from None
    except OSError as error:
        raise FileError(f"the value of `{name[:200]}` cannot be read: {error.strerror}") from None


def tensor_path(folder: str | os.PathLike[str], name: str) -> Path:
    """The file of a tensor; a name that leads out of the folder is refused."""
    parts = name.replace(os.altsep or os.sep, os.sep).split(os.sep)
    if "\0" in name or os.path.splitdrive(name)[0] or {"", ".", ".."} & set(parts):
        raise UnsafeFileError(f"`{name}` is no name of a file within a folder")
    if len(os.fsencode(name)) > LONGEST_NAME or max(len(os.fsencode(p)) for p in parts) > 255:
        raise FileError(f"`{name[:80]}...` is too long for the name of a file")
    return Path(folder, *parts)


def files_within(folder: str | os.PathLike[str]) -> list[str]:
    """The names of all files in a folder and the folders in it."""
    found: list[str] = []
    for root, _, files in os.walk(folder):
        found += [os.path.relpath(os.path.join(root, name), folder) for name in files]
    return sorted(name.replace(os.sep, "/") for name in found)
