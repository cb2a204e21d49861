"""Names like `__x` in a class, which Python spells `_Class__x`."""

import ast
from typing import Any


class Private(ast.NodeTransformer):
    """Spells private names as the class `owner` does."""

    def __init__(self, owner: str) -> None:
        self.prefix = "_" + owner.lstrip("_")

    def spelt(self, name: str) -> str:
        """What `name` is in the class."""
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self.prefix + name if private and self.prefix != "_" else name

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self.spelt(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = self.spelt(node.attr)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = self.spelt(node.arg)
        return node

    def visit_keyword(self, node: ast.keyword) -> Any:
        node.arg = node.arg and self.spelt(node.arg)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.name = self.spelt(node.name)
        return self.generic_visit(node)

    def names(self, node: Any) -> Any:
        node.names = [self.spelt(n) for n in node.names]
        return node

    visit_Global = visit_Nonlocal = names

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node
