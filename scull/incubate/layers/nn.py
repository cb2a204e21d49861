"""Layers of recommendation and detection; others, for parameter servers, can be imported."""

from typing import Any

from scull.core.absent import absent
from scull.core.dtype import dtype_of
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.ir.program import main_program
from scull.ops import click, partial, suppress
from scull.static.layer_helper import LayerHelper
from scull.tensor import argsort, bmm, gather, reshape, shape, uniform, unsqueeze
from scull.tensor.size import integer, needs_tensor

REASON = "it serves parameter servers or one kind of device"
NAMES = (
    "bilateral_slice correlation fused_bn_add_act fused_seqpool_cvm pow2_decay_with_linear_warmup"
    " rank_attention search_pyramid_hash tdm_child tdm_sampler"
)

__getattr__ = absent(__name__, {REASON: NAMES})


def shuffle_batch(x: Any, seed: Any = None) -> Any:
    """`x` with its rows, of the last axis, in random order.

    Args:
        x (Tensor): of at least one axis.
        seed (int, optional): not 0: the same order in every run. The Program's `random_seed` when
            None.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> sorted(paddle.incubate.layers.shuffle_batch(x).tolist())
        [[1, 2], [3, 4]]
    """
    if not isinstance(seed, int | None):
        raise ArgumentTypeError(f"seed is an int, not {type(seed).__name__}")
    rows = reshape(x, [-1, x.shape[-1]])
    numbers = uniform(
        [shape(rows)[0]], "float32", 0.0, 1.0, main_program().random_seed if seed is None else seed
    )
    return reshape(gather(rows, argsort(numbers)), shape(x) if -1 in x.shape else x.shape)


def partial_concat(input: Any, start_index: int = 0, length: int = -1) -> Any:
    """Some columns of matrices, beside each other.

    Args:
        input (Tensor | list[Tensor]): of shape [n, m] each, float32, float64, int32, int64,
            complex64 or complex128.
        start_index (int): the first column of each, from the end if below 0.
        length (int): how many columns of each; up to the end if below 0.

    Returns:
        Tensor: of shape [n, as many columns], of the dtype of `input`.

    Raises:
        ArgumentError: there is no matrix.
        DtypeError: the element types differ, or it is another.
        ShapeError: the matrices are not of one shape, or have not two axes.
        RangeError: there are not so many columns.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[0, 1, 2], [3, 4, 5]])
        >>> y = paddle.to_tensor([[6, 7, 8], [9, 10, 11]])
        >>> paddle.incubate.layers.partial_concat([x, y], start_index=0, length=2).tolist()
        [[0, 1, 6, 7], [3, 4, 9, 10]]
    """
    return partial.partial_concat(
        matrices(input, "partial_concat"),
        start_index=integer(start_index, "start_index"),
        length=integer(length, "length"),
    )


def partial_sum(input: Any, start_index: int = 0, length: int = -1) -> Any:
    """The sum of some columns of matrices.

    Args:
        input (list[Tensor]): of shape [n, m] each, float32, float64, int32 or int64.
        start_index (int): the first column of each, at least 0.
        length (int): how many columns of each; up to the end if below 0.

    Returns:
        Tensor: of shape [n, so many columns], of the dtype of `input`.

    Raises:
        ArgumentTypeError: `input` is no list.
        ArgumentError: there is no matrix.
        DtypeError: the element types differ, or it is another.
        ShapeError: the matrices are not of one shape, or have not two axes.
        RangeError: there are not so many columns.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[0, 1, 2], [3, 4, 5]])
        >>> y = paddle.to_tensor([[6, 7, 8], [9, 10, 11]])
        >>> paddle.incubate.layers.partial_sum([x, y], start_index=0, length=2).tolist()
        [[6, 8], [12, 14]]
    """
    if not isinstance(input, list):
        raise ArgumentTypeError(f"partial_sum takes a list, not a {type(input).__name__}")
    return partial.partial_sum(
        matrices(input, "partial_sum"),
        start_index=integer(start_index, "start_index"),
        length=integer(length, "length"),
    )


def fused_embedding_seq_pool(
    input: Any,
    size: Any,
    is_sparse: bool = False,
    padding_idx: int | None = None,
    combiner: str = "sum",
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """The sum of the rows of a table that each sequence names.

    Args:
        input (Variable): int64, [rows, 1], with levels.
        size (list[int]): how many rows the table has, and how wide they are.
        is_sparse (bool): the gradient of the table holds only the rows that occur.
        padding_idx (int, optional): a row that adds nothing, from the end if below 0.
        combiner (str): "sum".
        param_attr (ParamAttr, optional): of the table.
        dtype (str): of the table.

    Returns:
        Variable: [sequences, width].

    Raises:
        DtypeError: `input` is not of integers.
        ShapeError: it is not of one column.
        ArgumentError: `combiner` is not "sum".

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> words = paddle.static.data("words", [None, 1], "int64", lod_level=1)
        >>> paddle.incubate.layers.fused_embedding_seq_pool(words, [20, 8]).shape
        (-1, 8)
        >>> paddle.disable_static()
    """
    table = LayerHelper("fused_embedding_seq_pool").create_parameter(
        param_attr, [integer(n, "size") for n in size], dtype_of(dtype)
    )
    idle = -1 if padding_idx is None else integer(padding_idx, "padding_idx")
    if padding_idx is not None and idle < 0:
        idle += table.shape[0]
    return click.fused_embedding_seq_pool(
        table, input, combiner=combiner, padding_idx=idle, is_sparse=is_sparse
    )


def multiclass_nms2(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    return_index: bool = False,
    name: str | None = None,
) -> Any:
    """The boxes of each class that no better one of it covers.

    Args:
        bboxes (Tensor): corners, [images, boxes, 4]; or [boxes, classes, 4] with levels.
        scores (Tensor): [images, classes, boxes]; or [boxes, classes] with levels.
        score_threshold (float): boxes of lower scores do not count.
        nms_top_k (int): how many boxes of a class are looked at, the best; all if -1.
        keep_top_k (int): how many boxes of an image are kept; all if -1.
        nms_threshold (float): how much two boxes may have in common.
        normalized (bool): whether corners are parts of a size; else pixels, which they hold.
        nms_eta (float): what the threshold is multiplied by after each box, while above 0.5.
        background_label (int): a class of no box; -1 for none.
        return_index (bool): also tell which boxes they are.
        name (str, optional): its name.

    Returns:
        Tensor: class, score and corners of each box, [kept, 6]; with `return_index` also int32
        [kept, 1], the number of the box among those of all images.
    """
    found, index = suppress.multiclass_nms2(
        bboxes,
        scores,
        score_threshold=score_threshold,
        nms_top_k=nms_top_k,
        keep_top_k=keep_top_k,
        nms_threshold=nms_threshold,
        normalized=normalized,
        nms_eta=nms_eta,
        background_label=background_label,
        name=name,
    )
    found.stop_gradient = index.stop_gradient = True
    return (found, index) if return_index else found


def batch_fc(
    input: Any, param_size: Any, param_attr: Any, bias_size: Any, bias_attr: Any, act: Any = None
) -> Any:
    """A linear layer for each slot of features.

    Args:
        input (Variable): [slots, rows, features], float32 or float64.
        param_size (list[int]): [slots, features, outputs].
        param_attr (ParamAttr): of the weights.
        bias_size (list[int]): [slots, outputs].
        bias_attr (ParamAttr): of the biases.
        act (str, optional): the name of an activation, as "relu".

    Returns:
        Variable: [slots, rows, outputs].

    Raises:
        ShapeError: the sizes do not go together.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> x = paddle.static.data("x", [16, None, 3])
        >>> weights, biases = paddle.ParamAttr(name="w"), paddle.ParamAttr(name="b")
        >>> paddle.incubate.layers.batch_fc(x, [16, 3, 10], weights, [16, 10], biases, "relu").shape
        (16, -1, 10)
        >>> paddle.disable_static()
    """
    needs_tensor(input, "batch_fc", "input")
    slots, _, features = input.shape
    if [slots, features] != list(param_size[:2]) or [slots, param_size[2]] != list(bias_size):
        raise ShapeError(
            f"input is {list(input.shape)}: param_size is {list(param_size)} and bias_size "
            f"{list(bias_size)}, not [slots, features, outputs] and [slots, outputs]"
        )
    helper = LayerHelper("batch_fc", act=act)
    weight = helper.create_parameter(param_attr, list(param_size), input.dtype)
    bias = helper.create_parameter(bias_attr, list(bias_size), input.dtype, is_bias=True)
    return helper.append_activation(bmm(input, weight) + unsqueeze(bias, 1))


def matrices(value: Any, function: str) -> list[Any]:
    """One tensor or several, as a list."""
    found = list(value) if isinstance(value, list | tuple) else [value]
    if not found:
        raise ArgumentError(f"{function} takes columns of a matrix, and there is no matrix")
    for x in found:
        needs_tensor(x, function, "input")
    return found
