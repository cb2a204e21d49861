"""Element types that operators are not recorded with, as in the reference."""

import pytest

import scull as paddle
from scull.errors import DtypeError, ShapeError
from scull.ir.admission import FRACTIONS, REFUSED, SINGLE, SMALL


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        yield
    paddle.disable_static()


F = paddle.nn.functional
CALLS = {
    "relu of integers": (lambda x: F.relu(x), "int32"),
    "the mean of integers": (lambda x: paddle.mean(x), "int64"),
    "softmax of truths": (lambda x: F.softmax(x), "bool"),
    "the largest of small integers": (lambda x: paddle.max(x), "int8"),
    "a histogram of truths": (lambda x: paddle.histogram(x, 5, 1, 5), "bool"),
    "axes of small integers": (lambda x: paddle.transpose(x, [1, 0]), "int16"),
    "powers of matrices of half precision": (lambda x: paddle.linalg.matrix_power(x, 2), "float16"),
    "rows picked of truths": (lambda x: paddle.gather(x, x), "bool"),
    "a list of small integers": (lambda x: paddle.broadcast_tensors([x, x]), "uint8"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_program_does_not_take(name):
    call, dtype = CALLS[name]
    with pytest.raises(TypeError, match=f"`x` is {dtype}") as caught:
        call(paddle.static.data("x", [4, 4], dtype))
    assert isinstance(caught.value, DtypeError)
    assert not paddle.static.default_main_program().global_block().ops


def test_floating_elements_and_large_integers_are_recorded():
    x, n = paddle.static.data("x", [4, 4]), paddle.static.data("n", [4, 4], "int64")
    F.relu(x), paddle.mean(x), paddle.max(n), paddle.transpose(n, [1, 0])
    types = [o.type for o in paddle.static.default_main_program().global_block().ops]
    assert types == ["relu", "reduce_mean", "reduce_max", "transpose2"]


def test_an_operator_appended_by_hand_is_not_asked():
    block = paddle.static.default_main_program().global_block()
    x = paddle.static.data("x", [4, 4], "int32")
    out = block.create_var(name="out", dtype="int32")
    assert block.append_op("transpose2", {"X": [x]}, {"Out": [out]}, {"axis": [1, 0]}).type


def test_eager_mode_takes_what_its_kernels_take():
    paddle.disable_static()
    assert paddle.max(paddle.to_tensor([3, 5], "int8")).item() == 5
    paddle.enable_static()


def test_each_type_stands_in_one_table():
    assert len(REFUSED) == len(FRACTIONS.split()) + len(SMALL)
    assert set(SINGLE.split()) < set(FRACTIONS.split())


def test_a_permutation_is_of_large_or_floating_numbers():
    for dtype in ("int8", "bool", "float16"):
        with pytest.raises(DtypeError, match="randperm gives int32, int64, float32 or float64"):
            paddle.randperm(10, dtype)


def test_tensors_that_do_not_stretch_together_are_of_a_wrong_type_in_a_program():
    x, y = paddle.static.data("x", [3, 1]), paddle.static.data("y", [2, 4])
    with pytest.raises(TypeError, match="do not broadcast"):
        paddle.broadcast_tensors([x, y])
    paddle.disable_static()
    with pytest.raises(ShapeError, match="do not broadcast"):
        paddle.broadcast_tensors([paddle.ones([3, 1]), paddle.ones([2, 4])])
    paddle.enable_static()


def test_a_choice_of_rows_takes_numbers_of_32_or_64_bits():
    x, places = paddle.static.data("x", [4, 2]), paddle.static.data("i", [4, 1], "int16")
    with pytest.raises(DtypeError, match=r"int16\[4, 1\] are not int32 or int64"):
        paddle.multiplex([x, x], places)
