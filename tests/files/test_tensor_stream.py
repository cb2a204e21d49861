"""Binary tensors, byte for byte as the reference writes them."""

import io
import re
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scull.errors import ArgumentError, DtypeError, FileError, UnsafeFileError
from scull.files import tensor_stream
from scull.files.tensor_stream import DTYPES, SelectedRows

DATA = Path(__file__).parents[1] / "data" / "files"
ARRAYS = {
    "bool": np.array([True, False, True]),
    "uint8": np.array([[0, 255]], "uint8"),
    "int8": np.array([-128, 127], "int8"),
    "int16": np.array([-300, 300], "int16"),
    "int32": np.array([[[7]]], "int32"),
    "int64": np.array([1 << 40, -1], "int64"),
    "float16": np.array([0.5, 65504], "float16"),
    "bfloat16": np.array([1, -2], ml_dtypes.bfloat16),
    "float32": np.arange(6, dtype="float32").reshape(2, 3),
    "float64": np.array([0.1]),
    "complex64": np.array([1 + 2j], "complex64"),
    "complex128": np.array([1 - 2j], "complex128"),
    "zero_dimensional": np.array(3.5, "float32"),
    "empty": np.zeros((0, 3), "int64"),
}


def written(array: np.ndarray, lod=()) -> bytes:
    stream = io.BytesIO()
    tensor_stream.write_tensor(stream, array, lod)
    return stream.getvalue()


def read(data: bytes) -> np.ndarray:
    return tensor_stream.read_tensor(io.BytesIO(data)).array


def same(x: np.ndarray, y: np.ndarray) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def test_every_dtype_of_the_files_has_a_fixture():
    assert {array.dtype for array in ARRAYS.values()} == set(DTYPES.values())


@pytest.mark.parametrize("name", ARRAYS)
def test_a_tensor_of_the_reference_is_read_and_written_to_the_byte(name):
    data = (DATA / f"{name}.tensor").read_bytes()
    array = read(data)
    assert same(array, ARRAYS[name]) and array.flags.writeable
    assert written(array) == data


def test_levels_of_detail_are_read_and_written_to_the_byte():
    data = (DATA / "levels.tensor").read_bytes()
    array, lod = tensor_stream.read_tensor(io.BytesIO(data))
    assert lod == [[0, 2], [0, 1, 6]] and array.shape == (6, 1)
    assert written(array, lod) == data


def test_rows_are_read_and_written_to_the_byte():
    data = (DATA / "rows.tensor").read_bytes()
    value = tensor_stream.read_rows(io.BytesIO(data))
    assert (value.rows, value.height, value.array.tolist()) == (
        [1, 4, 1],
        7,
        [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]],
    )
    stream = io.BytesIO()
    tensor_stream.write_rows(stream, value)
    assert stream.getvalue() == data


def test_rows_outside_of_their_matrix_are_refused():
    stream = io.BytesIO()
    tensor_stream.write_rows(stream, SelectedRows([7], 7, np.zeros((1, 2))))
    stream.seek(0)
    with pytest.raises(FileError, match="a row is outside of a height of 7"):
        tensor_stream.read_rows(stream)


@pytest.mark.parametrize("name", ["linear", "convolution"])
def test_parameters_of_the_reference_are_read_and_written_to_the_byte(name):
    expected = np.load(DATA / f"{name}.npz")
    data = (DATA / f"{name}.pdiparams").read_bytes()
    found = tensor_stream.read_combined(io.BytesIO(data), reversed(expected.files))
    assert list(found) == sorted(expected.files)
    assert all(same(found[key], expected[key]) for key in expected.files)
    stream = io.BytesIO()
    tensor_stream.write_combined(stream, dict(reversed(found.items())))
    assert stream.getvalue() == data


def test_a_wrong_number_of_tensors_is_told():
    stream = io.BytesIO()
    tensor_stream.write_combined(stream, {"a": np.zeros(2), "b": np.zeros(3)})
    stream.seek(0)
    with pytest.raises(FileError, match="the file holds 2 tensors, `c` is number 3"):
        tensor_stream.read_combined(stream, "abc")
    stream.seek(0)
    with pytest.raises(FileError, match="48 bytes follow the last of 1 tensors at byte 40"):
        tensor_stream.read_combined(stream, "a")
    with pytest.raises(ArgumentError, match="a name occurs twice"):
        tensor_stream.read_combined(stream, "aa")


def test_a_damaged_tensor_among_others_is_told_by_name():
    stream = io.BytesIO()
    tensor_stream.write_combined(stream, {"a": np.zeros(2), "b": np.zeros(3)})
    stream.truncate(stream.tell() - 1)
    stream.seek(0)
    law = "a tensor of float64 [3] takes 24 bytes and 23 are left at byte 64, in `b`"
    with pytest.raises(FileError, match=re.escape(law)):
        tensor_stream.read_combined(stream, "ab")


def test_a_view_in_any_order_of_memory_is_written_by_its_values():
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (array.T, array[:, ::-1], array[1:, :, ::2], array.astype(">f4")):
        assert same(read(written(view)), np.ascontiguousarray(view, view.dtype.newbyteorder("=")))


def test_a_dtype_that_files_do_not_have_is_refused():
    with pytest.raises(DtypeError, match="uint64"):
        written(np.zeros(2, np.uint64))
    with pytest.raises(DtypeError, match="object"):
        written(np.array([None]))


def test_separate_files_are_named_after_their_tensors(tmp_path):
    values = {"fc_0.w_0": np.ones((2, 2)), "block/fc.b_0": np.array(1, np.int32)}
    tensor_stream.write_separate(tmp_path, values)
    assert (tmp_path / "block" / "fc.b_0").read_bytes() == written(values["block/fc.b_0"])
    found = tensor_stream.read_separate(tmp_path, values)
    assert all(same(found[name], values[name]) for name in values)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", ".", "a//b", "a/", "a\0b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    with pytest.raises(UnsafeFileError, match="is no name of a file within a folder"):
        tensor_stream.read_separate(tmp_path, [name])
    with pytest.raises(UnsafeFileError):
        tensor_stream.write_separate(tmp_path, {name: np.zeros(1)})
    assert list(tmp_path.iterdir()) == []


def described(description: bytes, data: bytes = b"") -> bytes:
    return bytes(16) + struct.pack("<i", len(description)) + description + data


@pytest.mark.parametrize(
    "data, law",
    [
        (b"", "the version of a tensor takes 4 bytes and 0 are left at byte 0"),
        (b"\1\0\0\0", "the version of a tensor is 1, known is 0 at byte 4"),
        (bytes(4) + b"\xff" * 8, "levels of detail are declared, 64 are allowed"),
        (bytes(4) + struct.pack("<QQ", 1, 1 << 60), "a level of detail takes"),
        (bytes(4) + struct.pack("<QQ", 1, 7), "a level of detail has 7 bytes"),
        (described(b""), "the description of a tensor has 0 bytes"),
        (described(b"\x08\x05\x10"), "the description of a tensor is not a dtype and dims"),
        (described(b"\x08\x85"), "the description of a tensor is cut off"),
        (described(b"\x08\x63"), "the dtype of a tensor is [99]"),
        (described(b"\x10\x01"), "the dtype of a tensor is []"),
        (described(b"\x08\x05" + b"\x10\x01" * 65), "the shape of a tensor is [1, 1,"),
        (described(b"\x08\x05\x10" + b"\xff" * 9 + b"\x01"), "the shape of a tensor is [-1]"),
        (described(b"\x08\x05\x10" + b"\xff" * 8 + b"\x7f"), "bytes and 0 are left"),
        (described(b"\x08\x05\x10\x00\x10" + b"\xff" * 8 + b"\x7f"), "is too large"),
    ],
)
def test_what_is_no_tensor_is_told_with_its_byte(data, law):
    with pytest.raises(FileError, match=re.escape(law)) as error:
        read(data)
    assert "at byte" in str(error.value)


def test_a_stream_that_cannot_seek_is_refused():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(ArgumentError, match="can seek"):
        tensor_stream.read_tensor(Pipe())


@given(st.data())
def test_what_is_written_is_read_back(data):
    dtype = data.draw(st.sampled_from(sorted(map(str, set(DTYPES.values())))))
    numpy_dtype = "uint16" if dtype == "bfloat16" else dtype
    shape = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
    array = data.draw(arrays.arrays(numpy_dtype, shape))
    if dtype == "bfloat16":
        array = array.view(ml_dtypes.bfloat16)
    assert same(read(written(array)), array)


@settings(max_examples=300)
@given(st.sampled_from([*ARRAYS, "levels", "rows"]), st.data())
def test_damaged_bytes_give_a_tensor_or_a_typed_error(name, data):
    source = bytearray((DATA / f"{name}.tensor").read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    stream = io.BytesIO(source[: data.draw(st.integers(0, len(source)))])
    reader = tensor_stream.read_rows if name == "rows" else tensor_stream.read_tensor
    try:
        assert reader(stream).array.nbytes <= len(source)
    except FileError as error:
        assert "at byte" in str(error)
