"""Generators: what holds neither `yield` nor a jump out of itself is recorded; the rest unrolls."""

import ast
from typing import Any

from scull.jit.convert.jump import lower_jumps
from scull.jit.convert.syntax import LOOPS, SCOPES, Fresh, Statements, own, rebuilt

SUSPENDS = ast.Yield | ast.YieldFrom | ast.Await | ast.Return


def lower_closed(body: Statements, fresh: Fresh) -> Statements:
    """`body`, whose closed loops have no jumps."""
    made: Statements = []
    for statement in body:
        if isinstance(statement, SCOPES):
            made.append(statement)
        elif is_open(statement):
            made.append(rebuilt(statement, lambda b: lower_closed(b, fresh)))
        else:
            made += lower_jumps([statement], fresh)
    return made


def is_open(statement: ast.stmt) -> bool:
    """Whether running it may suspend or end its function, or end a loop around it."""
    return any(isinstance(n, SUSPENDS) for n in own(statement)) or jumps_out(statement)


def jumps_out(statement: Any) -> bool:
    """Whether a `break` or `continue` within belongs to a loop around the statement."""
    if isinstance(statement, ast.Break | ast.Continue):
        return True
    if isinstance(statement, SCOPES):
        return False
    held = list(ast.iter_child_nodes(statement))
    if isinstance(statement, LOOPS | ast.AsyncFor):
        held = list(statement.orelse)
    return any(map(jumps_out, held))
