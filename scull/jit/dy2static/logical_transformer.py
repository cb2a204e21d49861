"""Signs of comparisons."""

import ast
from typing import Any

from scull.jit.convert.logic import COMPARISONS


def cmpop_node_to_str(node: Any) -> str:
    """The sign of a comparison.

    Args:
        node (ast.cmpop): the comparison.
    """
    return COMPARISONS[type(node)]


def cmpop_type_to_str(cmpop_type: type[ast.cmpop]) -> str:
    """The sign of a kind of comparison.

    Args:
        cmpop_type (type): the kind.
    """
    return COMPARISONS[cmpop_type]
