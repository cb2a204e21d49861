"""Programs, modes and places under their older names."""

import inspect

import numpy as np
import pytest

import scull as paddle
from scull import base
from scull.base import core, framework
from scull.base.dygraph.base import switch_to_static_graph
from scull.core.dtype import bfloat16, float32, float64
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.ir.variable import Variable


def test_what_operators_of_ones_own_need_is_imported_at_once():
    from scull import common_ops_import as found

    assert found.Variable is paddle.static.Variable
    assert found.LayerHelper("relu").layer_type == "relu"
    assert found.convert_dtype(found.VarDesc.VarType.FP32) == "float32"
    with pytest.raises(TypeError, match="'x' in scale"):
        found.check_type(1, "x", str, "scale")


def test_grad_var_name_adds_the_suffix():
    assert framework.grad_var_name("x") == "x@GRAD"


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ("float32", float32),
        (np.float64, float64),
        (np.dtype("float32"), float32),
        ("uint16", bfloat16),
        ("bfloat16", bfloat16),
        (float, float64),
        (float32, float32),
    ],
)
def test_numpy_types_and_names_become_element_types(given, dtype):
    assert framework.convert_np_dtype_to_dtype_(given) is dtype


def test_dygraph_guard_changes_the_mode_for_its_block():
    with framework._dygraph_guard(None):
        assert not in_dynamic_mode() and framework._dygraph_tracer() is None
        with base.dygraph.guard():
            assert in_dynamic_mode() and framework._dygraph_tracer()._has_grad
        assert not in_dynamic_mode()
    assert in_dynamic_mode()


def test_the_tracer_says_whether_gradients_are_recorded():
    tracer = framework._dygraph_tracer()
    with base.dygraph.no_grad():
        assert not tracer._has_grad
        with pytest.raises(UnsupportedError, match="where the no_grad block ends"):
            tracer._has_grad = True
    tracer._has_grad = False
    try:
        assert not tracer._has_grad
    finally:
        tracer._has_grad = True
    assert tracer._has_grad


def test_guard_numbers_names_afresh():
    with base.dygraph.guard():
        first = base.unique_name.generate("w")
    with base.dygraph.guard():
        assert base.unique_name.generate("w") == first == "w_0"


def test_a_switched_function_records():
    @switch_to_static_graph
    def record():
        assert not in_dynamic_mode()
        return 3

    assert record() == 3 and in_dynamic_mode()


def test_a_function_for_one_mode_says_so_in_the_other():
    @framework.static_only
    def build():
        """Doc."""

    @framework.dygraph_only
    def compute():
        return 1

    assert build.__name__ == "build" and build.__doc__ == "Doc."
    assert inspect.getfullargspec(build).args == []
    with pytest.raises(AssertionError, match=r"'build\(\)' is only supported in static graph mode"):
        build()
    assert compute() == 1
    with (
        framework._dygraph_guard(None),
        pytest.raises(AssertionError, match=r"only support 'compute\(\)' in dynamic graph mode"),
    ):
        compute()


def test_switched_programs_are_the_default_ones():
    main, startup = framework.Program(), framework.Program()
    before = framework.switch_main_program(main)
    first = framework.switch_startup_program(startup)
    try:
        assert framework.default_main_program() is main
        assert framework.default_startup_program() is startup
    finally:
        framework.switch_main_program(before)
        framework.switch_startup_program(first)
    assert framework.default_main_program() is before


def test_a_guard_tells_of_another_representation_of_programs():
    def told():
        return framework.in_pir_mode(), framework.in_dynamic_or_pir_mode(), paddle.in_dynamic_mode()

    assert told() == (False, True, True)
    with paddle.pir_utils.IrGuard():
        assert told() == (True, True, False)
        assert paddle.static.data("x", [2]) in framework.default_main_program().list_vars()
    assert told() == (False, True, True)
    paddle.enable_static()
    with paddle.pir_utils.IrGuard():
        assert told() == (True, True, False)
    assert told() == (False, False, False)
    paddle.disable_static()
    calls = []
    paddle.pir_utils.test_with_pir_api(lambda: calls.append(framework.in_pir_mode()))()
    assert calls == [False, True]


def test_programs_are_not_sharded():
    with pytest.raises(UnsupportedError, match="scull runs on the CPU"):
        framework.ipu_shard_guard()


def test_a_graph_is_made_of_the_description_of_a_program_and_passes_change_programs():
    main, startup = framework.Program(), framework.Program()
    paddle.enable_static()
    try:
        with framework.program_guard(main, startup):
            x = paddle.static.data("x", [2])
            y = paddle.nn.functional.relu(x + x)
    finally:
        paddle.disable_static()
    graph = framework.IrGraph(core.Graph(main.desc), for_test=True)
    assert graph.is_test() and len(graph.all_op_nodes()) == 2
    assert framework._apply_pass(main, startup, "fuse_elewise_add_act_pass", {"fetches": []}) == {
        "fetches": []
    }
    (o,) = main.global_block().ops
    assert o.type == "fused_elemwise_activation" and o.output("Out") == [y.name]
    (found,) = paddle.static.Executor().run(main, {"x": np.array([1, -1], "f4")}, [y])
    assert found.tolist() == [2.0, 0.0]


def test_to_variable_takes_arrays_and_lists_and_leaves_tensors_alone():
    made = base.dygraph.to_variable(np.ones([2], "float32"), name="a")
    assert (made.name, made.stop_gradient, made.tolist()) == ("a", True, [1.0, 1.0])
    assert base.dygraph.to_variable([1, 2]).tolist() == [1, 2]
    assert base.dygraph.to_variable(made) is made
    with pytest.raises(ArgumentTypeError, match="The type of 'value' in base"):
        base.dygraph.to_variable(3)


def test_create_tensor_makes_an_empty_tensor_by_name():
    made = framework._create_tensor(name="t", dtype="float64", persistable=True)
    assert isinstance(made, Tensor)
    assert (made.name, made.dtype, made.persistable) == ("t", float64, True)


def test_variables_are_read_by_index_in_static_mode():
    with framework._dygraph_guard(None), framework.program_guard(framework.Program()):
        x = (
            framework.default_main_program()
            .global_block()
            .create_var(name="x", shape=[2, 3], dtype="float32")
        )
        assert isinstance(x, Variable)
        assert base.variable_index._getitem_static(x, 0).shape == (3,)


def test_the_messages_of_files_are_found_by_name():
    assert base.proto.framework_pb2.VarType.FP32 == 5
    assert base.proto.framework_pb2.ProgramDesc().IsInitialized()
    with pytest.raises(AttributeError, match="has no attribute 'Nope'"):
        _ = base.proto.framework_pb2.Nope


def test_to_variable_warns_that_it_copies():
    with pytest.warns(UserWarning, match="zero_copy is not supported"):
        made = base.dygraph.to_variable(np.ones(2, "float32"), zero_copy=True)
    assert made.tolist() == [1.0, 1.0]


def test_a_tensor_is_a_variable_while_operators_compute_at_once():
    x = Tensor(np.ones(2, "float32"))
    v = framework.default_main_program().global_block().create_var(shape=[2], dtype="float32")
    assert isinstance(x, framework.Variable)
    assert isinstance(v, framework.Variable)
    assert not isinstance(x, framework.Parameter)
    base.disable_dygraph()
    try:
        assert not isinstance(x, framework.Variable)
        assert isinstance(v, framework.Variable)
    finally:
        base.enable_dygraph()


def test_a_layer_helper_makes_what_it_is_not_told_of_the_default_type():
    helper = paddle.nn.Layer("table")._helper
    paddle.set_default_dtype("float64")
    try:
        assert helper.get_default_dtype() == "float64"
        assert helper.create_parameter(None, [2]).dtype == paddle.float64
        assert helper.create_variable_for_type_inference().dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    assert helper.get_default_dtype() == "float32"
