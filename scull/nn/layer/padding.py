"""Layers that make tensors larger at their edges."""

from typing import Any

import numpy as np

from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class Padding(Layer):
    """What padding of one, two and three inner axes has in common."""

    axes = 2

    def __init__(
        self, padding: Any, mode: str, value: float, data_format: str, name: str | None
    ) -> None:
        super().__init__()
        is_one = isinstance(padding, int | np.integer)
        self._pad = [padding] * (2 * self.axes) if is_one else padding
        self._mode, self._value = mode, value
        self._data_format, self._name = data_format, name

    def forward(self, x: Any) -> Any:
        """`x`, larger."""
        return F.pad(x, self._pad, self._mode, self._value, self._data_format, self._name)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return (
            f"padding={self._pad}, mode={self._mode}, value={self._value}, "
            f"data_format={self._data_format}{name}"
        )


class Pad1D(Padding):
    """Rows with something before and after them.

    Args:
        padding (int | list[int]): by how much on the left and right.
        mode (str): what: "constant", "reflect", "replicate" or "circular".
        value (float): the constant.
        data_format (str): "NCL" or "NLC".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Pad1D([1, 0])(paddle.ones([1, 1, 1])).tolist()
        [[[0.0, 1.0]]]
    """

    axes = 1

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad2D(Padding):
    """Images with something around them.

    Args:
        padding (int | list[int]): by how much to the left, right, top and bottom.
        mode (str): what: "constant", "reflect", "replicate" or "circular".
        value (float): the constant.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Pad2D([1, 0, 0, 0])(paddle.ones([1, 1, 1, 1])).tolist()
        [[[[0.0, 1.0]]]]
    """

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad3D(Padding):
    """Volumes with something around them.

    Args:
        padding (int | list[int]): by how much to the left, right, top, bottom, front and back.
        mode (str): what: "constant", "reflect", "replicate" or "circular".
        value (float): the constant.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Pad3D(1)(paddle.ones([1, 1, 1, 1, 1])).shape
        [1, 1, 3, 3, 3]
    """

    axes = 3

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ZeroPad2D(Padding):
    """Images with zeros around them.

    Args:
        padding (int | list[int]): by how much to the left, right, top and bottom.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.ZeroPad2D([1, 0, 0, 0])(paddle.ones([1, 1, 1, 1])).tolist()
        [[[[0.0, 1.0]]]]
    """

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"padding={self._pad}, data_format={self._data_format}{name}"
