"""`and`, `or`, `not`, chains of comparisons, `in`, `a if test else b`, and tests that stay."""

import ast
from typing import Any

from scull.jit.convert.expression import Expressions, deferred, defers
from scull.jit.convert.syntax import MEANING, load, meaning, placed

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
CONTAINS = {ast.In: "contains", ast.NotIn: "lacks"}


class Logic(Expressions):
    """Operators on truth values."""

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if not defers(*node.values):
            return node
        word = "and_" if isinstance(node.op, ast.And) else "or_"
        rest = [deferred(v) for v in node.values[1:]]
        return placed(meaning(word, node.values[0], *rest), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return placed(meaning("not_", node.operand), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        kinds = [type(op) for op in node.ops]
        if len(kinds) == 1:
            word = CONTAINS.get(kinds[0])
            made = meaning(word, node.left, node.comparators[0]) if word else node
            return placed(made, node)
        if not defers(*node.comparators):
            return node
        parts: list[ast.expr] = []
        for kind, value in zip(kinds, node.comparators, strict=True):
            parts += [ast.Constant(COMPARISONS[kind]), deferred(value)]
        return placed(meaning("compare", node.left, *parts), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if not defers(node.body, node.orelse):
            node.test = placed(meaning("known", node.test), node.test)
            return node
        pair = deferred(node.body), deferred(node.orelse)
        return placed(meaning("if_expression", node.test, *pair), node)


class Known(Expressions):
    """The tests that stay Python's: those of comprehensions, and around `yield`."""

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        self.generic_visit(node)
        node.ifs = [placed(meaning("known", test), test) for test in node.ifs]
        return node

    def test(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = placed(meaning("known", node.test), node.test)
        return node

    visit_If = visit_While = test


class Asserting(Expressions):
    """`assert test, message`."""

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        message = deferred(node.msg) if node.msg else ast.Constant(None)
        return placed(ast.Expr(meaning("assert_", node.test, message)), node)


class Raising(Expressions):
    """`raise error`; and `try`, whose handlers catch what eager mode raises, and no refusal."""

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = placed(meaning("raising", node.exc), node.exc)
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        self.generic_visit(node)
        if node.handlers:
            inside = ast.With([ast.withitem(meaning("Trying"))], node.body)
            node.body = [placed(inside, node)]
            refusal = ast.Attribute(load(MEANING), "Unwinding", ast.Load())
            again = ast.ExceptHandler(refusal, None, [ast.Raise()])
            node.handlers.insert(0, placed(again, node.handlers[0]))
        return node
