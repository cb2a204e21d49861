"""Python expressions as trees: built, measured, written out. Texts of a file are only literals."""

import ast
import math
import re
from collections.abc import Mapping
from typing import Any

from scull.core.dtype import DType

WIDTH = 100
INDENT = 4


def name(text: str) -> ast.expr:
    """A name, or a path of names: `paddle.nn`."""
    first, *rest = text.split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for word in rest:
        found = ast.Attribute(found, word, ast.Load())
    return found


def literal(value: Any) -> ast.expr:
    """A value as it is written: numbers, texts, lists of these; an element type by its name."""
    if isinstance(value, ast.expr):
        return value
    if isinstance(value, DType):
        return ast.Constant(value.name)
    if isinstance(value, list | tuple):
        return ast.List([literal(v) for v in value], ast.Load())
    if isinstance(value, float) and not math.isfinite(value):
        return ast.Call(name("float"), [ast.Constant(str(value))], [])
    if isinstance(value, int | float) and not isinstance(value, bool) and signed_like(value) < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    assert value is None or isinstance(value, bool | int | float | complex | str), type(value)
    return ast.Constant(value)


def signed_like(value: float) -> float:
    """1 or -1, as the sign of a number says; -0.0 has one."""
    return math.copysign(1.0, value)


def call(path: str | ast.expr, *arguments: Any, **keywords: Any) -> ast.expr:
    """A call; arguments that are no trees are literals."""
    function = name(path) if isinstance(path, str) else path
    given = [ast.keyword(word, literal(v)) for word, v in keywords.items()]
    return ast.Call(function, [literal(v) for v in arguments], given)


def method(x: ast.expr, word: str, *arguments: Any, **keywords: Any) -> ast.expr:
    """The call of a method."""
    return call(ast.Attribute(x, word, ast.Load()), *arguments, **keywords)


def without(keywords: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `keywords` that differ from their defaults."""
    return {n: v for n, v in keywords.items() if n not in defaults or not plain(v, defaults[n])}


def plain(value: Any, default: Any) -> bool:
    """Whether a value is what stands there by itself."""
    return type(value) is type(default) and bool(value == default)


def short(value: Any) -> Any:
    """One number for several that are equal."""
    several = isinstance(value, tuple | list) and len(value) > 1 and len(set(value)) == 1
    return value[0] if several else list(value) if isinstance(value, tuple) else value


# ---- writing ----


def text(node: ast.expr) -> str:
    """The expression in one line, of ASCII characters alone."""
    return quoted(ast.unparse(node)).encode("ascii", "backslashreplace").decode()


def quoted(line: str) -> str:
    """The line with double quotes around texts in which that needs no mark."""
    if "'" not in line:
        return line
    return re.sub(r"'[^'\"\\]*'|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", doubled, line)


def doubled(found: re.Match[str]) -> str:
    """A text with double quotes, if it holds no such nor anything else that needs a mark."""
    inner = found[0][1:-1]
    plain = found[0][0] == "'" and '"' not in inner and "\\" not in inner
    return f'"{inner}"' if plain else found[0]


def lines(head: str, node: ast.expr, indent: int, tail: str = "") -> list[str]:
    """`head`, the expression and `tail`, in as many lines as it takes."""
    margin = " " * indent
    whole = f"{margin}{head}{text(node)}{tail}"
    if len(whole) <= WIDTH:
        return [whole]
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        opened, parts, closed = f"{text(node.func)}(", parts_of(node), ")"
    elif isinstance(node, ast.List | ast.Tuple) and node.elts:
        marks = "[]" if isinstance(node, ast.List) else "()"
        opened, parts, closed = marks[0], [("", e) for e in node.elts], marks[1]
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        opened, closed = "{", "}"
        parts = [(f"{text(k)}: ", v) for k, v in pairs if k is not None]
    elif isinstance(node, ast.BinOp | ast.Compare) and head:
        return [f"{margin}{head}(", *lines("", node, indent + INDENT), f"{margin}){tail}"]
    else:
        return [whole]
    found = [f"{margin}{head}{opened}"]
    for word, part in parts:
        found += lines(word, part, indent + INDENT, ",")
    return [*found, f"{margin}{closed}{tail}"]


def parts_of(node: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, each with the word before it."""
    return [("", a) for a in node.args] + [(f"{k.arg}=", k.value) for k in node.keywords]
