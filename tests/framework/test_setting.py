"""Settings that scripts for other devices make."""

import pytest

import scull as paddle


def test_generators_of_devices_that_are_not_there_have_no_state():
    assert paddle.get_cuda_rng_state() == []
    assert paddle.set_cuda_rng_state([]) is None


def test_no_signal_has_a_handler_to_take_back():
    assert paddle.disable_signal_handler() is None
    assert paddle.base.framework.disable_signal_handler is paddle.disable_signal_handler


def test_a_shape_is_checked_by_name():
    assert paddle.check_shape([2, 3], "zeros") is None
    with pytest.raises(TypeError, match="shape"):
        paddle.check_shape("a", "zeros")
