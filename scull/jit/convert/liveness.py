"""Which names are still read after a statement: those of no use later are no state of it."""

import ast
from typing import Any

from scull.jit.convert.scope import Scope, bound, read
from scull.jit.convert.syntax import Statements


class Liveness:
    """Notes on each `if` and loop what is live behind it, and on loops what is at their start."""

    def __init__(self, scope: Scope) -> None:
        self.always = scope.captured | scope.globals | scope.nonlocals

    def before(self, body: Statements, after: set[str]) -> set[str]:
        """What is live before `body` when `after` is behind it."""
        for statement in reversed(body):
            after = self.one(statement, after) | self.always
        return after

    def one(self, node: Any, after: set[str]) -> set[str]:
        """What is live before one statement."""
        match node:
            case ast.If():
                node.live_after = after | self.always
                branches = self.before(node.body, after) | self.before(node.orelse, after)
                node.live_inside = branches
                return read(node.test) | branches
            case ast.While():
                return self.loop(node, after, read(node.test), set())
            case ast.For() | ast.AsyncFor():
                return read(node.iter) | self.loop(node, after, set(), bound([node.target]))
            case ast.With() | ast.AsyncWith():
                inside = self.before(node.body, after)
                targets = [i.optional_vars for i in node.items if i.optional_vars]
                return read(*node.items) | (inside - bound(targets)) | read(*targets)
            case ast.Try() | ast.TryStar():
                return self.attempt(node, after)
            case ast.Match():
                found = after | read(node.subject)
                for case in node.cases:
                    found |= self.before(case.body, after) | read(case.pattern)
                    found |= read(case.guard) if case.guard else set()
                return found
            case ast.Return():
                return read(node)
            case ast.AugAssign():
                return after | read(node) | bound([node])
            case ast.Assign() | ast.AnnAssign():
                return (after - bound([node])) | read(node)
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                return (after - bound([node])) | read(node)
        return after | read(node)

    def loop(self, node: Any, after: set[str], test: set[str], target: set[str]) -> set[str]:
        """What is live before a loop: what is so before one of its rounds."""
        behind = self.before(node.orelse, after) | after
        node.live_after = behind | self.always
        stop = getattr(node, "stop", None)
        head = behind | test | ({stop} if stop else set())
        while True:
            found = head | (self.before(node.body, head) - target)
            if found == head:
                node.live_head = head | self.always
                return head
            head = found

    def attempt(self, node: Any, after: set[str]) -> set[str]:
        """What is live before a `try`, whose parts may end anywhere."""
        after = after | self.before(node.finalbody, after)
        caught = set(after)
        for handler in node.handlers:
            caught |= self.before(handler.body, after)
            caught |= read(handler.type) if handler.type else set()
        return caught | self.before(node.body, caught | self.before(node.orelse, caught))
