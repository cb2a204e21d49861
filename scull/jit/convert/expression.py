"""What transformers of expressions share: a walk that leaves classes alone, and deferring."""

import ast
from typing import Any

from scull.jit.convert.syntax import MEANING, later, meaning, own, placed


class Expressions(ast.NodeTransformer):
    """A transformer of the expressions of a function and of the functions within it."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        for argument in [*node.posonlyargs, *node.args, *node.kwonlyargs]:
            argument.annotation = None
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return node  # made by conversion itself


class Unannotated(Expressions):
    """`x: int = 1` without the annotation, which nothing reads within a function."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        made = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return placed(made, node)


def deferred(value: ast.expr) -> Any:
    """`value` as a function of no parameters; a name it binds is bound around it."""
    return placed(later(Rebinding().visit(value)), value)


def defers(*values: ast.expr) -> bool:
    """Whether `values` may stand in a function of their own."""
    suspends = ast.Yield | ast.YieldFrom | ast.Await
    return not any(isinstance(n, suspends) for v in values for n in own(v))


class Rebinding(ast.NodeTransformer):
    """`(x := v)` in an expression that moves into a function."""

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        name = later(ast.Name(node.target.id, ast.Load()))
        return placed(meaning("bind", name, self.visit(node.value)), node)


def is_meaning(node: ast.expr) -> bool:
    """Whether it names one of the functions of converted code."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == MEANING
    )
