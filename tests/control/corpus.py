"""Which features stand together in the random programs: `python -m tests.control.corpus` prints it.

With a number it prints the source of that program.
"""

import sys
from functools import cache
from itertools import combinations

from tests.control.source import source
from tests.control.tree import Tree
from tests.control.writer import EXACT, SMOOTH, features, tree_of

COUNT = 300  # in the suite
NIGHTLY = 10_000
EXACTLY = 60  # of those whose gradients have the same bits in every form

FEATURES = (
    *("if", "elif", "results", "writes", "condition known", "condition of values"),
    *("and", "or", "not", "while", "for", "function", "block", "counter used"),
    *("bound known", "bound fed", "bound a length", "no round"),
    *("break", "continue", "return", "branch in loop", "loop in branch", "loop in loop"),
    *("append", "store", "pop", "read", "parameter", "draw"),
)


def smooth(number: int) -> Tree:
    """The program of a number whose gradients small steps show."""
    return tree_of(number, SMOOTH)


def exact(number: int) -> Tree:
    """The program of a number whose values are small whole numbers."""
    return tree_of(number, EXACT)


@cache
def together() -> dict[frozenset[str], int]:
    """How many programs of the suite have each feature, and each two of them."""
    found: dict[frozenset[str], int] = {}
    for number in range(COUNT):
        names = features(smooth(number))
        for pair in [*combinations(names, 2), *((n,) for n in names)]:
            found[frozenset(pair)] = found.get(frozenset(pair), 0) + 1
    return found


def matrix() -> str:
    """The numbers of programs that have each two features."""
    counts, width = together(), max(map(len, FEATURES))
    lines = [f"{COUNT} programs of {len(FEATURES)} features"]
    for i, name in enumerate(FEATURES):
        row = "".join(f"{counts.get(frozenset({name, n}), 0):>4}" for n in FEATURES[: i + 1])
        lines.append(f"{i:>2} {name:<{width}} {row}")
    lines.append(" " * (width + 4) + "".join(f"{i:>4}" for i in range(len(FEATURES))))
    return "\n".join(lines)


if __name__ == "__main__":
    print(source(smooth(int(sys.argv[1]))) if sys.argv[1:] else matrix())
