"""Operators as statements of a region: of the plan of a run, or of a block within it.

A value is what is known of a slot of a frame: an array of the region; one that is perhaps not
there; or what a loop or a branch kept for its gradient.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scull import lang
from scull.compiler.act import Demand
from scull.compiler.flow import Branch, Choice
from scull.compiler.rows import TracedRows
from scull.compiler.scan import Scanner
from scull.compiler.trace import Statement, Traced
from scull.core.dtype import int64
from scull.core.meta import Meta
from scull.errors import ScullError, UnsupportedError
from scull.executor.alias import written
from scull.executor.closed import ABSENT, BlockOp
from scull.executor.instruction import DRAW, Instruction, overwrites
from scull.executor.listed import (
    TRUTH,
    Listed,
    begun,
    element_of,
    holds_lists,
    of_lists,
    one_of,
)
from scull.ir.operator import Operator, program_outputs
from scull.lang.body import Map
from scull.lang.expression import Array, Expression

if TYPE_CHECKING:
    from scull.executor.plan import Plan

SOURCE = Meta((2,), int64)  # of the seed and the number of the next draw


class Perhaps(Traced):
    """A value that is there if the truth value `there` holds."""

    __slots__ = ("there",)

    def __init__(self, meta: Meta, array: Array, there: Array) -> None:
        super().__init__(meta, array)
        self.there = there


class Drawn(Traced):
    """A seed and the number of the next draw, which is `taken` more than the array says."""

    __slots__ = ("taken",)

    def __init__(self, array: Array, taken: int) -> None:
        super().__init__(SOURCE, array)
        self.taken = taken


class Block:
    """The values of a plan's slots while its steps are traced; perhaps they run `again`."""

    again = False

    def __init__(self, plan: "Plan", tracer: Scanner) -> None:
        self.plan, self.tracer = plan, tracer
        self.slots = {v: i for i, v in enumerate(plan.variables) if v is not None}
        self.values: dict[int, Any] = {}
        self.mixed = mixed(plan)

    # ---- values ----

    def has(self, slot: int) -> bool:
        """Whether a slot may have a value."""
        return slot in self.values

    def at(self, slot: int) -> Any:
        """The value of a slot, whatever it is; UnsupportedError where there is none."""
        if slot not in self.values:
            raise UnsupportedError(f"`{self.plan.variables[slot].name}` has no value yet")
        return self.values[slot]

    def value_at(self, slot: int) -> Any:
        """The value of a slot as an array or rows of one; the run ends where it is not there."""
        found = self.at(slot)
        if isinstance(found, Perhaps):
            self.tracer.statements.append(Demand(self.tracer.origin, found.there))
            found = self.values[slot] = Traced(found.meta, found.array)
        if isinstance(found, Drawn):
            found = self.values[slot] = self.settled(found)
        if not isinstance(found, Traced | TracedRows):
            raise UnsupportedError(f"`{self.plan.variables[slot].name}` is no array")
        return found

    def array_at(self, slot: int) -> Traced:
        """The value of a slot as an array; the run ends where it is not there."""
        found = self.value_at(slot)
        if not isinstance(found, Traced):
            raise UnsupportedError(f"`{self.plan.variables[slot].name}` is row-sparse")
        return found

    def list_at(self, slot: int) -> Listed:
        """The list of tensors in a slot; one without tensors where nothing put one there."""
        found = self.at(slot) if self.has(slot) else self.begin(slot)
        if not isinstance(found, Listed):
            raise UnsupportedError(f"`{self.plan.variables[slot].name}` is from elsewhere")
        return found

    def begin(self, slot: int) -> Listed:
        """Put a list without tensors into a slot."""
        self.note(slot, begun(self))
        found: Listed = self.values[slot]
        return found

    def perhaps(self, value: Traced, there: Traced) -> Perhaps:
        """A value that is there if a truth value holds."""
        return Perhaps(value.meta, value.array, there.array)

    def operand(self, v: Any) -> Any:
        """The value of a variable, or of those in a list."""
        if v is None or isinstance(v, list | tuple):
            return v if v is None else [self.operand(x) for x in v]
        return self.value_at(self.slots[v])

    def note(self, slot: int, value: Any, over: bool = False) -> None:
        """A slot has a new value, in the memory of what it began with if `over` that."""
        self.values[slot] = value

    # ---- steps ----

    def trace(self, step: Instruction) -> None:
        """Write the statements of a step; UnsupportedError where that cannot be."""
        o = step.operator
        if step.is_shape:
            return
        if o.told or (o.op.has_blocks and not isinstance(o.op, BlockOp)):
            raise UnsupportedError(f"`{o.type}` is no computation of elements")
        if any(v in self.mixed for v in written(o)):
            raise UnsupportedError(f"`{o.type}` writes over what lies in other variables")
        self.tracer.origin = o.type
        try:
            self.write(step)
        except ScullError as error:
            raise UnsupportedError(str(error)) from error
        except Exception as error:
            warnings.warn(f"{o.type}: no machine code, {error!r}", stacklevel=2)
            raise UnsupportedError(str(error)) from error

    def write(self, step: Instruction) -> None:
        """Write the statements of a step."""
        o = step.operator
        lists = of_lists(o)
        if lists is not None:
            lists(self, o)
            return
        if o.type in ABSENT and o.role & 1 and self.is_doubtful(o):
            self.doubtful(o)
            return
        if o.type == "select_input":
            self.select(o)
            return
        if o.type == "select_output":
            self.spread(o)
            return
        results = self.results(o, step.draws)
        for name, slot, found in zip(program_outputs(o.op), o.outputs, results, strict=False):
            over = name in o.op.outputs and overwrites(o, name)
            values = found if isinstance(found, list) else [found]
            for v, value in zip(slot if isinstance(slot, list) else [slot], values, strict=False):
                if v is not None and value is not None:
                    self.note(self.slots[v], value, over)

    def draw(self, o: Operator, draws: int) -> tuple[Expression, Expression]:
        """The key of an operator's random words: the run's, so many draws later, or the next."""
        seed = o.attrs.get("seed", 0)
        if seed:
            return lang.constant(seed & (2**64 - 1), "uint64"), lang.constant(0, "uint64")
        source = self.at(DRAW)
        if self.plan.draws < 0:
            draws = source.taken if isinstance(source, Drawn) else 0
            self.note(DRAW, Drawn(source.array, draws + 1), True)
        key = source.array[0], source.array[1] + draws
        return lang.cast(key[0], "uint64"), lang.cast(key[1], "uint64")

    def settled(self, source: Drawn) -> Traced:
        """An array that tells the number of the next draw."""
        n = lang.axis(2)
        return self.statement(SOURCE, (n,), source.array[n] + n * source.taken)

    def results(self, o: Operator, draws: int) -> list[Any]:
        """What an operator makes, before which so many draws of the run come."""
        op, attrs = o.op, dict(o.attrs)
        if op.takes_wanted:
            attrs["wanted"] = tuple(
                n for n, s in zip(op.outputs, o.outputs, strict=False) if s is not None
            )
        inputs, tracer = [self.operand(s) for s in o.inputs], self.tracer
        if op.shape_record:
            place = op.inputs.index(op.shape_record)
            noted = inputs[place].meta
            inputs[place] = tracer.given(noted.with_shape(noted.shape[1:]))
        draw = self.draw(o, draws) if "random" in op.effects else None
        found = list(tracer.operator(op, inputs, attrs, draw))
        if op.xshape and len(o.outputs) > len(op.outputs) and o.outputs[-1] is not None:
            x = inputs[op.inputs.index(op.xshape)].meta
            found.append(tracer.constant(0, x.with_shape((0, *x.shape))))
        return found

    # ---- values that are perhaps not there ----

    def is_doubtful(self, o: Operator) -> bool:
        """Whether an operand is perhaps not there."""
        slots = [self.slots[v] for v in o.operands()]
        return any(not self.has(s) or isinstance(self.at(s), Perhaps) for s in slots)

    def doubtful(self, o: Operator) -> None:
        """An operator of gradients, which makes nothing of nothing."""
        (out,) = (self.slots[v] for v in o.results())
        slots = [self.slots[v] for v in o.operands()]
        values = [self.at(s) for s in slots if self.has(s)]
        if o.type == "select_input":
            self.select(o)
        elif o.type == "sum" and values:
            self.note(out, self.total(values))
        elif o.type in ("assign", "fill_any_like") and values:
            (x,) = values
            (found,) = self.tracer.operator(o.op, [Traced(x.meta, x.array)], dict(o.attrs))
            self.note(out, Perhaps(found.meta, found.array, x.there))

    def total(self, values: list[Any]) -> Traced:
        """The sum of those values that are there."""
        meta = values[0].meta
        if any(v.meta != meta for v in values) or meta.dtype.itemsize < 4:
            raise UnsupportedError("a sum of what is perhaps not there")
        axes = tuple(map(lang.axis, meta.shape))
        total, there = values[0].array[axes], self.presence(values[0])
        for value in values[1:]:
            x, also = value.array[axes], self.presence(value)
            both = total + x
            if also is not None:
                both = lang.select(also, both, total)
            if there is not None:
                both = lang.select(there, both, x)
            total = both
            there = None if there is None or also is None else there | also
        out = self.statement(meta, axes, total)
        return out if there is None else Perhaps(meta, out.array, self.truth(there))

    def presence(self, value: Any) -> Expression | None:
        """Whether a value is there; None: always."""
        return element_of(value.there) if isinstance(value, Perhaps) else None

    def statement(self, meta: Meta, axes: tuple[Any, ...], value: Expression) -> Traced:
        """A new array whose elements are told."""
        out = self.tracer.given(meta)
        self.tracer.statements.append(Statement(out.array, Map(axes, value), self.tracer.origin))
        return out

    def truth(self, value: Expression) -> Array:
        """An array of one truth value."""
        return self.statement(TRUTH, (lang.axis(1),), value).array

    def certain(self, holds: bool) -> Array:
        """An array with a known truth value."""
        return self.tracer.constant(holds, TRUTH).array

    # ---- choices ----

    def select(self, o: Operator) -> None:
        """The one of several values whose number is told."""
        mask = self.operand(o.inputs[1])
        slots = [self.slots[v] for v in o.inputs[0]]
        values = [self.at(s) if self.has(s) else None for s in slots]
        place = element_of(mask.array)
        inside = (place >= 0) & (place < len(values))
        self.tracer.statements.append(Demand(o.type, self.truth(inside)))
        found = values[-1]
        for number in reversed(range(len(values) - 1)):
            here = self.truth(lang.equal(place, number))
            found = self.choice(here, values[number], found)
        (out,) = (self.slots[v] for v in o.results())
        if isinstance(found, Traced | Listed):
            self.note(out, found)
        if isinstance(found, Traced) and not o.role & 1:
            self.array_at(out)

    def spread(self, o: Operator) -> None:
        """A value as the one of several results whose number is told."""
        given, mask = self.slots[o.inputs[0]], self.operand(o.inputs[1])
        x = self.list_at(given) if holds_lists(o.inputs[0]) else self.value_at(given)
        place = element_of(mask.array)
        outs = o.outputs[0]
        self.tracer.statements.append(
            Demand(o.type, self.truth((place >= 0) & (place < len(outs))))
        )
        before = set(o.inputs[2]) if len(o.inputs) > 2 else set()
        for number, v in enumerate(outs):
            if v is None:
                continue
            slot = self.slots[v]
            here = self.truth(lang.equal(place, number))
            old = self.at(slot) if v in before and self.has(slot) else None
            self.note(slot, self.choice(here, x, old))

    def choice(self, condition: Array, then: Any, otherwise: Any) -> Any:
        """The one of two values, each perhaps not there, that a condition tells."""
        node, found = self.chosen(condition, [(then, otherwise)], [], [])
        self.tracer.statements.append(node)
        return found[0]

    def chosen(
        self,
        condition: Array,
        pairs: list[tuple[Any, Any]],
        then: list[Any],
        otherwise: list[Any],
    ) -> tuple[Branch, list[Any]]:
        """A branch of two bodies, and for each pair of their values the one that is there."""
        results: list[Choice] = []
        found = [self._one(condition, pair, results, then, otherwise) for pair in pairs]
        node = Branch(self.tracer.origin, condition, tuple(results), tuple(then), tuple(otherwise))
        return node, found

    def _one(
        self,
        condition: Array,
        pair: tuple[Any, Any],
        results: list[Choice],
        then: list[Any],
        otherwise: list[Any],
    ) -> Any:
        present = [x for x in pair if x is not None]
        if not present:
            return None
        if any(isinstance(x, Listed) for x in present):
            if not all(isinstance(x, Listed) for x in present):
                raise UnsupportedError("a list of tensors, or one from elsewhere")
            return one_of(self, condition, pair, results, (then, otherwise))
        meta, tracer = present[0].meta, self.tracer
        if any(not isinstance(x, Traced) for x in present) or any(x.meta != meta for x in present):
            raise UnsupportedError(f"{' or '.join(str(x.meta) for x in present)}: not of one kind")
        arrays = []
        for x, nodes in zip(pair, (then, otherwise), strict=True):
            with self.writing(nodes):
                value = tracer.given(meta) if x is None else x
                arrays.append((self.settled(x) if isinstance(x, Drawn) else value).array)
        out = tracer.given(meta)
        results.append(Choice(out.array, *arrays))
        if len(present) == 2 and not any(isinstance(x, Perhaps) for x in pair):
            return out
        if pair[1] is None and not isinstance(pair[0], Perhaps):
            return Perhaps(meta, out.array, condition)
        there = tracer.given(TRUTH).array
        sides = []
        for x, nodes in zip(pair, (then, otherwise), strict=True):
            if isinstance(x, Perhaps):
                sides.append(x.there)
                continue
            with self.writing(nodes):
                sides.append(self.certain(x is not None))
        results.append(Choice(there, *sides))
        return Perhaps(meta, out.array, there)

    @contextmanager
    def writing(self, nodes: list[Any]) -> Iterator[list[Any]]:
        """Statements go into `nodes`."""
        before, self.tracer.statements = self.tracer.statements, nodes
        try:
            yield nodes
        finally:
            self.tracer.statements = before


def mixed(plan: "Plan") -> set[Any]:
    """The variables that an operator lays into one another."""
    operators = [step.operator for step in plan.steps]
    return {
        v for o in operators if set(o.op.views.values()) & set(o.op.outputs) for v in o.results()
    }
