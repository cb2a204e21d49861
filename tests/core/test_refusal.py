"""What a refused call says: in front the word Paddle's users look for, behind where it was."""

import pytest

import scull as paddle
from scull.errors import DtypeError, IndexDtypeError, ShapeError


def test_an_error_of_an_operator_begins_with_paddles_word_for_its_kind():
    x = paddle.zeros([2, 3])
    with pytest.raises(ShapeError, match=r"^\(InvalidArgument\) ") as caught:
        paddle.matmul(x, x)
    assert caught.value.args[0].count("(InvalidArgument)") == 1
    assert "\nin matmul\n  x: float32[2, 3]" in str(caught.value)


def test_an_element_type_without_a_kernel_is_not_found():
    with pytest.raises(DtypeError, match=r"^\(NotFound\) int32"):
        paddle.erf(paddle.zeros([2], "int32"))


def test_shapes_that_do_not_stretch_are_named_with_the_word_once():
    with pytest.raises(ShapeError) as caught:
        paddle.add(paddle.zeros([2, 3]), paddle.zeros([2], "float64"))
    assert str(caught.value).count("(InvalidArgument)") == 1


def test_programs_say_the_same():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2, 3])
            with pytest.raises(ShapeError, match=r"^\(InvalidArgument\) "):
                paddle.matmul(x, x)
            block = paddle.static.default_main_program().global_block()
            out = block.create_var(name="out")
            with pytest.raises(ShapeError, match=r"^\(InvalidArgument\) "):
                block.append_op("matmul_v2", {"X": [x], "Y": [x]}, {"Out": [out]})
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("pick", ["gather", "index_select", "index_sample", "gather_nd"])
def test_an_index_that_is_no_integer_is_an_invalid_argument(pick):
    x, index = paddle.ones([2, 3]), paddle.zeros([2, 1])
    given = index if pick in ("index_sample", "gather_nd") else index.flatten()
    with pytest.raises(IndexDtypeError, match=r"^\(InvalidArgument\) .* not of integers"):
        getattr(paddle, pick)(x, given)
