"""`self.x = v` tells beforehand that it writes: a caller that is recorded may not know of it.

The same goes for names that a function binds around itself.
"""

import ast
import copy
from typing import Any

from scull.jit.convert.scope import Scope, bound, has_path
from scull.jit.convert.syntax import (
    SCOPES,
    Statements,
    later,
    load,
    meaning,
    own,
    placed,
    rebuilt,
)


def lower_writes(body: Statements, scope: Scope) -> Statements:
    """`body` with a call before each statement that writes attributes, or names around it."""
    made: Statements = []
    for statement in body:
        made += [placed(rebound(name), statement) for name in names_around(statement, scope)]
        if not isinstance(statement, SCOPES):
            made += [placed(told(target), statement) for target in written(statement)]
            statement = rebuilt(statement, lambda b: lower_writes(b, scope))
        made.append(statement)
    return made


def names_around(statement: Any, scope: Scope) -> list[str]:
    """The names around the function that a statement binds, but for what it holds."""
    outside = scope.globals | scope.nonlocals
    return sorted(bound([rebuilt(statement, lambda _: [])]) & outside) if outside else []


def rebound(name: str) -> ast.Expr:
    """The call that tells of a name."""
    return ast.Expr(meaning("rebinding", later(load(name)), ast.Constant(name)))


def written(statement: Any) -> list[ast.Attribute]:
    """The attributes that an assignment writes among others; one alone becomes a call itself."""
    if not isinstance(statement, ast.Assign):
        return []
    if len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Attribute):
        return []
    found = [n for n in own(statement) if isinstance(n, ast.Attribute)]
    return [n for n in found if isinstance(n.ctx, ast.Store) and has_path(n.value)]


def told(target: ast.Attribute) -> ast.Expr:
    """The call that tells of one."""
    return ast.Expr(meaning("writing", copy.deepcopy(target.value), ast.Constant(target.attr)))
