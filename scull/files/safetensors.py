"""safetensors: arrays by name in one file, read where they lie.

A file is the length of a header in 8 bytes, the header, and the elements. The header is JSON: of
each array the dtype, the shape, and where its elements begin and end behind the header. Texts of
the writer's own stand under `__metadata__`; there scull keeps a checksum of each array.
"""

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, FileError, UnsupportedError
from scull.files.source import CHUNK
from scull.files.tensor_stream import DIMS, Array, octets

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "C64": np.dtype("<c8"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FOREIGN = {  # dtypes of the format of which there is no Tensor
    "U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F6_E2M3",
    "F6_E3M2", "F4",
}  # fmt: skip

LENGTH = struct.Struct("<Q")
HEADER = 100_000_000  # bytes: the format allows no longer one
ALIGNMENT = 8
METADATA, CHECKSUMS = "__metadata__", "scull.crc32"
KEYS = {"dtype", "shape", "data_offsets"}


class Place(NamedTuple):
    """What an array is, and where its elements lie behind the header."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int


class Tensors(Mapping[str, Array]):
    """The arrays of a file by name, read-only and without a copy, and its texts."""

    def __init__(
        self, data: Any, places: dict[str, Place], metadata: dict[str, str], base: int
    ) -> None:
        self.data, self.places, self.metadata, self.base = data, places, metadata, base

    def __getitem__(self, name: str) -> Array:
        dtype, shape, start, _ = self.places[name]
        count = math.prod(shape)
        array: Array = np.frombuffer(self.data, dtype, count, self.base + start if count else 0)
        return array.reshape(shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


# ---- writing ----


def write_tensors(
    stream: BinaryIO, arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> None:
    """Write arrays, the widest elements first, so that each is aligned."""
    texts = checked_metadata(metadata or {})
    sources = {}
    for name, array in arrays.items():
        if not isinstance(name, str) or name == METADATA:
            raise ArgumentError(f"no tensor in a file of safetensors is called {name!r}")
        sources[name] = storable(name, array)
    order = sorted(sources, key=lambda name: (-sources[name].itemsize, name))
    texts[CHECKSUMS] = json.dumps({name: crc(octets(sources[name])) for name in order})
    header: dict[str, Any] = {METADATA: texts}
    position = 0
    for name in order:
        array = sources[name]
        offsets = [position, position + array.nbytes]
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": offsets,
        }
        position = offsets[1]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    if len(text) > HEADER:
        raise ArgumentError(f"a header of {len(text)} bytes is too long, {HEADER} are allowed")
    stream.write(LENGTH.pack(len(text)) + text)
    for name in order:
        stream.write(octets(sources[name]))


def checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """The texts beside the arrays, when they are texts."""
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise ArgumentTypeError(f"what describes tensors is text, not {key!r}: {value!r}")
    return dict(metadata)


def storable(name: str, array: Array) -> Array:
    """The array as the file holds it: little-endian, its elements in order."""
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<") if array.dtype.byteorder == ">" else array.dtype
    if dtype not in NAMES:
        raise DtypeError(f"`{name}` is {array.dtype}, which a file of safetensors does not hold")
    return np.asarray(array, dtype=dtype, order="C")


def crc(data: memoryview) -> int:
    value = 0
    for start in range(0, len(data), CHUNK):
        value = zlib.crc32(data[start : start + CHUNK], value)
    return value


# ---- reading ----


def is_safetensors(stream: BinaryIO) -> bool:
    """Whether a stream begins as such a file does."""
    start = stream.tell()
    head = stream.read(LENGTH.size + 1)
    left = stream.seek(0, os.SEEK_END) - start - LENGTH.size
    stream.seek(start)
    if len(head) <= LENGTH.size or head[-1:] != b"{":
        return False
    (length,) = LENGTH.unpack(head[: LENGTH.size])
    return int(length) <= min(HEADER, left)


def read_tensors(stream: BinaryIO) -> Tensors:
    """The arrays of a stream from its position on; those of a file are mapped into memory.

    Raises:
        FileError: the file is cut off or damaged; the array is named.
        UnsupportedError: it holds elements of which there is no Tensor.
    """
    data = mapped(stream)
    size = len(data)
    if size < LENGTH.size:
        raise FileError(f"a file of {size} bytes holds no safetensors")
    (length,) = LENGTH.unpack(data[: LENGTH.size])
    base = LENGTH.size + length
    if length > HEADER or base > size:
        raise FileError(f"a header of {length} bytes is declared, {size - LENGTH.size} are left")
    places, metadata = parsed_header(bytes(data[LENGTH.size : base]))
    check_cover(places, size - base)
    found = Tensors(data, places, metadata, base)
    check_sums(found, metadata.pop(CHECKSUMS, ""))
    return found


def mapped(stream: BinaryIO) -> Any:
    """The bytes of a file where the system keeps them, those of another stream as they are."""
    try:
        kept = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # no file, or an empty one
        return stream.read()
    return memoryview(kept)[stream.tell() :]


def parsed_header(text: bytes) -> tuple[dict[str, Place], dict[str, str]]:
    """What the header says: where each array lies, and the texts beside them."""
    try:
        header = json.loads(text.decode(), object_pairs_hook=without_doubles)
    except (ValueError, RecursionError) as error:
        raise FileError(f"the header is no JSON: {error}") from error
    if not text.startswith(b"{") or not isinstance(header, dict):
        raise FileError("the header is no JSON object")
    metadata = header.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise FileError(f"`{METADATA}` holds something else than texts")
    return {name: place_of(name, described) for name, described in header.items()}, metadata


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, no key of which occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def place_of(name: str, described: Any) -> Place:
    """What the header says of one array."""
    if not isinstance(described, dict) or described.keys() != KEYS:
        raise FileError(f"`{name}` is not described by a dtype, a shape and offsets")
    kind, shape, offsets = described["dtype"], described["shape"], described["data_offsets"]
    if isinstance(kind, str) and kind in FOREIGN:
        raise UnsupportedError(f"`{name}` has elements {kind}, of which there is no Tensor")
    if not isinstance(kind, str) or kind not in DTYPES:
        raise FileError(f"`{name}` has the unknown dtype {kind!r}")
    if not is_sizes(shape) or len(shape) > DIMS:
        raise FileError(f"`{name}` has the shape {shape!r}")
    if not is_sizes(offsets) or len(offsets) != 2:
        raise FileError(f"`{name}` lies at {offsets!r}, which are no two offsets")
    dtype, (start, stop) = DTYPES[kind], offsets
    if math.prod(shape) * dtype.itemsize != stop - start:
        raise FileError(f"`{name}`, {kind} {shape}, does not take the {stop - start} bytes it has")
    if math.prod(max(size, 1) for size in shape) * dtype.itemsize >= 1 << 62:
        raise FileError(f"the shape {shape} of `{name}` is too large")
    return Place(dtype, tuple(shape), start, stop)


def is_sizes(value: Any) -> bool:
    """Whether a value is a list of integers from 0 on."""
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 1 << 63 for v in value)


def check_cover(places: Mapping[str, Place], size: int) -> None:
    """Refuse arrays that overlap, leave bytes out or lie outside of the file."""
    position = 0
    for name, place in sorted(places.items(), key=lambda item: (item[1].start, item[1].stop)):
        if place.start != position:
            law = "overlaps another" if place.start < position else "follows a hole"
            raise FileError(f"`{name}` {law}: it begins at {place.start}, not at {position}")
        position = place.stop
    if position != size:
        raise FileError(f"the arrays take {position} bytes, and {size} follow the header")


def check_sums(found: Tensors, text: str) -> None:
    """Refuse arrays that are not what their checksums tell, where scull wrote some."""
    if not text:
        return
    try:
        known = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"`{CHECKSUMS}` is no JSON: {error}") from error
    if not isinstance(known, dict) or known.keys() != found.keys():
        raise FileError(f"`{CHECKSUMS}` is not of these arrays")
    damaged = [name for name, array in found.items() if crc(octets(array)) != known[name]]
    if damaged:
        names = ", ".join(f"`{name}`" for name in damaged[:5])
        more = f" and {len(damaged) - 5} others" if len(damaged) > 5 else ""
        raise FileError(f"the file is not what was saved: it is damaged, in {names}{more}")
