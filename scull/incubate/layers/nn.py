"""Layers that Paddle has for parameter servers and for single devices: they can be imported."""

from typing import Any

from scull.core.absent import absent
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program
from scull.ops import partial
from scull.tensor import argsort, gather, reshape, shape, uniform
from scull.tensor.size import integer, needs_tensor

REASON = "it serves parameter servers or one kind of device"
NAMES = (
    "batch_fc bilateral_slice correlation fused_bn_add_act fused_embedding_seq_pool"
    " fused_seqpool_cvm multiclass_nms2 pow2_decay_with_linear_warmup"
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


def matrices(value: Any, function: str) -> list[Any]:
    """One tensor or several, as a list."""
    found = list(value) if isinstance(value, list | tuple) else [value]
    if not found:
        raise ArgumentError(f"{function} takes columns of a matrix, and there is no matrix")
    for x in found:
        needs_tensor(x, function, "input")
    return found
