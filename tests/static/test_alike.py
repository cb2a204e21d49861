"""Methods of Tensors that converted code calls on Variables."""

import pytest

import scull as paddle
from scull.errors import ArgumentTypeError, UnsupportedError


def changed(x):
    y = x * 2
    z = y.clone()
    z.zero_()
    z[0] = 3.0
    if x.sum() > 0:
        y.fill_(2.0)
    wide = (x * 3).to("float64")
    return y * x + z, wide, wide.to(x).to("cpu").contiguous(), wide.is_contiguous()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_tensors_are_filled_and_moved_as_in_eager_mode(sign):
    found = []
    for function in (changed, paddle.jit.to_static(changed, full_graph=True)):
        x = paddle.to_tensor([sign, 2.0 * sign], stop_gradient=False)
        y, wide, narrow, dense = function(x)
        y.sum().backward()
        arrays = [v.numpy() for v in (y, wide, narrow, x.grad)]
        found.append([dense, *[(a.dtype.name, a.tolist()) for a in arrays]])
    assert found[0] == found[1]


def test_a_variable_of_a_program_of_operators_is_not_filled():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2])
            with pytest.raises(UnsupportedError, match="`zero_` changes a Tensor, and `x` is"):
                x.zero_()
            with pytest.raises(ArgumentTypeError, match="must be int or float"):
                x.fill_("1")
            with pytest.raises(ArgumentTypeError, match=r"to\(\) has no parameter kind"):
                x.to(kind="float32")
            assert x.to("int32").dtype == paddle.int32
            assert x.to("float32") is x
    finally:
        paddle.disable_static()
