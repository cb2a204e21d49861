"""Pickles of the reference are read without running code, and written as it writes them."""

import io
import os
import pickle
import pickletools
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, FileError, UnsafeFileError
from scull.files import pickles

DATA = Path(__file__).parents[1] / "data" / "files"
TENSORS = ("nested_", "tensor.", "master_weights.")  # files in which a Tensor is a pair
FILES = sorted(
    path
    for pattern in ("*.pickle", "*.pdparams", "*.pdopt", "*.info")
    for path in DATA.glob(pattern)
)
NAMES = "StructuredToParameterName@@"


@dataclass(eq=False)
class Parameter:
    """A stand-in for a Tensor."""

    name: str
    array: np.ndarray


def load(data: bytes):
    return pickles.load(io.BytesIO(data))


def dump(value, protocol=4) -> bytes:
    stream = io.BytesIO()
    pickles.dump(value, stream, protocol, reduced)
    return stream.getvalue()


def reduced(value):
    return (value.name, value.array) if isinstance(value, Parameter) else None


def same(x, y) -> bool:
    """Whether two plain values are of the same types and values throughout."""
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(x, dict):
        return same(list(x.items()), list(y.items()))
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return x == y or (x != x and y != y)


def with_parameters(value):
    """The value with a Parameter for each pair of a name and an array."""
    if type(value) is tuple and len(value) == 2 and isinstance(value[1], np.ndarray):
        return Parameter(*value)
    if type(value) in (list, tuple):
        return type(value)(map(with_parameters, value))
    if type(value) is dict:
        return {key: with_parameters(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_the_reference_is_read_as_pickle_reads_it(path):
    data = path.read_bytes()
    assert same(load(data), pickle.loads(data, encoding="latin1"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_the_reference_is_written_to_the_byte(path):
    data = path.read_bytes()
    value = load(data)
    if path.name.startswith(TENSORS):
        value = with_parameters(value)
    if path.name == "scope_tensor.pickle":  # the form with `eval` is read, never written
        assert b"eval" in data and same(load(dump(value)), value)
    else:
        assert dump(value, protocol=data[1]) == data


def test_parameters_hold_their_arrays():
    for name in ("eager.pdparams", "eager.pdopt"):
        expected, value = np.load(DATA / f"{name}.npz"), load((DATA / name).read_bytes())
        for key in expected.files:
            assert same(value[key], expected[key]) and value[key].flags.writeable
            assert value[key].dtype is np.dtype(value[key].dtype.str)


def test_an_optimizer_holds_its_scheduler_and_its_master_weights():
    value = load((DATA / "eager.pdopt").read_bytes())
    assert value["LR_Scheduler"]["last_epoch"] == 3
    masters = load((DATA / "master_weights.pickle").read_bytes())["master_weights"]
    name, array = masters["linear_0.b_0"]
    assert name == "linear_0.b_0" and array.shape == (5,)


def test_the_stream_is_left_behind_the_pickle():
    stream = io.BytesIO(b"before" + pickle.dumps(1, 4) + pickle.dumps([2], 2) + b"after")
    stream.seek(6)
    assert (pickles.load(stream), pickles.load(stream), stream.read()) == (1, [2], b"after")


def test_bfloat16_is_written_as_uint16():
    array = np.array([[1, -2]], ml_dtypes.bfloat16)
    assert load(dump({"x": array}))["x"].tolist() == [[0x3F80, 0xC000]]
    assert load(dump({"x": array}))["x"].dtype == np.uint16


def test_arrays_of_other_orders_are_read():
    for array in (
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6).astype(">i4"),
        np.array([["a", "bcd"]]),
        np.array([b"a", b"bcd"]),
        np.zeros((0, 3)),
        np.array(2.5),
        np.arange(5000)[::2],
    ):
        for protocol in (2, 3, 4, 5):
            found = load(pickle.dumps(array, protocol))
            assert found.dtype.isnative and found.flags.writeable
            assert np.array_equal(found, array) and found.shape == array.shape
        assert np.array_equal(load(dump(array)), array)


PROTO = b"\x80\x04"


def proto(code: bytes) -> bytes:
    return PROTO + code + b"."


class Evil:
    """A value whose pickle calls something."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "value",
    [
        Evil(os.system, "true"),
        Evil(getattr, "x", "upper"),
        Evil(__import__, "os"),
        Evil(exec, "1"),
        Evil(eval, "1"),
        Evil(eval, "data", {"data": 1}),
        Evil(eval, "data", {"data": np.zeros(1), "x": 1}),
        Evil(eval, "data.x", {"data": np.zeros(1)}),
        Evil(np.load, "x"),
        Evil(np.frombuffer, b"x"),
        Parameter("x", np.zeros(1)),
        Parameter,
        os.system,
        Path("x"),
        np.zeros(2).view(np.recarray),
    ],
    ids=lambda value: getattr(getattr(value, "call", [value])[0], "__name__", type(value).__name__),
)
def test_what_would_run_code_is_refused(value, protocol):
    with pytest.raises(UnsafeFileError, match=", at byte"):
        load(pickle.dumps({"weight": value}, protocol))


def test_a_global_is_refused_by_name_and_byte():
    data = pickle.dumps(Evil(os.system, "true"), 2)
    with pytest.raises(UnsafeFileError, match=f"`{os.system.__module__}.system` is nothing .* 2$"):
        load(data)


@pytest.mark.parametrize(
    "code",
    [
        b"(ios\nsystem\n",
        b"(cnumpy\nndarray\no",
        b"cnumpy\nndarray\n)\x81",
        b"cnumpy\nndarray\n)}\x92",
        b"Pname\n",
        b"NQ",
        b"\x82\x01",
        b"\x83\1\0",
        b"\x84\1\0\0\0",
        b"\x97",
        b"\x98",
        b"]}b",
        b"ccollections\nOrderedDict\n)R}b",
    ],
)
def test_an_opcode_that_would_run_code_is_refused(code):
    with pytest.raises(UnsafeFileError, match=", at byte"):
        load(proto(code))


@pytest.mark.parametrize(
    "data, law",
    [
        (b"", "the protocol takes 2 bytes and 0 are left at byte 0"),
        (b"PK\3\4", "this is no pickle of protocol 2 to 5"),
        (b"\x80\x01N.", "this is no pickle of protocol 2 to 5"),
        (PROTO, "an opcode takes 1 bytes and 0 are left at byte 2"),
        (proto(b""), "its stack does not hold one value, at byte 2"),
        (proto(b"NN"), "its stack does not hold one value"),
        (proto(b"N("), "its stack does not hold one value"),
        (proto(b"e"), "there is no mark on the stack"),
        (proto(b"(e"), "there is no list on the stack"),
        (proto(b"(\x90"), "there is no set on the stack"),
        (proto(b"(u"), "there is no dictionary on the stack"),
        (proto(b"}(Nu"), "a key has no value"),
        (proto(b"}]Ns"), "a key is a list, at byte 5"),
        (proto(b"}((((((ttttttNs"), "a key is a tuple"),
        (proto(b"\x85"), "the stack is too short"),
        (proto(b"a"), "the stack is empty"),
        (proto(b"\x94"), "the stack is empty"),
        (proto(b"h\x05"), "nothing was memoized as 5, at byte 2"),
        (proto(b"X\xff\xff\xff\xff"), "a string takes 4294967295 bytes and 1 are left"),
        (proto(b"T\xff\xff\xff\xff"), "a string has -1 bytes"),
        (proto(b"\x8c\x01\xff"), "a string is not UTF-8"),
        (proto(b"\x8b\x00\x00\x10\x00"), "an integer has 1048576 bytes, 128 are allowed"),
        (proto(b"\x8b\xff\xff\xff\xff"), "an integer has -1 bytes"),
        (proto(b"I" + b"9" * 200 + b"\n"), "a line does not end within 128 bytes"),
        (proto(b"Ix\n"), "a line is no decimal integer"),
        (proto(b"\x95" + b"\xff" * 8), "a frame takes 18446744073709551615 bytes"),
        (proto(b"(" * 1001), "marks nest deeper than 1000"),
        (proto(b"V\n"), "is no opcode of the pickles Paddle writes"),
        (proto(b"N)R"), "a call has no known function"),
        (proto(b"N\x8c\x01x\x93"), "the module of a global is no string"),
        (proto(b"cnumpy\nndarray\n"), "a Global is no plain value"),
        (proto(b"cnumpy\nndarray\n)R"), "`numpy.ndarray` is called"),
        (proto(b"]\x94h\x00a"), "a list is within itself"),
        (proto(b"]" * 102 + b"a" * 101), "containers nest deeper than 100"),
        (proto(b"cnumpy\ndtype\n\x8c\x01O\x85R"), "a dtype is none of numbers or text"),
        (proto(b"c_codecs\nencode\n\x8c\x01x\x8c\x05utf-8\x86R"), "are not written as Latin 1"),
        (proto(b"cbuiltins\nset\n](]e\x85R"), "a key is a list"),
    ],
)
def test_what_is_no_pickle_of_plain_values_is_told_with_its_byte(data, law):
    with pytest.raises(FileError, match="at byte") as error:
        load(data)
    assert law in str(error.value) and not isinstance(error.value, UnsafeFileError)


ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\0\x85C\1btR"
FLOAT32 = b"cnumpy\ndtype\n\x8c\x02f4\x89\x88\x87R"


@pytest.mark.parametrize(
    "state, law",
    [
        (b"", "an array has no elements yet"),
        (b"Nb", "has no version, shape, dtype, order and bytes"),
        (b"(K\1K\1\x85" + FLOAT32 + b"\x89C\0tb", "1 elements of float32 do not have the bytes"),
        (b"(K\2)" + FLOAT32 + b"\x89C\4aaaatb", "no version 1"),
        (b"(K\1J\xff\xff\xff\xff\x85" + FLOAT32 + b"\x89C\0tb", "holds no sizes"),
        (b"(K\1N" + FLOAT32 + b"\x89C\0tb", "the shape of an array is none"),
        (b"(K\1)N\x89C\0tb", "the dtype of an array is none"),
        (
            b"(K\1" + b"(" + b"\x8a\5\0\0\0\0\x10" * 3 + b"K\0t" + FLOAT32 + b"\x89C\0tb",
            "too large",
        ),
        (
            b"(K\1\x8a\5\0\0\0\0\x10\x85cnumpy\ndtype\n\x8c\x02S0\x85R\x89C\0tb",
            "elements without bytes",
        ),
        (b"(K\1K\0\x85" + FLOAT32 + b"\x89C\0tbNb", "the state of a ndarray would be set"),
    ],
)
def test_an_array_with_a_wrong_state_is_refused(state, law):
    with pytest.raises(FileError) as error:
        load(proto(ARRAY + state))
    assert law in str(error.value)


@pytest.mark.parametrize(
    "state",
    [
        b"N",
        b"(K\3\x8c\1<NNNK\1K\1K\0t",
        b"(K\3\x8c\1xNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0t",
        b"(K\3\x8c\1<N(\x8c\1xtNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0t",
        b"(K\3\x8c\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x3ft",
        b"(K\5\x8c\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0t",
    ],
)
def test_a_dtype_with_fields_sizes_or_flags_of_its_own_is_refused(state):
    with pytest.raises(FileError, match="dtype"):
        load(proto(FLOAT32 + state + b"b"))


def test_arrays_never_share_memory():
    size = 4000
    payload = b"B" + size.to_bytes(4, "little") + bytes(size)
    shape = b"M" + (size // 4).to_bytes(2, "little") + b"\x85"
    state = b"(K\1" + shape + FLOAT32 + b"\x89%stb"
    first, second = state % (payload + b"\x94"), state % b"h\0"
    x, y = load(proto(ARRAY + first + ARRAY + second + b"\x86"))
    x[0] = 7
    assert y[0] == 0


def test_a_tree_that_is_large_only_when_walked_is_refused():
    doubled = b"".join(b"\x94h" + bytes([index]) + b"\x86" for index in range(60))
    with pytest.raises(FileError, match="there are more than 20000000 values"):
        load(proto(b")" + doubled))
    with pytest.raises(FileError, match="a key is a tuple"):
        load(proto(b"})" + doubled + b"Ns"))


def test_bytes_made_over_and_over_of_one_string_are_refused():
    text = b"X" + (1 << 20).to_bytes(4, "little") + b"a" * (1 << 20) + b"\x94"
    encode = b"c_codecs\nencode\n\x94\x8c\6latin1\x94"
    calls = b"h\1h\0h\2\x86R" * 20
    with pytest.raises(FileError, match="makes far more bytes than it holds"):
        load(proto(b"(" + text + encode + calls + b"t"))


def test_keys_that_can_be_made_to_collide_are_bounded():
    prime = (1 << 61) - 1
    with pytest.raises(FileError, match="a key is an integer of over 64 bits"):
        load(pickle.dumps({prime << 10: 1}, 4))
    with pytest.raises(FileError, match="more than 4096 keys are of several parts"):
        load(pickle.dumps({(i, 0): None for i in range(5000)}, 4))
    assert load(pickle.dumps({(1, ("a", 2.5)): None, np.int64(3): 1}, 4)) == {
        (1, ("a", 2.5)): None,
        3: 1,
    }


def test_each_limit_holds():
    data = pickle.dumps({"a": [1, 2, 3], "b": (4, (5, 6))}, 4)
    for name, value in {"opcodes": 10, "stack": 2, "marks": 1, "depth": 2, "values": 8}.items():
        with pytest.raises(FileError):
            pickles.load(io.BytesIO(data), pickles.Limits(**{name: value}))
    assert load(data) == {"a": [1, 2, 3], "b": (4, (5, 6))}


def test_strings_of_python_2_are_latin_1():
    data = b"\x80\x02}U\x01\xe9(T\x02\x00\x00\x00abI12345678901\nI01\nes."
    assert load(data.replace(b"(T", b"](T")) == {"é": ["ab", 12345678901, True]}


@pytest.mark.parametrize("protocol", [2, 3])
def test_large_arrays_are_cut_and_joined(protocol):
    state = {"w": np.arange(12, dtype="float32").reshape(3, 4), "b": np.zeros(2), "n": 3}
    cut = pickles.in_pieces(state, size=22)
    assert [cut[f"w@@.{index}"].tolist() for index in range(3)] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
        [10, 11],
    ]
    assert cut["UnpackBigParamInfor@@"] == {
        "w": {"OriginShape": (3, 4), "slices": ["w@@.0", "w@@.1", "w@@.2"]}
    }
    found = load(pickle.dumps(cut, protocol))
    assert set(found) == set(state) and same(found["w"], state["w"])
    assert pickles.in_pieces(state) == state


@pytest.mark.parametrize(
    "information",
    [
        3,
        {"w": 3},
        {"w": {"slices": ["gone"], "OriginShape": (3,)}},
        {"w": {"slices": ["x"], "OriginShape": (4,)}},
        {"w": {"slices": [], "OriginShape": (0,)}},
        {"w": {"slices": [["x"]], "OriginShape": (3,)}},
    ],
)
def test_pieces_that_do_not_fit_together_are_told(information):
    data = pickle.dumps({"x": np.zeros(3), "UnpackBigParamInfor@@": information}, 2)
    with pytest.raises(FileError, match="the pieces of an array do not fit together"):
        load(data)


class Word(str):
    """Text of a class of its own."""


@pytest.mark.parametrize("value", [object(), Word("x"), print, {1: Word("x")}, [range(3)]])
def test_what_is_not_plain_is_not_saved(value):
    with pytest.raises(ArgumentTypeError, match="cannot be saved"):
        dump(value)


def test_what_could_not_be_read_again_is_not_saved():
    within: list = []
    within.append(within)
    deep: list = []
    for _ in range(100):
        deep = [deep]
    for value, law in ((within, "within itself"), (deep, "nest deeper"), (1 << 1001, "1000 bits")):
        with pytest.raises(ArgumentError, match=law):
            dump(value)
    assert load(dump(deep[0])) == deep[0]
    for array in (np.array([None]), np.zeros(2, "f4,i4"), np.zeros(1, "datetime64[s]")):
        with pytest.raises(DtypeError, match="cannot be saved"):
            dump({"x": array})
    with pytest.raises(ArgumentError, match="the protocol is 2, 3 or 4, not 5"):
        dump(1, protocol=5)


numbers = st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats()
keys = st.text() | st.integers(-(1 << 62), 1 << 62) | st.tuples(st.text(), st.booleans())
single = st.one_of(
    numbers,
    st.complex_numbers(),
    st.text(),
    st.binary(),
    st.builds(bytearray, st.binary()),
    st.sets(keys),
    st.frozensets(keys),
    st.sampled_from([np.float32(1.5), np.int64(-3), np.bool_(True), np.str_("text")]),
    arrays.arrays(
        st.sampled_from(["float32", "int64", "bool", "complex64", "uint8"]),
        arrays.array_shapes(min_dims=0, min_side=0, max_side=4),
    ),
)
plain = st.recursive(
    single,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(keys, inner),
        st.dictionaries(keys, inner).map(OrderedDict),
    ),
    max_leaves=20,
)


@given(plain, st.sampled_from([2, 3, 4]))
def test_what_is_written_is_read_back(value, protocol):
    data = dump(value, protocol)
    assert same(load(data), value)
    assert same(pickle.loads(data), value)
    assert max(opcode.proto for opcode, _, _ in pickletools.genops(data)) <= protocol


@given(plain, st.sampled_from([2, 3, 4, 5]))
def test_what_pickle_writes_is_read(value, protocol):
    assert same(load(pickle.dumps(value, protocol)), value)


def check(data: bytes) -> None:
    """The bytes give a plain value that can be written, or a typed error that names a byte."""
    try:
        value = load(data)
    except FileError as error:
        assert "at byte" in str(error) or "do not fit together" in str(error)
        return
    dump(value)


@given(st.binary(max_size=100))
def test_any_bytes_give_a_value_or_a_typed_error(data):
    check(proto(data))


@given(st.sampled_from(FILES), st.data())
def test_damaged_files_give_a_value_or_a_typed_error(path, data):
    source = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] = data.draw(st.integers(0, 255))
    check(bytes(source[: data.draw(st.integers(0, len(source)))]))


@pytest.mark.parametrize("name", ["nested_2.pickle", "nested_3.pickle", "nested_4.pickle"])
def test_a_truncated_file_names_the_byte(name):
    source = (DATA / name).read_bytes()
    for size in range(len(source)):
        with pytest.raises(FileError, match="at byte"):
            load(source[:size])
