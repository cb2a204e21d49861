"""Whether two Programs are the same graph, whatever their variables are called.

Two structures are compared from their results back: each pair of values must be made by operators
of one type with the same attributes from pairs of values. What draws or acts must stand in the same
order; an operator that does neither may stand twice in one of the Programs and once in the other.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from scull.core.meta import Kind
from scull.ir.operator import ForeignOp
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.passes.reader import structure_of
from scull.passes.structure import (
    Branch,
    Call,
    Region,
    Slot,
    Structure,
    Value,
    regions_of,
)

SILENT = (  # attributes that say nothing of values
    *("op_callstack", "op_device", "op_namescope", "op_role", "op_role_var", "with_quant_attr"),
    *("use_mkldnn", "use_cudnn", "use_quantizer", "mkldnn_data_type"),
)
UNREAD = {"fill_constant": ("force_cpu", "place_type", "str_value"), "less_than": ("force_cpu",)}


@dataclass
class Likeness:
    """The outcome: what differs, and which values of the second stand for those of the first."""

    differences: list[str] = field(default_factory=list)
    pairs: dict[Value, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return not self.differences

    def names(self) -> dict[str, str]:
        """The names of kept values and inputs of the first, with those of the second."""
        return {a.variable.name: b.variable.name for a, b in self.pairs.items() if a.maker is None}


def isomorphic(
    first: Program,
    second: Program,
    edges: tuple[Iterable[str], Iterable[str]],
    others: tuple[Iterable[str], Iterable[str]],
) -> Likeness:
    """Whether `first` computes what `second` does, operator by operator.

    `edges` and `others` are the names of the inputs and of the results of each.
    """
    return alike(structure_of(first, *edges), structure_of(second, *others))


def alike(first: Structure, second: Structure) -> Likeness:
    """The same of two structures."""
    return Comparison(first, second).run()


class Comparison:
    """Walks two structures side by side."""

    def __init__(
        self, first: Structure, second: Structure, given: Mapping[Value, Value] | None = None
    ) -> None:
        self.first, self.second, self.found = first, second, Likeness()
        self.given = given or {}  # values of the first, and what they are in the second
        self.back: dict[Value, Value] = {}
        self.met: set[tuple[Any, Any]] = set()
        self.waiting: list[tuple[Value | None, Value | None, str]] = []

    def differ(self, where: str, what: str) -> None:
        """Note a difference."""
        self.found.differences.append(f"{where}: {what}")

    def run(self) -> Likeness:
        """Compare inputs, results, and what has to keep its order."""
        a, b = self.first, self.second
        for word, ours, theirs in (
            ("inputs", a.entries, b.entries),
            ("results", a.exits, b.exits),
        ):
            if len(ours) != len(theirs):
                self.differ(word, f"{len(ours)} and {len(theirs)}")
        for x, y in zip(a.entries, b.entries, strict=False):
            self.pair_leaf(x, y, f"input `{x.variable.name}`")
        for i, (x, y) in enumerate(zip(a.exits, b.exits, strict=False)):
            self.waiting.append((x, y, f"result {i}"))
        self.drain()
        self.compare_order(a.region, b.region, "the Program")
        self.drain()
        return self.found

    def drain(self) -> None:
        """Compare all pairs that were met."""
        while self.waiting:
            first, second, where = self.waiting.pop()
            x, y = only(first, second), only(second, first)
            if x is not None and y is not None and (x, y) not in self.met:
                self.met.add((x, y))
                self.compare(x, y, where)

    def compare(self, x: Value, y: Value, where: str) -> None:
        """Compare what makes two values."""
        if x in self.given:
            if self.given[x] is not y:
                self.differ(where, f"{told(x)} and {told(y)}")
            return
        if x.maker is None or y.maker is None:
            if x.maker is not y.maker:
                self.differ(where, f"{told(x)} and {told(y)}")
            else:
                self.pair_leaf(x, y, where)
            return
        self.found.pairs[x] = y
        if type(x.maker) is not type(y.maker):
            self.differ(where, f"{told(x)} and {told(y)}")
        elif isinstance(x.maker, Call):
            if place_of(x) != place_of(y):
                self.differ(where, f"{told(x)} and another result of it")
            self.pair_calls(x.maker, y.maker, where)
        elif isinstance(x.maker, Branch):
            self.pair_branches(x, y, where)
        else:
            self.pair_loops(x, y, where)

    def pair_leaf(self, x: Value, y: Value, where: str) -> None:
        """Two inputs, or values that are kept: each stands for one other; so do empty lists."""
        if x.meta.kind is y.meta.kind is Kind.ARRAY and x.meta.dtype is y.meta.dtype:
            return
        known, back = self.found.pairs.setdefault(x, y), self.back.setdefault(y, x)
        ours, theirs = x.variable, y.variable
        if known is not y or back is not x:
            law = f"`{ours.name}` stands for `{known.variable.name}`, here for `{theirs.name}`"
            self.differ(where, law)
        elif kind_of(ours) != kind_of(theirs):
            self.differ(where, f"`{ours.name}` is {x.meta}, `{theirs.name}` is {y.meta}")

    def pair_calls(self, a: Call, b: Call, where: str) -> None:
        """Two operators."""
        if (a, b) in self.met:
            return
        self.met.add((a, b))
        if a.type != b.type:
            self.differ(where, f"`{a.type}` and `{b.type}`")
            return
        here = f"`{a.type}` ({first_name(a)})"
        ours, theirs = meaning(a), meaning(b)
        for name in sorted(ours.keys() | theirs.keys()):
            if not same(ours.get(name), theirs.get(name)):
                self.differ(here, f"{name} is {ours.get(name)!r} and {theirs.get(name)!r}")
        self.pair_slots(a.inputs, b.inputs, here)
        for name in sorted(a.told.keys() | b.told.keys()):
            self.pair_slots((a.told.get(name),), (b.told.get(name),), here)

    def pair_slots(self, ours: Any, theirs: Any, where: str) -> None:
        """The operands of two operators."""
        for s, t in zip_longest(ours, theirs):
            xs, ys = listed(s), listed(t)
            if len(xs) != len(ys):
                self.differ(where, f"{len(xs)} and {len(ys)} operands")
            self.waiting.extend((x, y, where) for x, y in zip(xs, ys, strict=False))

    def pair_branches(self, x: Value, y: Value, where: str) -> None:
        """The results of two branches."""
        a, b = x.maker, y.maker
        self.meet(a, b, a.condition, b.condition, f"the condition of {where}")
        ours, theirs = (next(r for r in n.results if r.out is v) for n, v in ((a, x), (b, y)))
        for word, s, t in zip(("then", "else"), ours.sides, theirs.sides, strict=True):
            self.waiting.append((s, t, f"{where}, {word}"))

    def pair_loops(self, x: Value, y: Value, where: str) -> None:
        """What goes from round to round in two loops."""
        a, b = x.maker, y.maker
        self.meet(a, b, a.first, b.first, f"the condition of {where}")
        self.waiting.append((a.last, b.last, f"the condition of {where}, after a round"))
        ours, theirs = (
            next(c for c in n.carried if v in (c.inside, c.out)) for n, v in ((a, x), (b, y))
        )
        if (x is ours.inside) != (y is theirs.inside):
            self.differ(where, "one is read within the loop, one behind it")
        self.waiting.append((ours.before, theirs.before, f"{where}, before the loop"))
        self.waiting.append((ours.inside, theirs.inside, f"{where}, in the loop"))
        self.waiting.append((ours.after, theirs.after, f"{where}, after a round"))

    def meet(self, a: Any, b: Any, x: Value, y: Value, where: str) -> None:
        """Note that two nodes are to be the same."""
        self.met.add((a, b))
        self.waiting.append((x, y, where))

    def compare_order(self, a: Region, b: Region, where: str) -> None:
        """What draws or acts stands in the same order, in the same blocks."""
        ours, theirs = (ordered(s, r) for s, r in ((self.first, a), (self.second, b)))
        if len(ours) != len(theirs):
            self.differ(where, f"{len(ours)} and {len(theirs)} operators that draw or act")
        for x, y in zip(ours, theirs, strict=False):
            if type(x) is not type(y):
                self.differ(where, "what draws or acts stands in another order")
            elif isinstance(x, Call):
                self.pair_calls(x, y, where)
            else:
                if (x, y) not in self.met and isinstance(x, Branch):
                    self.waiting.append((x.condition, y.condition, where))
                for inner, other in zip(regions_of(x), regions_of(y), strict=True):
                    self.compare_order(inner, other, f"a block in {where}")


def only(value: Value | None, other: Value | None) -> Value | None:
    """The value itself; of one that one of two branches gives, what that gives, if `other` is none.

    Where nothing gives a value, nothing is compared: it may be anything.
    """
    if other is not None and isinstance(other.maker, Branch):
        return value
    while value is not None and isinstance(value.maker, Branch):
        sides = next(r.sides for r in value.maker.results if r.out is value)
        if None not in sides:
            break
        value = next((v for v in sides if v is not None), None)
    return value


def kind_of(v: Variable) -> tuple[Any, ...]:
    """What an input or a kept value has to share with another."""
    return v.dtype, v.kind, v.persistable, v.meta.shape if v.persistable else None


def ordered(structure: Structure, region: Region) -> list[Any]:
    """The nodes of `region` whose order matters, those with such within included."""
    return [
        node
        for node in region.nodes
        if (isinstance(node, Call) and structure.is_ordered(node))
        or any(ordered(structure, inner) for inner in regions_of(node))
    ]


def meaning(call: Call) -> dict[str, Any]:
    """The attributes of an operator that say something of its results."""
    o = call.operator
    unread = UNREAD.get(o.type, ())
    if o.type == "batch_norm" and o.attrs["is_test"] and not o.attrs["trainable_statistics"]:
        unread = ("use_global_stats",)
    found = {n: v for n, v in o.attrs.items() if n not in call.told and n not in unread}
    if isinstance(o.op, ForeignOp):
        found |= {n: v for n, v in o.extra.items() if n not in SILENT}
    if o.type == "fill_constant":
        found["value"] = filled_with(o.attrs)
    return found


def filled_with(attrs: dict[str, Any]) -> Any:
    """The element of a constant: the number or the text it is given by, as its type holds it."""
    text, value = attrs.get("str_value"), attrs.get("value")
    try:
        if text:
            value = int(text) if text.lstrip("-").isdigit() else float(text)
        return np.array(value, attrs["dtype"].array).item()
    except (KeyError, TypeError, ValueError, OverflowError):
        return text or value


def same(x: Any, y: Any) -> bool:
    """Whether two attributes are equal; what is no number is so to itself."""
    if isinstance(x, float) and isinstance(y, float):
        signs = math.copysign(1.0, x) == math.copysign(1.0, y)
        return (x == y and signs) or (math.isnan(x) and math.isnan(y))
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) == len(y) and all(map(same, x, y))
    return bool(x == y)


def listed(slot: Slot) -> list[Value | None]:
    """The values in one slot, gaps included."""
    return slot if isinstance(slot, list) else [] if slot is None else [slot]


def place_of(value: Value) -> tuple[int, int]:
    """Which result of its operator a value is."""
    for i, slot in enumerate(value.maker.outputs):
        for j, v in enumerate(listed(slot)):
            if v is value:
                return i, j
    raise AssertionError(value)


def first_name(call: Call) -> str:
    """What the first result of an operator is called."""
    made = call.results()
    return made[0].variable.name if made else "no result"


def told(value: Value) -> str:
    """What makes a value, in a few words."""
    made = value.maker
    if made is None:
        return f"`{value.variable.name}`"
    if isinstance(made, Call):
        return f"a result of `{made.type}`"
    return "a result of branches" if isinstance(made, Branch) else "a value of a loop"
