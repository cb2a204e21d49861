"""What Paddle's core answers."""

import numpy as np
import pytest

from scull.base import core
from scull.core.dtype import DTYPES, float32
from scull.core.op import by_type
from scull.core.place import CPU
from scull.errors import ArgumentError, UnsupportedError
from scull.files import proto

VarType = core.VarDesc.VarType


def test_an_element_type_is_its_member_of_var_type():
    assert VarType.FP32 is float32
    assert VarType(5) is float32
    assert isinstance(float32, VarType)


def test_an_element_type_equals_the_number_an_attribute_holds():
    assert VarType.FP32 == 5 and VarType.FP32 != 6 and float32 != "float32"
    assert {float32: "found"}[VarType.FP32] == "found"


def test_the_numbers_of_var_type_are_those_of_the_wire_format():
    stored = dict(proto.VarType.Type.items())
    shared = {name: member.value for name, member in VarType.__members__.items()}
    names = {"UINT8": 20, "INT8": 21}
    assert {n: stored.get(n, names.get(n)) for n in shared} == shared


def test_every_element_type_that_2_6_saves_is_a_member():
    members = set(VarType.__members__.values())
    assert {d for d in DTYPES if not d.name.startswith("float8")} <= members


def test_a_number_of_no_member_is_refused():
    with pytest.raises(ArgumentError, match="99 is not a valid VarType"):
        VarType(99)


def test_a_string_is_no_instance_of_var_type():
    assert not isinstance("float32", VarType)


def test_the_numbers_of_attribute_kinds_are_those_of_the_wire_format():
    other = {"BOOLEAN": "BOOL", "BOOLEANS": "BOOLS"}
    wire = {other.get(n, n): number for n, number in proto.AttrType.items()}
    assert {kind.name: kind.value for kind in core.AttrType} == wire


def test_nothing_but_the_cpu_is_built_in():
    assert not core.is_compiled_with_cuda()
    assert not core.is_compiled_with_xpu()
    assert core.get_all_custom_device_type() == []
    assert core.is_bfloat16_supported(core.CPUPlace())
    assert not core.is_float16_supported(core.CPUPlace())


def test_a_place_takes_over_another():
    place = core.Place()
    place.set_place(core.CPUPlace())
    assert place == CPU and place.is_cpu_place()


def test_a_name_that_is_absent_imports_and_refuses_to_be_used():
    graph = core.Node
    with pytest.raises(UnsupportedError, match=r"`paddle\.base\.core\.Node` is not in scull"):
        graph()
    assert not isinstance(3, graph)
    with pytest.raises(AttributeError, match="is not in scull"):
        _ = graph.nodes


def test_a_class_of_what_is_absent_can_be_defined_and_not_made():
    class Mine(core.Node):
        def __init__(self, size):
            self.size = size

    with pytest.raises(UnsupportedError, match=r"`paddle\.base\.core\.Node` is not in scull"):
        Mine(3)


def test_a_name_that_paddle_does_not_have_either_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'cudnn_version'"):
        _ = core.cudnn_version


def test_a_scope_holds_a_tensor_by_name():
    scope = core.Scope()
    scope.var("x").get_tensor().set(np.ones([2], "float32"), core.CPUPlace())
    assert np.array(scope.find_var("x").get_tensor()).tolist() == [1.0, 1.0]


def test_decomposition_is_noted_and_forgotten():
    try:
        core._set_prim_all_enabled(True)
        assert core._is_fwd_prim_enabled() and core._is_all_prim_enabled()
        core._set_prim_backward_enabled(False)
        assert not core._is_all_prim_enabled()
    finally:
        core._set_prim_all_enabled(False)
    assert not core._is_fwd_prim_enabled()


def test_every_declared_operator_has_its_message():
    found = {proto.OpProto.FromString(data).type for data in core.get_all_op_protos()}
    assert found == set(by_type()) and "matmul_v2" in found


def test_shapes_broadcast_and_dtypes_have_sizes():
    assert core.broadcast_shape([2, 1], [3]) == [2, 3]
    assert core.size_of_dtype(VarType.FP64) == 8
