"""Losses of many classes, of which a few are drawn."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.nn.functional import embedding, sigmoid
from scull.static.layer_helper import LayerHelper
from scull.static.nn.operand import checked
from scull.tensor import (
    assign,
    clip,
    concat,
    cumsum,
    gather,
    log,
    reshape,
    searchsorted,
    shape,
    sum,
    uniform,
)


def nce(
    input: Any,
    label: Any,
    num_total_classes: int,
    sample_weight: Any = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Any = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Any:
    """Noise-contrastive estimation: tells the right class of each row from classes drawn by chance.

    Args:
        input (Variable): rows, [N, size], float32 or float64.
        label (Variable): the right classes of each row, int64, [N, count].
        num_total_classes (int): how many classes there are.
        sample_weight (Variable, optional): what the loss of each row is multiplied by, [N, 1].
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        num_neg_samples (int, optional): how many classes are drawn for each row; 10 when None.
        name (str, optional): its name.
        sampler (str): "uniform", "log_uniform", or "custom_dist".
        custom_dist (list[float], optional): the chance of each class.
        seed (int): not 0: the same classes in every run.
        is_sparse (bool): gradients hold only the rows of classes that occur.

    Returns:
        Variable: the loss of each row, [N, 1].

    Raises:
        ArgumentTypeError: `input` or `label` is no Variable.
        ArgumentError: the sampler is unknown, or `custom_dist` has not one chance a class.
    """
    checked(input, "input", "nce")
    checked(label, "label", "nce")
    if sample_weight is not None and not isinstance(sample_weight, Variable):
        raise ArgumentTypeError(f"sample_weight is a Variable, not {type(sample_weight).__name__}")
    chances = assign(chances_of(sampler, num_total_classes, custom_dist, input.dtype.name))
    count = 10 if num_neg_samples is None else int(num_neg_samples)
    helper = LayerHelper("nce", name=name)
    weight = helper.create_parameter(param_attr, [num_total_classes, input.shape[1]], input.dtype)
    bias = helper.create_parameter(bias_attr, [num_total_classes, 1], input.dtype, is_bias=True)
    classes = concat([label, drawn(input, count, chances, seed)], axis=1)
    classes.stop_gradient = True
    rows = embedding(classes, weight, sparse=is_sparse)
    scores = sum(rows * reshape(input, [0, 1, input.shape[1]]), axis=2)
    if bias is not None:
        scores = scores + sum(embedding(classes, bias, sparse=is_sparse), axis=2)
    known = label.shape[1]
    noise = reshape(gather(chances, reshape(classes, [-1])), [-1, known + count]) * float(count)
    right = sigmoid(scores)
    right = right / (right + noise)
    of_row = assign(np.r_[np.ones(known), np.zeros(count)].astype(input.dtype.name))
    costs = -log(right * of_row + (1.0 - right) * (1.0 - of_row))
    if sample_weight is not None:
        costs = costs * sample_weight
    return sum(costs, axis=1, keepdim=True) / (count + 1.0)


def chances_of(sampler: str, classes: int, custom_dist: Any, dtype: str) -> Any:
    """The chance of each class to be drawn, as a sampler says."""
    if sampler == "uniform":
        return np.full(classes, 1 / classes, dtype)
    if sampler == "log_uniform":
        places = np.arange(classes)
        return (np.log((places + 2) / (places + 1)) / np.log(classes)).astype(dtype)
    if sampler != "custom_dist":
        raise ArgumentError(f"Unsupported sampler type: {sampler}")
    if custom_dist is None or len(custom_dist) != classes:
        raise ArgumentError(f"custom_dist holds the chance of each of the {classes} classes")
    return np.array(custom_dist, dtype)


def drawn(input: Any, count: int, chances: Any, seed: int) -> Any:
    """`count` classes for each row of `input`, drawn by their chances."""
    numbers = uniform(
        [shape(input)[0], count], input.dtype, 0.0, 1.0, seed or main_program().random_seed
    )
    last = cumsum(chances)
    return clip(searchsorted(last, numbers, right=True), max=chances.shape[0] - 1)
