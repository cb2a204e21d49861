"""Random graphs of operators: machine code gives what the instructions give, gradients included."""

import importlib.util
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import scull as paddle
from scull.executor.call import Call
from scull.flags import flags
from tests.compiler.feature import FEATURES
from tests.compiler.graph import ENDS, Build, Graph, Piece, built
from tests.ops.closeness import TOLERANCES, wide

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
COUNT, NIGHTLY, PART = 550, 100_000, 25
WORSE = 8.0  # times the rounding errors of the instructions that code may make


def graph_of(number: int) -> Graph:
    """The graph of a number: two features that meet, and a few more."""
    chance = random.Random(number)
    pairs = list(combinations(FEATURES, 2))
    first = pairs[number % len(pairs)]
    names = [*first, *chance.choices(list(FEATURES), k=chance.randint(0, 2))]
    chance.shuffle(names)
    pieces = tuple(Piece(name, chance.getrandbits(32)) for name in names)
    return Graph(pieces, chance.choice(("nothing", "nothing", "gradients", *ENDS)))


def results_of(b: Build, mode: str) -> tuple[list[Any], dict[str, Any], int]:
    """What a Program gives twice in a row, what it leaves in the scope, how many functions ran."""
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    with flags(COMPILE="off"), paddle.static.scope_guard(scope):
        exe.run(b.startup)
    for name, value in b.begins.items():
        scope.var(name).value = value.copy()
    found: list[Any] = []
    paddle.seed(3)
    with flags(COMPILE=mode), paddle.static.scope_guard(scope):
        for _ in range(2 if scope.cells else 1):
            found += exe.run(b.main, feed=b.feeds, fetch_list=b.fetches)
    left = {n: np.array(c.value) for n, c in scope.cells.items() if c.value is not None}
    return found, left, len(regions_of(b))


def regions_of(b: Build) -> list[Call]:
    """The functions that a Program became."""
    return [
        row[0]
        for bound in b.main.plans.values()
        if bound.tier is not None
        for rows in bound.tier.variants.values()
        for row in rows
        if isinstance(row[0], Call)
    ]


def check(graph: Graph) -> int:
    """Compare the two ways; how many functions the Program became."""
    b = built(graph, FEATURES, False)
    if not b.fetches:
        return 0
    want, left, _ = results_of(b, "off")
    got, after, functions = results_of(b, "eager")

    @cache
    def digits() -> tuple[list[Any], dict[str, Any], int]:
        return results_of(built(graph, FEATURES, True), "off")

    kinds = [(v.name, b.kinds.get(v, "float32"), v in b.digits) for v in b.fetches]
    for k, (x, y) in enumerate(zip(got, want, strict=True)):
        compare(*kinds[k % len(kinds)], x, y, lambda k=k: digits()[0][k])
    for name, value in left.items():
        compare(name, "float32", False, after[name], value, lambda n=name: digits()[1][n])
    return functions


def compare(name: str, kind: str, exact: bool, x: Any, y: Any, digits: Callable[[], Any]) -> None:
    """`x` is near to `y`, or as near to what more digits give; the same where that is exact."""
    assert (x.dtype, x.shape) == (y.dtype, y.shape), f"{name}: {x.dtype}{x.shape}"
    if exact or kind not in TOLERANCES:
        np.testing.assert_array_equal(wide(x), wide(y), f"{name}, which is exact")
        return
    x, y, (relative, absolute) = wide(x), wide(y), TOLERANCES[kind]
    finite = np.isfinite(y)
    np.testing.assert_array_equal(x[~finite], y[~finite], f"{name}, not finite")
    reach = max(absolute, relative * np.abs(y[finite]).max(initial=0))
    if np.allclose(x[finite], y[finite], relative, reach):
        return
    exact_values = wide(digits())
    known = np.abs(y - exact_values)[finite & np.isfinite(exact_values)].max(initial=0)
    reach = max(reach, WORSE * known)
    np.testing.assert_allclose(x[finite], y[finite], relative, reach, err_msg=name)


def failure(graph: Graph) -> Exception | None:
    """What is wrong with a graph; None where nothing is."""
    try:
        check(graph)
    except Exception as law:
        return law
    return None


def smaller(graph: Graph) -> Iterator[Graph]:
    """The graph with a piece less, or without what ends it."""
    if graph.ends != "nothing":
        yield Graph(graph.pieces)
    for k in range(len(graph.pieces)):
        yield Graph(graph.pieces[:k] + graph.pieces[k + 1 :], graph.ends)


def shrunk(graph: Graph, law: Any) -> Graph:
    """The least graph found that fails in the same way."""
    for less in smaller(graph):
        if less.pieces and type(failure(less)) is type(law):
            return shrunk(less, law)
    return graph


@pytest.fixture(autouse=True)
def static_mode() -> Iterator[None]:
    """Programs are written."""
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.parametrize("start", range(0, COUNT, PART))
def test_machine_code_gives_what_the_instructions_give(start, request):
    many = NIGHTLY if request.config.getoption("--nightly") else COUNT
    for number in range(start * many // COUNT, (start + PART) * many // COUNT):
        law = failure(graph_of(number))
        if law is not None:
            least = shrunk(graph_of(number), law)
            b = built(least, FEATURES, False)
            pytest.fail(f"graph {number}: {law}\nthe least one: {least}\n{b.main}")


def test_nearly_every_graph_becomes_code():
    made = [check(graph_of(number)) for number in range(0, COUNT, PART)]
    assert sum(map(bool, made)) >= len(made) - 1


def matrix() -> str:
    """How many graphs of the suite have both features, for every two."""
    counts: Counter[frozenset[str]] = Counter()
    for number in range(COUNT):
        names = {piece.feature for piece in graph_of(number).pieces}
        counts.update(map(frozenset, combinations(sorted(names), 2)))
    width = max(map(len, FEATURES))
    rows = [
        f"{x:>{width}} "
        + " ".join(f"{counts[frozenset((x, y))] if x != y else '':>3}" for y in FEATURES)
        for x in FEATURES
    ]
    return "\n".join(rows)


def test_every_two_features_meet_in_some_graph(request, capsys):
    if request.config.get_verbosity() > 0:
        with capsys.disabled():
            print(f"\n{matrix()}")
    met = {
        frozenset(pair)
        for number in range(COUNT)
        for pair in combinations({p.feature for p in graph_of(number).pieces}, 2)
    }
    assert met == set(map(frozenset, combinations(FEATURES, 2)))


def test_a_graph_is_always_the_same():
    texts = [str(built(graph_of(7), FEATURES, False).main) for _ in range(2)]
    assert texts[0] == texts[1]
