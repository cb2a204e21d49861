"""Operators of a file as plain values, so that a rewrite is a function from one to several."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scull.errors import FileError
from scull.files import proto
from scull.files.wire import AttributeKind, attribute_value, set_attribute
from scull.ir.operator import COMMON

Slots: TypeAlias = dict[str, list[str]]
CARRIED = frozenset(COMMON) | {"op_callstack"}  # what every operator made of another takes over
GUESSED = {bool: "BOOLEAN", int: "INT", float: "FLOAT", str: "STRING"}
GUESSED_LISTS = {int: "INTS", float: "FLOATS"}


@dataclass(frozen=True)
class Call:
    """An operator of a file: its type, the names in its slots, its attributes by kind and value."""

    type: str
    inputs: Slots
    outputs: Slots
    attrs: dict[str, tuple[AttributeKind, Any]] = field(default_factory=dict)
    version: int = 0  # of the operator, as the file was written
    where: str = ""

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; `default` when the file does not say."""
        return self.attrs[name][1] if name in self.attrs else default

    def first(self, slot: str) -> str:
        """The one name in an input slot; nothing when it is empty."""
        return next(iter(self.inputs.get(slot, ())), "")

    def result(self, slot: str = "Out") -> str:
        """The one name in an output slot; nothing when it is empty."""
        return next(iter(self.outputs.get(slot, ())), "")


def call_of(message: Any, version: int, where: str) -> Call:
    """The operator that a message describes."""
    return Call(
        message.type,
        slots_of(message.inputs, where),
        slots_of(message.outputs, where),
        {
            a.name: attribute_value(a) for a in message.attrs
        },  # passes write some twice: the last one
        version,
        where,
    )


def slots_of(messages: Any, where: str) -> Slots:
    """The names by slot; one that comes twice would mean one thing here, another elsewhere."""
    found = {p.parameter: list(p.arguments) for p in messages}
    if len(found) != len(messages):
        raise FileError(f"{where} has a slot twice")
    return found


def made(type: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], **attrs: Any) -> Call:
    """A new operator: slots with a name or a list of names, attributes as Python values."""
    return Call(
        type,
        {slot: listed(names) for slot, names in inputs.items()},
        {slot: listed(names) for slot, names in outputs.items()},
        {name: (kind_of(value), value) for name, value in attrs.items()},
    )


def listed(names: str | Iterable[str]) -> list[str]:
    """The names in a slot."""
    return [names] if isinstance(names, str) else list(names)


def kind_of(value: Any) -> AttributeKind:
    """The kind of an attribute with this value."""
    if isinstance(value, list):
        return AttributeKind[GUESSED_LISTS[type(value[0])] if value else "INTS"]
    return AttributeKind[GUESSED[type(value)]]


def message_of(call: Call, source: Any) -> Any:
    """The message of `call`, which stands where `source` stood."""
    message = proto.OpDesc(type=call.type, is_target=source.is_target)
    for slots, filled in ((call.inputs, message.inputs), (call.outputs, message.outputs)):
        for slot in sorted(slots):
            filled.add(parameter=slot).arguments.extend(slots[slot])
    for name in sorted(call.attrs):
        kind, value = call.attrs[name]
        set_attribute(message.attrs.add(), name, kind, value)
    known = set(call.attrs)
    message.attrs.extend([a for a in source.attrs if a.name in CARRIED - known])
    return message


def copy_of(message: Any) -> Any:
    """A message of its own."""
    made = proto.OpDesc()
    made.CopyFrom(message)
    return made


class Known:
    """All variables of a message, block by block, and the names that are taken."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.tables = [{v.name: v for v in block.vars} for block in program.blocks]
        self.taken = {name for table in self.tables for name in table}
        self.counts: dict[str, int] = {}

    def fresh(self, stem: str) -> str:
        """A name that begins with `stem` and that nothing has."""
        made = stem
        while made in self.taken:
            self.counts[stem] = self.counts.get(stem, 0) + 1
            made = f"{stem}_{self.counts[stem]}"
        self.taken.add(made)
        return made


class Names:
    """The variables that the operators of one block see, and new ones beside them."""

    def __init__(self, known: Known, block: int) -> None:
        self.known, self.block = known, block

    def find(self, name: str) -> Any:
        """What the file says of a variable; None when it says nothing."""
        block = self.block
        while block >= 0:
            if name in self.known.tables[block]:
                return self.known.tables[block][name]
            block = self.known.program.blocks[block].parent_idx
        return None

    def shape(self, name: str) -> list[int] | None:
        """The shape of a variable, -1 where it is not known; None when nothing is said."""
        found = self.find(name)
        if found is None or not found.type.HasField("lod_tensor"):
            return None
        return list(found.type.lod_tensor.tensor.dims)

    def like(self, name: str, word: str, shape: Any = None, dtype: int | None = None) -> str:
        """A new variable like `name`, of this shape and element type where they are given."""
        fresh, known = self.known.fresh(f"{name}.{word}"), self.find(name)
        message = self.known.program.blocks[self.block].vars.add()
        if known is not None:
            message.CopyFrom(known)
        message.name = fresh
        for flag in ("persistable", "need_check_feed", "is_parameter"):
            message.ClearField(flag)
        if known is None:
            message.type.type = proto.VarType.LOD_TENSOR
        tensor = message.type.lod_tensor.tensor
        if dtype is not None or known is None:
            tensor.data_type = proto.VarType.FP32 if dtype is None else dtype
        if shape is not None:
            tensor.dims[:] = shape
        self.known.tables[self.block][fresh] = message
        return fresh
