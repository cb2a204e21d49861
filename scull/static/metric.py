"""Metrics as operators."""

from functools import partial
from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, AssertError
from scull.ir.mode import in_dynamic_mode
from scull.ir.variable import Variable
from scull.nn.initializer.constant import Constant
from scull.ops.clip import squared_l2_norm
from scull.ops.create import fill_constant_batch_size_like
from scull.ops.math import sigmoid
from scull.ops.metric import accuracy as accuracy_of
from scull.ops.promotion import cast_to
from scull.ops.ranking import l1_norm
from scull.ops.reduce import reduce_sum
from scull.ops.search import topk as top_k_v2
from scull.static.layer_helper import LayerHelper


def accuracy(
    input: Any,
    label: Any,
    k: int = 1,
    correct: Any = None,
    total: Any = None,
    name: str | None = None,
) -> Any:
    """The share of rows whose label is among the `k` largest entries.

    Args:
        input (Tensor or Variable): scores, [N, classes], floats.
        label (Tensor or Variable): integer classes, [N, 1].
        k (int): how many entries count.
        correct (Variable, optional): takes how many were right, in a Program.
        total (Variable, optional): takes how many there were, in a Program.
        name (str, optional): of no effect.

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


def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> Any:
    """The area under the curve of true over false alarms, of all runs and of the last ones.

    Args:
        input (Variable): scores [batch, 2] or [batch, 1], the last column that of the label 1.
        label (Variable): int32 or int64 [batch, 1].
        curve (str): "ROC"; "PR" is taken and gives the same.
        num_thresholds (int): how many bins there are, less one.
        topk (int): not used.
        slide_steps (int): how many runs the second area counts; all with 0.
        ins_tag_weight (Variable, optional): float32 [1]; where it is 0, a run is not counted.

    Returns:
        tuple: float64 areas of all runs and of the last ones, and the counts: those of the last
        runs for labels that hold and for the others, then those of all runs.

    Raises:
        ArgumentTypeError: `input` or `label` is no Variable.
        ArgumentError: `curve` is unknown, or a number is no count.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, y = paddle.static.data("x", [2, 2]), paddle.static.data("y", [2, 1], "int64")
        ...     area = paddle.static.auc(x, y)[0]
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> scores, labels = [[0.2, 0.8], [0.9, 0.1]], [[1], [0]]
        >>> feed = {"x": np.array(scores, "float32"), "y": np.array(labels)}
        >>> float(exe.run(main, feed=feed, fetch_list=[area])[0])
        1.0
        >>> paddle.disable_static()
    """
    for name, v in (("input", input), ("label", label)):
        if not isinstance(v, Variable):
            raise ArgumentTypeError(f"`{name}` of auc must be a Variable, not {type(v).__name__}")
    helper = LayerHelper("auc")
    areas = [helper.create_variable_for_type_inference("float64") for _ in range(2)]
    bins = num_thresholds + 1
    shapes = [[(slide_steps + 1) * bins + 1] if slide_steps else [1, bins]] * 2 + [[1, bins]] * 2
    stats = [counts_of(helper, shape) for shape in shapes]
    weight = {} if ins_tag_weight is None else {"InsTagWeight": [ins_tag_weight]}
    for area, (pos, neg), steps in (
        (areas[1], stats[:2], slide_steps),
        (areas[0], stats[2:], 0),
    ):
        inputs = {"Predict": [input], "Label": [label], "StatPos": [pos], "StatNeg": [neg]}
        outputs = {"AUC": [area], "StatPosOut": [pos], "StatNegOut": [neg]}
        how = {"curve": curve, "num_thresholds": num_thresholds, "slide_steps": steps}
        helper.append_op("auc", inputs | weight, outputs, how)
    return areas[0], areas[1], stats


def ctr_metric_bundle(input: Any, label: Any, ins_tag_weight: Any = None) -> Any:
    """Sums over all runs from which one computes how good predicted chances of a click are.

    With the number of rows, the last of them, the others give the mean of squared and of absolute
    errors, of what was predicted, and q.

    Args:
        input (Variable): the chances, floats [batch, 1].
        label (Variable): 1 for a click, else 0; of the same shape.
        ins_tag_weight (Variable, optional): [batch, 1]; where the first is 0 the rows of a run are
            not real, and count neither as rows nor for q.

    Returns:
        tuple: sums of squared errors, of absolute errors, of chances, of their sigmoids, of labels;
        and the number of rows.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x, y = paddle.static.data("x", [-1, 1]), paddle.static.data("y", [-1, 1], "int64")
        ...     sums = paddle.static.ctr_metric_bundle(x, y)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> feed = {"x": np.array([[0.5], [0.75]], "float32"), "y": np.array([[0], [1]])}
        >>> [float(v.item()) for v in exe.run(main, feed=feed, fetch_list=[*sums[:3], *sums[4:]])]
        [0.3125, 0.75, 1.25, 1.0, 2.0]
        >>> paddle.disable_static()
    """
    if tuple(input.shape) != tuple(label.shape):
        raise AssertError(f"`input` has shape {input.shape} and `label` {label.shape}")
    label = cast_to(label, input.dtype)
    apart = input - label
    ones = fill_constant_batch_size_like(label, shape=(-1, 1), dtype=input.dtype, value=1.0)
    total = partial(reduce_sum, axis=(0,), keepdim=True)
    rows, q = total(ones), total(sigmoid(input))
    if ins_tag_weight is not None:
        real = cast_to(ins_tag_weight, input.dtype)[:1]
        rows, q = rows * real, q * real
    helper = LayerHelper("ctr_metric_bundle")
    errors = squared_l2_norm(apart), l1_norm(apart)
    chances, clicks = (reduce_sum(x, axis=(0,)) for x in (input, label))
    flat = [summed(helper, x, [1]) for x in (*errors, chances, clicks)]
    return *flat[:3], summed(helper, q, [1, 1]), flat[3], summed(helper, rows, [1, 1])


def summed(helper: LayerHelper, x: Variable, shape: list[int]) -> Variable:
    """The sum of `x` over runs."""
    made = counts_of(helper, shape, x.dtype)
    helper.append_op("elementwise_add", {"X": [x], "Y": [made]}, {"Out": [made]}, {"axis": -1})
    return made


def counts_of(helper: LayerHelper, shape: list[int], dtype: Any = "int64") -> Variable:
    """Counts that outlive runs, 0 at first."""
    made = helper.main_program.global_block().create_var(persistable=True, dtype=dtype, shape=shape)
    helper.set_variable_initializer(made, Constant(0.0))
    return made
