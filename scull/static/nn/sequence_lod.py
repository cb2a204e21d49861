"""Layers over sequences of several lengths: rows one behind the other in a LoDTensor.

Where sequences begin comes with what is fed, as `paddle.base.create_lod_tensor` makes it.
"""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn.functional import sequence_mask
from scull.ops import ragged
from scull.static.layer_helper import LayerHelper
from scull.static.nn.operand import checked

__all__ = [
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_mask",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_unpad",
]


def sequence_conv(
    input: Any,
    num_filters: int,
    filter_size: int = 3,
    filter_stride: int = 1,
    padding: bool = True,
    padding_start: int | None = None,
    bias_attr: Any = None,
    param_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """A convolution along each sequence, with rows of zeros around it.

    Args:
        input (Variable): float32 or float64 [rows, size], with one level.
        num_filters (int): how many columns come out.
        filter_size (int): how many rows count for one.
        filter_stride (int): 1.
        padding (bool): kept for Paddle's signature.
        padding_start (int, optional): where these rows begin, seen from that one; by default they
            lie around it.
        bias_attr, param_attr (ParamAttr, optional): of the bias, of the filter.
        act (str, optional): the type of an activation operator.
        name (str, optional): what the names of parameters begin with.

    Returns:
        Variable: [rows, num_filters], with the level of `input`.

    Raises:
        ArgumentTypeError: `input` is no Variable.
        ArgumentError: `filter_stride` is not 1.
    """
    checked(input, "input", "sequence_conv")
    options = {"bias_attr": bias_attr, "param_attr": param_attr, "act": act, "name": name}
    helper = LayerHelper("sequence_conv", input=input, **options)
    shape = [filter_size * input.shape[1], num_filters]
    weight = helper.create_parameter(param_attr, shape, input.dtype)
    out = helper.create_variable_for_type_inference(input.dtype)
    if filter_stride != 1:
        raise ArgumentError(f"filter_stride is {filter_stride}; rows are taken one by one, with 1")
    start = -(filter_size // 2) if padding_start is None else padding_start
    attrs = {"contextStride": filter_stride, "contextStart": start, "contextLength": filter_size}
    slots = {"X": [input], "Filter": [weight]}
    helper.append_op("sequence_conv", slots, {"Out": [out]}, attrs)
    return helper.append_activation(helper.append_bias_op(out))


def sequence_softmax(input: Any, use_cudnn: bool = False, name: str | None = None) -> Any:
    """The softmax of each sequence.

    Args:
        input (Variable): floating-point [rows] or [rows, 1], with one level.
        use_cudnn (bool): kept for Paddle's signature.
        name (str, optional): of the result.

    Returns:
        Variable: of the shape and level of `input`.
    """
    checked(input, "input", "sequence_softmax")
    return ragged.sequence_softmax(input, name=name)


def sequence_pool(input: Any, pool_type: str, is_test: bool = False, pad_value: float = 0.0) -> Any:
    """One row for each sequence.

    Args:
        input (Variable): [rows, ...], with levels.
        pool_type (str): average, sum, sqrt (the sum divided by the root of the length), max, last
            or first.
        is_test (bool): kept for Paddle's signature.
        pad_value (float): what stands in the row of a sequence without rows.

    Returns:
        Variable: [sequences, ...], with the levels of `input` but the innermost.

    Raises:
        ArgumentTypeError: `input` is no Variable.
        ArgumentError: `pool_type` is none of these.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 1], lod_level=1)
        ...     y = paddle.static.nn.sequence_pool(x, "sum")
        >>> rows = np.array([[1.0], [2.0], [4.0]], "float32")
        >>> fed = paddle.base.create_lod_tensor(rows, [[2, 1]], paddle.CPUPlace())
        >>> paddle.static.Executor().run(main, feed={"x": fed}, fetch_list=[y])[0].tolist()
        [[3.0], [4.0]]
        >>> paddle.disable_static()
    """
    checked(input, "input", "sequence_pool")
    return ragged.sequence_pool(input, pooltype=pool_type.upper(), pad_value=pad_value)[0]


def sequence_first_step(input: Any) -> Any:
    """The first row of each sequence.

    Args:
        input (Variable): [rows, ...], with levels.

    Returns:
        Variable: [sequences, ...].
    """
    return sequence_pool(input, "first")


def sequence_last_step(input: Any) -> Any:
    """The last row of each sequence.

    Args:
        input (Variable): [rows, ...], with levels.

    Returns:
        Variable: [sequences, ...].
    """
    return sequence_pool(input, "last")


def sequence_concat(input: Any, name: str | None = None) -> Any:
    """The first sequences of all inputs joined, then the second ones, and so on.

    Args:
        input (list[Variable]): two or more of [rows, ...], of as many sequences each.
        name (str, optional): of the result.

    Returns:
        Variable: [all rows, ...], with one level.

    Raises:
        ArgumentTypeError: `input` is no list.
        ArgumentError: there is one input only.
    """
    if not isinstance(input, list):
        raise ArgumentTypeError(
            f"The type of 'input' in sequence_concat must be list, but received {type(input)}."
        )
    if len(input) < 2:
        raise ArgumentError(f"sequence_concat joins two inputs or more, not {len(input)}")
    for x in input:
        checked(x, "input", "sequence_concat")
    return ragged.sequence_concat(input, name=name)


def sequence_slice(input: Any, offset: Any, length: Any, name: str | None = None) -> Any:
    """A part of each sequence.

    Args:
        input (Variable): [rows, ...], with one level.
        offset, length (Variable): int32 or int64 [sequences, 1]: where the parts begin, and of
            how many rows they are.
        name (str, optional): of the result.

    Returns:
        Variable: the parts one behind the other, with one level.
    """
    for key, x in (("input", input), ("offset", offset), ("length", length)):
        checked(x, key, "sequence_slice")
    offset.stop_gradient = length.stop_gradient = True
    return ragged.sequence_slice(input, offset, length, name=name)


def sequence_expand(x: Any, y: Any, ref_level: int = -1, name: str | None = None) -> Any:
    """Each sequence of `x` as often as a level of `y` has rows or sequences in its place.

    Args:
        x (Variable): [rows, ...], with one level, or none: then each row is a sequence.
        y (Variable): with levels; its values do not matter.
        ref_level (int): which level of `y`; -1 is the innermost.
        name (str, optional): of the result.

    Returns:
        Variable: the sequences one behind the other, with a level where `x` has one.
    """
    checked(x, "x", "sequence_expand")
    checked(y, "y", "sequence_expand")
    return ragged.sequence_expand(x, y, ref_level=ref_level, name=name)


def sequence_expand_as(x: Any, y: Any, name: str | None = None) -> Any:
    """Each row of `x` as often as the sequence of `y` in its place has rows.

    Args:
        x (Variable): [sequences of y, ...].
        y (Variable): with one level; its values do not matter.
        name (str, optional): of the result.

    Returns:
        Variable: [rows of y, ...], with the level of `y`.
    """
    checked(x, "x", "sequence_expand_as")
    checked(y, "y", "sequence_expand_as")
    return ragged.sequence_expand_as(x, y, name=name)


def sequence_pad(
    x: Any, pad_value: Any, maxlen: int | None = None, name: str | None = None
) -> tuple[Any, Any]:
    """The sequences one above the other, filled up to one length.

    Args:
        x (Variable): [rows, ...], with one level.
        pad_value (Variable): of one element, or of the shape of a row.
        maxlen (int, optional): the length; that of the longest when None.
        name (str, optional): of the result.

    Returns:
        tuple[Variable, Variable]: [sequences, length, ...], and how long each sequence is, int64.
    """
    checked(x, "x", "sequence_pad")
    checked(pad_value, "pad_value", "sequence_pad")
    pad_value.stop_gradient = True
    length = -1 if maxlen is None else maxlen
    out, lengths = ragged.sequence_pad(x, pad_value, padded_length=length, name=name)
    lengths.stop_gradient = True
    return out, lengths


def sequence_unpad(x: Any, length: Any, name: str | None = None) -> Any:
    """The rows of padded sequences one behind the other, without the padding.

    Args:
        x (Variable): [sequences, steps, ...].
        length (Variable): int64 [sequences]: how long they are.
        name (str, optional): of the result.

    Returns:
        Variable: [rows, ...], with one level.
    """
    checked(x, "x", "sequence_unpad")
    checked(length, "length", "sequence_unpad")
    length.stop_gradient = True
    return ragged.sequence_unpad(x, length, name=name)


def sequence_reshape(input: Any, new_dim: int) -> Any:
    """The elements of each sequence in rows of another size.

    Args:
        input (Variable): [rows, size], with one level.
        new_dim (int): the size.

    Returns:
        Variable: [other rows, new_dim], with one level.
    """
    checked(input, "input", "sequence_reshape")
    return ragged.sequence_reshape(input, new_dim=new_dim)


def sequence_scatter(input: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """`input` with numbers added: those of a sequence to the row in its place.

    Args:
        input (Variable): [sequences, columns].
        index (Variable): int32 or int64 [numbers, 1], with one level: the columns.
        updates (Variable): [numbers, 1] of the element type of `input`, with the same level.
        name (str, optional): of the result.

    Returns:
        Variable: of the shape of `input`.
    """
    for key, x in (("input", input), ("index", index), ("updates", updates)):
        checked(x, key, "sequence_scatter")
    return ragged.sequence_scatter(input, index, updates, name=name)


def sequence_enumerate(
    input: Any, win_size: int, pad_value: int = 0, name: str | None = None
) -> Any:
    """Each number with those that follow it in its sequence.

    Args:
        input (Variable): int32 or int64 [rows, 1], with one level.
        win_size (int): how many numbers, its own included.
        pad_value (int): what stands behind the end of a sequence.
        name (str, optional): of the result.

    Returns:
        Variable: [rows, win_size], with the level of `input`.
    """
    checked(input, "input", "sequence_enumerate")
    return ragged.sequence_enumerate(input, win_size=win_size, pad_value=pad_value, name=name)


def sequence_reverse(x: Any, name: str | None = None) -> Any:
    """The rows of each sequence from its end.

    Args:
        x (Variable): [rows, ...], with one level.
        name (str, optional): of the result.

    Returns:
        Variable: of the shape and level of `x`.
    """
    checked(x, "x", "sequence_reverse")
    return ragged.sequence_reverse(x, name=name)
