"""paddle.save and paddle.load."""

import io

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, FileError, UnsafeFileError


def through(value, **options):
    stream = io.BytesIO()
    paddle.save(value, stream)
    stream.seek(0)
    return paddle.load(stream, **options)


def test_a_state_dict_keeps_values_and_names(tmp_path):
    layer = paddle.nn.BatchNorm2D(2)
    paddle.save(layer.state_dict(), str(tmp_path / "a.pdparams"))
    found = paddle.load(str(tmp_path / "a.pdparams"))
    assert list(found) == list(layer.state_dict())
    for name, value in layer.state_dict().items():
        assert np.array_equal(found[name].numpy(), value.numpy())
        assert found[name].name == value.name


def test_nested_containers_keep_their_shape_and_arrays_beside_tensors_stay_arrays():
    found = through({"a": [paddle.ones([2]), 3], "b": {"c": "text"}, "d": np.ones(2)})
    assert found["a"][0].tolist() == [1.0, 1.0]
    assert isinstance(found["d"], np.ndarray)
    assert (found["a"][1], found["b"]) == (3, {"c": "text"})


def test_arrays_alone_become_tensors_unless_arrays_are_asked_for():
    assert isinstance(through({"d": np.ones(2)})["d"], paddle.Tensor)
    assert isinstance(through({"d": np.ones(2)}, return_numpy=True)["d"], np.ndarray)


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_every_element_type_comes_back(dtype):
    value = paddle.ones([2, 2]).astype(dtype)
    found = through({"x": value})["x"]
    assert found.dtype is value.dtype
    assert np.array_equal(found.astype("float32").numpy(), np.ones((2, 2)))


def test_a_0_d_tensor_stays_0_d():
    assert through(paddle.to_tensor(3.0)).shape == []


def test_a_file_that_would_run_code_is_refused(tmp_path):
    (tmp_path / "evil").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(FileError):
        paddle.load(str(tmp_path / "evil"))
    (tmp_path / "evil").write_bytes(
        b"\x80\x02cposix\nsystem\nq\x00X\x04\x00\x00\x00trueq\x01\x85R."
    )
    with pytest.raises(UnsafeFileError, match="posix"):
        paddle.load(str(tmp_path / "evil"))


def test_a_cut_file_is_refused_and_a_failed_save_keeps_the_old_one(tmp_path):
    path = tmp_path / "x.pdparams"
    paddle.save({"w": paddle.ones([100])}, str(path))
    data = path.read_bytes()
    with pytest.raises(Exception):  # noqa: B017, PT011  whatever it is, the old file stays
        paddle.save({"w": lambda: None}, str(path))
    assert path.read_bytes() == data
    path.write_bytes(data[:-20])
    with pytest.raises(FileError):
        paddle.load(str(path))


def test_mistakes_are_refused():
    with pytest.raises(ArgumentError, match="protocol"):
        paddle.save({}, io.BytesIO(), protocol=7)
    with pytest.raises(ArgumentError, match="not exists"):
        paddle.load("no/such/file")
