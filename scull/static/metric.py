"""Metrics as operators of a Program."""

from typing import Any

from scull.errors import ArgumentTypeError
from scull.ir.variable import Variable
from scull.static.layer_helper import LayerHelper


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of rows whose label is among the `k` largest entries.

    Args:
        input (Variable): scores, [N, classes], float32 or float64.
        label (Variable): int64 classes, [N, 1].
        k (int): how many entries count.
        correct (Variable, optional): takes how many were right.
        total (Variable, optional): takes how many there were.

    Returns:
        Variable: a 0-D float32.
    """
    for name, v in (("input", input), ("label", label)):
        if not isinstance(v, Variable):
            raise ArgumentTypeError(f"`{name}` of accuracy must be a Variable, not {type(v)}")
    helper = LayerHelper("accuracy")
    top = helper.create_variable_for_type_inference(input.dtype)
    places = helper.create_variable_for_type_inference("int64")
    helper.append_op(
        "top_k_v2", {"X": [input]}, {"Out": [top], "Indices": [places]}, {"k": k, "sorted": False}
    )
    found = helper.create_variable_for_type_inference("float32")
    correct = correct or helper.create_variable_for_type_inference("int32")
    total = total or helper.create_variable_for_type_inference("int32")
    helper.append_op(
        "accuracy",
        {"Out": [top], "Indices": [places], "Label": [label]},
        {"Accuracy": [found], "Correct": [correct], "Total": [total]},
    )
    return found
