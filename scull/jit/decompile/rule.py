"""Rules: from an operator to the call that may have recorded it.

A rule returns a tree or None; whether the tree records that operator and nothing else is tried.
"""

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

from scull.deferred import load
from scull.jit.decompile.expression import call
from scull.jit.decompile.view import View

Rule = Callable[[View], ast.expr | None]

RULES: dict[str, list[Rule]] = {}  # by the type of operators, best first


def rule(*types: str) -> Callable[[Rule], Rule]:
    """Let a function be a rule for operators of these types, behind those declared before."""

    def attach(function: Rule) -> Rule:
        for type in types:
            RULES.setdefault(type, []).append(function)
        return function

    return attach


def rule_before(*types: str) -> Callable[[Rule], Rule]:
    """The same, before those declared before."""

    def attach(function: Rule) -> Rule:
        for type in types:
            RULES.setdefault(type, []).insert(0, function)
        return function

    return attach


def rules_for(type: str) -> list[Rule]:
    """The rules for a type of operators, those that hold for all of them last."""
    return [*RULES.get(type, []), in_paddle, in_functional, by_operator]


def in_paddle(view: View) -> ast.expr | None:
    """The function of `paddle` that is called like the operator."""
    return by_path(view, f"paddle.{view.op.name}") if is_public("scull", view.op.name) else None


def in_functional(view: View) -> ast.expr | None:
    """The function of `nn.functional` that is called like the operator."""
    word = view.op.name
    return by_path(view, f"F.{word}") if is_public("scull.nn.functional", word) else None


@cache
def is_public(package: str, word: str) -> bool:
    """Whether a package has a function."""
    try:
        return callable(load(package, word))
    except AttributeError:
        return False


def by_operator(view: View) -> ast.expr | None:
    """The operator itself, with everything said."""
    word = functional_name(view.op)
    if word is None:
        return None
    slots = zip(view.op.inputs, view.call.inputs, strict=False)
    given = {n: view.slot_tree(s) for n, s in slots if s is not None}
    return call(f"paddle._C_ops.{word}", **given, **view.keywords())


@cache
def functional_name(op: Any) -> str | None:
    """The name by which `paddle._C_ops` knows an operator."""
    types: dict[str, str] = load("scull._C_ops", "TYPES")
    words = [op.name, op.type, *[n for n, type in types.items() if type == op.type]]
    return next((w for w in words if w.isidentifier() and found_op(w) is op), None)


def found_op(word: str) -> Any:
    """The operator that `paddle._C_ops` has under a name."""
    try:
        return load("scull._C_ops", "operator")(word)
    except AttributeError:
        return None


def by_path(view: View, path: str) -> ast.expr:
    """A call with the inputs in order and the attributes that are not as they are by default."""
    operands = [view.slot_tree(s) for s in view.call.inputs]
    while operands and isinstance(operands[-1], ast.Constant):
        operands.pop()
    return call(path, *operands, **view.keywords("is_test"))
