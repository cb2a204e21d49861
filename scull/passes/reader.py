"""From the blocks of a Program to its structure."""

from collections.abc import Iterable
from typing import Any

from scull.core.meta import Kind
from scull.errors import UnsupportedError
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.reach import blocks_within, changed, within
from scull.ir.variable import Variable
from scull.passes.simplify import prune, simplify
from scull.passes.structure import (
    Branch,
    Call,
    Carried,
    Loop,
    Node,
    Region,
    Result,
    Structure,
    Value,
    writes,
)

EDGES = ("feed", "fetch", "fetch_v2")
TARGETS = ("save_infer_model/scale_", "translated_layer/scale_")  # made where a model is saved


def structure_of(program: Program, entries: Iterable[str], exits: Iterable[str]) -> Structure:
    """What `program` computes of the variables named `entries` for those named `exits`.

    Raises:
        UnsupportedError: a block is entered otherwise than by a truth value.
    """
    reader = Reader(program)
    block = program.global_block()
    inputs = [reader.entry(block.vars[name]) for name in entries]
    region = Region()
    reader.read(block, region, reader.scope)
    results = [reader.result(reader.scope.get(block.vars[name])) for name in exits]
    found = Structure(inputs, results, reader.kept, region, reader.rewritten)
    simplify(found)
    found.exits = given_again(found.exits)
    prune(found)
    return found


def given_again(exits: list[Value]) -> list[Value]:
    """Results without the copies of those that a function gives several times."""
    found: list[Value] = []
    for v in exits:
        copied = isinstance(v.maker, Call) and v.maker.type == "assign"
        sources = v.maker.operands() if copied else []
        found.append(next((x for x in sources if x in found), v))
    return found


class Scope:
    """The values of variables where an operator stands; around a block there is another."""

    def __init__(self, reader: "Reader", around: "Scope | None" = None) -> None:
        self.reader, self.around, self.values = reader, around, dict[Variable, Value]()

    def find(self, v: Variable) -> Value | None:
        """The value of `v`, if it has one."""
        scope: Scope | None = self
        while scope is not None:
            if v in scope.values:
                return scope.values[v]
            scope = scope.around
        return self.reader.root(v)

    def get(self, v: Variable) -> Value:
        """The value of `v`; one that nobody wrote is what it is at first."""
        found = self.find(v)
        if found is None:
            found = self.reader.scope.values[v] = Value(v)
        return found


class Reader:
    """Reads the blocks of a Program."""

    def __init__(self, program: Program) -> None:
        self.kept: dict[Variable, Value] = {}
        self.rewritten: set[Value] = set()
        self.scope = Scope(self)
        self.branches: dict[tuple[Region, Value], Branch] = {}
        self.order: dict[Node, float] = {}
        writers: dict[Variable, list[Operator]] = {}
        for o in within(program.global_block()):
            for v in [] if o.op.has_blocks else o.results():
                writers.setdefault(v, []).append(o)
        self.shared = {
            v
            for v, made in writers.items()
            if not v.persistable and (len(made) > 1 or made[0].block is not v.block)
        }

    def root(self, v: Variable) -> Value | None:
        """What `v` keeps from run to run, or an empty list of tensors."""
        if v.persistable:
            return self.kept.setdefault(v, Value(v))
        return self.scope.values.setdefault(v, Value(v)) if v.kind is Kind.ARRAY else None

    def entry(self, v: Variable) -> Value:
        """An input."""
        return self.scope.values.setdefault(v, Value(v))

    def result(self, value: Value) -> Value:
        """A result without the operators that saving puts behind it."""
        while isinstance(made := value.maker, Call) and value.variable.name.startswith(TARGETS):
            attrs = made.operator.attrs
            plain = made.type == "assign" or (attrs.get("scale") == 1 and attrs.get("bias") == 0)
            if made.type not in ("assign", "scale") or not plain:
                break
            value = made.operands()[0]
        return value

    def append(self, region: Region, node: Node) -> None:
        """Put a node behind the others."""
        self.order[node] = len(self.order)
        region.nodes.append(node)

    def read(self, block: Any, region: Region, scope: Scope) -> None:
        """Read the operators of `block`."""
        for o in block.ops:
            if o.type in EDGES:
                continue
            if o.type == "assign" and o.results()[0] in self.shared:
                scope.values[o.results()[0]] = scope.get(o.operands()[0])
            elif o.type in READERS:
                READERS[o.type](self, o, region, scope)
            elif o.op.has_blocks:
                raise refused(o, "its block runs otherwise than by a condition or in a loop")
            else:
                self.read_call(o, region, scope)

    def read_call(self, o: Operator, region: Region, scope: Scope) -> None:
        """An operator without blocks."""

        def given(slot: Any) -> Any:
            if isinstance(slot, list | tuple):
                return [v if v is None else scope.get(v) for v in slot]
            return None if slot is None else scope.get(slot)

        inputs = tuple(map(given, o.inputs))
        if o.type == "write_to_array" and inputs[2] is None:
            inputs = (*inputs[:2], scope.get(o.results()[0]))
        made = Call(o, inputs, (), {n: given(v) for n, v in o.told.items()}, region)

        def taken(v: Any) -> Any:
            if v is None:
                return None
            if v.persistable:
                self.rewritten.add(scope.get(v))
                return scope.get(v)
            value = scope.values[v] = Value(v, made)
            return value

        made.outputs = tuple(
            [taken(v) for v in s] if isinstance(s, list) else taken(s) for s in o.outputs
        )
        self.append(region, made)

    def read_branch(self, o: Operator, region: Region, scope: Scope) -> None:
        """A block that runs when its condition holds, beside that for the other case if it can."""
        if not o.attrs["is_scalar_condition"]:
            raise refused(o, "its condition is whether there are elements, no truth value")
        (block,), (held,) = o.blocks(), o.inputs[0]
        condition, side = undenied(scope.get(held))
        node = self.branches.get((region, condition))
        if node is None or node.sides[side].nodes or not self.may_join(node, block, scope):
            node = self.branch(region, condition)
        inner = Scope(self, scope)
        for r in node.results:  # what the other block wrote is here as it was before
            found = r.sides[side]
            if found is not None and scope.values.get(r.out.variable) is r.out:
                inner.values[r.out.variable] = found
        self.read(block, node.sides[side], inner)
        own = set(blocks_within(block))
        for v, value in inner.values.items():
            if v.block in own:
                continue
            known = self.known_result(node, scope.values.get(v))
            if known is not None:
                known.sides[side] = value
                continue
            result = Result(Value(v, node), [scope.find(v)] * 2)
            result.sides[side] = value
            node.results.append(result)
            scope.values[v] = result.out

    def known_result(self, node: Branch, value: Value | None) -> Result | None:
        """What `node` already says of a value."""
        return next((r for r in node.results if r.out is value), None)

    def branch(self, region: Region, condition: Value) -> Branch:
        """A new branch."""
        node = self.branches[region, condition] = Branch(condition, region)
        self.append(region, node)
        return node

    def may_join(self, node: Branch, block: Any, scope: Scope) -> bool:
        """Whether `block` may run where `node` stands: it reads nothing that was made since.

        Nor does anything draw or act in between.
        """
        at, nodes = self.order[node], node.region.nodes
        for later in nodes[nodes.index(node) + 1 :]:
            if not isinstance(later, Call) or later.operator.op.effects or writes(later):
                return False
        own = set(blocks_within(block))
        read = {v for o in within(block) for v in o.operands() if v.block not in own}
        found = [value for v in read if (value := scope.find(v)) is not None]
        return all(v.maker in (None, node) or self.order.get(v.maker, -1) < at for v in found)

    def read_choice(self, o: Operator, region: Region, scope: Scope) -> None:
        """The choice between the results of two branches."""
        values, mask = [scope.get(v) for v in o.inputs[0]], scope.get(o.inputs[1]).maker
        (out,) = o.results()
        truth = isinstance(mask, Call) and mask.type == "cast" and mask.operands()[0]
        if not truth or truth.meta.dtype.name != "bool" or len(values) != 2:
            self.read_call(o, region, scope)
            return
        condition, holds = undenied(truth)
        node = self.branches.get((region, condition))
        sides = [self.on_side(node, values[1 - s ^ holds], s) for s in (0, 1)]
        if node is None or not all(self.is_before(v, node) for v in sides):
            node = self.branch(region, condition)
        result = Result(Value(out, node), list(sides))
        node.results.append(result)
        scope.values[out] = result.out

    def on_side(self, node: Branch | None, value: Value, side: int) -> Value:
        """What `value` is on one side of `node`."""
        known = None if node is None else self.known_result(node, value)
        found = None if known is None else known.sides[side]
        return value if found is None else found

    def is_before(self, value: Value, node: Branch) -> bool:
        """Whether a value is there before `node`; what can be computed there moves there."""
        made = value.maker
        if made is node:
            return False
        if made is None or made.region is not node.region or self.order[made] < self.order[node]:
            return True
        if not isinstance(made, Call) or not is_movable(made):
            return False
        if not all(self.is_before(v, node) for v in made.operands()):
            return False
        made.region.nodes.remove(made)
        made.region.nodes.insert(made.region.nodes.index(node), made)
        self.order[made] = self.order[node] - 0.5
        return True

    def read_loop(self, o: Operator, region: Region, scope: Scope) -> None:
        """A loop."""
        (block,), (held,) = o.blocks(), o.inputs[1]
        node = Loop(scope.get(held), region)
        inner = Scope(self, scope)
        targets = [v for v in changed(block) if not v.persistable and v.kind is not Kind.SCOPES]
        pairs = [(v, scope.find(v)) for v in targets]
        for v in targets:
            inner.values[v] = Value(v, node)
        heads = dict(inner.values)
        self.read(block, node.body, inner)
        node.last = inner.get(held)
        self.append(region, node)
        for v, before in pairs:
            out = scope.values[v] = Value(v, node)
            node.carried.append(Carried(before, heads[v], inner.values[v], out))


def is_movable(call: Call) -> bool:
    """Whether it does not matter when `call` runs: it does not draw, act or write in place."""
    read = {v.variable for v in call.operands()}
    return not call.operator.op.effects and not any(
        v.variable in read or v.meta.kind is not Kind.DENSE or v.maker is None
        for v in call.results()
    )


def undenied(value: Value) -> tuple[Value, int]:
    """The condition a truth value is or denies, and on which side of it that holds."""
    side = 0
    while isinstance(value.maker, Call) and value.maker.type == "logical_not":
        value, side = value.maker.operands()[0], 1 - side
    return value, side


def refused(o: Operator, law: str) -> UnsupportedError:
    """The error for what has no structure."""
    return UnsupportedError(f"`{o.type}` at {o.line or 'a loaded file'}: {law}")


READERS: dict[str, Any] = {
    "conditional_block": Reader.read_branch,
    "select_input": Reader.read_choice,
    "while": Reader.read_loop,
}
