"""Counts of what was shown and clicked, which rows of recommenders begin with."""

from typing import Any

from scull.ops.click import cvm as counted
from scull.static.nn.operand import checked


def continuous_value_model(input: Any, cvm: Any, use_cvm: bool = True) -> Any:
    """Rows that begin with how often something was shown and clicked, in logarithms or without.

    Args:
        input (Variable): rows, [N, size], float32 or float64; the first two columns are the counts.
        cvm (Variable): the gradient of these, [N, 2], of the rows or of their sequences.
        use_cvm (bool): the counts become log(shown + 1) and log((clicked + 1) / (shown + 1));
            without it they are left out.

    Returns:
        Variable: [N, size], or [N, size - 2] without the counts.
    """
    checked(input, "input", "continuous_value_model")
    checked(cvm, "cvm", "continuous_value_model")
    return counted(input, cvm, use_cvm=use_cvm)
