"""Jumps without jumps: what follows one goes where none was made, or under a flag.

`if a: return 1` and then the rest is `if a: return 1` `else:` the rest. Only where neither branch
always jumps does a flag say whether one did.
"""

import ast
from enum import IntEnum
from typing import Any

from scull.jit.convert.syntax import LOOPS, Statements, own, placed, rebuilt


class How(IntEnum):
    """Whether statements jump."""

    NEVER = 0
    MAYBE = 1
    ALWAYS = 2


def either(first: How, second: How) -> How:
    """Whether one of two branches jumps that are never both taken."""
    return first if first == second else How.MAYBE


class Tail:
    """Rewrites the jumps of one kind in a list of statements, which stays as it was."""

    jumps: tuple[type[ast.stmt], ...] = ()

    def __init__(self) -> None:
        self.known: dict[int, How] = {}
        self.flagged = False  # whether a flag was asked for

    def jump(self, statement: Any) -> Statements:
        """What replaces a jump."""
        raise NotImplementedError

    def guard(self) -> ast.expr:
        """Whether no jump was made."""
        raise NotImplementedError

    def loop(self, statement: Any) -> Statements:
        """What replaces a loop."""
        return [statement]

    def loop_how(self, statement: Any) -> How:
        """Whether a loop jumps."""
        return How.NEVER

    def how(self, body: Statements) -> How:
        """Whether `body` jumps."""
        found = How.NEVER
        for statement in body:
            found = max(found, self.how_one(statement))
        return found

    def how_one(self, node: Any) -> How:
        """Whether one statement jumps."""
        if id(node) not in self.known:
            self.known[id(node)] = self.looked_at(node)
        return self.known[id(node)]

    def looked_at(self, node: Any) -> How:
        """The same, not yet known."""
        match node:
            case ast.Raise():
                return How.ALWAYS
            case ast.If():
                return either(self.how(node.body), self.how(node.orelse))
            case ast.With() | ast.AsyncWith():  # it may swallow an exception and go on
                return min(self.how(node.body), How.MAYBE)
            case ast.Try() | ast.TryStar():
                found = max(self.how(node.body), self.how(node.orelse))
                for handler in node.handlers:
                    found = either(found, self.how(handler.body))
                return max(found, self.how(node.finalbody))
            case ast.Match():
                found = self.how(node.cases[0].body)
                for case in node.cases[1:]:
                    found = either(found, self.how(case.body))
                return found if found is How.NEVER or is_complete(node) else How.MAYBE
            case ast.While() | ast.For() | ast.AsyncFor():
                return self.loop_how(node)
        return How.ALWAYS if isinstance(node, self.jumps) else How.NEVER

    def block(self, body: Statements) -> Statements:
        """`body` without jumps."""
        made: Statements = []
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            how = self.how_one(statement)
            if isinstance(statement, ast.If) and how is How.MAYBE and self.absorbs(statement, rest):
                return [*made, self.absorbed(statement, rest)]
            made += self.one(statement)
            if how is How.ALWAYS:
                return made
            if how is How.MAYBE and rest and self.holds_jump(statement):
                return made + self.guarded(rest, statement)
        return made

    def holds_jump(self, statement: ast.stmt) -> bool:
        """Whether there is a jump within, and not just an exception."""
        return any(isinstance(n, self.jumps) for n in own(statement))

    def guarded(self, rest: Statements, before: ast.stmt) -> Statements:
        """`rest`, which runs when `before` made no jump."""
        self.flagged = True
        following = self.block(rest) or [ast.Pass()]
        return [placed(ast.If(self.guard(), following, []), before)]

    def absorbs(self, node: ast.If, rest: Statements) -> bool:
        """Whether what follows an `if` goes into the branch that does not jump."""
        return bool(rest) and How.ALWAYS in (self.how(node.body), self.how(node.orelse))

    def absorbed(self, node: ast.If, rest: Statements) -> ast.If:
        """The `if` with what follows it."""
        if self.how(node.body) is How.ALWAYS:
            branches = self.block(node.body), self.block(node.orelse + rest)
        else:
            branches = self.block(node.body + rest), self.block(node.orelse)
        made = ast.If(node.test, branches[0] or [ast.Pass()], branches[1])
        return placed(made, node)

    def one(self, node: Any) -> Statements:
        """What replaces one statement."""
        if isinstance(node, self.jumps):
            return [placed(made, node) for made in self.jump(node)]
        if isinstance(node, LOOPS | ast.AsyncFor):
            return [placed(made, node) for made in self.loop(node)]
        if self.how_one(node) is How.NEVER or isinstance(node, ast.Raise):
            return [node]
        made = rebuilt(node, lambda body: self.block(body) or [placed(ast.Pass(), node)])
        if isinstance(node, ast.Try) and node.orelse and any(map(self.holds_jump, node.body)):
            self.flagged = True
            made.orelse = [placed(ast.If(self.guard(), made.orelse, []), node)]
        return [made]


def is_complete(node: ast.Match) -> bool:
    """Whether the last case of a `match` takes whatever comes."""
    last = node.cases[-1]
    return last.guard is None and isinstance(last.pattern, ast.MatchAs) and not last.pattern.pattern
