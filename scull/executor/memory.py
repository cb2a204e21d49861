"""The most bytes that the temporaries of a run take at once, known before it starts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scull.core.memory import BEYOND
from scull.core.meta import Kind, Meta, count
from scull.core.op import Op
from scull.core.refusal import explained
from scull.errors import ResourceError, ShapeError, UnknownSizeError
from scull.executor.alias import handed_on, shared, written
from scull.executor.closed import Save
from scull.executor.instruction import Instruction
from scull.executor.rounds import Known
from scull.executor.trace import Origin, Reading, is_traced, reading, traced
from scull.ir.operator import Operator, each
from scull.ir.reach import results_of
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import paths_of

Metas = dict[Variable, Meta]
MOST_LOOPS = 8  # in one another, of which a peak is known


@dataclass(frozen=True)
class Peak:
    """The most bytes at once, without what kernels take for themselves while they run."""

    size: int | None  # None: no bound is known
    because: str = ""  # why it is only a bound, or none

    def __str__(self) -> str:
        if self.size is None:
            return f"unbounded because of {self.because}"
        return f"{'at most ' if self.because else ''}{self.size} bytes"

    @property
    def told(self) -> str:
        """The same as a sentence, with which a run is refused."""
        return f"the run takes {'memory that is ' * (self.size is None)}{self}"

    def within(self, limit: int) -> None:
        """Refuse a run that may take more than `limit` bytes."""
        if self.size is None or self.size > limit:
            raise ResourceError(f"{self.told}, the limit is {limit} bytes")


class Buffer:
    """Memory of the run, and the variables whose values lie in it."""

    __slots__ = ("size", "users")

    def __init__(self, size: int) -> None:
        self.size, self.users = size, set[Variable]()


class Sizes:
    """The bytes of a run's temporaries, step by step."""

    def __init__(self, metas: Metas) -> None:
        self.metas = metas
        self.buffers: dict[Variable, list[Buffer]] = {}  # none: memory from outside the run
        self.strided: set[Variable] = set()  # values that may not lie in order
        self.lies: dict[Variable, Origin] = {}  # of the last step: results in another's memory
        self.known = Known({})
        self.loops = 0  # around these steps
        self.held = 0  # what a run of the last step's block keeps for its gradient; -1: unknown
        self.rounds: int | None = None  # how many there are of it
        self.live = self.peak = self.within = 0  # of the last step: what its block took
        self.doubt = ""

    def meta(self, v: Variable) -> Meta:
        """What is known of the value of `v` in this run."""
        return self.metas.get(v, v.meta)

    def bytes_of(self, meta: Meta) -> int:
        """The bytes that a value takes; -1 when they are not known."""
        return nbytes(meta)

    def inside(self, metas: Metas) -> "Sizes":
        """The same of a block within these steps."""
        return Sizes(metas)

    def follow(self, step: Instruction) -> None:
        """Take what a run of the block of a step takes."""
        self.run_all(step.nested.steps, step.nested.variables)

    def add(self, v: Variable, buffers: list[Buffer]) -> None:
        """`v` lies in these buffers from now on."""
        for buffer in buffers:
            self.live += 0 if buffer.users else buffer.size
            buffer.users.add(v)
        self.buffers[v] = buffers

    def drop(self, v: Variable, buffers: list[Buffer]) -> None:
        """`v` lies in these buffers no more."""
        for buffer in buffers:
            buffer.users.discard(v)
            self.live -= 0 if buffer.users else buffer.size

    def run(self, step: Instruction) -> None:
        """Take what a step makes."""
        self.within = 0
        if step.nested is not None:
            self.run_block(step)
        elif step.operator.op.has_blocks:  # of dataflow: rounds overlap as they like
            raise UnknownSizeError(f"{said(step.operator)}{growth(step.operator.op.operators)}")
        o, over = step.operator, written(step.operator)
        results = {r: None for r in o.results() if r not in over}
        lies = self.lies = self.places(o, step.copies)
        for r in results:
            if nbytes(self.meta(r)) == -1 and r in hidden(o):  # kernels leave it empty
                self.metas[r] = r.meta.with_shape((0,) * r.ndim)
            if self.size(o, r) == -1:
                raise UnknownSizeError(said(o))
        old = {r: self.buffers.pop(r, []) for r in results}
        for r in sorted(results, key=lambda r: r in lies and lies[r].value in results):
            if r in lies:
                x = lies[r].value
                self.view(o, r, lies[r], old[x] if x in old else self.buffers.get(x, []))
            else:
                self.add(r, [Buffer(self.size(o, r))])
        self.peak = max(self.peak, self.live)  # what results take the place of goes after they came
        for r in results:
            self.drop(r, [b for b in old[r] if b not in self.buffers[r]])
        mixed = [self.meta(x) for x in o.operands() if x in self.strided]
        if any(spreads(o, x, self.meta(r)) for x in mixed for r in results):
            self.strided.update(results)
        if o.op.has_blocks:
            self.known.forget(o.results())
        else:
            self.known.learn(o)
        if o.source is not None:  # gradients are known by the variables of the Program
            pairs = zip(o.source.results(), o.results(), strict=False)
            self.metas.update((v, self.meta(place)) for v, place in pairs)

    def run_block(self, step: Instruction) -> None:
        """Take what the block of an operator takes while it runs, of a loop in any round."""
        o, inner = step.operator, self.inside(dict(self.metas))
        inner.loops = self.loops + o.op.repeats
        if inner.loops > MOST_LOOPS:  # each is followed twice, in the one around it, too
            raise UnknownSizeError(f"{said(o)}, which lies in {self.loops} others")
        inner.strided.update(self.strided)
        inner.known = Known(dict(self.known.values))
        inner.known.forget(o.results())
        before = {v: inner.meta(v) for v in o.results()}
        for _ in range(1 + o.op.repeats):
            inner.follow(step)
        given = {d: v for v, d in results_of(o.op.source).items()} if o.op.backward else {}
        for r in o.results():
            self.metas[r] = self.meta(given[r]) if r in given else inner.meta(r)
            if o.op.repeats and r in set(o.operands()) and self.metas[r] != before[r]:
                raise UnknownSizeError(said(o))
        self.held = held(inner, o.op.saves)
        self.rounds = self.known.rounds(step) if o.type == "while" else 1
        self.within = inner.peak + self.beside(o)
        self.peak = max(self.peak, self.live + self.within)
        self.doubt = self.doubt or f"{said(o)}, whose block may not run"

    def beside(self, o: Operator) -> int:
        """The bytes of what other rounds of a loop left while one runs; where unknown none."""
        if not o.op.repeats:
            return 0
        if o.op.backward:  # each sum of gradients, and the one it becomes
            return 2 * sum(max(self.bytes_of(self.meta(r)), 0) for r in o.results())
        return max(self.held, 0) * (self.rounds or 0)

    def size(self, o: Operator, r: Variable) -> int:
        """The bytes of a result; what a loop keeps for its gradient is of all rounds."""
        if r.kind is not Kind.SCOPES:
            return self.bytes_of(self.meta(r))
        if self.held > 0 and self.rounds is None:
            law = f"which keeps {self.held} bytes a round for its gradient"
            raise UnknownSizeError(f"{said(o)}, {law}")
        return self.held * (self.rounds or 0) if self.held >= 0 else -1

    def run_all(self, steps: tuple[Instruction, ...], variables: Any) -> None:
        """Take what steps make, and let go what they drop."""
        for step in steps:
            if not step.is_shape:
                self.run(step)
            for slot in (*(step.writes if step.is_shape else ()), *step.frees):
                self.drop(variables[slot], self.buffers.pop(variables[slot], []))

    def places(self, o: Operator, copied: bool) -> dict[Variable, Origin]:
        """The results that lie in another variable."""
        metas, rules = operand_metas(o, self.metas), is_traced(o.op)
        found = traced(o, metas, self.strided) if rules else None
        if found is not None:
            self.learn({r: m for r, (m, _) in found.items()})
            return {r: at for r, (_, at) in found.items() if at is not None and not copied}
        if not o.op.has_blocks:
            self.learn(inferred(o, self.metas))
        unknown = rules or "python" in o.op.effects or o.op.has_blocks
        handed = ((r, x) for r, x in handed_on(o) if unknown and r.kind is not Kind.SCOPES)
        lies = {r: Origin(x, True, True) for r, x in handed}
        own = set(o.results())
        for r, x, writes in shared(o):
            if writes or (copied and x not in own):
                continue
            once = sum(v is r for v in o.results()) == 1  # else it is what the last slot says
            how = reading(o.op, metas, self.meta(r), o.attrs) if once else Reading.UNKNOWN
            if how is not Reading.COMPUTED:
                lies[r] = how.of(Origin(x, x in self.strided))
        return lies

    def learn(self, found: Metas) -> None:
        """What results are for these operands; where that says no size, what is declared.

        A file may declare others than come, and a variable may be written with several sizes.
        """
        for r, meta in found.items():
            declared = nbytes(meta) == -1 and nbytes(r.meta) != -1
            self.metas[r] = r.meta if declared else meta

    def view(self, o: Operator, r: Variable, at: Origin, buffers: list[Buffer]) -> None:
        """`r` is a view, or perhaps a copy."""
        if at.doubtful:
            self.doubt = self.doubt or f"{said(o)}, whose view may be a copy"
            buffers = [*buffers, Buffer(self.bytes_of(self.meta(r)))]
        if at.strided:
            self.strided.add(r)
        self.add(r, buffers)


def peak_of(
    steps: tuple[Instruction, ...],
    variables: Any,
    given: Mapping[int, Meta],
    strided: Iterable[int] = (),
) -> Peak:
    """The peak of a run of `steps`; `given` says what stands in some slots when it starts.

    Values in the slots `strided` do not lie in order.
    """
    sizes = Sizes({variables[slot]: meta for slot, meta in given.items()})
    sizes.strided.update(variables[slot] for slot in strided)
    try:
        sizes.run_all(steps, variables)
    except UnknownSizeError as unknown:
        return Peak(None, str(unknown))
    return Peak(sizes.peak, sizes.doubt)


def held(inner: Sizes, saves: tuple[Save, ...]) -> int:
    """The bytes that a run of a block keeps for its gradient; -1 when they are not known."""
    total = 0
    for v in (s.variable for s in saves if not s.shape):
        lies = sum(b.size for b in inner.buffers.get(v, ()))
        size = lies if v.kind is Kind.SCOPES else inner.bytes_of(inner.meta(v))
        if size == -1 or (v.kind is Kind.SCOPES and v not in inner.buffers):
            return -1
        total += max(lies, size)
    return total


def growth(operators: tuple[Operator, ...]) -> str:
    """What a round of each loop of a block of dataflow adds to lists, mostly for gradients."""
    paths, found = paths_of(operators, "block 0"), dict[str, int]()
    for o in operators:
        if o.type == "write_to_array" and paths[o]:
            name, size = paths[o][-1], nbytes(o.inputs[0].meta)
            unknown = size == -1 or found.get(name) == -1
            found[name] = -1 if unknown else found.get(name, 0) + size
    rows = [f"{size} bytes a round of `{name}`" for name, size in found.items() if size > 0]
    return f", which keeps {', '.join(rows)}" if rows else ""


def nbytes(meta: Meta) -> int:
    """The bytes of a value; -1 when they are not known."""
    size = -1 if meta.kind is not Kind.DENSE else count(meta.shape)
    return -1 if size == -1 else min(size * meta.dtype.itemsize, BEYOND)


def spreads(o: Operator, operand: Meta, result: Meta) -> bool:
    """Whether the order in memory of an operand may be that of a result."""
    return o.op.broadcasts or operand.shape == result.shape


def hidden(o: Operator) -> set[Variable]:
    """The results that only the operator's own gradient gets."""
    slots = zip(o.op.outputs, o.outputs, strict=False)
    return {v for name, slot in slots if name in o.op.hidden for v in each(slot)}


def said(o: Operator) -> str:
    """An operator and the line that made it."""
    return f"`{o.type}` at {o.line or 'a loaded file'}"


def operand_metas(o: Operator, known: Metas) -> tuple[Any, ...]:
    """What is known of the operands in each slot."""
    return tuple(
        [v and known.get(v, v.meta) for v in s]
        if isinstance(s, list)
        else s and known.get(s, s.meta)
        for s in o.inputs
    )


def inferred(o: Operator, known: Metas) -> Metas:
    """What the sizes of the operands say of the results; of a gradient, those of its variable."""
    op: Op = o.op
    if op.forward is not None:
        names = {v.name: meta for v, meta in known.items()}
        found = {r: names.get(r.name.split("@GRAD")[0]) for r in o.results()}
        kept = {r: m for r, m in found.items() if m is not None and m.ndim == r.ndim}
        return {r: m.with_dtype(r.dtype) for r, m in kept.items()}  # perhaps in a wider one
    metas = operand_metas(o, known)
    try:
        made = list(op.infer(metas, o.attrs))
    except Exception as error:
        known_ahead = all(nbytes(r.meta) != -1 for r in o.results())
        if known_ahead and isinstance(error, ShapeError):  # sizes of several rounds meet
            return {r: r.meta for r in o.results()}
        raise explained(error, op, metas, o.attrs) from None
    if op.xshape:
        source: Any = metas[op.inputs.index(op.xshape)]
        made.append(source.with_shape((0, *source.shape)))
    results: Metas = {}
    for slot, meta in zip(o.outputs, made, strict=False):
        results.update(zip(each(slot), meta if isinstance(meta, list) else [meta], strict=False))
    return {r: m for r, m in results.items() if isinstance(m, Meta)}
