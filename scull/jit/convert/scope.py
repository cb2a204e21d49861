"""Which names a function binds, reads and changes, and where."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from scull.jit.convert.syntax import COMPREHENSIONS, FUNCTIONS, SCOPES, held, own, path_of

MUTATORS = frozenset("append appendleft extend insert pop popleft remove reverse sort".split())  # noqa: SIM905
MUTATORS |= frozenset(["add", "clear", "discard", "popitem", "setdefault", "update"])


def bound(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind or delete in their own scope."""
    found: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        found.update(bound_by(node))
        if isinstance(node, COMPREHENSIONS):  # its targets are its own
            found.update(n.target.id for n in own(node) if isinstance(n, ast.NamedExpr))
        elif not isinstance(node, SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that one node binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((a.asname or a.name).split(".")[0] for a in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def read(*nodes: Any) -> set[str]:
    """The names that nodes read, functions within them too."""
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def arguments_of(function: Any) -> list[str]:
    """The names of the parameters of a function, in order."""
    a = function.args
    found = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
    return [p.arg for p in [*found, *([a.kwarg] if a.kwarg else [])]]


class Scope:
    """What is known of the names of one function.

    `captured` are read by functions within it, `escaping` written by them.
    """

    def __init__(self, function: Any) -> None:
        body = [function.body] if isinstance(function, ast.Lambda) else function.body
        self.parameters = set(arguments_of(function))
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: set[str] = set()
        self.escaping: set[str] = set()
        for node in held(body):
            if isinstance(node, ast.Global):
                self.globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals.update(node.names)
            elif isinstance(node, SCOPES):
                self.captured |= read(node)
                self.escaping |= declared_within(node)
            elif isinstance(node, ast.GeneratorExp):
                self.captured |= read(node)
        outside = self.globals | self.nonlocals
        self.locals = (self.parameters | bound(body)) - outside
        self.escaping &= self.locals | outside


def declared_within(node: ast.AST) -> set[str]:
    """The names that functions within `node` say they write around themselves."""
    kinds = (n for n in ast.walk(node) if isinstance(n, ast.Nonlocal))
    return {name for n in kinds for name in n.names}


def paths_written(body: Iterable[ast.AST]) -> list[str]:
    """Attributes that statements assign, as `a.b`."""
    found: dict[str, None] = {}
    for node in held(body):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            path = path_of(node)
            if path:
                found[path] = None
    return list(found)


def paths_changed(body: Iterable[ast.AST]) -> list[str]:
    """Names and attributes whose contents statements change, as `a` or `a.b`."""
    found: dict[str | None, None] = {}
    for node in held(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in MUTATORS:
                found[path_of(base(node.func.value))] = None
            elif is_writing(node):
                found[path_of(base(node.args[0]))] = None
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found[path_of(base(node.value))] = None
    return [path for path in found if path]


def has_path(node: ast.AST) -> bool:
    """Whether it is a name or an attribute of one."""
    return path_of(node) is not None


def is_writing(call: ast.Call) -> bool:
    """Whether it is a converted item assignment."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "write_item"


def base(node: ast.expr) -> ast.expr:
    """What is indexed in `node`, perhaps several times."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def has_yield(node: ast.AST) -> bool:
    """Whether a function is a generator or a coroutine."""
    kinds = ast.Yield | ast.YieldFrom | ast.Await
    return isinstance(node, FUNCTIONS) and any(isinstance(n, kinds) for n in own(node))
