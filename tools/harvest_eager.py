"""Write eager.json: what eager code of the reference prints, returns and raises.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean.
"""

import contextlib
import io
import math
import operator
import re
import warnings

import harvest_eager_snippets as chapters
import numpy
import paddle
from harvest_describe import isolated
from harvest_types import REFERENCE, repeatable, write_lines
from paddle.base import unique_name

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBERS = {"bool": True, "int": 3, "float": 2.5, "complex": 1 + 2j}
NAMES = {"math": math, "np": numpy, "paddle": paddle, "t": paddle.to_tensor}


def told(error: Exception) -> list:
    """Return the type of an error and the line of it that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith("(")]
    return [type(error).__name__, re.sub(r" \(at /paddle/.*\)$", "", (marked or lines or [""])[0])]


def outcome(code: str) -> dict:
    """Run one snippet and return what its last expression gives, or what is raised."""
    paddle.seed(0)
    paddle.set_default_dtype("float32")
    paddle.set_printoptions(8, 1000, 3, False, 80)
    *statements, last = code.split("; ")
    scope, printed = dict(NAMES), io.StringIO()
    fact = {"code": code}
    with (
        unique_name.guard(),
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(record=True) as raised,
    ):
        warnings.simplefilter("always")
        try:
            for statement in statements:
                exec(statement, scope)
            fact["gives"] = repr(value_of(last, scope))
        except Exception as error:
            fact["raises"], fact["says"] = told(error)
    if printed.getvalue():
        fact["prints"] = printed.getvalue()
    if raised:
        fact["warns"] = sorted({told(each.message)[1] for each in raised})
    return fact


def value_of(last: str, scope: dict):
    """Return the value of the last part of a snippet; an assignment has none."""
    try:
        compiled = compile(last, "snippet", "eval")
    except SyntaxError:
        return exec(last, scope)
    return eval(compiled, scope)


def result(apply, left, right, told_errors: list):
    """Return the dtype (and of one number the value) that `apply` gives, or the error's place."""
    try:
        value = apply(left, right)
    except Exception as error:
        fact = told(error)
        if fact not in told_errors:
            told_errors.append(fact)
        return told_errors.index(fact)
    if not isinstance(value, paddle.Tensor):
        return f"{value!r}"
    return str(value.dtype).removeprefix("paddle.")


def promotion() -> dict:
    """Return the result of each operator for each pair of dtypes and for Python numbers."""
    warnings.simplefilter("ignore")
    tensors = {name: paddle.to_tensor([2], dtype=name) for name in DTYPES}
    errors: list = []
    rows = {}
    for sign, apply in OPERATORS.items():
        rows[f"tensor {sign} tensor"] = {
            first: [result(apply, tensors[first], tensors[second], errors) for second in DTYPES]
            for first in DTYPES
        }
        for kind, number in NUMBERS.items():
            rows[f"tensor {sign} {kind}"] = [
                result(apply, tensors[name], number, errors) for name in DTYPES
            ]
            rows[f"{kind} {sign} tensor"] = [
                result(apply, number, tensors[name], errors) for name in DTYPES
            ]
    return rows | {"dtypes": DTYPES, "errors": errors, "numbers": list(map(str, NUMBERS.values()))}


def main() -> None:
    repeatable()
    rows = {}
    for name in ("REPR", "NAMES", "BEHAVIOUR", "ERRORS"):
        for number, code in enumerate(chapters.snippets(getattr(chapters, name)), 1):
            rows[f"{name.lower()} {number:03}"] = isolated(outcome, code) or {
                "code": code,
                "crashes": "or never ends",
            }
    rows |= {f"promotion: {key}": row for key, row in promotion().items()}
    write_lines(REFERENCE / "eager.json", rows)


if __name__ == "__main__":
    main()
