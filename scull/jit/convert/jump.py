"""`break` and `continue` become conditions, and the `else` of a loop one behind it."""

import ast
from typing import Any

from scull.jit.convert.syntax import (
    LOOPS,
    SCOPES,
    Fresh,
    Statements,
    assigned,
    both,
    load,
    negated,
    placed,
    rebuilt,
)
from scull.jit.convert.tail import Tail


class Jumping(Tail):
    """A `break` sets one flag; a `continue` another, where what follows is not in a branch."""

    jumps = (ast.Break, ast.Continue)

    def __init__(self, broke: str, skipped: str | None) -> None:
        super().__init__()
        self.broke, self.skipped, self.breaks, self.continues = broke, skipped, False, False

    def jump(self, statement: Any) -> Statements:
        if isinstance(statement, ast.Break):
            self.breaks = True
            return [assigned(self.broke, ast.Constant(True))]
        self.continues = True
        return [assigned(self.skipped, ast.Constant(True))] if self.skipped else []

    def guard(self) -> ast.expr:
        flags = [self.broke] * self.breaks + [self.skipped or "skipped"] * self.continues
        return both(*[negated(load(f)) for f in flags])


def lower_jumps(body: Statements, fresh: Fresh) -> Statements:
    """`body`, whose loops have neither `break` nor `continue` nor `else`."""
    made: Statements = []
    for statement in body:
        if isinstance(statement, SCOPES):
            made.append(statement)
            continue
        inner = rebuilt(statement, lambda b: lower_jumps(b, fresh))
        made += without_jumps(inner, fresh) if isinstance(inner, LOOPS) else [inner]
    return made


def without_jumps(loop: Any, fresh: Fresh) -> Statements:
    """One loop, whose inner ones are done."""
    broke, skipped = fresh("broke"), fresh("skipped")
    lowering = Jumping(broke, None)
    body = lowering.block(loop.body)
    if lowering.flagged and lowering.continues:
        lowering = Jumping(broke, skipped)
        body = [assigned(skipped, ast.Constant(False)), *lowering.block(loop.body)]
    body = [placed(s, loop) for s in body] or [placed(ast.Pass(), loop)]
    going = negated(load(broke))
    loop.stop = broke if lowering.breaks else None
    otherwise, loop.body, loop.orelse = loop.orelse, body, []
    if not lowering.breaks:
        return [loop, *otherwise]
    if isinstance(loop, ast.While):
        loop.test = placed(both(going, loop.test), loop.test)
    if otherwise:
        otherwise = [placed(ast.If(going, otherwise, []), otherwise[0])]
    return [placed(assigned(broke, ast.Constant(False)), loop), loop, *otherwise]
