"""Calls, sizes and items: what stands for a Python value may be one of a Program."""

import ast
import itertools
from collections.abc import Iterable
from typing import Any

from scull.jit.convert.expression import Expressions, is_meaning
from scull.jit.convert.item import OPERATORS, index_of
from scull.jit.convert.scope import arguments_of
from scull.jit.convert.syntax import MEANING, load, meaning, path_of, placed

SHOWN = ast.Name | ast.Slice  # an index with one of these is looked at when it runs
SIZES = ("shape", "size")
OF_FRAMES = frozenset(["dir", "eval", "exec", "globals", "locals", "super", "vars"])


class Sizes(Expressions):
    """`x.shape`, `x.shape[0]` and `x.size`."""

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):  # a method of this name is none of these
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "len" and is_shape(node.args):
            node.args[0].value = self.visit(node.args[0].value)  # type: ignore[attr-defined]
            return node
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load) and is_shape([node.value]) and is_number(node.slice):
            holder = self.visit(node.value.value)  # type: ignore[attr-defined]
            return placed(meaning("size_of", holder, node.slice), node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in SIZES:
            return node
        return placed(meaning(node.attr, node.value), node)


class Properties(Expressions):
    """`x.name`, which may be a property of a user's class; `modules` are names of none."""

    def __init__(self, modules: Iterable[str]) -> None:
        self.plain = {MEANING, *modules}

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if (path_of(node) or "").split(".")[0] in self.plain:
            return node
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr in SIZES:
            return node
        return placed(meaning("attribute", node.value, ast.Constant(node.attr)), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if len(node.targets) > 1:
            return node
        return self.written(node, node.targets[0], "set_attribute", node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        sign = ast.Constant(OPERATORS[type(node.op)])
        return self.written(node, node.target, "change_attribute", sign, node.value)

    def written(self, node: ast.stmt, target: Any, function: str, *values: ast.expr) -> ast.stmt:
        """A statement that writes an attribute as a call; others as they are."""
        if not isinstance(target, ast.Attribute):
            return node
        found = meaning(function, target.value, ast.Constant(target.attr), *values)
        return placed(ast.Expr(found), target)


def is_starred(node: ast.expr) -> bool:
    """Whether it is `*values`."""
    return isinstance(node, ast.Starred)


def is_shape(nodes: list[ast.expr]) -> bool:
    """Whether it is `x.shape`."""
    return len(nodes) == 1 and isinstance(nodes[0], ast.Attribute) and nodes[0].attr == "shape"


def is_number(node: ast.expr) -> bool:
    """Whether it is an integer, perhaps below 0."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) is int


class Items(Expressions):
    """`x[i]`, where `x` may be a list of tensors or `i` a tensor."""

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        parts = list(ast.walk(node.slice))
        plain = not is_number(node.slice) and not any(isinstance(n, SHOWN) for n in parts)
        starred = any(isinstance(n, ast.Starred) for n in parts)
        if not isinstance(node.ctx, ast.Load) or plain or starred:
            return node
        return placed(meaning("item", node.value, index_of(node)), node)


class Lists(Expressions):
    """`a + [b]`, `a += [b]`, `[b, *a]` and `b, c = a`, where `a` may be a list of a Program."""

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not any(map(is_starred, node.elts)):
            return node
        parts: list[ast.expr] = []
        for starred, elements in itertools.groupby(node.elts, is_starred):
            if starred:
                parts += [e.value for e in elements]  # type: ignore[attr-defined]
            else:
                parts.append(ast.List(list(elements), ast.Load()))
        return placed(meaning("spread", *parts), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        target: Any = node.targets[0]
        known = isinstance(node.value, ast.Tuple | ast.List)
        if len(node.targets) > 1 or not isinstance(target, ast.Tuple | ast.List) or known:
            return node
        starred = [i for i, e in enumerate(target.elts) if is_starred(e)]
        counts = [starred[0], len(target.elts) - starred[0] - 1] if starred else [len(target.elts)]
        target.elts = [e.value if is_starred(e) else e for e in target.elts]
        node.value = meaning("unpacked", node.value, *map(ast.Constant, counts))
        return placed(node, node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        lists = isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
        if not isinstance(node.op, ast.Add) or not lists:
            return node
        return placed(meaning("joined", node.left, node.right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Add) or not isinstance(node.value, ast.List):
            return node
        if not isinstance(node.target, ast.Name):
            return node
        value = meaning("extended", load(node.target.id), node.value)
        return placed(ast.Assign([node.target], value), node)


class Calls(Expressions):
    """A called function is converted when it is called."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        called = node.func
        if is_meaning(called) or (isinstance(called, ast.Name) and called.id in OF_FRAMES):
            return node
        node.func = placed(meaning("call", called), called)
        return node


class Parents(Expressions):
    """`super()` without arguments, which works only where a method is written as such."""

    def __init__(self) -> None:
        self.first: list[str | None] = []

    def visit_FunctionDef(self, node: Any) -> Any:
        names = arguments_of(node)
        self.first.append(names[0] if names else None)
        self.generic_visit(node)
        self.first.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        bare = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if bare and not node.keywords and self.first and self.first[0]:
            node.args = [load("__class__"), load(self.first[0])]
            placed(node, node)
        return node
