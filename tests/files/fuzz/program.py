"""Programs changed at random: the message of a real one, with some of it made wrong."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from scull.core.op import by_type
from scull.files import proto

Change = Callable[[Random, Any], None]

INTEGERS = (0, 1, -1, 2, 3, 7, 64, 65, 255, 1 << 16, (1 << 31) - 1, -(1 << 31), (1 << 62) + 1)
WIDE = (*INTEGERS, (1 << 63) - 1, -(1 << 63), 1 << 32, 1 << 40)
FLOATS = (0.0, -1.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))
NAMES = ("", "x", "@EMPTY@", "feed", "fetch", "../x", "a\0b", "x@GRAD", "Ω", "n" * 300)
FOREIGN = ("nonesuch", "nonesuch_grad", "relu" + "_grad" * 40, "while", "conditional_block")
SINGLE = 10  # a list grows to this many of its elements, or
MANY = 3000

CHANGES: dict[str, Change] = {}


def change(function: Change) -> Change:
    """Note one way to make a Program wrong."""
    CHANGES[function.__name__] = function
    return function


def changed(random: Random, data: bytes) -> tuple[bytes, str]:
    """The bytes of a Program with one to three things wrong, and their names."""
    message = proto.ProgramDesc.FromString(data)
    names = random.choices(tuple(CHANGES), k=random.choice((1, 1, 1, 2, 3)))
    for name in names:
        CHANGES[name](random, message)
    return message.SerializePartialToString(), "+".join(sorted(set(names)))


# ---- picking ----


def messages(message: Any) -> list[Any]:
    """A message and all within it."""
    found = [message]
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if hasattr(value, "extend") else [value]:
                found += messages(inner)
    return found


@cache
def declared() -> list[str]:
    """The types that are declared; those derived of them come and go."""
    return sorted(type for type, op in by_type().items() if op.forward is None)


def is_list(target: Any, field: Any) -> bool:
    return hasattr(getattr(target, field.name), "extend")


def a_block(random: Random, message: Any) -> Any:
    return random.choice(message.blocks) if message.blocks else message.blocks.add()


def an_operator(random: Random, message: Any) -> Any:
    """An operator of any block; a new one where there is none."""
    found = [o for b in message.blocks for o in b.ops]
    return random.choice(found) if found else a_block(random, message).ops.add(type="relu")


def a_variable(random: Random, message: Any) -> Any:
    found = [v for b in message.blocks for v in b.vars]
    return random.choice(found) if found else a_block(random, message).vars.add(name="x")


def an_attribute(random: Random, message: Any) -> Any:
    found = [a for b in message.blocks for o in b.ops for a in o.attrs]
    return random.choice(found) if found else an_operator(random, message).attrs.add()


def a_slot(random: Random, message: Any) -> Any:
    operator = an_operator(random, message)
    found = [*operator.inputs, *operator.outputs]
    return random.choice(found) if found else operator.inputs.add(parameter="X")


def a_name(random: Random, message: Any) -> str:
    """The name of a variable there is, or of none."""
    if random.random() < 0.3:
        return random.choice(NAMES)
    return str(a_variable(random, message).name)


def a_value(random: Random, field: Any, message: Any, old: Any) -> Any:
    """Another value for a field of numbers or text."""
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return a_name(random, message)
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return not old
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return random.choice(FLOATS)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return random.choice(field.enum_type.values).number
    wide = kind in (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)
    bits = 63 if wide else 31
    value = random.choice((*(WIDE if wide else INTEGERS), old + 1, old - 1, -old, 2 * old))
    return max(min(value, (1 << bits) - 1), -(1 << bits))


# ---- anywhere ----


@change
def another_value(random: Random, message: Any) -> None:
    """A number or a text anywhere is another."""
    target = random.choice(messages(message))
    fields = [f for f, _ in target.ListFields() if f.message_type is None]
    if not fields:
        return
    field = random.choice(fields)
    if is_list(target, field):
        values = getattr(target, field.name)
        place = random.randrange(len(values))
        values[place] = a_value(random, field, message, values[place])
    else:
        setattr(target, field.name, a_value(random, field, message, getattr(target, field.name)))


@change
def missing_field(random: Random, message: Any) -> None:
    """A field anywhere is not there."""
    target = random.choice(messages(message))
    if target.ListFields():
        target.ClearField(random.choice(target.ListFields())[0].name)


@change
def added_field(random: Random, message: Any) -> None:
    """A field anywhere is there that was not, empty."""
    target = random.choice(messages(message))
    field = random.choice(target.DESCRIPTOR.fields)
    if field.message_type is not None:
        inner = getattr(target, field.name)
        inner.add() if is_list(target, field) else inner.SetInParent()
    elif is_list(target, field):
        getattr(target, field.name).append(
            a_value(random, field, message, field.default_value or 0)
        )
    else:
        setattr(target, field.name, a_value(random, field, message, field.default_value))


@change
def changed_list(random: Random, message: Any) -> None:
    """A list anywhere lacks an element, has one twice, is in another order, or is long."""
    found = [(m, f) for m in messages(message) for f, _ in m.ListFields() if is_list(m, f)]
    if not found:
        return
    target, field = random.choice(found)
    values = list(getattr(target, field.name))
    place = random.randrange(len(values))
    how = random.randrange(5)
    if how == 0:
        del values[place]
    elif how == 1:
        values.insert(random.randrange(len(values) + 1), values[place])
    elif how == 2:
        random.shuffle(values)
    elif how == 3:
        values = values * SINGLE if len(values) < 100 else values[:1]
    else:
        small = field.message_type is None and len(str(values[place])) < 100
        values += [values[place]] * (MANY if small else 2)
    put(target, field.name, values)


def put(target: Any, name: str, values: list[Any]) -> None:
    """Make a list of a message hold these."""
    copies = [copied(v) for v in values]
    target.ClearField(name)
    getattr(target, name).extend(copies)


def copied(value: Any) -> Any:
    if not hasattr(value, "CopyFrom"):
        return value
    made = type(value)()
    made.CopyFrom(value)
    return made


@change
def copied_from_elsewhere(random: Random, message: Any) -> None:
    """A message is another of its kind."""
    found = messages(message)
    target = random.choice(found)
    alike = [m for m in found if m.DESCRIPTOR is target.DESCRIPTOR and m is not target]
    if alike and target is not message:
        target.CopyFrom(copied(random.choice(alike)))


# ---- where it hurts ----


@change
def dangling_name(random: Random, message: Any) -> None:
    """A variable has another name, and its users have not."""
    a_variable(random, message).name = a_name(random, message)


@change
def missing_variable(random: Random, message: Any) -> None:
    block = a_block(random, message)
    if block.vars:
        del block.vars[random.randrange(len(block.vars))]


@change
def other_arguments(random: Random, message: Any) -> None:
    """A slot holds none, another or two variables."""
    slot = a_slot(random, message)
    slot.arguments[:] = [a_name(random, message) for _ in range(random.choice((0, 1, 1, 2, 3)))]


@change
def other_slot(random: Random, message: Any) -> None:
    slot = a_slot(random, message)
    slot.parameter = random.choice(
        ("X", "Y", "Out", "nonesuch", "Input", a_slot(random, message).parameter)
    )


@change
def other_type(random: Random, message: Any) -> None:
    """An operator is of another type, with the slots it had."""
    type = random.choice(declared() if random.random() < 0.8 else FOREIGN)
    an_operator(random, message).type = type + "_grad" * random.choice((0, 0, 0, 0, 1, 2))


@change
def other_attribute_type(random: Random, message: Any) -> None:
    """An attribute says that it is of another type."""
    an_attribute(random, message).type = random.choice(proto.AttrType.values())


@change
def moved_attribute(random: Random, message: Any) -> None:
    """An operator has an attribute of another one, or one twice."""
    an_operator(random, message).attrs.add().CopyFrom(copied(an_attribute(random, message)))


@change
def other_blocks(random: Random, message: Any) -> None:
    """An attribute names a block: any, its own too."""
    attribute = an_attribute(random, message)
    count = len(message.blocks)
    blocks = [random.choice((-1, 0, 0, count - 1, count, 1)) for _ in range(3)]
    if random.random() < 0.5:
        attribute.type, attribute.block_idx = proto.BLOCK, blocks[0]
    else:
        attribute.type = proto.BLOCKS
        attribute.blocks_idx[:] = blocks


@change
def cycle_of_blocks(random: Random, message: Any) -> None:
    """The operators that own blocks own others."""
    attributes = [
        a for b in message.blocks for o in b.ops for a in o.attrs if a.type == proto.BLOCK
    ]
    for a in attributes:
        a.block_idx = random.randrange(len(message.blocks))


@change
def other_parent(random: Random, message: Any) -> None:
    block = a_block(random, message)
    field = random.choice(("parent_idx", "forward_block_idx", "idx"))
    setattr(block, field, random.choice((-1, 0, 1, block.idx, len(message.blocks), -(1 << 31))))


@change
def deep_blocks(random: Random, message: Any) -> None:
    """A chain of blocks, each owned by an operator of the one before."""
    depth = random.choice((3, 40, 200))
    inner = a_block(random, message)
    for _ in range(depth):
        made = message.blocks.add(idx=len(message.blocks) - 1, parent_idx=inner.idx)
        made.idx = len(message.blocks) - 1
        owner = inner.ops.add(type=random.choice(("conditional_block", "while")))
        owner.attrs.add(name="sub_block", type=proto.BLOCK, block_idx=made.idx)
        inner = made


@change
def other_dims(random: Random, message: Any) -> None:
    variable = a_variable(random, message)
    dims = variable.type.lod_tensor.tensor.dims
    dims[:] = [
        random.choice((*INTEGERS, 2, 3, 4)) for _ in range(random.choice((0, 1, 2, 3, 4, 64)))
    ]


@change
def other_kind(random: Random, message: Any) -> None:
    variable = a_variable(random, message)
    variable.type.type = random.choice(proto.VarType.Type.values())


@change
def other_flags(random: Random, message: Any) -> None:
    """A variable is persistable, a parameter, an input, or not."""
    variable = a_variable(random, message)
    for field in ("persistable", "is_parameter", "need_check_feed", "stop_gradient"):
        if random.random() < 0.5:
            setattr(variable, field, not getattr(variable, field))


@change
def other_order(random: Random, message: Any) -> None:
    """Operators come in another order."""
    block = a_block(random, message)
    operators = list(block.ops)
    if random.random() < 0.5:
        random.shuffle(operators)
    else:
        operators.reverse()
    put(block, "ops", operators)


@change
def missing_operator(random: Random, message: Any) -> None:
    block = a_block(random, message)
    if block.ops:
        del block.ops[random.randrange(len(block.ops))]


@change
def second_operator(random: Random, message: Any) -> None:
    """An operator comes twice, so that its outputs do; or in another block."""
    operator = copied(an_operator(random, message))
    a_block(random, message).ops.add().CopyFrom(operator)


@change
def second_variable(random: Random, message: Any) -> None:
    """Two variables of one name that differ."""
    variable = a_variable(random, message)
    twin = copied(variable)
    twin.type.lod_tensor.tensor.dims[:] = [3, 1]
    a_block(random, message).vars.add().CopyFrom(twin)


@change
def other_edges(random: Random, message: Any) -> None:
    """What feeds and fetches say where they stand, wrongly."""
    edges = [o for b in message.blocks for o in b.ops if o.type in ("feed", "fetch", "fetch_v2")]
    if not edges:
        return
    operator = random.choice(edges)
    how = random.randrange(4)
    if how == 0:
        del operator.attrs[:]
    elif how == 1:
        del operator.inputs[:]
    elif how == 2:
        del operator.outputs[:]
    else:
        operator.attrs.add(name="col", type=proto.INT, i=random.choice(INTEGERS[:-1]))


@change
def other_shape_of_values(random: Random, message: Any) -> None:
    """What makes values of a shape of its own makes huge, negative or no ones."""
    operator = an_operator(random, message)
    operator.type = random.choice(("fill_constant", "gaussian_random", "uniform_random", "eye"))
    shape = [random.choice((*WIDE, 4)) for _ in range(random.randrange(4))]
    operator.attrs.add(name="shape", type=proto.LONGS, longs=shape)
    operator.attrs.add(name="num_rows", type=proto.LONG, l=random.choice(WIDE))
