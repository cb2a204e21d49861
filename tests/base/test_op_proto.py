"""Declarations as messages."""

import pytest

from scull.base.framework import OpProtoHolder
from scull.errors import ArgumentError
from scull.files import proto

holder = OpProtoHolder.instance()


def test_slots_are_spelt_as_programs_spell_them():
    message = holder.get_op_proto("matmul_v2")
    assert [slot.name for slot in message.inputs] == ["X", "Y"]
    assert [slot.name for slot in message.outputs] == ["Out"]
    kinds = {attribute.name: attribute.type for attribute in message.attrs}
    assert kinds["trans_x"] == proto.BOOLEAN


def test_a_list_is_duplicable_and_an_optional_slot_dispensable():
    concat = {slot.name: slot for slot in holder.get_op_proto("concat").inputs}
    assert concat["X"].duplicable and concat["AxisTensor"].dispensable
    assert not concat["AxisTensor"].duplicable and not concat["X"].dispensable


def test_a_result_nobody_reads_is_intermediate():
    outputs = {slot.name: slot for slot in holder.get_op_proto("reshape2").outputs}
    assert outputs["XShape"].intermediate and not outputs["Out"].intermediate


def test_the_attributes_every_operator_has_are_extra():
    extra = {a.name for a in holder.get_op_proto("relu").attrs if a.extra}
    assert extra == OpProtoHolder.generated_op_attr_names()


def test_an_operator_nobody_declared_has_no_message():
    assert not holder.has_op_proto("nope") and holder.has_op_proto("relu")
    with pytest.raises(ArgumentError, match='Operator "nope" has not been registered'):
        holder.get_op_proto("nope")
