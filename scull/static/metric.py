"""Metrics as operators."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.variable import Variable
from scull.ops.metric import accuracy as accuracy_of
from scull.ops.search import topk as top_k_v2
from scull.static.layer_helper import LayerHelper


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of rows whose label is among the `k` largest entries.

    Args:
        input (Tensor or Variable): scores, [N, classes], floats.
        label (Tensor or Variable): integer classes, [N, 1].
        k (int): how many entries count.
        correct (Variable, optional): takes how many were right, in a Program.
        total (Variable, optional): takes how many there were, in a Program.

    Returns:
        Tensor or Variable: a 0-D float32.

    Raises:
        ArgumentTypeError: `input` or `label` is no tensor of this mode, or `input` holds no floats.

    Examples:
        >>> import scull as paddle
        >>> scores = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]])
        >>> paddle.metric.accuracy(scores, paddle.to_tensor([[1], [1]])).item()
        0.5
    """
    kind = Tensor if in_dynamic_mode() else Variable
    for name, v in (("input", input), ("label", label)):
        if not isinstance(v, kind):
            raise ArgumentTypeError(
                f"`{name}` of accuracy must be a {kind.__name__}, not {type(v).__name__}"
            )
    if not input.dtype.is_float:
        raise ArgumentTypeError(f"`input` of accuracy must hold floats, not {input.dtype.name}")
    if kind is Tensor:
        top, places = top_k_v2(input, k=k, sorted=False)
        return accuracy_of(top, places, label)[0]
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
