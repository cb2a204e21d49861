"""The smallest programs of those that once gave something else in one form."""

import pytest

from tests.control.tree import (
    LIST,
    Append,
    Break,
    Denied,
    For,
    If,
    Leaf,
    Pop,
    Return,
    Set,
    Store,
    Tree,
    While,
)
from tests.control.trial import Trial
from tests.control.writer import SMOOTH

LAST = Set("c", "c + items[-1] * 0.5")
SCALED = "items[-1] * self.scale + c * 0.25"
NEVER, EVEN = Leaf("s < -9.0"), Leaf("k1 % 2 == 0")


def branch(test, block, otherwise=(), form="results"):
    return If(((Leaf(test) if isinstance(test, str) else test, block),), otherwise, form)


def rounds(bound, *body, form="function", counter="k1"):
    return For(counter, bound, body, form)


PROGRAMS = {
    "both branches return one list": [
        branch(NEVER, (), (Append(SCALED),)),
        Set("c", "paddle.tanh(a * a) + items[0] * 0.25"),
    ],
    "a list that one branch alone reads": [
        branch(NEVER, (), (Pop("a"),)),
        LAST,
    ],
    "a list without gradients in the branch that returns early": [
        branch(
            "paddle.mean(m) > -9.0", (Return(), Store("0", "paddle.sin(items[-1])")), (Pop("b"),)
        ),
    ],
    "a list handed from round to round by branches": [
        rounds("2", branch(EVEN, (), (Store("-1", "paddle.tanh(b * s) + c * 0.5"),))),
        LAST,
    ],
    "a list of a loop that is left": [
        While("k1", 2, Leaf("n < 9"), (Break(), Pop("b")), "block"),
        LAST,
    ],
    "a list that a loop reads alone": [
        While("k1", 3, Leaf("n < 9"), (Set("c", "c * 0.5 + items[0]"),), "function"),
    ],
    "a loop that returns before it takes from a list": [
        rounds("1", Return(), Pop("c"), form="block"),
        LAST,
    ],
    "a branch in a branch of a loop": [
        rounds(
            "3",
            branch(
                "s < 9.0",
                (branch(EVEN, (), (Set("b", "paddle.tanh(b * s)"),), form="writes"),),
            ),
            form="block",
        ),
    ],
    "a loop in a branch of a loop": [
        rounds(
            "3",
            branch(
                EVEN,
                (rounds("2", Set("a", "paddle.sin(a) * s"), form="block", counter="k2"),),
                form="writes",
            ),
        ),
    ],
    "lists of several branches": [
        If(((NEVER, (Pop("b"),)), (Leaf("paddle.mean(m) > -9.0"), (Pop("c"),))), (), "results"),
        Pop("c"),
    ],
    "a branch of a loop without rounds, which hands back its list": [
        branch("s < 9.0", (rounds("0", Append("b * 0.5")),)),
        LAST,
    ],
    "a branch that is decided in the first round alone": [
        rounds(
            "2",
            If(
                ((Leaf("len(items) > 2"), ()), (Leaf("n > 1"), (Pop("c"),))),
                (),
                "results",
            ),
            form="block",
        ),
    ],
    "a list of gradients that one of three branches alone hands on": [
        branch(
            "s < -0.5",
            (
                If(
                    (
                        (Leaf("False"), ()),
                        (Leaf("paddle.max(items[0]) < -0.5"), (Append("paddle.tanh(b * s)"),)),
                    ),
                    (),
                    "results",
                ),
            ),
            (Set("b", "items[-1] * self.scale + b * -0.5"),),
            "writes",
        ),
    ],
    "a list of gradients that comes to a branch from two others": [
        If(
            ((Denied(Leaf("s > -9.0")), ()), (Leaf("False"), ())),
            (branch("len(items) > 2", (), (Pop("b"),)),),
            "results",
        ),
        LAST,
    ],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_once_differed_is_one_thing(name):
    tree = Tree((*SMOOTH.start, Set(LIST, "[a]")), tuple(PROGRAMS[name]))
    for seed in range(3):
        Trial(tree, seed).check()
