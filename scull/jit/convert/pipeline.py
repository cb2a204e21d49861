"""All transformers in their order."""

import ast
from collections.abc import Iterable
from typing import Any

from scull.jit.convert.attribute import lower_writes
from scull.jit.convert.calls import Calls, Items, Lists, Parents, Properties, Sizes
from scull.jit.convert.comprehension import Comprehensions
from scull.jit.convert.control import Control, lower_control
from scull.jit.convert.expression import Unannotated
from scull.jit.convert.item import lower_items
from scull.jit.convert.jump import lower_jumps
from scull.jit.convert.liveness import Liveness
from scull.jit.convert.logic import Asserting, Known, Logic, Raising
from scull.jit.convert.match import lower_matches
from scull.jit.convert.private import Private
from scull.jit.convert.returning import lower_returns
from scull.jit.convert.scope import Scope, has_yield
from scull.jit.convert.suspending import lower_closed
from scull.jit.convert.syntax import Fresh, held

FIRST = (
    ("annotations", Unannotated),  # a name that inner functions bind may have none
    ("parents", Parents),  # super() gets its arguments, before methods become other functions
)
EXPRESSIONS = (
    ("sizes", Sizes),  # before indices and calls are hidden in calls
    ("lists", Lists),
    ("comprehensions", Comprehensions),  # before their tests become those of Python alone
    ("items", Items),
    ("asserts", Asserting),
    ("exceptions", Raising),
    ("logic", Logic),
    ("known", Known),
    ("calls", Calls),  # last, for all others make calls that stay as they are
)


def lowered(
    function: ast.FunctionDef, owner: str | None, modules: Iterable[str] = ()
) -> tuple[ast.FunctionDef, set[str]]:
    """`function`, changed: its control flow and operators are calls; and the names made.

    A class may be its `owner`; `modules` are the names that stand for modules.
    """
    if owner:
        Private(owner).visit(function)
    for _, transformer in FIRST:
        transformer().visit(function)
    fresh = Fresh(function)
    lower_function(function, fresh)
    Properties(modules).visit(function)
    for _, transformer in EXPRESSIONS:
        transformer().visit(function)
    return function, fresh.made


def lower_function(function: Any, fresh: Fresh) -> None:
    """Rewrite the statements of `function` and, before it, of those within it."""
    for node in held(function.body):
        if isinstance(node, ast.FunctionDef):
            lower_function(node, fresh)
    function.body = lower_matches(function.body, fresh)
    scope = Scope(function)
    function.body = lower_items(lower_writes(function.body, scope), scope, fresh)
    if has_yield(function):
        function.body = lower_closed(function.body, fresh)
    else:
        lower_returns(function, fresh)
        function.body = lower_jumps(function.body, fresh)
    scope = Scope(function)
    Liveness(scope).before(function.body, set())
    lower_control(function, Control(scope, fresh))
