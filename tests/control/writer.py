"""Writes random trees, and says which features a tree has."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from tests.control.tree import (
    LIST,
    LOOPS,
    Append,
    Block,
    Both,
    Break,
    Continue,
    Denied,
    Either,
    For,
    If,
    Leaf,
    Pop,
    Return,
    Set,
    Statement,
    Store,
    Test,
    Tree,
    While,
    blocks_of,
    has,
    tests_of,
    within,
)


@dataclass(frozen=True)
class Formulas:
    """Expressions by the shape of what they give; `{v}` stands for a vector, `{t}` for a number."""

    start: Block
    vector: tuple[str, ...]
    matrix: tuple[str, ...]
    scalar: tuple[str, ...]
    drawn: tuple[str, ...]
    counted: str
    factors: tuple[float, ...]


# Values stay small, so that small steps show gradients well.
SMOOTH = Formulas(
    (
        Set("a", "x * 1.0"),
        Set("b", "paddle.sin(x)"),
        Set("c", "x * self.scale"),
        Set("d", "x * 0.5"),
        Set("m", "y * 1.0"),
        Set("s", "paddle.sum(x) * 0.5"),
    ),
    (
        "paddle.tanh({v} * {v}) + {v} * {t}",
        "paddle.sin({v}) - {v} * {t}",
        "paddle.tanh({v} * {s}) + paddle.mean({m}, axis=0)",
        "paddle.tanh(paddle.matmul({v}, self.weight) + self.scale)",
        "{v} * self.scale + {v} * {t}",
    ),
    (
        "paddle.tanh({m} * {v}) + {m} * {t}",
        "paddle.sin(paddle.matmul({m}, self.weight)) * {t}",
        "paddle.cos({m} + {v})",
    ),
    ("paddle.sum({v}) * {t}", "paddle.tanh({s} + paddle.mean({m}))", "paddle.sin({s}) + {s} * {t}"),
    (
        "paddle.sin(paddle.nn.functional.dropout(d, 0.5)) + d * {v}",
        "paddle.tanh(d * {t} + paddle.uniform([3], 'float64') * {v})",
    ),
    "{v} * 0.5 + paddle.cos({v}) * {k}",
    (-0.5, -0.25, 0.25, 0.5),
)
# Values are small whole numbers, so that sums have the same bits in every order.
EXACT = Formulas(
    (
        Set("a", "x * 1.0"),
        Set("b", "-x"),
        Set("c", "x * self.scale"),
        Set("d", "x * 2.0"),
        Set("m", "y * 1.0"),
        Set("s", "paddle.sum(x) * 2.0"),
    ),
    (
        "paddle.clip({v} * {t} + {v}, -4.0, 4.0)",
        "paddle.clip({v} * {v}, -2.0, 2.0)",
        "paddle.clip(paddle.maximum({v}, {v}) - {v}, -3.0, 3.0)",
        "paddle.clip({v} * {s} + paddle.sum({m}, axis=0), -4.0, 4.0)",
        "paddle.clip(paddle.matmul({v}, self.weight) + self.scale, -4.0, 4.0)",
    ),
    (
        "paddle.clip({m} * {v} + {m} * {t}, -4.0, 4.0)",
        "paddle.clip(paddle.matmul({m}, self.weight), -4.0, 4.0)",
    ),
    (
        "paddle.clip(paddle.sum({v}) * {t}, -4.0, 4.0)",
        "paddle.clip({s} - paddle.sum({m}), -4.0, 4.0)",
    ),
    (
        "paddle.clip(paddle.nn.functional.dropout(d, 0.5) - {v}, -4.0, 4.0)",
        "paddle.clip(d + paddle.cast(paddle.randint(-2, 3, [3]), 'float64') * {v}, -4.0, 4.0)",
    ),
    "paddle.clip({v} + {v} * {k}, -4.0, 4.0)",
    (-1.0, 1.0, 2.0),
)
TESTS = (
    "paddle.sum({v}) > {t}",
    "paddle.max({v}) < {t}",
    "paddle.mean({m}) > {t}",
    "{s} < {t}",
    "n > 1",
)
SIMPLE = ("set", "append", "pop", "store", "jump")
MOST = 12  # statements of a program
NESTED = ("if", "while", "for")
KINDS = (*SIMPLE, *NESTED)


@dataclass
class Writer:
    """Writes one tree; what is set is one of the `targets`, of which `d` is drawn at random."""

    targets: ClassVar[str] = "abcabcmsddd"

    chance: random.Random
    formulas: Formulas
    listed: bool = False  # whether there is a list
    loops: list[str] = field(default_factory=list)  # the counters of the loops around
    counted: int = 0

    def tree(self) -> Tree:
        """A whole program."""
        start = self.formulas.start
        self.listed = self.chance.random() < 0.6
        if self.listed:
            start = (*start, Set(LIST, "[a]"))
        body = self.block(self.chance.choice((2, 2, 3)), 2, 5)
        while len(list(within(body))) > MOST:
            body = self.block(self.chance.choice((2, 2, 3)), 2, 5)
        if self.listed:
            body = (
                *body,
                Set("c", f"c + {LIST}[-1] * 0.5" if self.is_smooth else f"c + {LIST}[-1]"),
            )
        return Tree(start, body)

    @property
    def is_smooth(self) -> bool:
        return self.formulas is SMOOTH

    def block(self, depth: int, least: int, most: int) -> Block:
        """Some statements, of which those with blocks nest so deep at most."""
        count = self.chance.randint(least, most)
        return tuple(self.statement(depth) for _ in range(count))

    def statement(self, depth: int) -> Statement:
        """Any statement."""
        kinds = [k for k in KINDS if depth or k in SIMPLE]
        if not self.listed:
            kinds = [k for k in kinds if k not in ("append", "pop", "store")]
        kind = self.chance.choice([k for k in kinds if depth or k != "jump"])
        return WRITE[kind](self, depth)

    def filled(self, text: str) -> str:
        """An expression with variables in the places of a formula."""
        return re.sub(r"\{(\w)\}", lambda found: self.operand(found[1]), text)

    def operand(self, letter: str) -> str:
        """What stands in one place."""
        if letter == "v" and self.listed and self.chance.random() < 0.25:
            return f"{LIST}[{self.place()}]"
        if letter == "t":
            return str(self.chance.choice(self.formulas.factors))
        return self.chance.choice({"v": "abcd", "m": "m", "s": "s", "k": self.loops}[letter])

    def place(self) -> str:
        """A place of the list."""
        places = ["0", "-1", *(f"{k} % len({LIST})" for k in self.loops)]
        return self.chance.choice(places)

    def vector(self) -> str:
        """An expression for a vector."""
        if self.loops and self.chance.random() < 0.2:
            return self.filled(self.formulas.counted)
        return self.filled(self.chance.choice(self.formulas.vector))

    def set(self, depth: int) -> Statement:
        target = self.chance.choice(self.targets)
        if target == "d":
            return Set(target, self.filled(self.chance.choice(self.formulas.drawn)))
        if target == "m":
            return Set(target, self.filled(self.chance.choice(self.formulas.matrix)))
        if target == "s":
            return Set(target, self.filled(self.chance.choice(self.formulas.scalar)))
        return Set(target, self.vector())

    def append(self, depth: int) -> Statement:
        return Append(self.vector())

    def store(self, depth: int) -> Statement:
        return Store(self.place(), self.vector())

    def pop(self, depth: int) -> Statement:
        return Pop(self.chance.choice("abc"))

    def jump(self, depth: int) -> Statement:
        """A jump out of a round, a loop, or the function, where a condition holds."""
        kinds: list[Callable[[], Statement]] = [Return]
        if self.loops:
            kinds = [Break, Continue, Return]
        jump = self.chance.choice(kinds)()
        before = (self.set(0),) if self.chance.random() < 0.5 else ()
        return If(((self.test(), (*before, jump)),), (), self.form("results", "writes"))

    def form(self, *forms: str) -> str:
        return self.chance.choice(forms)

    def branches(self, depth: int) -> Statement:
        count = self.chance.choice((1, 1, 2))
        pairs = tuple((self.test(), self.block(depth - 1, 1, 2)) for _ in range(count))
        otherwise = self.block(depth - 1, 1, 2) if self.chance.random() < 0.6 else ()
        return If(pairs, otherwise, self.form("results", "writes"))

    def counter(self) -> str:
        self.counted += 1
        return f"k{self.counted}"

    def inside(self, counter: str, depth: int) -> Block:
        """The body of a loop."""
        self.loops.append(counter)
        found = self.block(depth - 1, 1, 2)
        self.loops.pop()
        return found

    def rounds(self, depth: int) -> Statement:
        bounds = ["0", "1", "2", "3", "n"]
        if self.listed and not self.loops:
            bounds += [f"len({LIST})"] * 4
        counter, bound = self.counter(), self.chance.choice(bounds)
        return For(counter, bound, self.inside(counter, depth), self.form("function", "block"))

    def repeated(self, depth: int) -> Statement:
        counter, limit = self.counter(), self.chance.choice((2, 3, 4))
        test = self.test()
        body = self.inside(counter, depth)
        return While(counter, limit, test, body, self.form("function", "block"))

    def test(self) -> Test:
        """A condition."""
        kind = self.chance.choice(("leaf", "leaf", "leaf", "both", "either", "denied"))
        if kind == "both":
            return Both(self.leaf(), self.leaf())
        if kind == "either":
            return Either(self.leaf(), Denied(self.leaf()))
        return Denied(self.leaf()) if kind == "denied" else self.leaf()

    def leaf(self) -> Test:
        """A condition told by one expression."""
        texts = [*TESTS, *TESTS, "True", "False"]
        if self.loops:
            texts += ["{k} < 1", "{k} == 1"] * 2
        if self.listed:
            texts += [f"len({LIST}) > 2"]
        return Leaf(self.filled(self.chance.choice(texts)))


WRITE: dict[str, Callable[[Writer, int], Statement]] = {
    "set": Writer.set,
    "append": Writer.append,
    "pop": Writer.pop,
    "store": Writer.store,
    "jump": Writer.jump,
    "if": Writer.branches,
    "while": Writer.repeated,
    "for": Writer.rounds,
}


def tree_of(seed: int, formulas: Formulas = SMOOTH) -> Tree:
    """The random program of a number."""
    return Writer(random.Random(seed), formulas).tree()


def features(tree: Tree) -> set[str]:
    """What stands in a program."""
    found = set().union(*(of_statement(s) for s in within(tree.body)))
    for statement in within(tree.body):
        for test in tests_of(statement):
            found |= of_test(test)
    return found


BY_TYPE = {
    Append: "append",
    Store: "store",
    Pop: "pop",
    Break: "break",
    Continue: "continue",
    Return: "return",
    While: "while",
    For: "for",
}


def of_statement(statement: Statement) -> set[str]:
    """What one statement is."""
    found = {BY_TYPE[type(statement)]} if type(statement) in BY_TYPE else set()
    text = getattr(statement, "text", "")
    uses = {"self.": "parameter", f"{LIST}[": "read", " * k": "counter used"}
    found |= {name for part, name in uses.items() if part in text}
    found |= {"draw"} if getattr(statement, "target", "") == "d" else set()
    inner = [s for block in blocks_of(statement) for s in within(block)]
    if isinstance(statement, If):
        found |= {"elif" if len(statement.branches) > 1 else "if", statement.form}
        found |= {"loop in branch"} if any(isinstance(s, LOOPS) for s in inner) else set()
    if isinstance(statement, LOOPS):
        found |= {statement.form}
        found |= {"loop in loop"} if any(isinstance(s, LOOPS) for s in inner) else set()
        found |= {"branch in loop"} if has(statement.body, If) else set()
    if isinstance(statement, For):
        bounds = {"0": "no round", "n": "bound fed", f"len({LIST})": "bound a length"}
        found |= {bounds.get(statement.bound, "bound known")}
    return found


def of_test(test: Test) -> set[str]:
    """What one condition is."""
    if isinstance(test, Leaf):
        return {"condition known"} if test.text in ("True", "False") else {"condition of values"}
    return {{Both: "and", Either: "or", Denied: "not"}[type(test)]}
