"""Which operators of a block of dataflow are one region, and what its values bring to others.

A switch, the condition of a loop and a copy of a value have no work: they give it another name, and
a switch says when that is alive. What depends on the same values from elsewhere and is alive when
the same truth values are what they must be runs in one go.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from scull.executor.instruction import Instruction, bind
from scull.executor.plan import IN_ORDER
from scull.executor.region import (
    Arm,
    Decision,
    Entry,
    FramePlan,
    Graph,
    Onward,
    Region,
    Token,
)
from scull.ir.operator import Operator, effects
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import Path, comes_back, in_order, is_inner, makers_of, paths_of
from scull.ops.array import place_of

NOTHING: frozenset[Any] = frozenset()


class Value(NamedTuple):
    """A value in its frame: its place, what it depends on, when it is alive, who brings it."""

    slot: int
    sources: frozenset[Any] = NOTHING
    alive: frozenset[Any] = NOTHING  # (slot of a truth value, side), or what else may be dead
    token: Any = None
    first: bool = False  # it is there in the first round alone


class Part:
    """A region that grows."""

    def __init__(self, key: Any, draft: "Draft", alive: frozenset[Any], first: bool) -> None:
        self.key, self.draft, self.alive, self.first = key, draft, alive, first
        self.number, self.item, self.waits = len(draft.parts), -1, 0
        self.steps: list[Operator] = []
        self.read: dict[Variable, None] = {}
        self.sent: dict[Variable, None] = {}
        self.senders: dict[Operator, None] = {}
        self.onward: list[tuple[Variable, Operator]] = []
        self.arms: dict[tuple[int, int], list[tuple[Variable, Operator]]] = {}
        self.enters: list[Operator] = []
        self.exits: list[Operator] = []
        self.results: list[Variable] = []

    def needs(self, to: "Partition") -> list[Value]:
        """What it reads and sends."""
        made = [to.values[v] for v in self.results]
        return [to.value(v) for v in self.read | self.sent] + made


class Draft:
    """A frame whose parts are being found."""

    def __init__(self, path: Path, limit: int) -> None:
        self.plan = FramePlan(path, limit)
        self.parts: dict[Any, Part] = {}
        self.alive: dict[Any, frozenset[Any]] = {None: NOTHING}  # by who brings something
        self.asked: dict[int, tuple[Value, Operator]] = {}  # truth values by their slots
        self.repeats: set[int] = set()  # those that say whether a loop goes on
        self.merges: dict[Any, int] = {}  # how many values may come, by who brings what comes
        self.heads: dict[Operator, list[Operator]] = {}  # of loops, by the `enter`
        self.exits: dict[Operator, int] = {}  # to slots around it
        self.items: dict[Any, None] = {}
        self.numbers: dict[int, int] = {}  # slots that hold them
        self.first = False
        self.takers: dict[Any, list[int]] = {}  # parts by what they wait for

    def slot(self) -> int:
        """A new place."""
        self.plan.size += 1
        return self.plan.size - 1

    def number(self, n: int) -> int:
        """The place of a whole number."""
        if n not in self.numbers:
            self.numbers[n] = self.slot()
            self.plan.constants[self.numbers[n]] = np.array(n, "int32")
        return self.numbers[n]


def graph_of(
    operators: tuple[Operator, ...], wanted: Iterable[Variable], *, fine: bool = False
) -> Graph:
    """The operators of a block in regions, for the `wanted` results; `fine`: one in each."""
    return Partition(operators, wanted, fine).run()


class Partition:
    """Finds the regions of a block."""

    def __init__(
        self, operators: tuple[Operator, ...], wanted: Iterable[Variable], fine: bool
    ) -> None:
        self.operators, self.fine = operators, fine
        self.makers, self.paths = makers_of(operators, "block 0"), paths_of(operators, "block 0")
        self.drafts: dict[Path, Draft] = {(): Draft((), 1)}
        self.values: dict[Variable, Value] = {}
        self.outside: dict[Variable, int] = {}
        self.wanted = set(wanted)
        self.asked = {v for o in operators for v in o.operands()} | self.wanted
        self.heads: dict[Variable, list[Operator]] = {}  # of loops, by what comes back
        for o in operators:
            for v in o.operands() if o.type == "merge" else ():
                if comes_back(v, self.makers):
                    self.heads.setdefault(v, []).append(o)

    def run(self) -> Graph:
        """The regions."""
        for o in in_order(self.operators, self.makers, "block 0"):
            RULES.get(o.type, Partition.plain)(self, o)
        for o in self.operators:
            self.draft(o).plan.operators.append(o)
            if effects(o):
                self.keep_order(o)
        for v in self.makers:
            if v in self.wanted and v in self.values and self.home(v) == ():
                self.part_of(self.drafts[()], self.values[v], v.name).results.append(v)
        for draft in self.drafts.values():
            count(draft, self)
        for draft in self.drafts.values():
            Finish(draft, self).run()
        pays = any(r.is_large for draft in self.drafts.values() for r in draft.plan.regions)
        return Graph(self.drafts[()].plan, self.outside, pays)

    def draft(self, o: Operator) -> Draft:
        """The frame of an operator."""
        return self.drafts[self.paths[o]]

    def home(self, v: Variable) -> Path:
        """The frame of a value."""
        o = self.makers[v]
        return self.paths[o][:-1] if o.type == "exit" else self.paths[o]

    def value(self, v: Variable) -> Value:
        """What is known of a value that an operator reads."""
        if v in self.makers and is_inner(v):
            return self.values[v]
        if v not in self.outside:
            self.outside[v] = self.drafts[()].slot()
        return Value(self.outside[v])

    def part_of(self, draft: Draft, x: Value, *own: Any) -> Part:
        """The part that who reads `x` belongs to; `own` is who that is."""
        key = own if self.fine else (x.sources, x.alive, x.first)
        if key not in draft.parts:
            draft.parts[key] = Part(key, draft, x.alive, x.first)
            draft.alive[key] = x.alive
        return draft.parts[key]

    def sender(self, draft: Draft, v: Variable, o: Operator, *own: Any) -> Part:
        """The part that sends `v` elsewhere, for `o`."""
        part = self.part_of(draft, self.value(v), o, *own)
        part.sent[v] = part.senders[o] = None
        return part

    # ---- operators ----

    def plain(self, o: Operator) -> None:
        """An operator that computes."""
        draft, operands = self.draft(o), dict.fromkeys(o.operands())
        rows = [self.value(v) for v in operands]
        if o.type == "assign" and draft.plan.path and rows and not self.fine:
            self.values[o.results()[0]] = rows[0]
            return
        x = Value(
            -1,
            NOTHING.union(*(r.sources for r in rows)),
            NOTHING.union(*(r.alive for r in rows)),
            first=any(r.first for r in rows),
        )
        if effects(o):  # what depends on it comes after it
            x = x._replace(sources=frozenset({o}))
        part = self.part_of(draft, x, o)
        part.steps.append(o)
        part.read |= operands
        for v in o.results():
            same = v in self.outside and v in operands
            slot = self.outside[v] if same else draft.slot()
            self.values[v] = x._replace(slot=slot, token=part.key)

    def switch(self, o: Operator) -> None:
        """A value that is alive on one side only."""
        draft, data, pred = self.draft(o), self.value(o.operands()[0]), self.value(o.operands()[-1])
        draft.asked.setdefault(pred.slot, (pred, o))
        for v, side in zip(o.outputs, (False, True), strict=True):
            if v is not None:
                self.values[v] = data._replace(
                    sources=data.sources | pred.sources,
                    alive=data.alive | pred.alive | {(pred.slot, side)},
                    first=data.first or pred.first,
                )

    def loop_cond(self, o: Operator) -> None:
        """A truth value that says whether a loop goes on."""
        draft, x = self.draft(o), self.value(o.operands()[0])
        draft.asked[x.slot] = (x, o)
        draft.repeats.add(x.slot)
        self.values[o.outputs[0]] = x

    def merge(self, o: Operator) -> None:
        """The one value that is alive, of several or of the round before."""
        draft = self.draft(o)
        arms = [v for v in o.operands() if not comes_back(v, self.makers)]
        rows = [self.value(v) for v in arms]
        first = arms[0]
        token: Any = o
        if len(arms) < len(o.operands()) and self.is_entry(first):
            draft.heads.setdefault(self.makers[first], []).append(o)
        else:
            keys = [self.sender(draft, v, o, i).key for i, v in enumerate(arms)]
            token = o if self.fine or len(arms) < len(o.operands()) else ("merge", tuple(keys))
            draft.merges.setdefault(token, len(arms))
            at = list(draft.merges).index(token)
            for i, (key, v) in enumerate(zip(keys, arms, strict=True)):
                draft.parts[key].arms.setdefault((at, i), []).append((v, o))
        back = len(arms) < len(o.operands())
        alive = rows[0].alive if back else joined([x.alive for x in rows], token)
        made = Value(-1, frozenset({token}), alive, token, not back and any(x.first for x in rows))
        draft.alive[token] = alive
        for v in o.outputs:
            if v is not None:
                self.values[v] = made._replace(slot=draft.slot())

    def is_entry(self, v: Variable) -> bool:
        """Whether a value comes straight from an `enter`."""
        return v in self.makers and self.makers[v].type == "enter"

    def enter(self, o: Operator) -> None:
        """A value from around a frame."""
        path = self.paths[o]
        around = self.drafts[path[:-1]]
        draft = self.drafts.get(path)
        if draft is None:
            draft = self.drafts[path] = Draft(path, o.attrs["parallel_iterations"])
        x, (v,) = self.value(o.operands()[0]), o.operands()
        self.sender(around, v, o).enters.append(o)
        draft.plan.enters += 1
        draft.first = draft.first or x.first
        constant = o.attrs["is_constant"]
        alive = draft.alive[o] = frozenset({x.alive})
        sources = NOTHING if constant else frozenset({o})
        self.values[o.outputs[0]] = Value(draft.slot(), sources, alive, o, not constant)

    def next_iteration(self, o: Operator) -> None:
        """A value for the next round."""
        draft, (v,) = self.draft(o), o.operands()
        part = self.sender(draft, v, o)
        part.onward.extend((v, head) for head in self.heads.get(o.outputs[0], ()))

    def exit(self, o: Operator) -> None:
        """A value for what is around a frame."""
        draft, (v,) = self.draft(o), o.operands()
        around = self.drafts[draft.plan.path[:-1]]
        x = self.value(v)
        self.sender(draft, v, o).exits.append(o)
        alive = NOTHING.union(*(a for a in x.alive if isinstance(a, frozenset)))
        rest = [a for a in x.alive if not isinstance(a, frozenset)]
        if len(rest) != 1 or rest[0] not in {(slot, False) for slot in draft.repeats}:
            alive |= {("exit", draft.plan.path, x.alive)}
        draft.exits[o] = around.slot()
        around.alive[o] = alive
        self.values[o.outputs[0]] = Value(draft.exits[o], frozenset({o}), alive, o, draft.first)

    def keep_order(self, o: Operator) -> None:
        """Let an operator and the frames around it come when the effects before it have."""
        path = self.paths[o]
        self.drafts[path].items[o] = None
        for i in range(len(path)):
            self.drafts[path[:i]].items[path[i]] = None


def joined(rows: list[frozenset[Any]], token: Any) -> frozenset[Any]:
    """When one of several values is alive that are alive on the two sides of a truth value."""
    common = rows[0].intersection(*rows[1:])
    if len(rows) == 1 or all(r == common for r in rows):
        return common
    rest = [tuple(r - common) for r in rows]
    if len(rest) == 2 and all(len(r) == 1 and is_side(r[0]) for r in rest):
        (a, left), (b, right) = rest[0][0], rest[1][0]
        if a == b and left != right:
            return common
    return common | {("merge", token)}


RULES: dict[str, Callable[[Partition, Operator], None]] = {
    "switch": Partition.switch,
    "loop_cond": Partition.loop_cond,
    "merge": Partition.merge,
    "enter": Partition.enter,
    "next_iteration": Partition.next_iteration,
    "exit": Partition.exit,
}


def count(draft: Draft, to: Partition) -> None:
    """Find out for what each part waits."""
    items = list(draft.items)
    for part in draft.parts.values():
        needs: dict[Any, None] = {}
        for x in part.needs(to):
            needs.update({x.token: None} if x.token not in (None, part.key) else {})
            needs.update((a, None) for a in x.alive - draft.alive[x.token] if is_side(a))
        for need in needs:
            draft.takers.setdefault(need, []).append(part.number)
        part.item = next((items.index(o) for o in part.steps if o in draft.items), -1)
        part.waits = len(needs) + (part.item >= 0)


def is_side(atom: Any) -> bool:
    """Whether what must hold is that a truth value has a side."""
    return isinstance(atom, tuple) and isinstance(atom[-1], bool)


class Finish:
    """Makes the plan of a frame whose parts are found."""

    def __init__(self, draft: Draft, to: Partition) -> None:
        self.draft, self.to = draft, to
        self.users: dict[int, set[Part]] = {}  # by slot the parts that read or send it
        for part in draft.parts.values():
            for x in part.needs(to):
                self.users.setdefault(x.slot, set()).add(part)

    def run(self) -> None:
        """Fill in the plan."""
        draft, plan = self.draft, self.draft.plan
        plan.regions = tuple(map(self.region, draft.parts.values()))
        plan.merges = tuple((token_of(draft, [t]), n) for t, n in draft.merges.items())
        plan.start = token_of(draft, [None])
        if plan.path:
            around = self.to.drafts[plan.path[:-1]]
            plan.exits = tuple((slot, token_of(around, [o])) for o, slot in draft.exits.items())
        numbers = {o: part.number for part in draft.parts.values() for o in part.steps}
        plan.items = tuple(numbers.get(item, item) for item in draft.items)

    def slot(self, v: Variable) -> int:
        """The place of a value that a part reads or sends."""
        return self.to.value(v).slot

    def region(self, part: Part) -> Region:
        """A part as a region."""
        draft = self.draft
        token = token_of(draft, [part.key])
        heads = [head for _, head in part.onward]
        pairs = tuple(pair for v, head in part.onward for pair in self.filling(draft, v, head, 1))
        arms = (self.arm(*at, rows) for at, rows in part.arms.items())
        exits = list(draft.exits)
        return Region(
            part.number,
            (*part.steps, *part.senders),
            tuple(self.instructions(part)),
            part.waits,
            part.first,
            part.item,
            token if token.takers or token.decisions else None,
            Onward(pairs, token_of(draft, heads)) if pairs else None,
            tuple(arms),
            tuple(map(self.entry, part.enters)),
            tuple((self.slot(o.operands()[0]), exits.index(o)) for o in part.exits),
            tuple((self.to.values[v].slot, v) for v in part.results),
        )

    def filling(
        self, draft: Draft, v: Variable | None, merge: Operator, number: int
    ) -> Iterator[tuple[int, int]]:
        """From which slots a `merge` fills its places when value `number` comes."""
        out, index = merge.outputs
        if out is not None and v is not None:
            yield self.slot(v), self.to.values[out].slot
        if index is not None and index in self.to.asked:
            yield draft.number(number), self.to.values[index].slot

    def arm(self, merge: int, number: int, rows: list[tuple[Variable, Operator]]) -> Arm:
        """What goes to a `merge`."""
        pairs = tuple(pair for v, o in rows for pair in self.filling(self.draft, v, o, number))
        return Arm(merge, pairs)

    def entry(self, o: Operator) -> Entry:
        """What goes into a frame."""
        draft = self.to.draft(o)
        heads = draft.heads.get(o, [])
        fixed = tuple(pair for head in heads for pair in self.filling(draft, None, head, 0))
        outs = [o.outputs[0], *(head.outputs[0] for head in heads)]
        places = tuple(self.to.values[v].slot for v in outs if v is not None)
        token = token_of(draft, [o, *heads])
        constant = bool(o.attrs["is_constant"])
        return Entry(self.slot(o.operands()[0]), draft.plan, places, fixed, token, constant)

    # ---- instructions ----

    def instructions(self, part: Part) -> Iterable[Instruction]:
        """The instructions of a part, each dropping what nobody needs after it."""
        made = []
        for o in part.steps:
            slots = {v: self.slot(v) for v in o.operands()}
            results = {v: self.to.values[v].slot for v in o.results()}
            step = bind(o, slots | results, IN_ORDER, False)
            made.append(replace(step, call=adding) if self.grows(part, o) else step)
        own = {slot for step in made for slot in step.writes}
        sent = {self.slot(v) for v in part.sent} | set(self.draft.asked)
        sent |= {self.to.values[v].slot for v in part.results}
        inner = {s for s in own - sent if self.users.get(s, {part}) == {part}}
        last = {slot: i for i, step in enumerate(made) for slot in (*step.writes, *step.reads)}
        frees: list[list[int]] = [[] for _ in made]
        for slot in sorted(inner):
            frees[last[slot]].append(slot)
        return [step.freeing(tuple(f)) for step, f in zip(made, frees, strict=True)]

    def grows(self, part: Part, o: Operator) -> bool:
        """Whether a write into a list from the round before is all that is done with that."""
        if o.type != "write_to_array" or o.inputs[2] is None:
            return False
        array = o.inputs[2]
        x = self.to.value(array)
        readers = [r for r in part.steps if x.slot in map(self.slot, r.operands())]
        sent = x.slot in map(self.slot, part.sent)
        others = self.users[x.slot] - {part}
        of_loop = isinstance(x.token, Operator) and x.token.type == "merge"
        apart = all(exclusive(part.alive, other.alive) for other in others)
        return of_loop and readers == [o] and not sent and apart


def exclusive(a: frozenset[Any], b: frozenset[Any]) -> bool:
    """Whether two parts never run both."""
    return any((atom[0], not atom[1]) in b for atom in a if is_side(atom))


class Growing(list[Any]):
    """A list that a loop carries and nobody else holds."""


def adding(x: Any, i: Any, array: Any) -> list[Any]:
    """`array` with `x` at place `i`: the same list, if nobody else holds it."""
    at = place_of(i)
    found = array if type(array) is Growing else Growing(array or ())
    found.extend([None] * (at + 1 - len(found)))
    found[at] = x
    return found


def token_of(draft: Draft, brought: list[Any]) -> Token:
    """What comes with something, or with several things at once."""
    counts: dict[int, int] = {}
    for b in brought:
        for number in draft.takers.get(b, ()):
            counts[number] = counts.get(number, 0) + 1
    decisions = []
    known = set(brought)
    for slot, (x, o) in draft.asked.items():
        if x.token in known and (x.token is not None or not draft.plan.path):
            no, yes = (tuple(draft.takers.get((slot, side), ())) for side in (False, True))
            decisions.append(Decision(slot, (no, yes), o, slot in draft.repeats))
    return Token(tuple(counts.items()), tuple(decisions))
