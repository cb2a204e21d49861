"""Operators of a Program: which operator, on which variables, with which attributes."""

import linecache
from collections.abc import Iterable, Iterator
from typing import Any

from scull.core.attribute import normalised
from scull.core.op import Op, op_of
from scull.errors import SlotError, UnknownOpError
from scull.ir.text import operator_text
from scull.ir.told import holds_variables, stand_in
from scull.ir.variable import Variable

EMPTY = "@EMPTY@"
COMMON = {
    "op_role": 0,
    "op_role_var": [],
    "op_namescope": "/",
    "op_device": "",
    "with_quant_attr": False,
}


class ForeignOp:
    """An operator nobody declared, met in a file: its slots are as written, and it cannot run."""

    shape_only: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    output_lists: frozenset[str] = frozenset()
    effects: frozenset[str] = frozenset()
    gradient = forward = xshape = over = None
    unsaid: frozenset[str] = frozenset()
    unprinted: frozenset[str] = frozenset()
    hidden: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    composite = takes_wanted = has_blocks = False

    def __init__(self, type: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        self.name = self.type = type
        self.inputs, self.outputs = inputs, outputs
        self.lists, self.output_lists = frozenset(inputs), frozenset(outputs)
        self.kinds: dict[str, Any] = {}
        self.attrs: dict[str, Any] = {}
        self.fixed: dict[str, Any] = {}
        self.in_place: dict[str, str] = {}
        self.views: dict[str, str] = {}

    def slot(self, name: str) -> str:
        return name

    def attribute(self, name: str) -> str:
        return name

    def infer(self, metas: Any, attrs: Any) -> Any:
        raise UnknownOpError(f"no operator of type `{self.type}` is declared")


class Operator:
    """One applied operator; `inputs` and `outputs` are as declared: a Variable, None or a list."""

    def __init__(
        self,
        block: Any,
        op: Any,
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        attrs: dict[str, Any],
        extra: dict[str, Any] | None = None,
    ) -> None:
        self.block, self.op, self.inputs, self.outputs, self.attrs = (
            block,
            op,
            inputs,
            outputs,
            attrs,
        )
        self.extra: dict[str, Any] = (
            extra or {}
        )  # attributes as a Program spells them that `op` does not declare
        self.aside: frozenset[str] = frozenset()  # those of them that files hold and no text shows
        self.told: dict[str, Any] = {}  # attributes that Variables hold, by our names
        self.over: Variable | None = None  # in a plan: the operand whose memory its result takes
        self.source: Operator | None = None  # in a plan: that of the Program, where it is another
        self.role = 0
        self.role_var: tuple[str, ...] = ()
        self.namescope, self.device = "/", ""
        self.line: Any = None  # (file, line, function) of the user
        self.wire: Any = None  # the order and kinds of a file, kept for writing it unchanged
        self.is_target = False
        self.says_inputs = True  # whether empty input slots are written

    @property
    def type(self) -> str:
        found: str = self.op.type
        return found

    def operands(self) -> list[Variable]:
        """The variables it reads, in the order of its slots; then those that hold attributes."""
        found = every(self.inputs)
        return found + every(self.told.values()) if self.told else found

    def results(self) -> list[Variable]:
        """The variables it writes, in the order of its slots."""
        return every(self.outputs)

    def input_slots(self) -> dict[str, list[str]]:
        """Slot to names, as a Program shows the inputs."""
        return {self.op.slot(n): names(s) for n, s in zip(self.op.inputs, self.inputs, strict=True)}

    def output_slots(self) -> dict[str, list[str]]:
        """Slot to names, as a Program shows the outputs."""
        return {
            self.op.slot(n): names(s)
            for n, s in zip(program_outputs(self.op), self.outputs, strict=True)
        }

    def spelt(self) -> dict[str, Any]:
        """All attributes as a Program shows them."""
        op = self.op
        attrs = {
            op.attribute(n): op.kinds[n].spelt(v) for n, v in self.attrs.items() if n in op.kinds
        }
        attrs |= {op.attribute(n): v for n, v in self.told.items()}
        attrs = {**COMMON, **op.fixed, **attrs, **self.extra}
        attrs["op_role"], attrs["op_role_var"] = self.role, list(self.role_var)
        attrs["op_namescope"], attrs["op_device"] = self.namescope, self.device
        return attrs

    def set(self, name: str, value: Any) -> None:
        """Set one attribute, by its spelling in a Program."""
        match name:
            case "op_role":
                self.role = int(value)
            case "op_role_var":
                self.role_var = tuple(value)
            case "op_namescope":
                self.namescope = value
            case "op_device":
                self.device = value
            case "op_callstack":
                self.extra[name] = list(value)
            case _:
                own = next((n for n in self.op.kinds if self.op.attribute(n) == name), None)
                self.told.pop(own or "", None)
                if own is None:
                    self.extra[name] = value
                elif holds_variables(value):
                    self.told[own], self.attrs[own] = value, stand_in(self.op, own, value)
                else:
                    self.attrs[own] = normalised(self.op.kinds[own], name, value)
        if self.block is not None:
            self.block.program.changed()

    def replace(self, old: Variable, new: Variable | None, *, inputs: bool, outputs: bool) -> None:
        """Put `new` where `old` stands."""
        if inputs:
            self.inputs = tuple(replaced(s, old, new) for s in self.inputs)
            self.told = {n: replaced(v, old, new) for n, v in self.told.items()}
        if outputs:
            self.outputs = tuple(replaced(s, old, new) for s in self.outputs)
        self.block.program.changed()

    # ---- the names Paddle's users know ----

    def input(self, slot: str) -> list[str]:
        """The names in input `slot`."""
        return self.input_slots().get(slot, [])

    def output(self, slot: str) -> list[str]:
        """The names in output `slot`."""
        return self.output_slots().get(slot, [])

    @property
    def input_names(self) -> list[str]:
        unsaid = self.op.unsaid
        slots = self.input_slots().items()
        return sorted(s for s, v in slots if v or (self.says_inputs and s not in unsaid))

    @property
    def output_names(self) -> list[str]:
        unsaid = self.op.unsaid
        return sorted(s for s, v in self.output_slots().items() if v or s not in unsaid)

    @property
    def input_arg_names(self) -> list[str]:
        return [n for s in self.input_names for n in self.input(s)]

    @property
    def output_arg_names(self) -> list[str]:
        return [n for s in self.output_names for n in self.output(s)]

    @property
    def idx(self) -> int:
        return int(self.block.ops.index(self))

    @property
    def attr_names(self) -> list[str]:
        hidden = {*self.op.unprinted, *self.aside, "op_callstack"}
        return [*(n for n in self.spelt() if n not in hidden), "op_callstack"]

    def has_attr(self, name: str) -> bool:
        return name == "op_callstack" or name in self.spelt()

    def attr(self, name: str) -> Any:
        """One attribute as a Program shows it; a sub-block as its number."""
        if name == "op_callstack":
            return self.extra.get(name) or callstack(self.line)
        value = self.spelt()[name]
        return value.idx if hasattr(value, "idx") else value

    def all_attrs(self) -> dict[str, Any]:
        return {n: self.attr(n) for n in self.attr_names}

    def _block_attr_id(self, name: str) -> int:
        return int(self.spelt()[name].idx)

    def _set_attr(self, name: str, value: Any) -> None:
        self.set(name, value)

    _update_desc_attr = _set_attr

    def _remove_attr(self, name: str) -> None:
        self.extra.pop(name, None)

    def _rename_input(self, old: str, new: str) -> None:
        for v in {v for v in self.operands() if v.name == old}:
            self.replace(v, self.block.meant(new), inputs=True, outputs=False)

    def _rename_output(self, old: str, new: str) -> None:
        for v in {v for v in self.results() if v.name == old}:
            self.replace(v, self.block.meant(new), inputs=False, outputs=True)

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        return operator_text(self)

    def __str__(self) -> str:
        return operator_text(self)

    __repr__ = __str__

    def blocks(self) -> Iterator[Any]:
        """The sub-blocks it owns."""
        for n, kind in self.op.kinds.items() if self.op.has_blocks else ():
            value = self.attrs.get(n)
            if kind.wire == "BLOCK" and value is not None:
                yield value
            elif kind.wire == "BLOCKS" and value is not None:
                yield from value


def effects(operator: Operator) -> frozenset[str]:
    """What an operator does besides its results; one with a seed draws from nobody."""
    found: frozenset[str] = operator.op.effects
    return found - {"random"} if operator.attrs.get("seed") else found


def program_outputs(op: Any) -> tuple[str, ...]:
    """The outputs of `op` in a Program: its own and, where it records a shape, `xshape`."""
    return (*op.outputs, "XShape") if op.xshape else tuple(op.outputs)


def each(slot: Any) -> list[Variable]:
    """The variables in one slot: it holds one, none, or a list."""
    return every((slot,))


def every(slots: Iterable[Any]) -> list[Variable]:
    """The variables in slots."""
    found: list[Variable] = []
    for slot in slots:  # planning asks a thousand times an operator
        if isinstance(slot, Variable):
            found.append(slot)
        elif isinstance(slot, list):
            found.extend([v for v in slot if isinstance(v, Variable)])
    return found


def names(slot: Any) -> list[str]:
    """The names in one slot, with a mark for a gap in a list."""
    if isinstance(slot, list):
        return [v.name if v is not None else EMPTY for v in slot]
    return [] if slot is None else [slot.name]


def callstack(line: Any) -> list[str]:
    """The user's line in the form of Paddle's call stacks."""
    if not line:
        return []
    file, _, number = str(line).rpartition(":")
    source = linecache.getline(file, int(number)).strip() if number.isdigit() else ""
    return [f'  File "{file}", line {number}, in <module>', f"    {source}"]


def replaced(slot: Any, old: Variable, new: Variable | None) -> Any:
    if isinstance(slot, list):
        return [new if v is old else v for v in slot]
    return new if slot is old else slot


def filled_slots(
    op: Op, declared: tuple[str, ...], given: dict[str, Any], kind: str, lists: Any
) -> tuple[Any, ...]:
    """What a user gave by slot, in the order of the declaration; an unknown slot is refused."""
    spelt = {op.slot(n): n for n in declared}
    unknown = [s for s in given if s not in spelt and given[s]]
    if unknown:
        raise SlotError(
            f"`{op.type}` has no {kind} {', '.join(map(repr, unknown))}; "
            f"it has {', '.join(spelt) or 'none'}"
        )
    result: list[Any] = []
    for slot, name in spelt.items():
        value = given.get(slot)
        value = (
            [value]
            if value is not None and not isinstance(value, list | tuple)
            else list(value or ())
        )
        if name in lists:
            result.append(value)
        elif len(value) > 1:
            raise SlotError(
                f"{kind} `{slot}` of `{op.type}` takes one variable, {len(value)} were given"
            )
        else:
            result.append(value[0] if value else None)
    return tuple(result)


def foreign_or_declared(type: str, inputs: Any, outputs: Any) -> Any:
    """The declaration of `type`; a foreign one with the slots at hand where there is none."""
    try:
        return op_of(type)
    except UnknownOpError:
        return ForeignOp(type, tuple(inputs), tuple(outputs))
