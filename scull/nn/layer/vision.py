"""Layers that resize images, cut them into windows, and deal their elements to channels."""

from typing import Any

from scull.core.door import shown_by
from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn import functional as F
from scull.nn.functional.window import pair
from scull.nn.layer.layers import Layer


class Upsample(Layer):
    """Images of another size.

    Args:
        size (list[int] | Tensor, optional): the sizes of the axes that are resized.
        scale_factor (float | list[float] | Tensor, optional): how much larger they become.
        mode (str): "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area".
        align_corners (bool): whether the first and the last elements stay where they are.
        align_mode (int): 1 to begin at the first element, 0 half an element before it.
        data_format (str): the order of the axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Upsample(scale_factor=2)(paddle.ones([1, 1, 2, 2])).shape
        [1, 1, 4, 4]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode.lower()
        self.align_corners, self.align_mode = align_corners, align_mode
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, resized."""
        return F.interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.align_mode,
            self.data_format,
            self.name,
        )

    def extra_repr(self) -> str:
        main = f"scale_factor={self.scale_factor}" if self.scale_factor else f"size={self.size}"
        rest = f"mode={self.mode}, align_corners={self.align_corners}"
        rest += f", align_mode={self.align_mode}, data_format={self.data_format}"
        return f"{main}, {rest}" + (f", name={self.name}" if self.name else "")


class UpsamplingNearest2D(Layer):
    """Images of another size, each element the nearest one.

    Args:
        size (list[int] | Tensor, optional): how many rows and columns come out.
        scale_factor (float | list[float] | Tensor, optional): how many times as many.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.UpsamplingNearest2D(scale_factor=2)(paddle.ones([1, 1, 2, 2])).shape
        [1, 1, 4, 4]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, resized."""
        return F.interpolate(
            x,
            self.size,
            self.scale_factor,
            mode="nearest",
            align_corners=False,
            align_mode=0,
            data_format=self.data_format,
            name=self.name,
        )

    def extra_repr(self) -> str:
        main = f"scale_factor={self.scale_factor}" if self.scale_factor else f"size={self.size}"
        name = f", name={self.name}" if self.name else ""
        return f"{main}, data_format={self.data_format}{name}"


class UpsamplingBilinear2D(Layer):
    """Images of another size, each element between the four around it.

    Args:
        size (list[int] | Tensor, optional): how many rows and columns come out.
        scale_factor (float | list[float] | Tensor, optional): how many times as many.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.UpsamplingBilinear2D(scale_factor=2)(paddle.ones([1, 1, 2, 2])).shape
        [1, 1, 4, 4]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, resized."""
        return F.interpolate(
            x,
            self.size,
            self.scale_factor,
            mode="bilinear",
            align_corners=True,
            align_mode=0,
            data_format=self.data_format,
            name=self.name,
        )

    def extra_repr(self) -> str:
        main = f"scale_factor={self.scale_factor}" if self.scale_factor else f"size={self.size}"
        name = f", name={self.name}" if self.name else ""
        return f"{main}, data_format={self.data_format}{name}"


class PixelShuffle(Layer):
    """Larger images of fewer channels: groups of channels become squares of elements.

    Args:
        upscale_factor (int): the side of a square.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.PixelShuffle(3)(paddle.ones([2, 9, 4, 4])).shape
        [2, 1, 12, 12]
    """

    def __init__(
        self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        if not isinstance(upscale_factor, int):
            raise ArgumentTypeError("upscale factor must be int type")
        if data_format not in ("NCHW", "NHWC"):
            raise ArgumentError(f"data_format is {data_format!r}, neither NCHW nor NHWC")
        self._upscale_factor, self._data_format, self._name = upscale_factor, data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, dealt anew."""
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format, self._name)

    def extra_repr(self) -> str:
        text = f"upscale_factor={self._upscale_factor}"
        text += f", data_format={self._data_format}" if self._data_format != "NCHW" else ""
        return text + (f", name={self._name}" if self._name else "")


class PixelUnshuffle(Layer):
    """Smaller images of more channels: squares of elements become groups of channels.

    Args:
        downscale_factor (int): the side of a square.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.PixelUnshuffle(3)(paddle.ones([2, 1, 12, 12])).shape
        [2, 9, 4, 4]
    """

    def __init__(
        self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._downscale_factor, self._data_format, self._name = downscale_factor, data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, dealt anew."""
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format, self._name)

    def extra_repr(self) -> str:
        text = f"downscale_factor={self._downscale_factor}"
        text += f", data_format={self._data_format}" if self._data_format != "NCHW" else ""
        return text + (f", name={self._name}" if self._name else "")


class ChannelShuffle(Layer):
    """The channels dealt anew: the first of every group, then the second of every group.

    Args:
        groups (int): how many groups there are.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.ChannelShuffle(2)(paddle.ones([1, 4, 1, 1])).shape
        [1, 4, 1, 1]
    """

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._groups, self._data_format, self._name = groups, data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, dealt anew."""
        return F.channel_shuffle(x, self._groups, self._data_format, self._name)

    def extra_repr(self) -> str:
        text = f"groups={self._groups}"
        text += f", data_format={self._data_format}" if self._data_format != "NCHW" else ""
        return text + (f", name={self._name}" if self._name else "")


class Windows(Layer):
    """What cutting into windows and putting together from them have in common."""

    def __init__(
        self,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_sizes, self.dilations = kernel_sizes, dilations
        self.paddings, self.strides, self.name = paddings, strides, name

    def extra_repr(self) -> str:
        text = f"kernel_size={self.kernel_sizes}, dilation={self.dilations}"
        text += f", padding={self.paddings}, stride={self.strides}"
        return text + (f", name={self.name}" if self.name else "")


class Unfold(Windows):
    """The elements of every window of the images as a column.

    Args:
        kernel_sizes (int | list[int]): the size of a window.
        dilations (int | list[int]): how far apart the elements of a window lie.
        paddings (int | list[int]): the zeros around.
        strides (int | list[int]): how far apart windows lie.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Unfold(2)(paddle.ones([1, 3, 4, 4])).shape
        [1, 12, 9]
    """

    def forward(self, input: Any) -> Any:
        """The columns of `input`."""
        return F.unfold(
            input, self.kernel_sizes, self.strides, self.paddings, self.dilations, self.name
        )


class Fold(Windows):
    """Images put together from columns, which add up where they overlap.

    Args:
        output_sizes (int | list[int]): the size of the images.
        kernel_sizes (int | list[int]): the size of a window.
        dilations (int | list[int]): how far apart the elements of a window lie.
        paddings (int | list[int]): what lies around the images.
        strides (int | list[int]): how far apart windows lie.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Fold([4, 4], 2)(paddle.ones([1, 12, 9])).shape
        [1, 3, 4, 4]
    """

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_sizes, dilations, paddings, strides, name)
        self.output_sizes = pair(output_sizes, "output_sizes")

    def forward(self, input: Any) -> Any:
        """The images of `input`."""
        return F.fold(
            input,
            self.output_sizes,
            self.kernel_sizes,
            self.strides,
            self.paddings,
            self.dilations,
            self.name,
        )


__getattr__ = shown_by("scull.nn")
