"""Convolutions over the stored elements of images."""

import math
from typing import Any

from scull.errors import ArgumentError, AssertError, DtypeError, ShapeError, UnsupportedError
from scull.nn.functional.window import paddings, pair
from scull.ops import elementwise
from scull.ops.move import reshape
from scull.sparse.nn.functional.rule import Met, reaching, staying
from scull.sparse.place import coordinates, merged, spots
from scull.sparse.tensor import CooTensor, coo, needs_sparse
from scull.tensor.size import needs_tensor

FORMATS = {2: "NHWC", 3: "NDHWC"}


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """The product of every window of images that meets an element with every filter.

    Args:
        x (Tensor): sparse, in coordinates of image, row and column, with the channels as the dense
            axis behind: ``[images, rows, columns, channels]``.
        weight (Tensor): the filters, ``[rows, columns, channels, filters]``.
        bias (Tensor, optional): what is added to each stored element, ``[filters]``.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border around the images: one number an axis, or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        data_format (str): "NHWC".
        name (str, optional): not used.

    Returns:
        Tensor: sparse, in rising coordinates, with the filters as the dense axis.

    Raises:
        AssertError: `groups` is not 1.
        ShapeError: the operands have other axes, or not as many channels, or no window fits.
        UnsupportedError: `x` is not in coordinates, or the padding not the same on both sides.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1]], [[2.0]], [1, 4, 4, 1])
        >>> y = paddle.sparse.nn.functional.conv2d(x, paddle.ones([2, 2, 1, 1]))
        >>> y.shape, y.values().flatten().tolist()
        ([1, 3, 3, 1], [2.0, 2.0, 2.0, 2.0])
    """
    return convolved(2, x, weight, bias, stride, padding, dilation, groups, data_format)


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """The product of every window of solids that meets an element with every filter.

    Args:
        x (Tensor): sparse, in coordinates of solid, layer, row and column, with the channels as
            the dense axis behind: ``[solids, layers, rows, columns, channels]``.
        weight (Tensor): the filters, ``[layers, rows, columns, channels, filters]``.
        bias (Tensor, optional): what is added to each stored element, ``[filters]``.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border around the solids: one number an axis, or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        data_format (str): "NDHWC".
        name (str, optional): not used.

    Returns:
        Tensor: sparse, in rising coordinates, with the filters as the dense axis.

    Raises:
        AssertError: `groups` is not 1.
        ShapeError: the operands have other axes, or not as many channels, or no window fits.
        UnsupportedError: `x` is not in coordinates, or the padding not the same on both sides.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[2.0]], [1, 4, 4, 4, 1])
        >>> y = paddle.sparse.nn.functional.conv3d(x, paddle.ones([2, 2, 2, 1, 1]), stride=2)
        >>> y.shape, y.indices().flatten().tolist(), y.values().tolist()
        ([1, 2, 2, 2, 1], [0, 0, 0, 0], [[2.0]])
    """
    return convolved(3, x, weight, bias, stride, padding, dilation, groups, data_format)


def subm_conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> Any:
    """The product of the window around every stored element of images with every filter.

    Args:
        x (Tensor): sparse, in coordinates of image, row and column, with the channels as the dense
            axis behind: ``[images, rows, columns, channels]``.
        weight (Tensor): the filters, ``[rows, columns, channels, filters]``.
        bias (Tensor, optional): what is added to each stored element, ``[filters]``.
        stride (int | list[int]): not used: windows lie around elements.
        padding (int | str | list): not used, for the same reason.
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        data_format (str): "NHWC".
        key (str, optional): not used: what is worked out of the places is kept with them.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the places of `x`, in rising order, and the filters as dense axis.

    Raises:
        AssertError: `groups` is not 1.
        ShapeError: the operands have other axes, or not as many channels.
        UnsupportedError: `x` is not in coordinates.

    Examples:
        >>> import scull as paddle
        >>> places = [[0, 0], [1, 1], [1, 2]]
        >>> x = paddle.sparse.sparse_coo_tensor(places, [[2.0], [3.0]], [1, 4, 4, 1])
        >>> y = paddle.sparse.nn.functional.subm_conv2d(x, paddle.ones([3, 3, 1, 1]))
        >>> y.values().tolist()
        [[5.0], [5.0]]
    """
    return around(2, x, weight, bias, stride, padding, dilation, groups, data_format)


def subm_conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Any:
    """The product of the window around every stored element of solids with every filter.

    Args:
        x (Tensor): sparse, in coordinates of solid, layer, row and column, with the channels as
            the dense axis behind: ``[solids, layers, rows, columns, channels]``.
        weight (Tensor): the filters, ``[layers, rows, columns, channels, filters]``.
        bias (Tensor, optional): what is added to each stored element, ``[filters]``.
        stride (int | list[int]): not used: windows lie around elements.
        padding (int | str | list): not used, for the same reason.
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        data_format (str): "NDHWC".
        key (str, optional): not used: what is worked out of the places is kept with them.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the places of `x`, in rising order, and the filters as dense axis.

    Raises:
        AssertError: `groups` is not 1.
        ShapeError: the operands have other axes, or not as many channels.
        UnsupportedError: `x` is not in coordinates.

    Examples:
        >>> import scull as paddle
        >>> places = [[0, 0], [1, 1], [1, 1], [1, 2]]
        >>> x = paddle.sparse.sparse_coo_tensor(places, [[2.0], [3.0]], [1, 4, 4, 4, 1])
        >>> y = paddle.sparse.nn.functional.subm_conv3d(x, paddle.ones([3, 3, 3, 1, 1]))
        >>> y.values().tolist()
        [[5.0], [5.0]]
    """
    return around(3, x, weight, bias, stride, padding, dilation, groups, data_format)


def check_image(x: Any, count: int, data_format: Any, function: str) -> None:
    """Refuse what are no images of so many axes, in coordinates with a dense axis of channels."""
    if data_format != FORMATS[count]:
        raise ArgumentError(
            f"Attr(data_format) should be '{FORMATS[count]}'. "
            f"Received Attr(data_format): {data_format}."
        )
    needs_tensor(x, function)
    if len(x.shape) != count + 2:
        raise ShapeError(
            f"Input x should be {count + 2}D tensor, but received x with the shape of {x.shape}"
        )
    needs_sparse(x, function, CooTensor)
    if len(x.places) != count + 1:
        raise ShapeError(f"{function}(): the channels alone are a dense axis of x")


def check_filters(count: int, x: Any, weight: Any, groups: Any, data_format: Any) -> None:
    """Refuse operands of a convolution that do not fit together."""
    if groups != 1:
        raise AssertError("Currently, only support groups=1")
    check_image(x, count, data_format, f"conv{count}d")
    needs_tensor(weight, f"conv{count}d", "weight")
    if len(weight.shape) != count + 2 or weight.shape[-2] != x.sizes[-1]:
        raise ShapeError(f"filters {weight.shape} do not fit {x.sizes[-1]} channels of {x.shape}")
    if weight.dtype is not x.dtype:
        raise DtypeError(f"x is {x.dtype.name} and weight is {weight.dtype.name}; cast one")


def even(padding: Any, count: int) -> tuple[int, ...]:
    """The border on both sides of each axis."""
    found, algorithm = paddings(padding, True, count)
    if algorithm == "SAME" or len(found) > count:
        raise UnsupportedError(
            f"padding {padding!r}: Paddle's sparse operators take one number an axis, and compute "
            "with others than these where they are given more; say the numbers"
        )
    return found


def convolved(
    count: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    data_format: Any,
) -> Any:
    """A convolution whose results are stored wherever a window meets an element."""
    check_filters(count, x, weight, groups, data_format)
    steps, apart = pair(stride, "stride", count), pair(dilation, "dilation", count)
    how = tuple(weight.shape[:count]), steps, even(padding, count), apart
    rules, every, counts = reaching(x.places, x.sizes[:-1], *how)
    held = Met.apply(x.held, by_place(weight), rules)
    sizes = (x.sizes[0], *counts)
    places = coordinates(every, sizes, x.places.dtype)
    return biased(coo(places, held, (*sizes, weight.shape[-1])), bias)


def around(
    count: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    data_format: Any,
) -> Any:
    """A convolution whose results are stored where the elements are."""
    check_filters(count, x, weight, groups, data_format)
    pair(stride, "stride", count)
    paddings(padding, True, count)
    how = tuple(weight.shape[:count]), pair(dilation, "dilation", count)
    x = in_order(x)
    if how not in x.rules:
        x.rules[how] = staying(x.places, x.sizes[:-1], *how)
    made = x.like(Met.apply(x.held, by_place(weight), x.rules[how]))
    made.sizes = (*x.sizes[:-1], weight.shape[-1])
    return biased(made, bias)


def in_order(x: CooTensor) -> CooTensor:
    """A tensor with its places in rising order, each once."""
    if "rises" not in x.rules:
        sizes = x.sizes[:-1]
        old = spots(x.places, sizes)
        numbers, held = merged(old, x.held)
        if numbers is not old:
            x = coo(coordinates(numbers, sizes, x.places.dtype), held, x.sizes)
        x.rules["rises"] = True
    return x


def by_place(weight: Any) -> Any:
    """Filters as a matrix for each place of the kernel."""
    return reshape(weight, shape=(math.prod(weight.shape[:-2]), *weight.shape[-2:]))


def biased(x: CooTensor, bias: Any) -> CooTensor:
    """A number a filter added to each stored element."""
    return x if bias is None else x.like(elementwise.add(x.held, bias))
