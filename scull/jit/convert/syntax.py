"""Pieces of Python that transformers put together, and what they ask of those they find."""

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

MEANING = "_jst"  # the free name by which converted code finds the functions it calls
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
SCOPES = FUNCTIONS | ast.ClassDef
LOOPS = ast.While | ast.For
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Statements = list[ast.stmt]


def load(name: str) -> ast.Name:
    """`name`, read."""
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr) -> ast.Assign:
    """`name = value`."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def meaning(function: str, *arguments: ast.expr) -> ast.Call:
    """A call of one of the functions of converted code."""
    return ast.Call(ast.Attribute(load(MEANING), function, ast.Load()), list(arguments), [])


def negated(test: ast.expr) -> ast.expr:
    """`not test`."""
    return ast.UnaryOp(ast.Not(), test)


def both(*tests: ast.expr) -> ast.expr:
    """Whether all of `tests` hold, which are looked at in order."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def parameters(*names: str) -> ast.arguments:
    """The parameters of a function that takes `names`."""
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


def function(name: str, names: Iterable[str], body: Statements) -> ast.FunctionDef:
    """A function with parameters `names`."""
    return ast.FunctionDef(name, parameters(*names), body or [ast.Pass()], [])


def later(value: ast.expr) -> ast.Lambda:
    """A function of no parameters that computes `value`."""
    return ast.Lambda(parameters(), value)


def placed(made: Any, at: ast.AST) -> Any:
    """`made`, whose new nodes stand where `at` stands in the user's file."""
    for node in ast.walk(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, at)
    return made


def own(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and what it holds, but for what functions and classes within it hold."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        if not isinstance(found, SCOPES) or found is node:
            waiting.extend(ast.iter_child_nodes(found))


def held(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The same of several nodes; a function among them is itself not entered."""
    for node in body:
        if isinstance(node, SCOPES):
            yield node
        else:
            yield from own(node)


def rebuilt(statement: Any, change: Callable[[Statements], Statements]) -> Any:
    """A copy of `statement` with the lists of statements it holds changed."""
    made = copy.copy(statement)
    for field in ("body", "orelse", "finalbody"):
        if getattr(made, field, None):
            setattr(made, field, change(getattr(made, field)))
    for field in ("handlers", "cases"):
        if hasattr(made, field):
            setattr(made, field, [rebuilt(part, change) for part in getattr(made, field)])
    return made


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def path_of(node: ast.AST) -> str | None:
    """`a.b.c` as text; None for what is no name or attribute of one."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        root = path_of(node.value)
        return root and f"{root}.{node.attr}"
    return None


class Fresh:
    """Names that no code of a function has."""

    def __init__(self, tree: ast.AST) -> None:
        self.taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        self.taken |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        self.taken |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        self.made: set[str] = set()

    def __call__(self, word: str) -> str:
        number = 1
        while f"{word}_{number}" in self.taken:
            number += 1
        self.taken.add(f"{word}_{number}")
        self.made.add(f"{word}_{number}")
        return f"{word}_{number}"
