"""Sequences of several lengths: masks, distances, paths of beams."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.errors import ArgumentTypeError, UnsupportedError
from scull.ir.variable import Variable
from scull.ops import sequence
from scull.tensor.size import integer, is_static, needs_tensor


def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """Ones in a new last axis, as many as `x` says, then zeros.

    Args:
        x (Tensor): numbers of elements, of any shape.
        maxlen (int | Tensor, optional): the size of the new axis; that of the longest when None or
            below 0.
        dtype (str | DType): the element type of the mask.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape of `x` and one axis more.

    Raises:
        ArgumentError: `maxlen` is 0.
        ShapeError: `maxlen` is a tensor of other than one element.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3])).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    needs_tensor(x, "sequence_mask")
    kind = dtype_of(dtype)
    if isinstance(maxlen, Variable):
        return sequence.sequence_mask(x, maxlen, out_dtype=kind, name=name)
    size = -1 if maxlen is None else integer(maxlen, "maxlen")
    return sequence.sequence_mask(x, max_len=size, out_dtype=kind, name=name)


def gather_tree(ids: Any, parents: Any) -> Any:
    """The sequences of beams, found from their last elements back along `parents`.

    Args:
        ids (Tensor): int32 or int64 [steps, sequences, beams]: what was chosen.
        parents (Tensor): of the shape and dtype of `ids`: the beam each came from.

    Returns:
        Tensor: of the shape and dtype of `ids`.

    Raises:
        ShapeError: `ids` has other than 3 axes, or `parents` is of another shape.
        RangeError: a parent is no beam.

    Examples:
        >>> import scull as paddle
        >>> ids = paddle.to_tensor([[[2, 5]], [[3, 9]]])
        >>> parents = paddle.to_tensor([[[0, 0]], [[1, 0]]])
        >>> paddle.nn.functional.gather_tree(ids, parents).tolist()
        [[[5, 2]], [[3, 9]]]
    """
    needs_tensor(ids, "gather_tree", "ids")
    needs_tensor(parents, "gather_tree", "parents")
    return sequence.gather_tree(ids, parents)


def edit_distance(
    input: Any,
    label: Any,
    normalized: bool = True,
    ignored_tokens: Any = None,
    input_length: Any = None,
    label_length: Any = None,
) -> Any:
    """How many changes make `input` of `label`: tokens put in, left out or replaced.

    Args:
        input (Tensor): integers [batch, tokens].
        label (Tensor): integers [batch, tokens].
        normalized (bool): whether to divide by the lengths of `label`.
        ignored_tokens (list[int], optional): None; sequences without levels of detail have none.
        input_length (Tensor, optional): integers [batch]: how many tokens of each row count.
        label_length (Tensor, optional): integers [batch]: the same of `label`.

    Returns:
        tuple[Tensor, Tensor]: float32 distances [batch, 1], and the number of sequences, int64 [1];
        the number first in eager mode, as Paddle 2.6 has it.

    Raises:
        ArgumentError: a sequence of `label` is empty, or one of the lengths is given alone.
        RangeError: a length is beyond the tokens of a row.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1, 2, 3]]), paddle.to_tensor([[1, 3, 4, 5]])
        >>> lengths = paddle.to_tensor([3]), paddle.to_tensor([4])
        >>> paddle.nn.functional.loss.edit_distance(x, y, False, None, *lengths)[1].tolist()
        [[3.0]]
    """
    for x, parameter in ((input, "input"), (label, "label")):
        needs_tensor(x, "edit_distance", parameter)
    if ignored_tokens:
        raise UnsupportedError("tokens are ignored in sequences with levels of detail only")
    if not isinstance(normalized, bool):
        raise ArgumentTypeError(f"`normalized` is a bool, not {type(normalized).__name__}")
    number, found = sequence.edit_distance(
        input, label, input_length, label_length, normalized=normalized
    )
    return (found, number) if is_static() else (number, found)
