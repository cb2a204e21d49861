"""Members that old code uses: views, values in scopes, roles, elements by place."""

import re

import numpy as np
import pytest

from scull import base
from scull.base import core
from scull.core.dtype import complex128, float32, float64
from scull.core.interpreter import interpreting
from scull.core.meta import Kind
from scull.errors import ArgumentError, ArgumentTypeError, SlotError, UninitializedError
from scull.ir.program import Program, program_guard
from scull.ir.recorder import STATIC
from scull.nn.functional import relu
from scull.optimizer import SGD
from scull.runtime.scope import Scope, ScopeTensor
from scull.static import create_parameter, data, name_scope
from scull.static.nn import fc
from scull.tensor import matmul, mean


@pytest.fixture
def program():
    """A Program of one sum, with a parameter."""
    made, startup = Program(), Program()
    with interpreting(STATIC), program_guard(made, startup), base.unique_name.guard():
        x = data("x", [2, 3])
        w = create_parameter([3], "float32", name="w")
        _ = x + w
    made.startup = startup
    return made


@pytest.fixture
def scope(program):
    """What a scope holds after the startup Program."""
    found = Scope()
    base.Executor(base.CPUPlace()).run(program.startup, scope=found)
    return found


def test_the_view_of_a_variable_reads_and_changes_it(program):
    x = program.global_block().var("x")
    view = x.desc
    assert (view.name(), view.shape(), view.dtype(), view.type()) == (
        "x",
        [2, 3],
        float32,
        Kind.DENSE,
    )
    assert view.need_check_feed() and not view.persistable() and not view.is_parameter()
    view.set_need_check_feed(False)
    view.set_shape([4, 3])
    view.set_persistable(True)
    view.set_stop_gradient(False)
    view.set_dtype("float64")
    view.set_lod_level(1)
    assert (x.need_check_feed, x.shape, x.persistable, x.stop_gradient) == (
        False,
        (4, 3),
        True,
        False,
    )
    assert (x.dtype, view.lod_level(), view.stop_gradient()) == (float64, 1, False)


def test_the_view_of_an_operator_reads_it(program):
    view = program.global_block().ops[0].desc
    assert view.type() == "elementwise_add" and view.attr("axis") == -1
    assert view.input_arg_names() == ["x", "w"] and view.input("X") == ["x"]
    assert view.inputs() == {"X": ["x"], "Y": ["w"]} and view.input_names() == ["X", "Y"]
    assert view.output_names() == ["Out"] and view.output_arg_names() == view.output("Out")
    assert view.has_attr("axis") and "op_role" in view.attr_names()
    view._set_attr("op_role", 1)
    assert view.attr("op_role") == 1
    view.set_is_target(True)
    assert view.is_target() and view.block.op_size() == 1
    view.infer_shape()


def test_renaming_what_an_operator_has_not_leaves_it(program):
    block = program.global_block()
    block.create_var(name="y", shape=[2, 3], dtype="float32")
    for operator in (block.ops[0], block.ops[0].desc):
        operator._rename_input("nobody", "y")
        operator._rename_output("x", "y")
    assert block.ops[0].input_arg_names == ["x", "w"]
    block.ops[0].desc._rename_input("x", "y")
    assert block.ops[0].input_arg_names == ["y", "w"]


def test_the_view_of_an_operator_fills_its_slots(program):
    block = program.global_block()
    for name in ("y", "z"):
        block.create_var(name=name, shape=[2, 3], dtype="float32")
    block.ops[0].desc.set_input("X", ["y"])
    block.ops[0].desc.set_output("Out", ["z"])
    assert (block.ops[0].input_arg_names, block.ops[0].output_arg_names) == (["y", "w"], ["z"])
    with pytest.raises(SlotError, match="takes one variable"):
        block.ops[0].desc.set_input("X", ["y", "z"])


def test_the_kind_of_an_attribute_is_one_of_those_of_the_core(program):
    operator = program.global_block().ops[0]
    kinds = {n: operator.attr_type(n) for n in operator.attr_names}
    assert (kinds["axis"], kinds["op_role"]) == (core.AttrType.INT, core.AttrType.INT)
    assert kinds["with_quant_attr"] is core.AttrType.BOOL
    assert kinds["op_namescope"] is operator.desc.attr_type("op_namescope") is core.AttrType.STRING


def test_slots_that_no_text_shows_have_no_names(program):
    with interpreting(STATIC), program_guard(program, program.startup):
        loss = mean(program.global_block().var("tmp_0"))
        SGD(0.1).minimize(loss)
    update, start = program.global_block().ops[-1], program.global_block().ops[2]
    assert (update.type, update.output_names) == ("sgd", ["ParamOut"])
    assert (start.type, start.input_names) == ("fill_constant", [])


def test_operators_of_the_start_have_the_scope_they_were_made_in():
    made, startup = Program(), Program()
    with interpreting(STATIC), program_guard(made, startup), name_scope("outer"):
        fc(data("x", [2, 3]), 2)
    assert {o.attr("op_namescope") for o in made.global_block().ops} == {"/outer/"}
    assert {o.attr("op_namescope") for o in startup.global_block().ops} == {"/outer/"}


def test_a_block_as_text_ends_with_its_bracket(program):
    assert str(program.global_block()).endswith("\n}")
    assert str(program) == f"{program.global_block()}\n"


def test_the_view_of_a_block_finds_variables_by_bytes(program):
    view = program.global_block().desc
    assert view.has_var(b"w") and view.find_var(b"nope") is None
    assert view.find_var_recursive(b"w").name() == "w" and view.op(0).type() == "elementwise_add"
    view.var(b"new").set_shape([1])
    assert program.global_block().var("new").shape == (1,)
    assert {v.name() for v in view.all_vars()} >= {"x", "w", "new"}
    view._rename_var(b"new", b"other")
    assert view.has_var("other") and not view.has_var("new")
    view._remove_var(b"other")
    assert not view.has_var("other")
    view._remove_op(0, 1)
    assert view.op_size() == 0 and (view.id, view.parent) == (0, -1)


def test_the_bytes_of_a_view_give_the_program_again(program):
    data = program.desc.serialize_to_string()
    again = Program.parse_from_string(data)
    assert again.desc.cached_hash_str() == program.desc.cached_hash_str()
    code = program._to_readable_code().splitlines()
    assert sorted(again._to_readable_code().splitlines()[:4]) == sorted(code[:4])
    assert list(again.global_block().vars) == ["tmp_0", "w", "x"]  # files order them by name
    assert program.desc.num_blocks() == 1 and program.desc.block(0).op_size() == 1


def test_a_variable_has_its_value_in_a_scope(program, scope):
    w = program.global_block().var("w")
    w.set_value(np.array([1, 2, 3], "float64"), scope)
    assert np.array(w.get_value(scope)).tolist() == [1.0, 2.0, 3.0]
    assert w.get_value(scope)._dtype() is float32
    with pytest.raises(ArgumentError, match=r"w expected a shape \[3\], but the received"):
        w.set_value(np.zeros(2), scope)
    with pytest.raises(ArgumentTypeError, match="`value` should be"):
        w.set_value(3, scope)
    with pytest.raises(ArgumentError, match="Can not find Variable 'w'"):
        w.get_value(Scope())
    with pytest.raises(ArgumentTypeError, match="`scope` should be None"):
        w.get_value(3)


def test_a_program_has_its_state_in_a_scope(program, scope):
    assert list(program.state_dict(scope=scope)) == ["w"]
    program.global_block().create_var(name="a", shape=[1], dtype="int64", persistable=True)
    scope.var("a").get_tensor().set(np.zeros(1, "int64"), core.CPUPlace())
    assert list(program.state_dict(scope=scope)) == ["w", "a"]  # as they were made
    assert list(program.state_dict("opt", scope)) == ["a"]
    program.set_state_dict({"w": np.ones(3, "float32")}, scope)
    assert np.array(program.state_dict("param", scope)["w"]).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ArgumentError, match="`mode` string should be"):
        program.state_dict("x")
    with pytest.raises(ArgumentTypeError, match="should be dict"):
        program.set_state_dict([])


def test_values_that_fit_no_variable_of_a_program_are_left_with_a_warning(program, scope):
    values = {"head": np.ones(2), "w": np.ones(4, "float32")}
    with pytest.warns(UserWarning) as told:
        program.set_state_dict(values, scope)
    assert [str(w.message).split(". ")[0] for w in told] == [
        "Skip loading for 'head'",
        "Skip loading for 'w'",
    ]
    assert np.array(program.state_dict(scope=scope)["w"]).shape == (3,)


def test_a_variable_refuses_what_needs_a_value(program):
    x = program.global_block().var("x")
    for name in ("numpy", "gradient", "clear_gradient"):
        with pytest.raises(AssertionError, match=f"'{name}' only can be called by"):
            getattr(x, name)()
    with pytest.raises(AssertionError, match=r"'backward\(\)' in dynamic graph mode"):
        x.backward()
    assert (x.type, x.grad_name, x.element_size()) == (Kind.DENSE, "x@GRAD", 4)
    assert x._to_readable_code() == str(x)


VARIABLE = """name: "{}"
type {{
  type: LOD_TENSOR
  lod_tensor {{
    tensor {{
      data_type: FP32
      dims: 2
    }}
  }}
}}
"""


def test_a_variable_as_text_is_its_message_and_details_say_more():
    block = Program().global_block()
    bare = block.create_var(name="v", shape=[2], dtype="float32")
    own = block.create_parameter(name="p", shape=[2], dtype="float32")
    assert bare.to_string(True) == VARIABLE.format("v") + "stop_gradient: false\n"
    assert bare.to_string(True, True) == bare.to_string(True) + "error_clip: None\n"
    told = "persistable: true\nis_parameter: true\nstop_gradient: false\n"
    assert own.to_string() == VARIABLE.format("p") + told
    assert "error_clip: None\ntrainable: True\n" in own.to_string(True, with_details=True)


def test_what_files_hold_beside_an_operator_is_not_printed():
    made = Program()
    with program_guard(made), interpreting(STATIC):
        x = data("x", [2, 3])
        matmul(x, x, transpose_y=True)
    read = Program.parse_from_string(made.desc.serialize_to_string())
    (written,), (again,) = made.global_block().ops, read.global_block().ops
    assert str(again) == str(written)
    assert sorted(again.attr_names) == sorted(written.attr_names)
    assert (again.has_attr("use_mkldnn"), again.attr("use_mkldnn")) == (True, False)
    assert str(read.clone().global_block().ops[0]) == str(written)
    assert "mkldnn_data_type" in read.to_string(True)  # what was read is written again


def test_names_of_attributes_are_those_that_are_printed():
    made = Program()
    with program_guard(made), interpreting(STATIC):
        relu(data("x", [2, 3]))
    (o,) = made.global_block().ops
    assert "use_cudnn" not in {*o.attr_names, *o.all_attrs()}
    assert (o.has_attr("use_cudnn"), o.attr("use_cudnn")) == (True, False)


def test_operators_made_within_a_guard_have_its_role(program):
    block = program.global_block()
    guards = [program._backward_role_guard(), program._optimized_guard(["w", None, "w@GRAD"])]
    guards.append(program._lr_schedule_guard())
    for guard in guards:
        with guard:
            out = block.create_var(shape=[2, 3], dtype="float32")
            block.append_op("relu", {"X": ["x"]}, {"Out": [out]})
    assert [o.role for o in block.ops] == [0, 1, 2, 16]
    assert block.ops[2].role_var == ("w", "w@GRAD")
    assert [o._is_backward_op() for o in block.ops] == [False, True, False, False]
    assert [o._is_optimize_op() for o in block.ops] == [False, False, True, False]
    program._op_role = 1
    assert program._current_role == 1 and program._op_role_var == []


def test_a_cloned_variable_is_alike(program):
    other = Program().global_block()
    made = other._clone_variable(program.global_block().var("x"))
    assert (made.name, made.shape, made.persistable, made.is_data) == ("x", (2, 3), True, True)


def test_a_tensor_of_a_scope_is_sized_first_and_filled_by_place():
    tensor = core.Scope().var("t").get_tensor()
    tensor._set_dims([2, 2])
    tensor._alloc_double(core.CPUPlace())
    tensor._set_double_element(3, 2.5)
    assert tensor._get_double_element(3) == 2.5 and tensor._dtype() is float64
    assert (tensor._get_dims(), tensor._numel()) == ([2, 2], 4)
    assert np.array(tensor[1]).tolist() == [0.0, 2.5]
    assert np.array(tensor._slice(1, 2)).shape == (1, 2)
    assert tensor._as_type("complex128")._dtype() is complex128
    tensor._clear()
    assert not tensor._is_initialized()
    with pytest.raises(ArgumentError, match="holds no memory"):
        tensor._dtype()


def test_a_tensor_of_a_scope_shares_and_copies():
    one, other = core.LoDTensor(), core.LoDTensor()
    one.set([1.0, 2.0], core.CPUPlace())
    other._share_data_with(one)
    other._set_float_element(0, 5)
    copy = core.LoDTensor()
    copy._copy_from(one)
    copy._set_float_element(1, 9)
    assert np.array(one).tolist() == [5.0, 2.0]
    with pytest.raises(ArgumentError, match="no element type of a tensor"):
        one.set(["1", "2"])


def test_lengths_that_do_not_add_up_are_found():
    tensor = ScopeTensor()
    tensor.set(np.zeros([3, 1]))
    tensor.set_recursive_sequence_lengths([[2, 1]])
    assert tensor.has_valid_recursive_sequence_lengths()
    tensor.set_recursive_sequence_lengths([[2, 2]])
    assert not tensor.has_valid_recursive_sequence_lengths()


def test_a_variable_of_a_scope_may_be_a_number():
    cell = core.Scope().var("n")
    cell.set_int(3)
    assert cell.is_int() and cell.get_int() == 3 and not cell.is_float()
    cell.set_float(2.5)
    assert cell.is_float() and cell.get_float() == 2.5


def test_rows_of_a_matrix_are_put_into_a_scope():
    rows = core.Scope().var("r").get_selected_rows()
    rows.set_rows([0, 2])
    rows.set_height(3)
    rows.get_tensor().set(np.array([[1.0], [2.0]], "float32"), core.CPUPlace())
    assert (rows.rows(), rows.height(), rows.numel()) == ([0, 2], 3, 2)
    assert np.array(rows).tolist() == [[1.0], [0.0], [2.0]]
    assert rows.get_tensor()._get_float_element(1) == 2.0
    assert core.SelectedRows([1], 5).rows() == [1]


def test_one_operator_runs_on_a_scope():
    message = base.proto.framework_pb2.OpDesc(type="scale")
    message.inputs.add(parameter="X", arguments=["x"])
    message.outputs.add(parameter="Out", arguments=["out"])
    message.attrs.add(name="scale", type=base.proto.framework_pb2.FLOAT, f=2.0)
    operator = core.Operator.create(message.SerializeToString())
    scope = core.Scope()
    with pytest.raises(UninitializedError, match="`x` has no value in this scope"):
        operator.run(scope, base.CPUPlace())
    scope.var("x").get_tensor().set(np.ones(2, "float32"))
    operator.run(scope, base.CPUPlace())
    assert np.array(scope.find_var("out").get_tensor()).tolist() == [2.0, 2.0]
    assert operator.type() == "scale" and operator.inputs() == {"X": ["x"]}


def test_numbers_and_lists_become_tensors_to_feed():
    made = base.executor._as_lodtensor([1, 2], base.CPUPlace(), float64)
    assert made._dtype() is float64 and made.shape() == [2]
    assert base.executor._as_lodtensor(1.0, base.CPUPlace(), "int32").shape() == [1]
    with pytest.raises(AssertionError, match="dtype should be given"):
        base.executor._as_lodtensor(1, base.CPUPlace())
    with pytest.raises(ArgumentTypeError, match="Failed to convert"):
        base.executor._as_lodtensor({"a": 1}, base.CPUPlace(), "int32")


def test_a_fetched_variable_is_found_by_name(scope):
    assert base.executor._fetch_var("w", scope).shape == (3,)
    with pytest.raises(AssertionError, match="Cannot find nope in scope"):
        base.executor._fetch_var("nope", scope)


def test_a_program_as_text_is_its_message_and_details_say_more():
    main = Program()
    with program_guard(main), interpreting(STATIC):
        fc(data("x", [2, 3]), 4)
    plain, detailed = main.to_string(True), main.to_string(True, True)
    assert plain.startswith("blocks {\n  idx: 0\n  parent_idx: -1\n  vars {\n    name: ")
    assert "trainable" not in plain
    assert "    error_clip: None\n    trainable: True\n    optimize_attr: {" in detailed
    names = [re.findall(r'  vars {\n    name: "(.*)"', text) for text in (plain, detailed)]
    assert names == [sorted(main.global_block().vars), list(main.global_block().vars)]
    assert "forward_block_idx" not in plain
    for wrong in ((1,), (True, 1)):
        with pytest.raises(AssertionError, match="expected bool"):
            main.to_string(*wrong)
