"""Which names a loop hands from round to round."""

import ast
import builtins
from typing import Any

from scull.jit.convert.liveness import Liveness
from scull.jit.convert.scope import Scope, bound, read


class NameVisitor:
    """Looks at the loops of the functions in a tree.

    Args:
        root_node (ast.AST): the tree.
    """

    def __init__(self, root_node: Any) -> None:
        self.made_before: dict[Any, set[str]] = {}
        for node in ast.walk(root_node):
            if isinstance(node, ast.FunctionDef):
                scope = Scope(node)
                Liveness(scope).before(node.body, set())
                self.look(node.body, set(scope.parameters))

    def look(self, body: list[ast.stmt], made: set[str]) -> None:
        """Note which names have a value before each loop."""
        for statement in body:
            if isinstance(statement, ast.For | ast.While):
                self.made_before[statement] = set(made)
            for field in ("body", "orelse", "finalbody"):
                self.look(getattr(statement, field, []), made)
            made |= bound([statement])

    def is_control_flow_loop(self, node: Any) -> bool:
        """Whether a loop may become one of a Program.

        Args:
            node (ast.For | ast.While): the loop.
        """
        return node in self.made_before

    def get_loop_var_names(self, node: Any) -> tuple[set[str], set[str]]:
        """The names a loop uses that are read in the next round or behind it, and those of them
        that have no value before.

        Args:
            node (ast.For | ast.While): the loop.
        """
        head = node.test if isinstance(node, ast.While) else node.iter
        target = bound([node.target]) if isinstance(node, ast.For) else set()
        asked = {n for n in read(head) if not hasattr(builtins, n)}
        changed = bound(node.body) & (node.live_after | node.live_head)
        names = asked | target | changed
        return names, (changed - target) - self.made_before[node]
