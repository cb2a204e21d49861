"""An operator as the rules see it that look for a call: trees for its operands, its attributes."""

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from scull.jit.decompile.expression import literal, signed_like, without
from scull.passes.structure import Call, Slot, Value

Tree = Callable[[Value], ast.expr]  # from a value to what stands for it
Absorb = Callable[[Value], Call | None]  # the call that makes a value nobody else reads


class View:
    """A call, with trees for its operands; what it absorbs is written within its expression."""

    def __init__(self, call: Call, tree: Tree, absorb: Absorb) -> None:
        self.call, self.tree, self.may_absorb = call, tree, absorb
        self.op = call.operator.op
        self.absorbed: list[Call] = []

    @property
    def attrs(self) -> dict[str, Any]:
        return self.call.operator.attrs

    def __getitem__(self, name: str) -> Any:
        """An attribute: a value, or a tree where a value of the Program holds it."""
        if name in self.call.told:
            return self.slot_tree(self.call.told[name])
        single = self.op.kinds[name].wire in ("FLOAT", "FLOATS")
        return shortest(self.attrs[name]) if single else self.attrs[name]

    def number(self, name: str) -> Any:
        """An attribute of fractions as a whole number, where it is one and the result is."""
        value = self[name]
        whole = not self.out.meta.dtype.is_float and float(value).is_integer()
        whole = whole and (value != 0 or signed_like(value) > 0)
        return int(value) if whole else value

    def slot(self, name: str) -> Slot:
        """What stands in an input."""
        return self.call.inputs[self.op.inputs.index(name)]

    def value(self, name: str) -> Value | None:
        """The value of an input that is no list."""
        found = self.slot(name)
        return found if isinstance(found, Value) else None

    def x(self, name: str = "x") -> ast.expr:
        """The tree of an input."""
        return self.slot_tree(self.slot(name))

    def slot_tree(self, slot: Slot) -> ast.expr:
        """The tree of what stands in one slot."""
        if isinstance(slot, list):
            return ast.List([ast.Constant(None) if v is None else self.tree(v) for v in slot])
        return ast.Constant(None) if slot is None else self.tree(slot)

    @property
    def out(self) -> Value:
        """The first result."""
        return self.call.results()[0]

    def shape(self, name: str = "x") -> tuple[int, ...]:
        """The sizes of an input."""
        found = self.value(name)
        return () if found is None else tuple(map(int, found.meta.shape))

    def has(self, *names: str) -> bool:
        """Whether there is an input besides `names`."""
        slots = zip(self.op.inputs, self.call.inputs, strict=False)
        return any(s not in (None, []) for n, s in slots if n not in names)

    def absorb(self, value: Value | None, *types: str) -> "View | None":
        """The view of the call that makes `value`, which vanishes into this expression."""
        made = None if value is None else self.may_absorb(value)
        if made is None or made.type not in types:
            return None
        self.absorbed.append(made)
        view = View(made, self.tree, self.may_absorb)
        view.absorbed = self.absorbed
        return view

    def number_or(self, name: str) -> ast.expr:
        """The tree of an input: a number, where a constant was recorded of one."""
        value = self.value(name)
        found = None if value is None or value.meta.shape else self.constant(value)
        return self.x(name) if found is None else found

    def constant(self, value: Value) -> ast.expr | None:
        """The number that a constant of one element is, absorbed."""
        if math.prod(value.meta.shape) != 1:
            return None
        view = self.absorb(value, "fill_constant")
        if view is None or view.has():
            return None
        found = filled_with(view.call)
        return literal(bool(found) if value.meta.dtype.name == "bool" else found)

    def sizes(self, name: str, tensor: str, several: str) -> Any:
        """Sizes: numbers, one tree for all of them, or a list of numbers and trees."""
        if isinstance(self.call.told.get(name), list):
            held = zip(self.attrs[name], self.call.told[name], strict=True)  # type: ignore[arg-type]
            return [n if v is None else self.tree(v) for n, v in held]
        if name in self.call.told or not self.has(self.op.inputs[0]):
            return self[name]
        if self.slot(tensor):
            return self.x(tensor)
        items = self.slot(several)
        assert isinstance(items, list)
        return [self.constant(v) or self.tree(v) for v in items if v is not None]

    def keywords(self, *skipped: str) -> dict[str, Any]:
        """The attributes that differ from their defaults, by name."""
        kinds = self.op.kinds
        known = [n for n in kinds if n not in skipped and n not in self.call.told]
        found = without({n: self.attrs[n] for n in known}, self.op.attrs)
        return {n: self[n] for n in found} | {n: self[n] for n in self.call.told}


def filled_with(call: Call) -> int | float:
    """The number a constant is filled with: a whole one where its elements are."""
    text, value = call.operator.attrs.get("str_value"), shortest(call.operator.attrs["value"])
    if text:
        value = int(text) if text.lstrip("-").isdigit() else float(text)
    dtype = call.results()[0].meta.dtype
    whole = not dtype.is_float and not dtype.is_complex and float(value).is_integer()
    return int(value) if whole else value


def shortest(value: Any) -> Any:
    """A number, or several, with as few digits as name the same one of single precision."""
    if isinstance(value, tuple):
        return tuple(map(shortest, value))
    return float(str(np.float32(value))) if math.isfinite(value) else value
