"""append_backward and gradients: the gradient operators of a Program, appended to it."""

from collections.abc import Callable, Iterable
from typing import Any

from scull.autograd.keeping import keep_values
from scull.autograd.opening import BACKWARD, open_gradients
from scull.core.interpreter import interpreting
from scull.core.meta import Kind
from scull.core.op import Op, op_of
from scull.core.rule import names_of
from scull.errors import ArgumentError, ScullError, UnsupportedError
from scull.ir.block import Block
from scull.ir.depth import deep
from scull.ir.operator import Operator, each, program_outputs
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable

Told = Callable[[Block, Operator, dict[str, str]], None]  # with the variables of gradients, by name
LOSS = 256
Key = tuple[
    Variable, int
]  # a variable and how often it was written: a gradient belongs to one version


@deep
def append_backward(
    loss: Variable,
    parameters: Iterable[Any] | None = None,
    no_grad: set[str] | None = None,
    *,
    clips: bool = False,
    told: Told | None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the gradient operators of `loss`; return pairs (parameter, gradient), in order.

    With `clips` the gradient of each variable that has an `error_clip` is clipped by it; `told` is
    called for every new operator.
    """
    block = loss.block
    if loss.op is None:
        raise ArgumentError(f"`{loss.name}` is computed by no operator of this Program")
    for o in reversed(block.ops):
        if loss in set(o.results()):
            o.role |= LOSS
            break
    open_gradients(block, [loss])
    into = block.program.current_block()  # where a branch trains, its gradients are in it
    into = into if block in set(into.lineage()) else block
    seed = into.variable(loss.name + "@GRAD", loss.meta)
    recorder = Recorder(into)
    with (
        block.program.serving(BACKWARD | LOSS, namescope=""),
        interpreting(recorder),
        recorder.into(seed),
    ):
        op_of("fill_constant").call(shape=loss.shape, value=1.0, dtype=loss.dtype)
    seeds = {loss: seed}
    pass_ = Backward(
        block,
        seeds,
        no_grad or set(),
        into=into,
        parameters_only=True,
        clips=clips,
        told=told,
    )
    made = pass_.run([loss])
    wanted = (
        block.program.global_block().all_parameters() if parameters is None else list(parameters)
    )
    by_name = {v.name: g for v, g in made.items()}
    names = [p if isinstance(p, str) else p.name for p in wanted]
    kept = [block.program.global_block().find(n) for n in names if n in by_name]
    return [(p, by_name[p.name]) for p in kept if p is not None and getattr(p, "trainable", True)]


@deep
def gradients(
    targets: list[Variable],
    sources: list[Variable],
    target_gradients: list[Any] | None = None,
    no_grad: set[str] | None = None,
) -> list[Variable | None]:
    """Append the gradient operators of `targets` by `sources`; None for a source without one."""
    block = targets[0].block.program.current_block()
    open_gradients(block, targets)
    seeds: dict[Variable, Variable] = {}
    recorder = Recorder(block)
    block.program.derivatives += 1
    for t, given in zip(targets, target_gradients or [None] * len(targets), strict=True):
        if given is not None:
            seeds[t] = given
            continue
        seed = block.variable(renamed(block, t.name + "@GRAD"), t.meta)
        serving = block.program.serving(BACKWARD, namescope="")
        with serving, interpreting(recorder), recorder.into(seed):
            op_of("fill_any_like").call(t, value=1.0, dtype=t.dtype)
        seeds[t] = seed
    block.program.derivatives -= 1
    made = Backward(block, seeds, no_grad or set(), sources=sources).run(targets)
    return [made.get(s) for s in sources]


def renamed(block: Block, name: str) -> str:
    """`name`; where it is taken, with `grad/` in front for each earlier time."""
    return "grad/" * block.program.derivatives + name if block.find(name) is not None else name


class Backward:
    """One pass backwards over a block."""

    def __init__(
        self,
        block: Block,
        seeds: dict[Variable, Variable],
        no_grad: set[str],
        *,
        operators: list[Operator] | None = None,
        into: Block | None = None,
        sources: list[Variable] | None = None,
        parameters_only: bool = False,
        nested: bool = False,
        again: bool = False,
        clips: bool = False,
        told: Told | None = None,
    ) -> None:
        self.block, self.into = block, into or block
        self.nested, self.again = nested, again  # whether of a block, which runs perhaps again
        self.clips, self.told = clips, told
        self.old = len(self.into.ops)  # the operators that were told of, or there before
        self.operators = list(operators if operators is not None else block.ops)
        self.seeds, self.no_grad, self.sources = seeds, no_grad, sources
        self.before = set(self.into.vars) - {v.name for v in seeds.values()}
        block.program.derivatives += self.into is block
        self.recorder = Recorder(self.into)
        self.between: set[Variable] = set()  # what operators keep for their gradient operators
        self.version: dict[Variable, int] = {}
        self.reads: dict[Operator, dict[Variable, Key]] = {}
        self.writes: dict[Operator, dict[Variable, Key]] = {}
        self.partial: dict[Key, list[Variable]] = {}
        self.counts: dict[Key, int] = {}
        self.names: dict[Variable, str] = {}
        self.final: dict[Key, Variable] = {}
        self.arrays: dict[Variable, Variable] = {}  # lists of tensors to those of their gradients
        self.known = {d.name: d for d in seeds.values()}  # gradients of this pass by name
        self.copies: dict[Key, Variable] = {}  # of versions that gradients would not find

    def run(self, targets: list[Variable]) -> dict[Variable, Variable]:
        """Append the gradient operators; return the gradient of each variable that has one."""
        self.number_writes()
        path = self.path(targets)
        self.final = {(t, self.version.get(t, 0)): d for t, d in self.seeds.items()}
        self.arrays = {t: d for t, d in self.seeds.items() if t.kind is Kind.ARRAY}
        self.seed_consumed()
        program = self.into.program
        with program.serving(BACKWARD, namescope=""), interpreting(self.recorder):
            for o in path:
                arrived = {v: self.finish(key) for v, key in self.writes[o].items()}
                self.tell()
                if any(v is not None for v in arrived.values()):
                    wanted: dict[int, list[Variable]] = {}
                    for i, v in self.receivers(o):
                        wanted.setdefault(i, []).append(self.fresh(self.reads[o][v]))
                    start = len(self.into.ops)
                    MAKERS.get(o.op.name, make_gradient)(self, o, arrived, wanted)
                    keep_values(self, o, self.into.ops[start:])
                    self.tell()
            for key in list(self.partial):
                self.finish(key)
                self.tell()
        self.sort_variables()
        oldest: dict[Variable, tuple[int, Variable]] = {}
        for (v, n), d in self.final.items():
            if v not in oldest or n < oldest[v][0]:
                oldest[v] = (n, d)
        return {v: d for v, (_, d) in oldest.items()}

    def tell(self) -> None:
        """Tell of the operators that are new."""
        if self.told is not None:
            names = {d.name: v.name for v, d in self.seeds.items()}
            names |= {name: v.name for v, name in self.names.items()}
            for o in self.into.ops[self.old :]:
                self.told(self.into, o, names)
            self.old = len(self.into.ops)

    def seed_consumed(self) -> None:
        """The seed of a target that others of this pass consume is one part of its gradient."""
        for t, d in self.seeds.items():
            key = (t, self.version.get(t, 0))
            if self.counts.get(key) and t not in self.arrays:
                del self.final[key]
                self.counts[key] += 1
                self.partial[key] = [d]

    def number_writes(self) -> None:
        """Give every operand and result its version."""
        for o in self.operators:
            self.reads[o] = {v: (v, self.version.get(v, 0)) for v in [*o.operands(), *kept(o)]}
            for v in o.results():
                self.version[v] = self.version.get(v, 0) + 1
            self.writes[o] = {v: (v, self.version[v]) for v in o.results()}
            if o.op.hidden and not all(v.stop_gradient for v in o.operands()):
                slots = zip(o.op.outputs, o.outputs, strict=False)
                self.between.update(v for n, s in slots if n in o.op.hidden for v in each(s))

    def path(self, targets: list[Variable]) -> list[Operator]:
        """The operators gradients pass through, the last first."""
        useful = self.useful()
        path, reached = [], {(t, self.version.get(t, 0)) for t in targets}
        for o in reversed(self.operators):
            if o.role & 3 == 2 or not reached & set(self.writes[o].values()):
                continue
            found = [
                (i, v) for i, v in self.receivers(o) if useful is None or self.reads[o][v] in useful
            ]
            if found:
                path.append(o)
                for _, v in self.receivers(o):
                    key = self.reads[o][v]
                    reached.add(key)
                    self.counts[key] = self.counts.get(key, 0) + 1
        return path

    def useful(self) -> set[Key] | None:
        """What depends on the sources; None when everything counts."""
        if self.sources is None:
            return None
        useful: set[Key] = {(s, n) for s in self.sources for n in range(self.version.get(s, 0) + 1)}
        for o in self.operators:
            if useful & set(self.reads[o].values()):
                useful |= set(self.writes[o].values())
        return useful

    def receivers(self, o: Operator) -> list[tuple[int, Variable]]:
        """The (slot, variable) pairs of `o` that get a gradient."""
        g = o.op.gradient if "grad" not in getattr(o.op, "missing", ()) else None
        if g is None and o.op.name not in MAKERS:
            return []
        if o.op.name in TAKERS:
            return [(i, v) for i, v in TAKERS[o.op.name](o) if self.takes(v)]
        missing = unmoved(o, g) if o.op.forward else ()
        return [
            (i, v)
            for i, (n, s) in enumerate(zip(o.op.inputs, o.inputs, strict=True))
            if g is None or ("d" + o.op.up[n] in g.outputs and "d" + o.op.up[n] not in missing)
            for v in each(s)
            if self.takes(v)
        ]

    def takes(self, v: Variable) -> bool:
        """Whether gradients may reach `v`."""
        asked = v in self.between or v in set(self.sources or ())
        return (not v.stop_gradient or asked) and v.name not in self.no_grad

    def fresh(self, key: Key) -> Variable:
        """A new variable for one partial gradient of `key`."""
        v, several = key[0], self.counts[key] > 1
        if v not in self.names:
            name = v.name + "@GRAD"
            own = self.before if self.into is v.block or v in self.seeds else set(self.into.vars)
            taken = name in own and name not in self.known
            self.names[v] = "grad/" * self.into.program.derivatives + name if taken else name
        if v.kind is Kind.ARRAY:  # each consumer changes the one list of gradients there is
            made = self.arrays[v] = self.final[key] = self.called(self.names[v], v.meta)
            return made
        parts = self.partial.setdefault(key, [])
        suffix = f"@RENAME@block{self.block.idx}@{len(parts)}" if several else ""
        parts.append(self.called(self.names[v] + suffix, v.meta))
        return parts[-1]

    def called(self, name: str, meta: Any) -> Variable:
        """The gradient of this pass with that name: of all versions of a variable it is one."""
        if name not in self.known:
            self.known[name] = self.into.variable(name, meta)
        return self.known[name]

    def finish(self, key: Key) -> Variable | None:
        """The whole gradient, summed where the variable has several consumers."""
        if key[0] in self.arrays:
            return self.arrays[key[0]]
        if key not in self.final and self.partial.get(key):
            parts = self.partial[key]
            self.final[key] = parts[0]
            if len(parts) > 1:
                self.final[key] = self.called(self.names[key[0]], key[0].meta)
                made = self.recorder.append(op_of("sum"), (parts,), (self.final[key],), {})
                if key[0].is_parameter and not self.nested:
                    made.role_var = (key[0].name, self.final[key].name)
            if self.clips and key[0].error_clip is not None:
                key[0].error_clip._append_clip_op(self.into, self.final[key].name)
        return self.final.get(key)

    def sort_variables(self) -> None:
        """New variables stand in the order of their names, as Paddle's do."""
        fresh = sorted(set(self.into.vars) - self.before)
        for name in fresh:
            self.into.vars[name] = self.into.vars.pop(name)


def unmoved(o: Operator, g: Op | None) -> set[str]:
    """The gradients that no rule computes, since a gradient operator does not depend on them."""
    if g is None:
        return set()
    op = o.op
    known = {op.up[n]: s for n, s in zip(op.inputs, o.inputs, strict=True)}
    known |= {op.up[n]: s for n, s in zip(op.outputs, o.outputs, strict=False)}
    known |= {"d" + op.up[n]: s for n, s in zip(op.outputs, o.outputs, strict=False)}
    metas = [
        [v.meta for v in s if v] if isinstance(s, list) else s and s.meta
        for s in map(known.get, g.inputs)
    ]
    try:
        found = g.infer(tuple(metas), {**o.attrs, "wanted": g.outputs})
    except ScullError:  # sizes that only a run tells: it may depend on them
        return set()
    return {n for n, m in zip(g.outputs, found, strict=True) if m is None}


def needs_zeros(op: Op, name: str, arrived: Variable | None) -> bool:
    """Whether a rule insists on a gradient that did not come: it does not say `dmean=None`."""
    named = any("d" + name in names_of(rule) for rule in op.rules.values())
    return named and name not in op.optional and arrived is None


def make_gradient(
    pass_: Backward, o: Operator, arrived: dict[Variable, Any], wanted: dict[int, list[Variable]]
) -> None:
    """Append `<op>_grad` for `o`, or the operators of its rule where the declaration says so."""
    op = o.op
    g = op.gradient
    if g is None:
        raise UnsupportedError(f"`{o.type}` has no gradient")
    known = {op.up[n]: s for n, s in zip(op.inputs, o.inputs, strict=True)}
    known |= {op.up[n]: s for n, s in zip(op.outputs, o.outputs, strict=False)}
    if op.xshape:
        known[op.up[op.xshape]] = o.outputs[program_outputs(op).index("XShape")]
    for n, slot in zip(op.outputs, o.outputs, strict=False):
        known["d" + op.up[n]] = gradient_slot(op, n, slot, arrived)
    outs = {"d" + op.up[n]: wanted.get(i) for i, n in enumerate(op.inputs)}
    if op.inline_gradient:
        inline(pass_, g, known, outs, o.attrs)
        pass_.into.ops[-1].role_var = of_parameters(pass_, o, wanted)
        return
    slots = []
    for n, name in zip(op.inputs, ["d" + op.up[n] for n in op.inputs], strict=True):
        if name in g.outputs:
            slots.append(output_slot(pass_, o, op, n, outs[name]))
    operator = Operator(
        pass_.into, g, tuple(map(known.get, g.inputs)), tuple(slots), dict(o.attrs), dict(o.extra)
    )
    operator.told, operator.role = dict(o.told), BACKWARD
    operator.role_var = of_parameters(pass_, o, wanted)
    operator.namescope, operator.device, operator.line = o.namescope, o.device, o.line
    pass_.into.append(operator)
    if o.attrs.get("is_sparse"):
        pass_.into.metas(operator)


def of_parameters(
    pass_: Backward, o: Operator, wanted: dict[int, list[Variable]]
) -> tuple[str, ...]:
    """The names of parameters that `o` reads, each before that of its whole gradient."""
    by_slot = sorted(wanted.items(), key=lambda item: o.op.slot(o.op.inputs[item[0]]))
    return tuple(
        name
        for i, slot in by_slot
        for v, d in zip(receiving(pass_, o, i), slot, strict=True)
        if v.is_parameter and not pass_.nested and "@RENAME@" not in d.name
        for name in (v.name, d.name)
    )


def receiving(pass_: Backward, o: Operator, i: int) -> list[Variable]:
    """The variables of input `i` that get a gradient."""
    return [v for j, v in pass_.receivers(o) if j == i]


def output_slot(
    pass_: Backward, o: Operator, op: Op, name: str, made: list[Variable] | None
) -> Any:
    """What stands in a gradient's output slot; lists have gaps where a variable gets none."""
    if name not in op.lists or not made:
        return made[0] if made else None
    given = iter(made)
    takers = set(receiving(pass_, o, op.inputs.index(name)))
    slot = o.inputs[op.inputs.index(name)] or ()
    return [next(given) if v in takers else None for v in slot]


def gradient_slot(op: Op, name: str, slot: Any, arrived: dict[Variable, Any]) -> Any:
    """The gradient that reached a result, with zeros where a rule insists on one."""
    if isinstance(slot, list):
        return [gradient_slot(op, name, v, arrived) for v in slot]
    if slot is None:
        return None
    if needs_zeros(op, name, arrived.get(slot)):
        return op_of("fill_any_like").call(slot, value=0.0, dtype=slot.dtype)
    return arrived.get(slot)


def inline(
    pass_: Backward, g: Op, known: dict[str, Any], outs: dict[str, Any], attrs: dict[str, Any]
) -> None:
    """Record the rule's own operators, their last results called as gradients are."""
    made = g.body(*map(known.get, g.inputs), **attrs)
    for n, found in zip(g.outputs, made if len(g.outputs) > 1 else (made,), strict=True):
        for d, v in zip(
            outs.get(n) or (), found if isinstance(found, list) else [found], strict=False
        ):
            rename(pass_.into, v, d)


def rename(block: Block, variable: Variable, other: Variable) -> None:
    """Let the operator that made `variable` write `other` instead."""
    maker = next(o for o in reversed(block.ops) if variable in set(o.results()))
    maker.outputs = tuple(other if v is variable else v for v in maker.outputs)
    other.op = maker
    block.vars.pop(variable.name, None)


def kept(o: Operator) -> list[Variable]:
    """The variables that `o` perhaps leaves as they were, wholly or in part."""
    return each(o.outputs[0]) if o.op.has_blocks or o.type == "write_to_array" else []


MAKERS: dict[str, Any] = {}  # operators that make their gradient operators themselves
TAKERS: dict[str, Any] = {}  # and which of their variables get a gradient, if not all they read
