"""Conversion of a tree."""

import ast
from typing import Any

from scull.jit.convert.pipeline import lowered


class DygraphToStaticAst:
    """Converts the functions of a tree."""

    def get_static_ast(self, root: ast.AST) -> Any:
        """`root` with its functions converted.

        Args:
            root (ast.Module): the tree.
        """
        for node in getattr(root, "body", []):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []
                lowered(node, None)
        return ast.fix_missing_locations(root)
