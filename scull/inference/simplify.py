"""What a loaded Program goes through before it is run as a pure function: passes over a copy.

Their names are those that Paddle's passes to the same end have, so that `Config.delete_pass` of a
script leaves out what it means.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from scull.core.meta import Kind, count
from scull.executor.executor import Executor
from scull.files.model import Model
from scull.ir.clone import copied
from scull.ir.operator import ForeignOp, Operator, effects, program_outputs
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.runtime.scope import Scope

SMALL = 1 << 20  # bytes: a constant that may become larger than what it is made of


class Simplifying:
    """A Program that changes, the variables it gives, and what is known of its values."""

    def __init__(self, model: Model, scope: Scope) -> None:
        self.program: Program = copied(model.program)
        block = self.program.global_block()
        block.ops[:] = [o for o in block.ops if o.type not in ("feed", "fetch", "fetch_v2")]
        self.fetches = [block.var(v.name) for v in model.fetches]
        self.fed = {block.var(name) for name in model.feeds}
        self.scope = Scope(scope)  # for the values of constants
        self.writes = Counter(v for o in self.operators() for v in o.results())

    def operators(self) -> Iterable[Operator]:
        """The operators of all blocks."""
        return (o for block in self.program.blocks for o in block.ops)

    def is_lasting(self, v: Variable) -> bool:
        """Whether a variable has one value as long as a run lasts."""
        given = v.persistable or v in self.fed
        return v.kind is Kind.DENSE and self.writes[v] == (0 if given else 1)

    def drop(self, o: Operator, x: Variable) -> None:
        """Let whoever reads the first result of `o` read `x`, and `o` go."""
        (y, *_) = o.results()
        self.program.global_block().ops.remove(o)
        for other in self.operators():
            if any(v is y for v in other.operands()):
                other.replace(y, x, inputs=True, outputs=False)
        self.fetches = [x if v is y else v for v in self.fetches]


def tested(s: Simplifying) -> None:
    """Operators that tell testing from training test, and leave running statistics alone."""
    for o in s.operators():
        if "is_test" in o.op.kinds:
            o.attrs["is_test"] = True
            o.outputs = tuple(
                None if name in o.op.in_place else slot
                for name, slot in zip(program_outputs(o.op), o.outputs, strict=True)
            )
    s.writes = Counter(v for o in s.operators() for v in o.results())


def without_dropout(s: Simplifying) -> None:
    """Dropout that drops nothing is a `scale`, which draws no random numbers."""
    read = {v for o in s.operators() for v in o.operands()}.union(s.fetches)
    for block in s.program.blocks:
        for place, o in enumerate(block.ops):
            if o.type != "dropout" or not o.attrs["is_test"] or o.told:
                continue
            (x, *seeds), (y, *masks) = o.operands(), o.results()
            if seeds or read & set(masks) or x.dtype.itemsize < 4:  # half is computed as float32
                continue
            kept = o.attrs["dropout_implementation"] == "upscale_in_train"
            factor = 1.0 if kept else 1.0 - o.attrs["dropout_prob"]
            block.ops[place] = block.made("scale", {"X": [x]}, {"Out": [y]}, {"scale": factor})


def without_copies(s: Simplifying) -> None:
    """Results that are what they are made of: of `assign`, of `scale` by one."""
    for o in list(s.program.global_block().ops):
        by_one = o.type == "scale" and o.attrs["scale"] == 1 and o.attrs["bias"] == 0
        if (by_one or o.type == "assign") and not o.told:
            drop_copy(s, o)


def drop_copy(s: Simplifying, o: Operator) -> None:
    """Drop an operator whose first result is its operand, where nobody could tell them apart."""
    operands, (y, *rest) = o.operands(), o.results()
    read = {v for other in s.operators() for v in other.operands()}
    if len(operands) != 1 or read & set(rest) or not set(rest).isdisjoint(s.fetches):
        return
    (x,) = operands
    alike = x.dtype == y.dtype and not y.persistable and y not in s.fed
    if alike and s.is_lasting(x) and s.is_lasting(y):
        s.drop(o, x)


def folded(s: Simplifying) -> None:
    """What depends on nothing but constants is computed once."""
    block, known, found = s.program.global_block(), set[Variable](), list[Operator]()
    for o in block.ops:
        operands = o.operands()
        known.update(v for v in operands if v.persistable and s.is_lasting(v))
        if is_constant(s, o) and known.issuperset(operands):
            found.append(o)
            known.update(o.results())
    made = {v for o in found for v in o.results()}
    rest = [o for o in s.operators() if o not in set(found)]
    wanted = sorted({v.name for o in rest for v in o.operands()} | {v.name for v in s.fetches})
    names = [v.name for v in made if v.name in set(wanted)]
    if not names:
        return
    constants = copied(s.program, [found, *([] for _ in s.program.blocks[1:])])
    values = Executor().run(constants, {}, names, scope=s.scope)
    for name, value in zip(names, values, strict=True):
        value.flags.writeable = False
        s.scope.var(name).value = value
        block.var(name).persistable = True
    block.ops[:] = [o for o in block.ops if o not in set(found)]
    s.program.changed()


def is_constant(s: Simplifying, o: Operator) -> bool:
    """Whether an operator of the global block computes a value that lasts and is not too large."""
    if isinstance(o.op, ForeignOp) or o.op.has_blocks or effects(o) or not o.results():
        return False
    sizes = [nbytes(v) for v in o.results()]
    given = sum(max(nbytes(v), 0) for v in o.operands())
    lasting = all(s.is_lasting(v) and not v.persistable for v in o.results())
    return lasting and -1 not in sizes and sum(sizes) <= max(SMALL, given)


def nbytes(v: Variable) -> int:
    """The bytes of a value; -1 when they are not known."""
    size = count(v.shape)
    return -1 if size == -1 else int(size) * v.dtype.itemsize


PASSES: dict[str, Callable[[Simplifying], Any]] = {  # in the order in which they run
    "is_test_pass": tested,
    "simplify_with_basic_ops_pass": without_dropout,
    "identity_scale_op_clean_pass": without_copies,
    "constant_folding_pass": folded,
}


def simplified(model: Model, scope: Scope, passes: Iterable[str]) -> tuple[Model, Scope]:
    """A model that gives the same, and a scope with its constants within `scope`."""
    s = Simplifying(model, scope)
    for name in passes:
        if name in PASSES:
            PASSES[name](s)
    return Model(s.program, model.feeds, s.fetches), s.scope
