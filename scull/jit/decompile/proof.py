"""Whether an expression records the operators it stands for: it is tried in a Program of its own.

Only trees built here are evaluated, over functions of the public API: nothing of a file runs.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scull.core import session
from scull.core.interpreter import current, interpreting
from scull.deferred import load
from scull.errors import ScullError
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.jit.capture import Capture, Captured
from scull.jit.signature import leaves
from scull.passes.isomorphism import Comparison
from scull.passes.reader import structure_of
from scull.passes.structure import Call, Region, Structure, Value, each

SIGNS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
ROOTS = {
    "paddle": ("scull", None),
    "nn": ("scull.nn", None),
    "F": ("scull.nn.functional", None),
    "float": ("builtins", "float"),
    "length_of": ("scull.tensor", "array_length"),
    "recurrent": ("scull.jit.decompile.recurrent", "recurrent"),
}


def value_of(node: Any, names: dict[str, Any]) -> Any:
    """The value of a tree that was built here."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names[node.id] if node.id in names else root(node.id)
        case ast.Attribute():
            return getattr(value_of(node.value, names), node.attr)
        case ast.List():
            return [value_of(e, names) for e in node.elts]
        case ast.Tuple():
            return tuple([value_of(e, names) for e in node.elts])
        case ast.BinOp():
            return SIGNS[type(node.op)](value_of(node.left, names), value_of(node.right, names))
        case ast.Compare():
            right = value_of(node.comparators[0], names)
            return SIGNS[type(node.ops[0])](value_of(node.left, names), right)
        case ast.UnaryOp():
            return SIGNS[type(node.op)](value_of(node.operand, names))
        case ast.Slice():
            parts = (node.lower, node.upper, node.step)
            return slice(*[None if p is None else value_of(p, names) for p in parts])
        case ast.Subscript():
            return value_of(node.value, names)[value_of(node.slice, names)]
        case ast.Call():
            given = {str(k.arg): value_of(k.value, names) for k in node.keywords}
            return value_of(node.func, names)(*[value_of(a, names) for a in node.args], **given)
    raise AssertionError(ast.dump(node))


def root(word: str) -> Any:
    """The module or the function a name at the beginning means."""
    module, attribute = ROOTS[word]
    return Rooted(module) if attribute is None else load(module, attribute)


class Rooted:
    """A module that is found when it is asked for something."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, word: str) -> Any:
        return load(self.module, word)


Shape = int | None | list["Shape"]  # of results: the number of one, none, or several


class Shown(NamedTuple):
    """Which result of the calls stands where in what the expression gives."""

    shape: Shape


class Trial:
    """Some calls of a Program, the first of which has `results`, and the values they read."""

    def __init__(
        self, calls: Sequence[Call], operands: Sequence[Value], results: Sequence[Value]
    ) -> None:
        self.calls, self.operands, self.results = calls, operands, results

    def shown(self, expression: ast.expr, words: Mapping[str, Value]) -> Shown | None:
        """What the expression gives; None unless it records these calls and nothing else.

        `words` are the names that stand for operands in it.
        """
        program = Program()
        block = program.global_block()
        twins: dict[Value, Variable] = {}
        for i, value in enumerate(self.operands):
            v = value.variable
            options = {"stop_gradient": v.stop_gradient, "persistable": v.persistable}
            twins[value] = block.variable(f"operand.{i}", v.meta, **options)
        mode = Capture(program, Captured(program), lenient=True)
        guard = session.guarded(names=session.Names(), main=program, startup=Program())
        names: dict[str, Any] = {word: twins[v] for word, v in words.items()}
        try:
            with guard, interpreting(current().over(mode)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = value_of(expression, {**names, "training": True})
        except (ScullError, TypeError, ValueError, AttributeError, KeyError, IndexError):
            return None
        return self.matched(program, twins, made)

    def matched(self, program: Program, twins: dict[Value, Variable], made: Any) -> Shown | None:
        """The same, of what was recorded."""
        block = program.global_block()
        found = [v for v in leaves(made) if v is not None]
        if any(not isinstance(v, Variable) or block.vars.get(v.name) is not v for v in found):
            return None
        settle(program)
        names = [v.name for v in twins.values()]
        recorded = structure_of(program, names, [v.name for v in found])
        given = dict(zip(self.operands, recorded.entries, strict=True))
        if any(v in recorded.entries for v in recorded.exits) and self.results:
            return None
        places: list[int | None] = [None] * len(found)
        exits = []
        for i, value in enumerate(self.results):
            place = next((j for j, v in enumerate(recorded.exits) if is_like(value, v)), None)
            if place is None or places[place] is not None:
                return None
            places[place] = i
            exits.append(recorded.exits[place])
        theirs = list(recorded.region.calls())
        if len(theirs) != len(self.calls):
            return None
        ours = Structure([], list(self.results), {}, Region(), set())
        comparison = Comparison(ours, Structure([], exits, {}, Region(), set()), given)
        alike = comparison.run()
        if not self.results:
            comparison.pair_calls(self.calls[0], theirs[-1], "")
            comparison.drain()
        met = {v.maker for v in alike.pairs} | {self.calls[0]}
        if not alike or not met.issuperset(self.calls):
            return None
        given_places = iter(places)
        return Shown(shape_of(made, given_places))


def shape_of(made: Any, places: Iterator[int | None]) -> Shape:
    """`made` with places for its variables."""
    if isinstance(made, list | tuple):
        return [shape_of(v, places) for v in made]
    return None if made is None else next(places)


def is_like(value: Value, other: Value) -> bool:
    """Whether two values stand at the same place of operators of one type."""
    a, b = value.maker, other.maker
    return (
        isinstance(a, Call)
        and isinstance(b, Call)
        and a.type == b.type
        and places(a.outputs, value) == places(b.outputs, other)
    )


def places(outputs: Iterable[Any], value: Value) -> list[tuple[int, int]]:
    """Where a value stands among results."""
    return [(i, j) for i, s in enumerate(outputs) for j, v in enumerate(each(s)) if v is value]


def settle(program: Program) -> None:
    """Let operators test instead of train, as those of saved Programs do."""
    for o in program.global_block().ops:
        if "is_test" in o.op.kinds:
            o.attrs["is_test"] = True
