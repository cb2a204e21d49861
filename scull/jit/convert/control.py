"""`if`, `while` and `for` become calls, which get what may run as functions.

In a generator those that suspend it stay as they are.

What these functions bind is the function's around them (`nonlocal`). A call is told which names
and attributes its branches or rounds change and somebody reads later: the state.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from scull.jit.convert.scope import Scope, bound, paths_changed, paths_written
from scull.jit.convert.suspending import is_open
from scull.jit.convert.syntax import (
    SCOPES,
    Fresh,
    Statements,
    function,
    held,
    is_text,
    later,
    load,
    meaning,
    placed,
    rebuilt,
)


class Control:
    """The control flow of one function."""

    def __init__(self, scope: Scope, fresh: Fresh) -> None:
        self.scope, self.fresh = scope, fresh
        self.shared: set[str] = set()  # the names that inner functions bind

    def statements(self, body: Statements) -> Statements:
        """`body` without control flow."""
        made: Statements = []
        for statement in body:
            change = CONSTRUCTS.get(type(statement))
            if change is not None and not is_open(statement):
                made += [placed(s, at(statement)) for s in change(self, statement)]
            elif isinstance(statement, SCOPES):
                made.append(statement)
            elif not isinstance(statement, ast.Global | ast.Nonlocal) or not self.inner:
                made.append(rebuilt(statement, self.statements))
        return made

    inner = False  # whether what is rewritten becomes the body of a function

    def made(self, word: str, names: list[str], body: Statements, first: Any = ()) -> Any:
        """An inner function of `body`."""
        name = self.fresh(word)
        binds = bound([*first, *body])
        local = (binds | self.scope.escaping) & self.scope.locals
        self.shared |= local
        before, self.inner = self.inner, True
        content: Statements = [*first, *self.statements(body)]
        self.inner = before
        declared: Statements = []
        if binds & self.scope.globals:
            declared.append(ast.Global(sorted(binds & self.scope.globals)))
        around = local | (binds & self.scope.nonlocals) | self.scope.escaping
        if around:
            declared.append(ast.Nonlocal(sorted(around)))
        content = [s for s in content if not isinstance(s, ast.Global | ast.Nonlocal)]
        return function(name, names, [*declared, *content])

    def state(self, parts: Statements, live: set[str]) -> ast.expr:
        """What `parts` change of which is `live`, as a tuple of texts."""
        binds = bound(parts)
        outside = binds & (self.scope.globals | self.scope.nonlocals)
        names = {n: None for n in sorted((binds & live) | outside | self.scope.escaping)}
        for path in [*paths_written(parts), *paths_changed(parts)]:
            if path.split(".")[0] not in binds:
                names[path] = None
        return texts(names)

    def dead(self, parts: Statements, live: set[str]) -> ast.expr:
        """What `parts` bind for themselves alone, as a tuple of texts."""
        return texts(sorted((bound(parts) & self.scope.locals) - live - self.scope.escaping))


def texts(names: Iterable[str]) -> ast.expr:
    """A tuple of texts."""
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())


def at(node: Any) -> ast.AST:
    """The part of a statement that errors point at."""
    return node.iter if isinstance(node, ast.For) else getattr(node, "test", node)


def branch(control: Control, node: ast.If) -> Statements:
    """An `if`."""
    inside, live = [*node.body, *node.orelse], node.live_after  # type: ignore[attr-defined]
    state = control.state(inside, live)
    both = bound(node.body) & bound(node.orelse)
    first = (bound(inside) & control.scope.locals & (node.live_inside | both)) - live  # type: ignore[attr-defined]
    again = texts(sorted(first))
    functions = [control.made("then", [], node.body)]
    if node.orelse:
        functions.append(control.made("otherwise", [], node.orelse))
    names = [load(f.name) for f in functions] + [ast.Constant(None)] * (not node.orelse)
    return [
        *functions,
        ast.Expr(meaning("if_else", node.test, *names, state, *[again] * bool(first))),
    ]


def loop(control: Control, node: Any) -> Statements:
    """A `while`."""
    walrus = bound([node.test])
    live = node.live_after | node.live_head
    state, dead = control.state([*node.body, node.test], live), control.dead(node.body, live)
    body = control.made("round", [], node.body)
    test: Any = later(node.test)
    functions = [body]
    if walrus:
        tested = control.made("test", [], [placed(ast.Return(node.test), node.test)])
        functions, test = [tested, body], load(tested.name)
    return [*functions, ast.Expr(meaning("while_loop", test, load(body.name), state, dead))]


def walk(control: Control, node: Any) -> Statements:
    """A `for`."""
    item = control.fresh("item")
    live = node.live_after | node.live_head | {node.stop}
    targets = bound([node.target])
    parts = [*node.body, node.target]
    state, dead = control.state(parts, live), control.dead(parts, live)
    control.shared |= targets & control.scope.locals
    taken = placed(ast.Assign([node.target], load(item)), node.target)
    body = control.made("round", [item], node.body, [taken])
    stop = later(load(node.stop)) if node.stop else ast.Constant(None)
    return [body, ast.Expr(meaning("for_loop", node.iter, load(body.name), state, stop, dead))]


CONSTRUCTS: dict[type[ast.stmt], Callable[[Control, Any], Statements]] = {
    ast.If: branch,
    ast.While: loop,
    ast.For: walk,
}


def lower_control(node: ast.FunctionDef, control: Control) -> None:
    """Let the body of `node` have no control flow, and declare the names it shares."""
    first = node.body[0]
    walrus = {n.target.id for n in held(node.body) if isinstance(n, ast.NamedExpr)}
    control.shared |= walrus & control.scope.locals  # some of them move into functions
    body = control.statements(node.body)
    names = sorted(control.shared - control.scope.parameters)
    start = int(is_text(first))
    node.body = [*body[:start], *[placed(declared(n), first) for n in names], *body[start:]]


def declared(name: str) -> ast.AnnAssign:
    """`name: None`, which makes the name one of the function and gives it no value."""
    return ast.AnnAssign(ast.Name(name, ast.Store()), ast.Constant(None), None, 1)
