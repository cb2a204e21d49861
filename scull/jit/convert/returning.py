"""`return` anywhere becomes one at the end of the function."""

import ast
from typing import Any

from scull.jit.convert.syntax import (
    LOOPS,
    Fresh,
    Statements,
    assigned,
    held,
    is_text,
    load,
    negated,
    own,
    placed,
)
from scull.jit.convert.tail import How, Tail


class Leaving(Tail):
    """Every `return` sets the result; in a loop it also ends the loop."""

    jumps = (ast.Return,)

    def __init__(self, result: str, flag: str | None, inside: bool = False) -> None:
        super().__init__()
        self.result, self.flag, self.inside = result, flag, inside

    def jump(self, statement: ast.Return) -> Statements:
        made: Statements = [assigned(self.result, statement.value or ast.Constant(None))]
        if self.flag:
            made.append(assigned(self.flag, ast.Constant(True)))
        return [*made, ast.Break()] if self.inside else made

    def guard(self) -> ast.expr:
        return negated(load(self.flag or "flag"))

    def guarded(self, rest: Statements, before: ast.stmt) -> Statements:
        return self.block(rest) if self.inside else super().guarded(rest, before)

    def absorbs(self, node: ast.If, rest: Statements) -> bool:
        return not self.inside and super().absorbs(node, rest)

    def loop_how(self, statement: Any) -> How:
        if not any(isinstance(n, ast.Return) for n in own(statement)):
            return How.NEVER
        return How.ALWAYS if is_endless(statement) else How.MAYBE

    def loop(self, statement: Any) -> Statements:
        """A loop that ends with `return`; then the one around it ends too."""
        if self.how_one(statement) is How.NEVER:
            return [statement]
        self.flagged = True
        within = Leaving(self.result, self.flag, inside=True)
        kind = type(statement)
        head = (statement.test,) if kind is ast.While else (statement.target, statement.iter)
        made = kind(*head, within.block(statement.body), self.block(statement.orelse))
        ends = ast.If(load(self.flag or "flag"), [ast.Break()], [])
        return [made, ends] if self.inside else [made]


def is_endless(statement: Any) -> bool:
    """Whether nothing but `return` ends a loop."""
    if not isinstance(statement, ast.While) or not isinstance(statement.test, ast.Constant):
        return False
    return bool(statement.test.value) and not breaks(statement.body)


def breaks(body: Statements) -> bool:
    """Whether a `break` in `body` ends the loop around it."""
    for node in body:
        if isinstance(node, ast.Break):
            return True
        parts = [node.orelse] if isinstance(node, LOOPS) else []
        if not parts:
            names = ("body", "orelse", "finalbody", "handlers", "cases")
            parts = [getattr(node, n, []) for n in names]
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) and any(map(breaks, parts)):
            return True
    return False


def lower_returns(function: ast.FunctionDef, fresh: Fresh) -> None:
    """Let `function` return once, at its end."""
    body = function.body
    straight = [n for n in body if isinstance(n, ast.Return)]
    if len([n for n in held(body) if isinstance(n, ast.Return)]) == len(straight):
        return
    result, flag = fresh("result"), fresh("returned")
    end = placed(ast.Return(None), body[-1])
    lowering = Leaving(result, None)
    if lowering.how(body) is not How.ALWAYS:
        body = [*body, end]
    made = lowering.block(body)
    if lowering.flagged:
        start = placed(assigned(flag, ast.Constant(False)), body[0])
        first = int(is_text(body[0]))
        made = Leaving(result, flag).block(body)
        made.insert(first, start)
    function.body = [*made, placed(ast.Return(load(result)), body[-1])]
