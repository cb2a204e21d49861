"""The user's line in the traceback of an error that came up while a Program ran."""

import ast
import linecache
import re
from types import TracebackType
from typing import Any, NamedTuple

from scull.errors import ScullError

SITE = re.compile(r"^in (\S+)\n(?:  .*\n)*?  at (.+):(\d+)$", re.MULTILINE)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Site(NamedTuple):
    """Where an operator was called: the operator, the file and the line."""

    operator: str
    file: str
    line: int


class Place(ScullError):
    """Raised to have a traceback of a line."""


def site_of(error: Exception) -> Site | None:
    """Where the operator was called that `error` tells of."""
    found = SITE.search(str(error))
    return None if found is None else Site(found[1], found[2], int(found[3]))


def traceback_at(site: Site) -> TracebackType | None:
    """A traceback of that line alone, with carets under the call if the file is there."""
    tree = parsed(site.file)
    if tree is None:
        return None
    raising = ast.Raise(ast.Name("place", ast.Load()))
    for node in (raising, raising.exc):
        ast.copy_location(node, called(tree, site))
    code = compile(ast.Module([raising], []), site.file, "exec")
    try:
        exec(code.replace(co_name=around(tree, site.line)), {"place": Place()})
    except Place as place:
        found = place.__traceback__
        return None if found is None else found.tb_next
    return None


def parsed(file: str) -> ast.Module | None:
    """The syntax of a file; None if it is no Python any more."""
    try:
        return ast.parse("".join(linecache.getlines(file)) or "(")
    except SyntaxError:
        return None


def called(tree: ast.Module, site: Site) -> Any:
    """The call of the operator on its line; the whole expression there if it has another name."""
    here = [n for n in ast.walk(tree) if getattr(n, "lineno", None) == site.line]
    calls = [n for n in here if isinstance(n, ast.Call) and name_of(n.func) == site.operator]
    if len(calls) == 1:
        return calls[0]
    whole = [n for n in here if isinstance(n, ast.expr) and n.end_lineno == site.line]
    blank = ast.Pass(lineno=site.line, col_offset=0, end_lineno=site.line, end_col_offset=0)
    return max(whole, key=lambda n: (n.end_col_offset or 0) - n.col_offset, default=blank)


def name_of(function: ast.expr) -> str:
    """The last name by which a function is called."""
    return getattr(function, "attr", getattr(function, "id", ""))


def around(tree: ast.Module, line: int) -> str:
    """The name of the innermost function that has a line."""
    name = "<module>"
    for node in ast.walk(tree):  # outer ones come first
        if isinstance(node, FUNCTIONS) and node.lineno <= line <= (node.end_lineno or line):
            name = node.name
    return name
