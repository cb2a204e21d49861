"""Questions about trees and values, under Paddle's names."""

import ast
from typing import Any

from scull.ir.variable import Variable


def index_in_list(array_list: list[Any], item: Any) -> int:
    """Where `item` stands in a list; -1 when it does not.

    Args:
        array_list (list): the list.
        item: what is sought.
    """
    return array_list.index(item) if item in array_list else -1


def path_of(node: Any) -> str:
    """The dotted name that a call, an attribute or a name spells."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def is_api_in_module(node: Any, module_prefix: str) -> bool:
    """Whether a call is of a function in a module.

    Args:
        node (ast.Call): the call.
        module_prefix (str): how names of the module begin.
    """
    name = path_of(node)
    if name == "to_variable":
        name = "base.dygraph.to_variable"
    return (f"paddle.{name}" if name.startswith("base.") else name).startswith(module_prefix)


def is_dygraph_api(node: Any) -> bool:
    """Whether a call is of a function of eager mode alone.

    Args:
        node (ast.Call): the call.
    """
    return is_api_in_module(node, "paddle.base.dygraph")


def is_paddle_api(node: Any) -> bool:
    """Whether a call is of one of Paddle's functions.

    Args:
        node (ast.Call): the call.
    """
    return path_of(node).split(".")[0] in ("paddle", "scull")


def set_dynamic_shape(variable: Any, shape_list: Any) -> None:
    """Say which sizes of a variable may differ from round to round; eagerly nothing is said.

    Args:
        variable (Tensor | Variable): the variable.
        shape_list (list[int]): its sizes, -1 for those that may differ.
    """
    if isinstance(variable, Variable):
        variable.shape = shape_list
