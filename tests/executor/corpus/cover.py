"""Which features stand in which Program: every pair that can occur does in some."""

import random
from collections.abc import Iterable
from functools import cache
from itertools import combinations

from tests.executor.corpus import control, edge, memory, outside, training, value

FEATURES = {
    **memory.FEATURES,
    **edge.FEATURES,
    **outside.FEATURES,
    **control.FEATURES,
    **training.FEATURES,
    **value.FEATURES,
}
WIDTH = 8  # features of a Program at most
TRIES = 12  # by how many ways to go on the best is found

UNFED = "nothing is fed"
UNFETCHED = "nothing is fetched"
IMPOSSIBLE = {
    frozenset({"no input", "feed written"}): UNFED,
    frozenset({"no input", "feed fetched"}): UNFED,
    frozenset({"no input", "feed to scope"}): UNFED,
    frozenset({"no input", "unknown size"}): UNFED,
    frozenset({"no fetch", "feed fetched"}): UNFETCHED,
    frozenset({"no fetch", "fetched twice"}): UNFETCHED,
    frozenset({"no fetch", "scope fetched"}): UNFETCHED,
}

Pair = frozenset[str]


def pairs(features: Iterable[str]) -> set[Pair]:
    """Every two of these."""
    return set(map(frozenset, combinations(features, 2)))


def possible(features: Iterable[str]) -> bool:
    """Whether these can stand in one Program."""
    return not pairs(features) & IMPOSSIBLE.keys()


@cache
def sets() -> dict[str, tuple[str, ...]]:
    """By the name of each Program its features: each alone, then together until no pair is left."""
    found = {name: (name,) for name in FEATURES}
    left, chance = pairs(FEATURES) - IMPOSSIBLE.keys(), random.Random(0)
    while left:
        best = max((grown(left, chance) for _ in range(TRIES)), key=lambda f: len(pairs(f) & left))
        left -= pairs(best)
        found[f"mixed {len(found) - len(FEATURES)}"] = best
    found.update({f"training: {kind}": ("rows", "training") for kind in training.OPTIMIZERS})
    return found


@cache
def optimizers() -> dict[str, str]:
    """By the name of each Program with a training step its optimizer: all by turns."""
    names = [name for name, features in sets().items() if "training" in features]
    kinds = list(training.OPTIMIZERS)
    named = {f"training: {kind}": kind for kind in kinds}
    return {name: kinds[i % len(kinds)] for i, name in enumerate(names)} | named


def grown(left: set[Pair], chance: random.Random) -> tuple[str, ...]:
    """Features that begin with a pair of `left` and cover many more of them."""
    features = sorted(chance.choice(sorted(left, key=sorted)))
    names = sorted(FEATURES)
    while len(features) < WIDTH:
        chance.shuffle(names)
        fitting = [n for n in names if n not in features and possible([*features, n])]
        gains = {n: sum(frozenset({n, f}) in left for f in features) for n in fitting}
        features.append(max(gains, key=lambda n: gains[n]))
    chance.shuffle(features)
    return tuple(features)


def matrix() -> str:
    """How many Programs hold each pair of features: `.` where it cannot occur."""
    names = list(FEATURES)
    together = [pairs(features) for features in sets().values()]
    width = max(map(len, names))
    lines = [f"{len(sets())} Programs of {len(names)} features"]
    for i, name in enumerate(names):
        row = "".join(f"{entry(name, other, together):>3}" for other in names[: i + 1])
        lines.append(f"{i:>2} {name:<{width}} {row}")
    lines.append(" " * (width + 4) + "".join(f"{i:>3}" for i in range(len(names))))
    lines += [f"cannot occur: {' and '.join(sorted(p))}: {why}" for p, why in IMPOSSIBLE.items()]
    return "\n".join(lines)


def entry(a: str, b: str, together: list[set[Pair]]) -> str:
    """How many Programs hold both."""
    if a == b:
        return str(sum(a in features for features in sets().values()))
    pair = frozenset({a, b})
    return "." if pair in IMPOSSIBLE else str(sum(pair in found for found in together))
