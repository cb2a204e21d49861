"""`[f(v) for v in values if g(v)]`, where only a loop of a Program may know how long it becomes."""

import ast
from typing import Any

from scull.jit.convert.expression import Expressions, defers
from scull.jit.convert.syntax import both, meaning, parameters, placed


class Comprehensions(Expressions):
    """Comprehensions of lists over one iterable."""

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        self.generic_visit(node)
        part = node.generators[0]
        names = names_of(part.target)
        if len(node.generators) > 1 or part.is_async or names is None or binds(node):
            return node
        element = ast.Lambda(parameters(*names), node.elt)
        test: ast.expr = ast.Constant(None)
        if part.ifs:
            test = ast.Lambda(parameters(*names), both(*part.ifs))
        several = ast.Constant(not isinstance(part.target, ast.Name))
        return placed(meaning("comprehension", part.iter, element, test, several), node)


def names_of(target: ast.expr) -> list[str] | None:
    """The names that a target gives a value; None where it is more than some names."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [p.id for p in parts if isinstance(p, ast.Name)]
    return names if len(set(names)) == len(parts) else None


def binds(node: ast.AST) -> bool:
    """Whether an expression gives a name a value around it, or suspends its function."""
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)) or not defers(node)  # type: ignore[arg-type]
