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


def test_flags_that_scripts_for_other_devices_set_are_kept():
    before = paddle.get_flags(["FLAGS_fast_eager_deletion_mode", "FLAGS_gpu_memory_limit_mb"])
    assert list(before.values()) == [True, 0]
    paddle.set_flags({"FLAGS_fast_eager_deletion_mode": False, "FLAGS_gpu_memory_limit_mb": 64})
    assert paddle.get_flags("FLAGS_gpu_memory_limit_mb") == {"FLAGS_gpu_memory_limit_mb": 64}
    paddle.set_flags(before)


def test_a_parameter_with_a_name_and_attributes_is_called_after_the_name():
    frozen = paddle.ParamAttr(trainable=False)
    with paddle.utils.unique_name.guard():
        made = [paddle.create_parameter([1], "float32", name="scale", attr=frozen) for _ in "ab"]
        assert [p.name for p in made] == ["scale.w_0", "scale.w_1"]
        assert paddle.create_parameter([1], "float32", name="alone").name == "alone"
        assert paddle.create_parameter([1], "float32").name == "create_parameter_0.w_0"


def test_limits_are_printed_with_six_digits():
    assert repr(paddle.finfo("float16")) == (
        "paddle.finfo(min=-65504, max=65504, eps=0.000976562, resolution=0.001, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, bits=16, dtype=float16)"
    )
