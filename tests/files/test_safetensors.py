"""Weights as safetensors: what the package of that name writes, and what it reads."""

import io
import json
import os
import struct
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    FileError,
    ScullError,
    UnsupportedError,
)
from scull.files.safetensors import is_safetensors, read_tensors, write_tensors

DATA = Path(__file__).parents[1] / "data" / "safetensors"
PACKAGE = os.environ.get("SCULL_SAFETENSORS_PYTHON")

ARRAYS = {
    "w": np.arange(6, dtype="float32").reshape(2, 3),
    "flags": np.array([True, False, True]),
    "half": np.array([1.0, -2.5], ml_dtypes.bfloat16),
    "scalar": np.array(7, "int64"),
    "empty": np.zeros((0, 3), "float64"),
    "a.ä": np.array([1j], "complex64"),
}


def file_of(header, data=b"", length=None):
    """The bytes of a file with this header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def described(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def written(arrays, metadata=None):
    stream = io.BytesIO()
    write_tensors(stream, arrays, metadata)
    stream.seek(0)
    return stream


def test_arrays_come_back_as_they_were():
    found = read_tensors(written(ARRAYS, {"format": "np"}))
    assert found.keys() == ARRAYS.keys() and found.metadata == {"format": "np"}
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_arrays_of_a_file_are_mapped_and_read_only(tmp_path):
    path = tmp_path / "w.safetensors"
    path.write_bytes(written(ARRAYS).getvalue())
    with open(path, "rb") as stream:
        found = read_tensors(stream)
    assert type(found.data.obj).__name__ == "mmap"
    assert found["w"].tolist() == ARRAYS["w"].tolist() and not found["w"].flags.writeable


def test_every_array_is_aligned_and_any_order_of_elements_is_written():
    odd = {"a": np.ones(3, "int8"), "b": np.ones((2, 3), ">f8").T, "c": np.ones(1, "float16")}
    stream = written(odd)
    found = read_tensors(stream)
    for name, place in found.places.items():
        assert (found.base + place.start) % place.dtype.itemsize == 0
        assert np.array_equal(found[name], odd[name])


def test_what_the_package_wrote_is_read():
    with open(DATA / "dtypes.safetensors", "rb") as stream:
        found = read_tensors(stream)
        assert found.metadata == {"format": "np", "note": "äöü"}
        for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64"):
            assert found[name].dtype == name
            assert np.array_equal(found[name], np.arange(6).reshape(2, 3).astype(name))
        assert found["complex64"].tolist() == [1 + 2j, -3j] and found["scalar"].shape == ()
        assert found["empty"].shape == (0, 3) and np.array_equal(found["ä.ß"], found["int8"])
    with open(DATA / "bfloat16.safetensors", "rb") as stream:
        assert read_tensors(stream)["x"].astype("float32").tolist() == [1.0, -2.5]
    with open(DATA / "nothing.safetensors", "rb") as stream:
        assert len(read_tensors(stream)) == 0


@pytest.mark.parametrize(("name", "kind"), [("float8", "F8_E4M3"), ("unsigned", "U16")])
def test_elements_of_which_there_is_no_tensor_are_refused_by_name(name, kind):
    with (
        open(DATA / f"{name}.safetensors", "rb") as stream,
        pytest.raises(UnsupportedError, match=f"`x` has elements {kind}, of which there is no"),
    ):
        read_tensors(stream)


TOO_MANY = {"x": described(shape=[1] * 65, offsets=(0, 4))}


@pytest.mark.parametrize(
    ("data", "law"),
    [
        (b"", "holds no safetensors"),
        (b"\0" * 7, "holds no safetensors"),
        (file_of({}, length=3), "a header of 3 bytes is declared, 2 are left"),
        (file_of({}, length=1 << 63), "a header of 9223372036854775808 bytes"),
        (file_of({}, length=100_000_001), "a header of 100000001 bytes"),
        (file_of(b"[]"), "no JSON object"),
        (file_of(b" {}"), "no JSON object"),
        (file_of(b"{"), "no JSON"),
        (file_of(b"\xff\xfe"), "no JSON"),
        (file_of(b"[" * 100_000), "no JSON"),
        (file_of(b'{"x":' + b"9" * 5000 + b"}"), "no JSON"),
        (file_of(b'{"x":1,"x":1}'), "occurs twice"),
        (file_of({"x": 1}), "not described by"),
        (file_of({"x": {"dtype": "F32"}}), "not described by"),
        (file_of({"x": described() | {"more": 1}}, bytes(8)), "not described by"),
        (file_of({"x": described("F33")}, bytes(8)), "unknown dtype 'F33'"),
        (file_of({"x": described(["F32"])}, bytes(8)), "unknown dtype"),
        (file_of({"x": described(shape=[-2])}, bytes(8)), "has the shape"),
        (file_of({"x": described(shape=[2.0])}, bytes(8)), "has the shape"),
        (file_of({"x": described(shape=[True, 2])}, bytes(8)), "has the shape"),
        (file_of(TOO_MANY, bytes(4)), "has the shape"),
        (file_of({"x": described(offsets=(0, 8, 8))}, bytes(8)), "no two offsets"),
        (file_of({"x": described(offsets=(8, 0))}, bytes(8)), "does not take the -8 bytes"),
        (file_of({"x": described(offsets=(0, 4))}, bytes(4)), "does not take the 4 bytes"),
        (file_of({"x": described(shape=[1 << 62, 1 << 62])}, bytes(8)), "does not take"),
        (file_of({"x": described(shape=[0, 1 << 62], offsets=(0, 0))}), "too large"),
        (file_of({"x": described()}, bytes(7)), "take 8 bytes, and 7 follow"),
        (file_of({"x": described()}, bytes(9)), "take 8 bytes, and 9 follow"),
        (file_of({}, bytes(1)), "take 0 bytes, and 1 follow"),
        (file_of({"x": described(offsets=(4, 12))}, bytes(12)), "`x` follows a hole"),
        (
            file_of({"x": described(), "y": described(offsets=(4, 12))}, bytes(12)),
            "`y` overlaps another",
        ),
        (file_of({"x": described(), "y": described()}, bytes(8)), "`y` overlaps another"),
        (file_of({"__metadata__": [1]}), "something else than texts"),
        (file_of({"__metadata__": {"a": 1}}), "something else than texts"),
        (file_of({"__metadata__": {"scull.crc32": "{"}}), "no JSON"),
        (file_of({"__metadata__": {"scull.crc32": '{"x": 1}'}}), "is not of these arrays"),
    ],
)
def test_a_damaged_file_is_refused_by_what_is_wrong(data, law):
    with pytest.raises(FileError, match=law):
        read_tensors(io.BytesIO(data))


def test_any_changed_byte_gives_arrays_or_a_typed_error():
    data = written(ARRAYS).getvalue()
    generator = np.random.default_rng(0)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= int(generator.integers(1, 256))
        try:
            read_tensors(io.BytesIO(bytes(changed)))
        except ScullError:
            continue
    for size in range(len(data)):
        with pytest.raises(FileError):
            read_tensors(io.BytesIO(data[:size]))


def test_a_damaged_tensor_is_named(tmp_path):
    data = bytearray(written(ARRAYS).getvalue())
    data[-1] ^= 1
    with pytest.raises(FileError, match="it is damaged, in `flags`"):
        read_tensors(io.BytesIO(bytes(data)))


@pytest.mark.parametrize(
    ("arrays", "metadata", "error"),
    [
        ({"x": np.ones(2, "uint16")}, None, DtypeError),
        ({"x": np.ones(2, "complex128")}, None, DtypeError),
        ({"x": np.array(["text"])}, None, DtypeError),
        ({1: np.ones(2)}, None, ArgumentError),
        ({"__metadata__": np.ones(2)}, None, ArgumentError),
        ({}, {"a": 1}, ArgumentTypeError),
    ],
)
def test_what_the_format_does_not_hold_is_refused(arrays, metadata, error):
    with pytest.raises(error):
        written(arrays, metadata)


# ---- paddle.save and paddle.load ----


def test_a_layer_is_saved_and_loaded_by_the_name_of_the_file(tmp_path):
    path = str(tmp_path / "new" / "net.safetensors")
    layer, other = paddle.nn.BatchNorm1D(3), paddle.nn.BatchNorm1D(3)
    layer.weight.set_value(np.array([1, 2, 3], "float32"))
    paddle.save(layer.state_dict(), path)
    found = paddle.load(path)
    assert found.keys() == layer.state_dict().keys()
    other.set_state_dict(found)
    assert other.weight.tolist() == [1, 2, 3]
    found["weight"][0] = 9.0  # it is no part of the file
    assert paddle.load(path)["weight"].tolist() == [1, 2, 3]
    assert isinstance(paddle.load(path, return_numpy=True)["weight"], np.ndarray)


def test_bfloat16_and_other_spellings_come_back(tmp_path):
    path = str(tmp_path / "x.safetensors")
    state = {"h": paddle.ones([2]).astype("bfloat16"), "n": np.arange(3), "s": paddle.to_tensor(1)}
    paddle.save(state, path)
    found = paddle.load(path)
    assert [str(v.dtype) for v in found.values()] == [
        "paddle.int64",
        "paddle.int64",
        "paddle.bfloat16",
    ]
    assert paddle.load(io.BytesIO(Path(path).read_bytes()))["n"].tolist() == [0, 1, 2]


def test_only_dictionaries_of_tensors_are_saved_so(tmp_path):
    path = tmp_path / "x.safetensors"
    for wrong in ([paddle.ones([1])], {"lr": 0.1}, {"a": {"b": paddle.ones([1])}}):
        with pytest.raises(ArgumentTypeError, match="a file of safetensors holds"):
            paddle.save(wrong, str(path))
    assert not path.exists()


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_a_pickle_is_never_taken_for_safetensors(protocol):
    for length in range(40):
        stream = io.BytesIO()
        paddle.save({"x" * length: [length, "{{{{{{"]}, stream, protocol)
        stream.seek(0)
        assert not is_safetensors(stream) and stream.tell() == 0


READ = """
import json, sys
from safetensors import safe_open
found = {}
with safe_open(sys.argv[1], "np") as file:
    for name in file.keys():
        if name != "half":
            found[name] = [str(file.get_tensor(name).dtype), file.get_tensor(name).real.tolist()]
    print(json.dumps([found, file.metadata()["format"]]))
"""


@pytest.mark.skipif(not PACKAGE, reason="SCULL_SAFETENSORS_PYTHON names no Python with safetensors")
def test_the_package_reads_what_scull_writes(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(written(ARRAYS, {"format": "np"}).getvalue())
    command = [str(PACKAGE), "-B", "-c", READ, str(path)]
    answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    expected = {n: [str(a.dtype), a.real.tolist()] for n, a in ARRAYS.items() if n != "half"}
    assert answer == [expected, "np"]
