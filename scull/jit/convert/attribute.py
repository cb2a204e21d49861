"""`self.x = v` tells beforehand that it writes: a caller that is recorded may not know of it."""

import ast
import copy
from typing import Any

from scull.jit.convert.scope import has_path
from scull.jit.convert.syntax import SCOPES, Statements, meaning, own, placed, rebuilt


def lower_attributes(body: Statements) -> Statements:
    """`body` with a call before each statement that writes attributes."""
    made: Statements = []
    for statement in body:
        if not isinstance(statement, SCOPES):
            made += [placed(told(target), statement) for target in written(statement)]
            statement = rebuilt(statement, lower_attributes)
        made.append(statement)
    return made


def written(statement: Any) -> list[ast.Attribute]:
    """The attributes that an assignment writes."""
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return []
    found = [n for n in own(statement) if isinstance(n, ast.Attribute)]
    return [n for n in found if isinstance(n.ctx, ast.Store) and has_path(n.value)]


def told(target: ast.Attribute) -> ast.Expr:
    """The call that tells of one."""
    return ast.Expr(meaning("writing", copy.deepcopy(target.value), ast.Constant(target.attr)))
