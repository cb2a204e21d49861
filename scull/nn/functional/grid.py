"""Images read at the points of a grid, and channels shifted in time."""

from typing import Any

from scull.core.tensor import Methods, Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn.functional.naming import named
from scull.ops import affine_grid as affine
from scull.ops import grid as ops
from scull.ops.channel import temporal_shift as shift
from scull.tensor.size import integers, is_one_of, needs_tensor


def affine_grid(
    theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None
) -> Any:
    """Where affine maps take the points of a grid: what `grid_sample` reads images at.

    Args:
        theta (Tensor): float32 or float64: a map for each image, of shape ``[batch, 2, 3]``, or
            ``[batch, 3, 4]`` for volumes.
        out_shape (list[int] | Tensor): the shape of the images to be made, with the batch and the
            channels.
        align_corners (bool): whether -1 and 1 are the middles of the outer elements, not the edges.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: the points (column, row), of shape ``[batch, rows, columns, 2]``; those of volumes
        are (column, row, layer).

    Examples:
        >>> import scull as paddle
        >>> same = paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> paddle.nn.functional.affine_grid(same, [1, 3, 1, 2]).tolist()
        [[[[-1.0, 0.0], [1.0, 0.0]]]]
    """
    if not isinstance(theta, Methods):
        raise ArgumentError("The theta should be a Tensor.")
    if not isinstance(align_corners, bool):
        raise ArgumentError(f"align_corners should be bool, but got: {align_corners}")
    attrs = {"align_corners": align_corners} | named(name)
    if isinstance(out_shape, Tensor):
        out_shape = out_shape.tolist()
    if isinstance(out_shape, Methods):
        return affine.affine_grid(theta, out_shape, **attrs)
    return affine.affine_grid(theta, output_shape=integers(out_shape, "out_shape"), **attrs)


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """Each channel of images read at the points of a grid, where -1 and 1 are the borders.

    Args:
        x (Tensor): float32 or float64 images, of shape ``[batch, channels, rows, columns]``, or
            volumes with one axis more.
        grid (Tensor): points (column, row) for each image, of shape ``[batch, m, n, 2]``, or
            (column, row, layer) of shape ``[batch, l, m, n, 3]``.
        mode (str): "bilinear" for the mean of the elements around, "nearest" for the nearest one.
        padding_mode (str): what lies outside: "zeros", the "border", or the image mirrored in
            "reflection".
        align_corners (bool): whether -1 and 1 are the middles of the outer elements, not the edges.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[batch, channels, m, n]``, or ``[batch, channels, l, m, n]``.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0, 3.0]]]])
        >>> grid = paddle.to_tensor([[[[-1.0, 0.0], [0.0, 0.0]]]])
        >>> paddle.nn.functional.grid_sample(x, grid).tolist()
        [[[[1.0, 2.0]]]]
    """
    needs_tensor(x, "grid_sample")
    needs_tensor(grid, "grid_sample", "grid")
    modes, paddings = ["bilinear", "nearest"], ["zeros", "reflection", "border"]
    if not is_one_of(mode, modes):
        raise ArgumentError(
            f"The mode of grid sample function should be in {modes}, but got: {mode}"
        )
    if not is_one_of(padding_mode, paddings):
        law = "The padding mode of grid sample function should be in"
        raise ArgumentError(f"{law} {paddings}, but got: {padding_mode}")
    if not isinstance(align_corners, bool):
        raise ArgumentError(f"The align corners should be bool, but got: {align_corners}")
    attrs = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    return ops.grid_sampler(x, grid, **attrs, **named(name))


def temporal_shift(
    x: Any,
    seg_num: int,
    shift_ratio: float = 0.25,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """Some channels of the images of a video a step later, as many a step earlier.

    Args:
        x (Tensor): floating-point images, `seg_num` of each video one after the other.
        seg_num (int): how many images a video has.
        shift_ratio (float): the share of the channels shifted either way, between 0 and 0.5.
        name (str, optional): the name of the output in a Program.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        Tensor: of the shape and dtype of `x`; 0 comes in at the beginnings and ends.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).reshape([2, 4, 1, 1])
        >>> paddle.nn.functional.temporal_shift(x, 2).flatten().tolist()
        [0.0, 6.0, 3.0, 4.0, 1.0, 0.0, 7.0, 8.0]
    """
    needs_tensor(x, "temporal_shift")
    if not is_one_of(data_format, ("NCHW", "NHWC")):
        law = "Attr(data_format) should be 'NCHW' or 'NHWC'."
        raise ArgumentError(f"{law} Received Attr(data_format): {data_format}.")
    if not isinstance(seg_num, int):
        raise ArgumentTypeError(f"seg_num is an int, not {type(seg_num).__name__}")
    attrs = {"seg_num": seg_num, "shift_ratio": shift_ratio, "data_format": data_format}
    return shift(x, **attrs, **named(name))
