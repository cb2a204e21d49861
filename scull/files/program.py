"""Programs as bytes and back. What a file says and scull does not interpret survives."""

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from scull.core.attribute import normalised
from scull.core.dtype import dtype_of
from scull.core.meta import Kind, Meta, sized
from scull.errors import FileError, ProgramError
from scull.files import proto
from scull.files.legacy.call import slots_of
from scull.files.legacy.table import modernised
from scull.files.legacy.version import op_versions
from scull.files.outside import refuse_outside
from scull.files.wire import (
    AttributeKind,
    attribute_value,
    read_program,
    set_attribute,
    write_program,
)
from scull.ir.block import Block, is_undeclared
from scull.ir.operator import (
    COMMON,
    EMPTY,
    ForeignOp,
    Operator,
    callstack,
    foreign_or_declared,
    program_outputs,
)
from scull.ir.program import Program
from scull.ir.variable import ParameterVariable, Variable
from scull.ir.verify import verify

VERSION = 2006002
TEXTS = ("STRING", "STRINGS")
GUESSED = {bool: "BOOLEAN", int: "INT", float: "FLOAT", str: "STRING"}
GUESSED_LISTS = {bool: "BOOLEANS", int: "INTS", float: "FLOATS", str: "STRINGS"}
COMMON_KINDS = {
    "op_role": "INT",
    "op_role_var": "STRINGS",
    "op_namescope": "STRING",
    "op_device": "STRING",
    "op_callstack": "STRINGS",
    "with_quant_attr": "BOOLEAN",
}


@cache
def extra_attributes() -> dict[str, dict[str, Any]]:
    """By operator type the attributes that Paddle saves and scull does not use: [kind, value]."""
    found: dict[str, dict[str, Any]] = json.loads(
        files("scull.files").joinpath("data/extra_attributes.json").read_text()
    )
    return found


# ---- reading ----


def program_of(data: bytes, allow_ops: Iterable[str] = ()) -> Program:
    """The Program that `data` describes; FileError when it describes none, or one against rules.

    Operators with effects outside of it are refused, but for the types in `allow_ops`.
    """
    program = program_from(read_program(data))
    try:
        verify(program, shapes=False)
    except ProgramError as error:
        raise FileError(str(error)) from None
    refuse_outside(program, allow_ops)
    return program


def program_from(message: Any) -> Program:
    """The Program of a checked message, its operators those of today."""
    message = modernised(message)
    program = Program()
    program.wire = proto.ProgramDesc()
    program.wire.CopyFrom(message)
    del program.wire.blocks[:]
    program.blocks = [
        Block(program, b.idx, b.parent_idx, b.forward_block_idx) for b in message.blocks
    ]
    for source, block in zip(message.blocks, program.blocks, strict=True):
        block.wire = source.HasField("forward_block_idx")
        for v in source.vars:
            block.vars[v.name] = variable_from(v, block)
    owned = {n for b in message.blocks for o in b.ops for n in blocks_of(o)}
    for source, block in zip(message.blocks, program.blocks, strict=True):
        for place, o in enumerate(source.ops):
            where = f"block {block.idx}, operator {place} (`{o.type}`)"
            operator = operator_from(o, block, where, runs=block.idx in owned or not block.idx)
            block.ops.append(operator)
            for written in operator.results():
                written.op = operator
    return program


def variable_from(message: Any, block: Block) -> Variable:
    """A variable as its message describes it."""
    kind, inner = message.type.type, None
    if message.type.HasField("lod_tensor"):
        inner = message.type.lod_tensor.tensor
    elif message.type.HasField("selected_rows"):
        inner = message.type.selected_rows
    elif message.type.HasField("tensor_array"):
        inner = message.type.tensor_array.tensor
    meta = Meta((), kind=known_kind(kind))
    if inner is not None:
        sizes = sized([max(n, -1) for n in inner.dims])  # Paddle multiplies unknown sizes, too
        meta = Meta(sizes, stored_dtype(inner.data_type, message.name), known_kind(kind))
    options: dict[str, Any] = {
        "persistable": message.persistable,
        "stop_gradient": message.stop_gradient,
        "need_check_feed": message.need_check_feed,
        "lod_level": message.type.lod_tensor.lod_level
        if message.type.HasField("lod_tensor")
        else 0,
    }
    if message.is_parameter:
        made: Variable = ParameterVariable(
            message.name, meta, block, **options, trainable=not message.stop_gradient
        )
    else:
        made = Variable(message.name, meta, block, **options, is_data=message.need_check_feed)
    made.wire = message
    return made


def known_kind(number: int) -> Kind:
    """The kind of a variable; RAW for those scull has no name for."""
    try:
        return Kind(number)
    except ValueError:
        return Kind.RAW


def stored_dtype(number: int, name: str) -> Any:
    """The element type of a variable."""
    try:
        return dtype_of(number)
    except TypeError:
        raise FileError(
            f"the variable `{name}` has elements of the unknown type {number}"
        ) from None


def blocks_of(message: Any) -> list[int]:
    """The numbers of the blocks that an operator owns."""
    ones = [a.block_idx for a in message.attrs if a.HasField("block_idx")]
    return ones + [n for a in message.attrs for n in a.blocks_idx]


def operator_from(message: Any, block: Block, where: str, *, runs: bool) -> Operator:
    """An operator as its message describes it, in a block that `runs`, or that nobody owns.

    The reference drops gradients of branches whose gradient nobody needs, and leaves their blocks.
    """
    inputs, outputs = slots_of(message.inputs, where), slots_of(message.outputs, where)
    op = foreign_or_declared(message.type, inputs, outputs)
    slots = {op.slot(n) for n in op.inputs}
    if not isinstance(op, ForeignOp) and any(s not in slots and a for s, a in inputs.items()):
        op = ForeignOp(message.type, tuple(inputs), tuple(outputs))
    open = op.has_blocks or not runs
    ins = tuple(
        slot_from(inputs.get(op.slot(n), []), n in op.lists, block, where, open=open)
        for n in op.inputs
    )
    outs = tuple(
        slot_from(outputs.get(op.slot(n), []), n in op.output_lists, block, where, open=not runs)
        for n in program_outputs(op)
    )
    made = Operator(block, op, ins, outs, dict(op.attrs))
    made.wire, made.is_target = message, message.is_target
    for attribute in message.attrs:
        read_attribute(made, attribute, where)
    return made


def slot_from(
    names: list[str], is_list: bool, block: Block, where: str, *, open: bool = False
) -> Any:
    """What stands in one slot: a variable, None, or a list.

    One that is `open` may name gradients that nobody computes and no block has.
    """
    found = [
        undeclared(n, block)
        if open and is_undeclared(n, block)
        else None
        if n == EMPTY
        else variable_called(n, block, where)
        for n in names
    ]
    if is_list:
        return found
    if len(found) > 1:
        raise FileError(f"{where} has {len(found)} variables in a slot that takes one")
    return found[0] if found else None


def undeclared(name: str, block: Block) -> Variable:
    """A gradient that nobody computes."""
    of = block.find(name.split("@GRAD")[0])
    return Variable(name, Meta(()) if of is None else of.meta, block)


def variable_called(name: str, block: Block, where: str) -> Variable:
    found = block.find(name)
    if found is None:
        raise FileError(f"{where} uses `{name}`, which no block around it has")
    return found


def read_attribute(operator: Operator, message: Any, where: str) -> None:
    """Take over one attribute."""
    value: Any
    kind, value = attribute_value(message)
    if kind is AttributeKind.BLOCK:
        value = operator.block.program.blocks[value]
    elif kind is AttributeKind.BLOCKS:
        value = [operator.block.program.blocks[i] for i in value]
    elif kind is AttributeKind.VAR:
        value = variable_called(value, operator.block, where)
    elif kind is AttributeKind.VARS:
        value = [variable_called(n, operator.block, where) for n in value]
    name = message.name
    own = next((n for n in operator.op.kinds if operator.op.attribute(n) == name), None)
    try:
        if kind in (AttributeKind.VAR, AttributeKind.VARS):
            operator.set(name, value)
        elif own is not None:
            if operator.op.kinds[own].wire in TEXTS and kind.name not in TEXTS:
                raise TypeError(f"attribute `{name}` is of type {kind.name}, and no text")
            operator.attrs[own] = normalised(operator.op.kinds[own], name, value)
        elif name in COMMON and name != "with_quant_attr":
            operator.set(name, value)
        else:
            operator.extra[name] = value
            operator.aside |= {name} & extra_of(operator).keys()
    except (TypeError, ValueError) as error:
        raise FileError(f"{where}: {error}") from None


# ---- writing ----


def bytes_of(program: Program) -> bytes:
    """`program` in the wire format."""
    return write_program(message_of(program))


def message_of(program: Program) -> Any:
    """The message that describes `program`."""
    message = proto.ProgramDesc()
    if program.wire is not None:
        message.CopyFrom(program.wire)
    else:
        message.version.version = VERSION
        message.op_version_map.MergeFromString(op_versions())
    for block in program.blocks:
        made = message.blocks.add()
        made.idx, made.parent_idx = block.idx, block.parent_idx
        written = block.vars.values()
        for v in written if program.wire is not None else sorted(written, key=lambda v: v.name):
            fill_variable(made.vars.add(), v)
        for o in block.ops:
            fill_operator(made.ops.add(), o)
        if block.forward_block_idx != -1 or block.wire:
            made.forward_block_idx = block.forward_block_idx
    return message


def is_bare(v: Variable) -> bool:
    """Whether nothing writes a variable, so that fields with defaults are not said."""
    return v.op is None and not v.is_data


def fill_variable(message: Any, v: Variable) -> None:
    """Describe a variable; fields a file left out stay out while they hold their default."""
    fresh = v.wire is None
    bare = is_bare(v)
    if not fresh:
        message.CopyFrom(v.wire)
    message.name = v.name
    if fresh or known_kind(message.type.type) is not v.kind:
        message.type.Clear()
        message.type.type = v.kind.value
    fill_type(message.type, v, fresh)
    for field, value in (
        ("persistable", v.persistable),
        ("need_check_feed", v.need_check_feed),
        ("is_parameter", v.is_parameter),
        ("stop_gradient", v.stop_gradient),
    ):
        always = fresh and (field == "stop_gradient" or (field == "persistable" and not bare))
        if getattr(message, field) != value or always or (fresh and value):
            setattr(message, field, value)


def fill_type(message: Any, v: Variable, fresh: bool) -> None:
    """Describe shape and element type."""
    if v.kind is Kind.DENSE:
        inner = message.lod_tensor.tensor
        known = fresh and not v.is_parameter and not is_bare(v)
        if known or message.lod_tensor.lod_level != v.lod_level:
            message.lod_tensor.lod_level = v.lod_level
    elif v.kind is Kind.ROWS:
        inner = message.selected_rows
    elif v.kind is Kind.ARRAY:
        inner = message.tensor_array.tensor
        if fresh and not is_bare(v):
            message.tensor_array.lod_level = v.lod_level
    else:
        return
    if list(inner.dims) != list(v.shape):
        inner.dims[:] = v.shape
    lacks = bool(inner.ListFields()) and not inner.HasField("data_type")
    if fresh or lacks or inner.data_type != v.dtype.number:
        inner.data_type = v.dtype.number


def fill_operator(message: Any, o: Operator) -> None:
    """Describe an operator, in the order its file had."""
    if o.wire is not None:
        message.CopyFrom(o.wire)
    message.type = o.type
    ins = {
        s: n for s, n in o.input_slots().items() if n or (o.says_inputs and s not in o.op.unsaid)
    }
    outs = {s: n for s, n in o.output_slots().items() if n or s not in o.op.unsaid}
    fill_slots(message.inputs, ins, fresh=o.wire is None)
    fill_slots(message.outputs, outs, fresh=o.wire is None)
    fill_attributes(message.attrs, o)
    if o.is_target or message.HasField("is_target"):
        message.is_target = o.is_target


def fill_slots(messages: Any, slots: dict[str, list[str]], *, fresh: bool) -> None:
    """Names by slot; slots of the file that are as empty now as then stay."""
    rest = dict(slots)
    for p in messages:
        now = rest.pop(p.parameter, [])
        if list(p.arguments) != now:
            p.arguments[:] = now
    for slot in sorted(rest):
        if fresh or rest[slot]:
            made = messages.add()
            made.parameter = slot
            made.arguments.extend(rest[slot])


def fill_attributes(messages: Any, o: Operator) -> None:
    """Attributes in the order of the file, new ones after them in the order of their names."""
    values = attribute_values(o)
    kept: list[Any] = []
    met: set[str] = set()
    for a in list(messages):
        if a.name in values:
            _, value = values[a.name]
            met.add(a.name)
            old_kind, old = attribute_value(a)
            if plain(old) != plain(value):
                set_attribute(a, a.name, old_kind, plain(value))
            kept.append(a)
        elif o.wire is not None and a.name in ("op_callstack",):
            kept.append(a)
    if len(kept) != len(messages):
        copies = [copy_of(a) for a in kept]
        del messages[:]
        messages.extend(copies)
    values = {n: kv for n, kv in values.items() if n not in met}
    if o.wire is None:
        first = extra_of(o)
        for name, (kind, value) in first.items():
            own = values.pop(name, (kind, value))
            set_attribute(messages.add(), name, AttributeKind[own[0]], plain(own[1]))
        names = sorted(values)
    else:
        names = sorted(n for n in values if n in o.extra or n not in COMMON)
        names = [n for n in names if not is_default(o, n)]
    for name in names:
        kind, value = values[name]
        set_attribute(messages.add(), name, AttributeKind[kind], plain(value))


def is_default(o: Operator, name: str) -> bool:
    """Whether an attribute the file did not have still holds its default."""
    own = next((n for n in o.op.kinds if o.op.attribute(n) == name), None)
    if own is None:
        return name in o.op.fixed
    return bool(o.attrs.get(own) == o.op.attrs.get(own))


def copy_of(message: Any) -> Any:
    made = type(message)()
    made.CopyFrom(message)
    return made


def attribute_values(o: Operator) -> dict[str, tuple[str, Any]]:
    """By name, kind and value of every attribute."""
    kinds = {o.op.attribute(n): k.wire for n, k in o.op.kinds.items()} | COMMON_KINDS
    kinds |= {
        o.op.attribute(n): "VARS" if isinstance(v, list | tuple) else "VAR"
        for n, v in o.told.items()
    }
    spelt = o.spelt()
    if "op_callstack" not in o.extra and o.line:
        spelt["op_callstack"] = callstack(o.line)
    return {n: (kinds.get(n) or guessed(v), v) for n, v in spelt.items() if v is not None}


def extra_of(o: Operator) -> dict[str, Any]:
    """The attributes Paddle saves in front of the others and scull mostly gives no meaning."""
    base = o.type
    while base.endswith("_grad"):
        base = base.removesuffix("_grad")
    return extra_attributes().get(base, {})


def plain(value: Any) -> Any:
    """A value as the messages take it: sub-blocks as numbers, variables as names."""
    if hasattr(value, "idx"):
        return value.idx
    if isinstance(value, Variable):
        return value.name
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def guessed(value: Any) -> str:
    """The kind of an attribute nobody declared."""
    if isinstance(value, list | tuple):
        return GUESSED_LISTS.get(type(value[0]), "SCALARS") if value else "STRINGS"
    if hasattr(value, "idx"):
        return "BLOCK"
    return GUESSED.get(type(value), "SCALAR")
