"""Where the code of a function stands in its file, as a tree."""

import ast
import copy
import linecache
from types import CodeType
from typing import Any

Found = tuple[Any, str | None]  # the function and the class around it
Index = dict[tuple[str, int], list[Found]]  # by name and first line
files: dict[tuple[str, str], Index] = {}
KEPT = 8  # as many files as are worked on at once


def function_tree(code: CodeType, module: dict[str, Any]) -> Found | None:
    """A copy of the function of `code` and the name of the class it stands in; None if unknown."""
    lines = linecache.getlines(code.co_filename, module)
    functions = indexed(code.co_filename, "".join(lines))
    found = functions.get((code.co_name, code.co_firstlineno), [])
    if len(found) > 1:
        found = [f for f in found if covers(f[0], code)]
    if not found:
        return None
    node, within = min(found, key=lambda f: extent(f[0]))
    return copy.deepcopy(node), within


def indexed(name: str, text: str) -> Index:
    """The functions of a file; none where its text is no Python."""
    found = files.get((name, text))
    if found is None:
        found = {}
        try:
            tree = ast.parse(text, name)
        except SyntaxError:
            return found
        collect(tree, None, found)
        while len(files) >= KEPT:
            files.pop(next(iter(files)), None)
        files[name, text] = found
    return found


def collect(tree: ast.AST, within: str | None, found: Index) -> None:
    """Put the functions in `tree` into an index."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.setdefault((node.name, first), []).append((node, within))
        elif isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append((node, within))
        collect(node, node.name if isinstance(node, ast.ClassDef) else within, found)


def covers(node: Any, code: CodeType) -> bool:
    """Whether all instructions of `code` stand in `node`, and one where its body begins."""
    body = node.body if isinstance(node, ast.Lambda) else node
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    spots = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    inside = [start <= (p[0], p[2]) and (p[1], p[3]) <= end for p in spots]  # type: ignore[operator]
    return all(inside)


def extent(node: ast.expr) -> tuple[int, int]:
    """How far a node reaches, to find the smallest."""
    rows = (node.end_lineno or 0) - node.lineno
    return rows, (node.end_col_offset or 0) - node.col_offset * (rows == 0)
