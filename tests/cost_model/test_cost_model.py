"""Operators of a Program are measured on the CPU."""

import importlib

import pytest

import scull as paddle
from scull.cost_model import CostModel
from scull.errors import ArgumentError, MissingModuleError, RangeError, UnsupportedError


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_every_operator_that_runs_takes_its_time():
    startup, main = CostModel().build_program()
    types = [o.type for o in main.global_block().ops]
    assert types[:3] == ["mul", "elementwise_add", "reduce_mean"] and types[-1] == "sgd"
    found = CostModel().profile_measure(startup, main, "cpu", ["time"])
    times = [found.get_op_time_ms(i) for i in range(len(types))]
    assert all(t > 0 for t in times)
    assert found.get_whole_time_ms() == pytest.approx(sum(times))
    with pytest.raises(RangeError, match=f"not {len(types)}"):
        found.get_op_time_ms(len(types))


def test_measuring_leaves_the_global_scope_alone():
    startup, main = CostModel().build_program()
    CostModel().profile_measure(startup, main, "cpu")
    name = main.all_parameters()[0].name
    assert paddle.static.global_scope().find_var(name) is None


def test_there_is_no_other_device_and_no_table_of_times():
    model = CostModel()
    with pytest.raises(ArgumentError, match="no 'gpu'"):
        model.profile_measure(*model.build_program())
    with pytest.raises(UnsupportedError, match="profile_measure"):
        model.get_static_op_time("conv2d")
    with pytest.raises(ArgumentError, match="op_name"):
        model.get_static_op_time(None)


def test_onnx_needs_a_package_that_is_not_there():
    with pytest.raises(ImportError, match="paddle2onnx") as caught:
        paddle.onnx.export(None, "net")
    assert isinstance(caught.value, MissingModuleError)


def test_operators_in_c_plus_plus_say_what_there_is_instead():
    module = importlib.import_module("scull.utils.cpp_extension")
    for name in ("load", "setup", "CppExtension", "CUDAExtension"):
        with pytest.raises(UnsupportedError, match=r"PyLayer.*py_func"):
            getattr(module, name)("ops", sources=["ops.cc"])
