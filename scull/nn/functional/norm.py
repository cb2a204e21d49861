"""Normalisation."""

from typing import Any

from scull.core.door import shown_by
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.naming import named
from scull.ops import batch_norm as channels
from scull.ops import group_norm as group_norms
from scull.ops import norm
from scull.ops.create import scale
from scull.ops.distance import p_norm
from scull.ops.elementwise import add, divide, maximum, multiply
from scull.ops.join import concat
from scull.ops.math import sqrt, square
from scull.ops.reduce import reduce_sum
from scull.ops.slicing import slice
from scull.tensor.elementwise import pow
from scull.tensor.size import integer, integers, is_one_of, needs_tensor, number

CHANNELS_FIRST = ("NC", "NCL", "NCHW", "NCDHW")
CHANNELS_LAST = ("NLC", "NHWC", "NDHWC")


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Zero mean and unit variance of each channel.

    A channel of one value, in training, passes as it is and counts nowhere, as in Paddle.

    Args:
        x (Tensor): of 2 axes or more.
        running_mean (Tensor): the mean of each channel so far; training overwrites it.
        running_var (Tensor): the variance of each channel so far; training overwrites it.
        weight (Tensor, optional): what each channel is multiplied by.
        bias (Tensor, optional): what is added to each channel.
        training (bool): whether mean and variance are those of `x`.
        momentum (float): how much of the running statistics stays.
        epsilon (float): added to the variance.
        data_format (str): "NC", "NCL", "NCHW", "NCDHW", or with the channels last.
        use_global_stats (bool, optional): True: the running statistics are used in training too.
            False: those of `x` are used and counted in use too.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x, mean, var = paddle.ones([2, 3]), paddle.zeros([3]), paddle.ones([3])
        >>> paddle.nn.functional.batch_norm(x, mean, var, epsilon=0.0).tolist()[0]
        [1.0, 1.0, 1.0]
    """
    needs_tensor(x, "batch_norm")
    if len(x.shape) < 2:
        raise ShapeError("input dim must be larger than 1")
    if not is_one_of(data_format, CHANNELS_FIRST + CHANNELS_LAST):
        raise ArgumentError(
            "data_format must be one of 'NC', 'NCL', 'NCHW', 'NCDHW', 'NLC', 'NHWC', 'NDHWC' "
            f"but receive {data_format}"
        )
    told = use_global_stats is not None
    return normalised(
        x,
        running_mean,
        running_var,
        weight,
        bias,
        is_test=not training,
        momentum=momentum,
        epsilon=epsilon,
        data_layout="NCHW" if data_format in CHANNELS_FIRST else "NHWC",
        use_global_stats=use_global_stats if told else not training,
        trainable_statistics=told and not use_global_stats,
        **named(name),
    )


def normalised(x: Any, mean: Any, variance: Any, weight: Any, bias: Any, **attrs: Any) -> Any:
    """`x` after the operator `batch_norm`, which overwrites the statistics it counts."""
    new_mean, new_variance, _, _, out, _ = channels.batch_norm(
        x, mean, variance, weight, bias, **attrs
    )
    if isinstance(new_mean, Tensor):
        mean.array, variance.array = new_mean.array, new_variance.array
    return out


def layer_norm(
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Any:
    """Zero mean and unit variance over the last axes.

    Args:
        x (Tensor): of floating-point numbers.
        normalized_shape (int | list[int]): the sizes of those axes.
        weight (Tensor, optional): what each element of them is multiplied by.
        bias (Tensor, optional): what is added to each element of them.
        epsilon (float): added to the variance.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.layer_norm(paddle.to_tensor([[1.0, 3.0]]), 2, epsilon=0.0).tolist()
        [[-1.0, 1.0]]
    """
    needs_tensor(x, "layer_norm")
    single = type(normalized_shape) is int
    sizes = [normalized_shape] if single else list(integers(normalized_shape, "normalized_shape"))
    begin = len(x.shape) - len(sizes)
    if begin < 0 or list(x.shape[begin:]) != sizes:
        raise ShapeError(
            f"Given normalized_shape is {sizes}, expected input with shape "
            f"[*, {str(sizes)[1:]}, but got input shape {list(x.shape)}"
        )
    _, _, out = norm.layer_norm(
        x, weight, bias, epsilon=epsilon, begin_norm_axis=begin, **named(name)
    )
    return out


def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Zero mean and unit variance of each channel of each image.

    Args:
        x (Tensor): of 2 to 5 axes; the channels are axis 1.
        running_mean (Tensor, optional): not used.
        running_var (Tensor, optional): not used.
        weight (Tensor, optional): what each channel is multiplied by.
        bias (Tensor, optional): what is added to each channel.
        use_input_stats (bool): not used.
        momentum (float): not used.
        eps (float): added to the variance.
        data_format (str): not used.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[1.0, 3.0]]])
        >>> paddle.nn.functional.instance_norm(x, eps=0.0).tolist()
        [[[-1.0, 1.0]]]
    """
    return group_norms.instance_norm(x, weight, bias, epsilon=eps, **named(name))[2]


def local_response_norm(
    x: Any,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each element divided by how large those of the channels around it are.

    Args:
        x (Tensor): of 3 to 5 axes.
        size (int): how many channels count.
        alpha (float): how much their mean square counts.
        beta (float): the power of the divisor.
        k (float): added to the divisor.
        data_format (str): "NCL", "NCHW", "NCDHW", or with the channels last.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([1, 3, 1, 1])
        >>> paddle.nn.functional.local_response_norm(x, 3, alpha=0.0).flatten().tolist()
        [1.0, 1.0, 1.0]
    """
    needs_tensor(x, "local_response_norm")
    if not is_one_of(data_format, CHANNELS_FIRST[1:] + CHANNELS_LAST):
        raise ArgumentError(
            "data_format should be in one of [NCL, NCHW, NCDHW, NLC, NHWC, NDHWC], "
            f"but got {data_format}"
        )
    if len(x.shape) < 3:
        raise ShapeError(f"Expected 3D or higher dimensionality input, but got {len(x.shape)}")
    last = data_format in CHANNELS_LAST
    axis = len(x.shape) - 1 if last else 1
    channels = x.shape[axis]
    size = integer(size, "size")
    if size < 1:
        raise ArgumentError(f"`size` is {size}, not 1 or more")
    before, after = size // 2, (size - 1) // 2
    if channels != -1:  # farther away there are none
        before, after = min(before, channels), min(after, channels)
    alpha, beta, k = number(alpha, "alpha"), number(beta, "beta"), number(k, "k")
    squares = square(x)
    total = None
    for shift in range(-before, after + 1):
        part = shifted(squares, axis, shift, channels)
        if part is not None:
            total = part if total is None else add(total, part)
    return divide(x, pow(total * (alpha / size) + k, beta), name)


def shifted(x: Any, axis: int, shift: int, size: int) -> Any:
    """`x` moved by `shift` along an axis, with zeros where nothing is; None where all is gone."""
    if shift == 0:
        return x
    if abs(shift) >= size:
        return None
    begin, end = (shift, size) if shift > 0 else (0, size + shift)
    rest = slice(x, axes=(axis,), starts=(begin,), ends=(end,))
    gap = scale(slice(x, axes=(axis,), starts=(0,), ends=(abs(shift),)), scale=0.0)
    return concat([rest, gap] if shift > 0 else [gap, rest], axis=axis)


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """How much two tensors point the same way along an axis, from -1 to 1.

    Args:
        x1 (Tensor): of floating-point numbers.
        x2 (Tensor): of the same shape.
        axis (int): along which.
        eps (float): the least a product of two lengths counts as.

    Returns:
        Tensor: of the shape of `x1` without `axis`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1.0, 0.0]])
        >>> paddle.nn.functional.cosine_similarity(x, x).tolist()
        [1.0]
    """
    inner = reduce_sum(multiply(x1, x2), axis=(axis,))
    first = reduce_sum(multiply(x1, x1), axis=(axis,))
    second = reduce_sum(multiply(x2, x2), axis=(axis,))
    eps = number(eps, "eps")
    return inner / sqrt(maximum(first * second, eps * eps))


def normalize(
    x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None
) -> Any:
    """`x` divided by its p-norm along `axis`.

    Args:
        x (Tensor): of floating-point numbers.
        p (float): which norm.
        axis (int): along which the norm is taken.
        epsilon (float): the least a norm counts as.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.normalize(paddle.to_tensor([[3.0, 4.0]])).numpy().round(4).tolist()
        [[0.6000000238418579, 0.800000011920929]]
    """
    needs_tensor(x, "normalize")
    attrs = {"porder": number(p, "p"), "axis": 0 if len(x.shape) == 1 else axis}
    length = p_norm(x, **attrs, epsilon=epsilon, keepdim=True)
    return divide(x, maximum(length, epsilon), name)


__getattr__ = shown_by("scull.nn.functional")
