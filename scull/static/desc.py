"""`.desc` of Programs, Blocks, Operators and Variables: views, for code that looks there."""

import hashlib
from typing import Any

from scull.core.dtype import DType, dtype_of
from scull.core.meta import Kind
from scull.files import proto
from scull.files.legacy.window import legacy
from scull.files.program import bytes_of, fill_variable, guessed, message_of
from scull.files.wire import AttributeKind, attribute_value, set_attribute
from scull.ir.block import Block
from scull.ir.clone import copied_operator
from scull.ir.operator import Operator, filled_slots, program_outputs
from scull.ir.program import Program
from scull.ir.variable import Variable


def text(name: Any) -> str:
    """A name given as bytes or as text."""
    return name.decode() if isinstance(name, bytes) else str(name)


class VariableView:
    """A Variable, as old code reads and changes it."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable

    def name(self) -> str:
        return self.variable.name

    def set_name(self, name: Any) -> None:
        self.variable.name = text(name)

    def shape(self) -> list[int]:
        return list(self.variable.shape)

    def set_shape(self, sizes: Any) -> None:
        self.variable.shape = sizes

    def dtype(self) -> DType:
        return self.variable.dtype

    def set_dtype(self, dtype: Any) -> None:
        self.variable.dtype = dtype_of(dtype)

    def type(self) -> Kind:
        return self.variable.kind

    def set_type(self, kind: Kind) -> None:
        self.variable.kind = kind

    def lod_level(self) -> int:
        return self.variable.lod_level

    def set_lod_level(self, level: int) -> None:
        self.variable.lod_level = level

    def persistable(self) -> bool:
        return self.variable.persistable

    def set_persistable(self, value: bool) -> None:
        self.variable.persistable = value
        self.variable.block.program.changed()

    def stop_gradient(self) -> bool:
        return self.variable.stop_gradient

    def set_stop_gradient(self, value: bool) -> None:
        self.variable.stop_gradient = value
        self.variable.block.program.changed()

    def need_check_feed(self) -> bool:
        return self.variable.need_check_feed

    def set_need_check_feed(self, value: bool) -> None:
        """Whether a fed value must have the declared shape and element type."""
        self.variable.need_check_feed = value
        self.variable.block.program.changed()

    def _set_attr(self, name: str, value: Any) -> None:
        """Note an attribute, which stands in the message of the Variable."""
        variable = self.variable
        message = proto.VarDesc()
        fill_variable(message, variable)
        kept = [a for a in message.attrs if a.name != name]
        del message.attrs[:]
        message.attrs.extend(kept)
        set_attribute(message.attrs.add(), name, AttributeKind[guessed(value)], value)
        variable.wire = message
        variable.block.program.changed()

    def attr(self, name: str) -> Any:
        """An attribute that was noted."""
        found = [a for a in getattr(self.variable.wire, "attrs", ()) if a.name == name]
        return attribute_value(found[0])[1] if found else None

    def is_parameter(self) -> bool:
        return self.variable.is_parameter


class OperatorView:
    """An Operator, as old code reads it."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.input, self.output = operator.input, operator.output
        self._rename_input, self._rename_output = operator._rename_input, operator._rename_output
        self.attr, self.has_attr, self._set_attr = (
            operator.attr,
            operator.has_attr,
            operator._set_attr,
        )
        self.remove_attr, self.attr_type = operator._remove_attr, operator.attr_type

    @property
    def block(self) -> "BlockView":
        return BlockView(self.operator.block)

    def type(self) -> str:
        return self.operator.type

    def inputs(self) -> dict[str, list[str]]:
        return self.operator.input_slots()

    def outputs(self) -> dict[str, list[str]]:
        return self.operator.output_slots()

    def set_input(self, slot: str, names: list[str]) -> None:
        """Let the operator read the variables `names` in an input slot."""
        self.fill(slot, names, inputs=True)

    def set_output(self, slot: str, names: list[str]) -> None:
        """Let the operator write the variables `names` in an output slot."""
        self.fill(slot, names, inputs=False)

    def fill(self, slot: str, names: list[str], *, inputs: bool) -> None:
        """Put the variables `names` into a slot."""
        o, op = self.operator, self.operator.op
        slots = o.input_slots() if inputs else o.output_slots()
        given = o.block.resolved(slots | {slot: names})
        if inputs:
            o.inputs = filled_slots(op, op.inputs, given, "input", op.lists)
        else:
            declared = program_outputs(op)
            o.outputs = filled_slots(op, declared, given, "output", op.output_lists)
        o.block.program.changed()

    def input_names(self) -> list[str]:
        return self.operator.input_names

    def output_names(self) -> list[str]:
        return self.operator.output_names

    def input_arg_names(self) -> list[str]:
        return self.operator.input_arg_names

    def output_arg_names(self) -> list[str]:
        return self.operator.output_arg_names

    def attr_names(self) -> list[str]:
        return self.operator.attr_names

    def set_is_target(self, value: bool) -> None:
        self.operator.is_target = value

    def is_target(self) -> bool:
        return self.operator.is_target

    def infer_shape(self, block: Any = None) -> None:
        """Give the results the metas that the type rule infers."""
        self.operator.block.metas(self.operator)

    infer_var_type = infer_shape


class NewOperatorView:
    """A place at the end of a block for an operator: that which `copy_from` describes."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def copy_from(self, described: OperatorView) -> None:
        """Put the operator described, and those of its variables the block lacks, into it."""
        source, block = described.operator, self.block
        read_or_written = [*source.operands(), *source.results()]
        block.append(
            copied_operator(
                source,
                block,
                {v: block.find(v.name) or block.variable(v.name, v.meta) for v in read_or_written},
            )
        )


class BlockView:
    """A Block, as old code reads it."""

    def __init__(self, block: Block) -> None:
        self.block, self.id, self.parent = block, block.idx, block.parent_idx

    def op_size(self) -> int:
        return len(self.block.ops)

    def append_op(self) -> NewOperatorView:
        """A place for one more operator."""
        return NewOperatorView(self.block)

    def op(self, place: int) -> OperatorView:
        return OperatorView(self.block.ops[place])

    def var(self, name: Any) -> VariableView:
        """The variable `name`, made when it is not there."""
        return VariableView(self.block.create_var(text(name)))

    def find_var(self, name: Any) -> VariableView | None:
        found = self.block.vars.get(text(name))
        return None if found is None else VariableView(found)

    def find_var_recursive(self, name: Any) -> VariableView | None:
        found = self.block.find(text(name))
        return None if found is None else VariableView(found)

    def _rename_var(self, name: Any, new_name: Any) -> None:
        self.block._rename_var(text(name), text(new_name))

    def _remove_var(self, name: Any) -> None:
        self.block._remove_var(text(name))

    def has_var(self, name: Any) -> bool:
        return text(name) in self.block.vars

    def all_vars(self) -> list[VariableView]:
        return [VariableView(v) for v in self.block.vars.values()]

    def _remove_op(self, start: int, end: int) -> None:
        for operator in self.block.ops[start:end]:
            self.block.remove(operator)


class ProgramView:
    """A Program, as old code reads it."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def num_blocks(self) -> int:
        return len(self.program.blocks)

    def block(self, index: int) -> BlockView:
        return BlockView(self.program.blocks[index])

    def serialize_to_string(self, legacy_format: bool = False) -> bytes:
        """The Program as the bytes of a file; with `legacy_format` as before Paddle 2.5."""
        if legacy_format:
            return legacy(message_of(self.program)).SerializeToString()  # type: ignore[no-any-return]
        return bytes_of(self.program)

    def cached_hash_str(self) -> str:
        """A word that two Programs share when they differ in nothing but the order of variables."""
        self.flush()
        message = message_of(self.program)
        for block in message.blocks:
            block.vars.sort(key=lambda v: v.name)
        return hashlib.sha256(message.SerializeToString()).hexdigest()

    def need_update(self) -> bool:
        """Whether the Program changed since its bytes were last asked for."""
        return self.program.version != self.program.flushed

    def flush(self) -> None:
        """Note that what was changed is known."""
        self.program.flushed = self.program.version
