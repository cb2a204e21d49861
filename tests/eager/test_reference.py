"""What eager code gives, prints and raises, compared with what the reference does."""

import contextlib
import io
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.core import session

FACTS = json.loads(
    (Path(__file__).parents[1] / "data/reference/eager.json").read_text(encoding="utf-8")
)
ELSEWHERE = (
    "paddle.nn",
    "paddle.optimizer",
    "paddle.static",
    "paddle.load",
    "paddle.finfo",
    "create_parameter",
)
DTYPES = {
    "<VarType.BOOL: 0>": "bool",
    "<VarType.INT32: 2>": "int32",
    "<VarType.INT64: 3>": "int64",
    "<VarType.FP32: 5>": "float32",
    "<VarType.FP64: 6>": "float64",
    "<VarType.BF16: 22>": "bfloat16",
}

# Snippets that end otherwise here, each with the reason.
LAST_BIT = "the last bit of a function"
CHECKS = "no AssertionError for a mistake of the user"
TAPE = "what the tape cannot do is a TapeError (RuntimeError)"
KINDER = "the reference is stricter for no reason"
STRICTER = "the reference computes something nobody asked for"
OTHERWISE = {
    "paddle.exp(t([1]))": LAST_BIT,
    "bool(t([1.0, 2.0]))": CHECKS,
    "len(t(1.0))": CHECKS,
    "list(t(1.0))": CHECKS,
    "x = t([2.0, 1.0], stop_gradient=False); (x * x).backward(t([1.0]))": CHECKS,
    "t([1.0]).set_value(np.ones(2, 'float32'))": CHECKS,
    "t([1.0]).set_value(np.ones(1, 'float64'))": CHECKS,
    "x = t([2.0], stop_gradient=False); y = x * x; y.backward(); y.backward()": TAPE,
    "paddle.add(t([1.0]), 1.0)": KINDER,
    "paddle.transpose(t([[1.0, 2.0]]), [0])": STRICTER,
    "paddle.slice(t([1.0]), [3], [0], [1])": STRICTER,
    "t([1.0]) + 'a'": STRICTER,
    "t([1.0]) < 'a'": STRICTER,
    "t([1.0]) @ 2.0": STRICTER,
    "x = t([1.0], stop_gradient=False); type(x.register_hook(3)).__name__": STRICTER,
}


def facts():
    """The recorded snippets about tensors."""
    for fact in FACTS.values():
        known = isinstance(fact, dict) and "code" in fact and "crashes" not in fact
        if known and not any(word in fact["code"] for word in ELSEWHERE):
            yield fact


@pytest.fixture
def fresh():
    """New names, seed, element type and print options; the old ones come back."""
    with session.guarded(names=session.Names(), dtype=paddle.float32):
        before = session.get("print")
        paddle.seed(0)
        yield
        session.put("print", before)


def outcome(code):
    """What the last part of a snippet gives, what it printed, and the error it ended with."""
    *statements, last = code.split("; ")
    scope = {"math": math, "np": np, "paddle": paddle, "t": paddle.to_tensor}
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for statement in statements:
                exec(statement, scope)
            try:
                value = eval(compile(last, "snippet", "eval"), scope)
            except SyntaxError:
                value = exec(last, scope)
    except Exception as error:
        return None, printed.getvalue(), {kind.__name__ for kind in type(error).__mro__}
    return repr(value), printed.getvalue(), set()


def agrees(fact):
    """Whether a snippet ends as it does in the reference."""
    gives, printed, errors = outcome(fact["code"])
    if "raises" in fact:
        return fact["raises"] in errors
    expected = fact["gives"]
    for theirs, ours in DTYPES.items():
        expected = expected.replace(theirs, "paddle." + ours)
    return gives == expected and printed == fact.get("prints", "")


@pytest.mark.parametrize("fact", list(facts()), ids=lambda fact: fact["code"])
def test_eager_code_ends_as_in_the_reference(fact, fresh):
    assert agrees(fact) is (fact["code"] not in OTHERWISE)


def test_every_deviation_is_one_of_a_recorded_snippet():
    assert set(OTHERWISE) <= {fact["code"] for fact in facts()}
