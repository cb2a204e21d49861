"""paddle.save and paddle.load."""

import io
import pickle

import numpy as np
import pytest

import scull as paddle
from scull.base import core
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    UnsafeFileError,
    UnsupportedError,
)


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


@pytest.mark.parametrize("inner", [[1, (2,)], {"c": 1}, ({"c": [2]},)])
@pytest.mark.parametrize("more", [{}, {"w": 3}])
def test_tensors_deep_in_dictionaries_come_back_as_tensors(inner, more):
    def filled(value, made):
        if isinstance(value, dict):
            return {k: filled(v, made) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(filled(v, made) for v in value)
        return made(value)

    def kinds(value):
        return filled(value, lambda v: type(v).__name__)

    value = filled({"a": {"b": inner}} | more, lambda v: paddle.full([2], float(v)))
    assert kinds(through(value)) == kinds(value)
    assert kinds(through(value, return_numpy=True)) == filled(value, lambda v: "ndarray")


def test_a_dictionary_within_itself_is_refused():
    value = {"a": {}}
    value["a"]["b"] = value["a"]
    with pytest.raises(ArgumentError, match="is within itself"):
        through(value)


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
    with pytest.raises(Exception):  # noqa: B017  whatever it is, the old file stays
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


def through_binary(value):
    stream = io.BytesIO()
    paddle.save(value, stream, use_binary_format=True)
    stream.seek(0)
    return paddle.load(stream)


def test_a_tensor_is_saved_without_a_pickle():
    stream = io.BytesIO()
    paddle.save(paddle.to_tensor([1.0, 2.0]), stream, use_binary_format=True)
    head = b"\0" * 16 + b"\x04\0\0\0\x08\x05\x10\x02"
    assert stream.getvalue() == head + np.array([1, 2], "float32").tobytes()
    assert through_binary(paddle.ones([2])).tolist() == [1.0, 1.0]


def test_in_static_mode_tensors_come_as_those_of_scopes():
    held = core.LoDTensor()
    held.set(np.ones((2, 3)))
    held.set_lod([[0, 1, 2]])
    paddle.enable_static()
    try:
        for found in (through_binary(held), through({"a": held})["a"]):
            assert isinstance(found, core.LoDTensor)
            assert np.array_equal(np.array(found), np.ones((2, 3)))
        assert through_binary(held).lod() == [[0, 1, 2]]
    finally:
        paddle.disable_static()


def test_rows_of_a_matrix_are_saved_without_a_pickle():
    rows = core.SelectedRows([0, 4], 9)
    with pytest.raises(ArgumentError, match="not initialized"):
        through_binary(rows)
    rows.get_tensor().set(np.ones((2, 3), "float32"))
    found = through_binary(rows)
    assert (found.rows(), found.height()) == ([0, 4], 9)
    assert np.array_equal(np.array(found.get_tensor()), np.ones((2, 3)))


def test_what_cannot_be_saved_so_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="expected Tensor"):
        through_binary({})
    with pytest.raises(ArgumentError, match="not initialized"):
        through(core.LoDTensor())
    with pytest.raises(ArgumentTypeError, match="should be bool"):
        paddle.save({}, str(tmp_path / "a"), use_binary_format="yes")
    with pytest.raises(ArgumentError, match=r"config \(binary\)"):
        paddle.save({}, str(tmp_path / "a"), binary=True)
    with pytest.raises(ArgumentError, match="only supports saving objects to file"):
        paddle.save({}, 3)


class Arguments:
    """Settings of a program, as scripts keep them beside a model."""

    def __init__(self):
        self.rate, self.start = 0.5, paddle.ones([2])


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: {"args": x, "step": 3}])
def test_an_object_of_a_class_is_stored_by_name_and_not_loaded(wrap, tmp_path):
    with pytest.warns(UserWarning, match="`load` runs no code"):
        paddle.save(wrap(Arguments()), tmp_path / "training_args.bin")
    with pytest.raises(UnsafeFileError, match="Arguments` is nothing a saved file may name"):
        paddle.load(tmp_path / "training_args.bin")
    with open(tmp_path / "training_args.bin", "rb") as stream:
        found = pickle.load(stream)
    kept = found["args"] if isinstance(found, dict) else found
    assert kept.rate == 0.5 and kept.start[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "value", [lambda: 1, [paddle.nn.Linear(1, 1)], {"stream": (n for n in [1])}]
)
def test_what_has_no_name_and_a_layer_within_other_things_are_not_stored(value, tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"):
        paddle.save(value, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
