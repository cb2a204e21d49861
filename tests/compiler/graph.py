"""Random graphs of operators as Programs, in pieces that can be left out one by one.

Numbers that are fed are multiples of 1/4, so that many results are exact: `digits` says how many
binary places before and after the point they take. Only what is exact is compared, rounded or put
through a function with corners: there two ways to compute it never differ.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, log2, prod
from typing import Any, NamedTuple

import numpy as np

import scull as paddle

SIZES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 70)
MOST = 3000  # elements of one value
HELD = {"float16": 11, "float32": 24, "float64": 53}  # binary places of a number
FLOATS = ("float32", "float32", "float32", "float32", "float64", "float16")


class Piece(NamedTuple):
    """One feature of a graph, and what its choices begin from."""

    feature: str
    seed: int


@dataclass(frozen=True)
class Graph:
    """What a Program is built from; `ends` says what follows: a gradient, a training step."""

    pieces: tuple[Piece, ...]
    ends: str = "nothing"


@dataclass
class Build:
    """A Program of a graph while it grows. With `double` all floats are float64."""

    graph: Graph
    double: bool = False
    main: Any = field(default_factory=paddle.static.Program)
    startup: Any = field(default_factory=paddle.static.Program)
    values: list[Any] = field(default_factory=list)
    digits: dict[Any, tuple[int, int]] = field(default_factory=dict)  # before and after the point
    kinds: dict[Any, str] = field(default_factory=dict)  # element types as they are without double
    read: set[Any] = field(default_factory=set)
    feeds: dict[str, Any] = field(default_factory=dict)
    begins: dict[str, Any] = field(default_factory=dict)  # of the scope
    fetches: list[Any] = field(default_factory=list)
    learned: list[Any] = field(default_factory=list)

    def begin(self, piece: Piece, number: int) -> None:
        """Let the choices of a piece begin."""
        self.chance, self.number = random.Random(piece.seed), number
        self.draws = np.random.default_rng(piece.seed)

    def dtype(self, name: str) -> str:
        """An element type as it is in this Program."""
        return "float64" if self.double and name.startswith("float") else name

    def keep(self, value: Any, kind: str, digits: tuple[int, int] | None = None) -> Any:
        """Let later pieces use a value of an element type, exact if it says its digits."""
        self.values.append(value)
        self.kinds[value] = kind
        if digits is not None and (kind not in HELD or sum(digits) <= HELD[kind]):
            self.digits[value] = digits
        return value

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """Sizes, small enough together."""
        rank = self.chance.choice((1, 2, 2, 2, 3, 3)) if rank is None else rank
        while True:
            sizes = tuple(self.chance.choice(SIZES) for _ in range(rank))
            if self.chance.random() < 0.04 and rank:
                sizes = (*sizes[:-1], 0) if self.chance.random() < 0.5 else (0, *sizes[1:])
            if prod(sizes) <= MOST:
                return sizes

    def array(self, shape: Sequence[int], kind: str, low: int = -8, high: int = 9) -> Any:
        """Numbers: multiples of 1/4 up to 2, whole numbers up to 8."""
        numbers = self.draws.integers(low, high, tuple(shape))
        if kind == "bool":
            return np.asarray(numbers > 0)
        if kind.startswith("float"):
            return np.asarray(numbers / 4, self.dtype(kind))
        return np.asarray(numbers, kind)

    def fed(self, shape: Sequence[int], kind: str, learned: bool = True, **ends: int) -> Any:
        """A new input, which nobody uses but this piece unless it is kept."""
        name = f"fed{self.number}_{len(self.feeds)}"
        self.feeds[name] = self.array(shape, kind, **ends)
        value = paddle.static.data(name, list(shape), self.dtype(kind))
        self.kinds[value] = kind
        self.digits[value] = (2, 2) if kind.startswith("float") else (4, 0)
        if kind.startswith("float") and learned:
            value.stop_gradient = False
            self.learned.append(value)
        return value

    def parameter(self, shape: Sequence[int]) -> Any:
        """A new parameter, or an input where none is trained."""
        if self.graph.ends in ("nothing", "gradients") or 0 in shape:
            return self.fed(shape, "float32")
        start = paddle.nn.initializer.Assign(self.array(shape, "float32"))
        kind = self.dtype("float32")
        value = paddle.create_parameter(list(shape), kind, default_initializer=start)
        self.kinds[value] = "float32"
        return value

    def pick(
        self,
        kinds: Sequence[str] = ("float32", "float64", "float16"),
        rank: int = 0,
        exact: bool = False,
        empty: bool = True,
    ) -> Any:
        """A value made before, of some element type and of at least a rank; else a new input."""
        found = [
            v
            for v in self.values[-6:]
            if self.kinds[v] in kinds
            and len(v.shape) >= rank
            and (v in self.digits or not exact)
            and (0 not in v.shape or empty)
        ]
        if found and self.chance.random() < 0.85:
            value = self.chance.choice(found)
            self.read.add(value)
            return value
        kind = self.chance.choice([k for k in FLOATS if k in kinds] or list(kinds))
        while True:
            shape = self.shape(max(rank, self.chance.choice((1, 2, 3))))
            if empty or 0 not in shape:
                return self.keep(self.fed(shape, kind), kind, (2, 2))

    def like(self, value: Any, shape: Sequence[int]) -> Any:
        """Another value of these sizes and of the element type: one made before, or new."""
        kind, wanted = self.kinds[value], tuple(shape)
        same = [v for v in self.values if tuple(v.shape) == wanted and self.kinds[v] == kind]
        if same and self.chance.random() < 0.6:
            self.read.add(same[-1])
            return self.chance.choice(same)
        return self.parameter(wanted) if kind == "float32" else self.fed(wanted, kind)

    def axis(self, value: Any) -> int:
        """One of its axes."""
        return self.chance.randrange(len(value.shape))

    def finish(self) -> None:
        """What is fetched: what nobody reads, some of the rest, and what the ends give."""
        self.chance = random.Random(len(self.values))
        leaves = [v for v in self.values if v not in self.read and not v.is_data]
        inner = [v for v in self.values if v in self.read and not v.is_data]
        more = self.chance.sample(inner, min(len(inner), 2)) if self.chance.random() < 0.5 else []
        self.fetches = [*leaves, *more]
        floats = [v for v in leaves if self.kinds[v].startswith("float")]
        if self.graph.ends != "nothing" and floats:
            ENDS[self.graph.ends](self, loss_of(self, floats))


def loss_of(b: Build, values: Sequence[Any]) -> Any:
    """A number that depends on all elements of some values."""
    kind, total = b.dtype("float32"), None
    for v in values:
        part = paddle.sum(paddle.tanh(paddle.cast(v, kind) * 0.125) * 0.5 + 1.0)
        total = part if total is None else total + part
    return total


def ends_with_gradients(b: Build, loss: Any) -> None:
    """Fetch the gradients of what was fed."""
    b.fetches.append(loss)
    found = paddle.static.gradients([loss], b.learned)
    for v, g in zip(b.learned, found, strict=True):
        if g is not None:
            b.kinds[g] = min(b.kinds[v], "float32", key=lambda kind: HELD[kind])  # as the loss is
            b.fetches.append(g)


def ends_with(make: Callable[[], Any]) -> Callable[[Build, Any], None]:
    """End with a step of an optimizer."""

    def end(b: Build, loss: Any) -> None:
        b.fetches.append(loss)
        if b.main.all_parameters():
            make().minimize(loss)

    return end


ENDS: dict[str, Callable[[Build, Any], None]] = {
    "gradients": ends_with_gradients,
    "sgd": ends_with(lambda: paddle.optimizer.SGD(0.125)),
    "momentum": ends_with(lambda: paddle.optimizer.Momentum(0.125, 0.5)),
    "adam": ends_with(lambda: paddle.optimizer.Adam(0.125, epsilon=1e-2)),
    "lazy": ends_with(lambda: paddle.optimizer.Adam(0.125, epsilon=1e-2, lazy_mode=True)),
}


def built(graph: Graph, features: dict[str, Callable[[Build], None]], double: bool) -> Build:
    """The Program of a graph."""
    b = Build(graph, double)
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(b.main, b.startup):
        for number, piece in enumerate(graph.pieces):
            b.begin(piece, number)
            features[piece.feature](b)
        b.finish()
    return b


def digits_of_sum(parts: Sequence[tuple[int, int]], count: int = 1) -> tuple[int, int]:
    """The places that a sum takes."""
    whole = max(x for x, _ in parts) + ceil(log2(max(count * len(parts), 1)))
    return whole, max(y for _, y in parts)
