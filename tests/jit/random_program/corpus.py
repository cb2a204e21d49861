"""Which features stand together in the random Layers.

`python -m tests.jit.random_program.corpus` prints it; with a number, the source of that Layer.
"""

import ast
import sys
from functools import cache
from itertools import combinations
from typing import Any

from tests.control.writer import EXACT, SMOOTH
from tests.jit.random_program.trial import Trial
from tests.jit.random_program.writer import PYTHON, text_of

SUITE = {"smooth": 250, "exact": 50, "pieces": 100}  # the first two are saved and loaded
NIGHTLY = {"smooth": 9_000, "exact": 1_000, "pieces": 3_000}
NODES: dict[str, Any] = {
    "if": ast.If,
    "ternary": ast.IfExp,
    "and, or": ast.BoolOp,
    "while": ast.While,
    "for": ast.For,
    "break": ast.Break,
    "continue": ast.Continue,
    "nonlocal": ast.Nonlocal,
    "lambda": ast.Lambda,
    "comprehension": (ast.ListComp, ast.GeneratorExp),
    "augmented": ast.AugAssign,
    "tuple": ast.Starred,
    "assert": ast.Assert,
    "walrus": ast.NamedExpr,
    "with": ast.With,
    "try": ast.Try,
    "match": ast.Match,
}
CALLS = ("enumerate", "zip", "range", "print", "len", "stack", "append", "pop", "sum")
ATTRIBUTES = ("shape", "seen", "hidden", "count", "layers", "mixed", "weight")
FEATURES = (
    *NODES,
    *CALLS,
    *ATTRIBUTES,
    *("chained", "else of a loop", "return in a loop", "loop in a loop", "function", "item set"),
)


def text(kind: str, number: int) -> str:
    """The source of a Layer."""
    return text_of(number, EXACT if kind == "exact" else SMOOTH, kind == "pieces")


def trial(kind: str, number: int, source: str | None = None) -> Trial:
    """A Layer with its operands; every other one has a size that is not known."""
    opened = bool(number % 2) and kind != "pieces"
    return Trial(source or text(kind, number), number, kind == "exact", opened)


def features(source: str) -> set[str]:
    """What stands in the `forward` of a Layer."""
    model = ast.parse(source).body[-1]
    assert isinstance(model, ast.ClassDef)
    nodes = list(ast.walk(model.body[-1]))
    found = {name for name, kind in NODES.items() if any(isinstance(n, kind) for n in nodes)}
    calls = [n.func for n in nodes if isinstance(n, ast.Call)]
    called = {f.id if isinstance(f, ast.Name) else getattr(f, "attr", "") for f in calls}
    found |= called & set(CALLS)
    found |= {n.attr for n in nodes if isinstance(n, ast.Attribute)} & set(ATTRIBUTES)
    loops = [n for n in nodes if isinstance(n, ast.For | ast.While)]
    within = [type(inner) for loop in loops for s in loop.body for inner in ast.walk(s)]
    stores = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    told = {
        "chained": any(isinstance(n, ast.Compare) and len(n.ops) > 1 for n in nodes),
        "else of a loop": any(loop.orelse for loop in loops),
        "return in a loop": ast.Return in within,
        "loop in a loop": ast.For in within or ast.While in within,
        "function": sum(isinstance(n, ast.FunctionDef) for n in nodes) > 1,
        "item set": bool(stores),
    }
    return found | {name for name, holds in told.items() if holds}


@cache
def together() -> dict[frozenset[str], int]:
    """How many Layers of the suite have each feature, and each two of them."""
    found: dict[frozenset[str], int] = {}
    for kind, count in SUITE.items():
        for number in range(count):
            names = features(text(kind, number))
            for pair in [*combinations(names, 2), *((n,) for n in names)]:
                found[frozenset(pair)] = found.get(frozenset(pair), 0) + 1
    return found


def matrix() -> str:
    """The numbers of Layers that have each two features."""
    counts, width = together(), max(map(len, FEATURES))
    lines = [f"{sum(SUITE.values())} Layers of {len(FEATURES)} features, {len(PYTHON)} statements"]
    for i, name in enumerate(FEATURES):
        row = "".join(f"{counts.get(frozenset({name, n}), 0):>4}" for n in FEATURES[: i + 1])
        lines.append(f"{i:>2} {name:<{width}} {row}")
    lines.append(" " * (width + 4) + "".join(f"{i:>4}" for i in range(len(FEATURES))))
    return "\n".join(lines)


if __name__ == "__main__":
    print(text("smooth", int(sys.argv[1])) if sys.argv[1:] else matrix())
