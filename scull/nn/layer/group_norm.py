"""Layers of normalisation of groups of channels, and of each channel, image by image."""

from typing import Any

from scull.errors import ArgumentError, ShapeError
from scull.nn import functional as F
from scull.nn.initializer import Constant
from scull.nn.layer.layers import Layer
from scull.ops import group_norm


class GroupNorm(Layer):
    """Zero mean and unit variance of each group of channels of each image.

    Args:
        num_groups (int): how many groups there are.
        num_channels (int): how many channels.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for ones that
            are not learned.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for zeros that are
            not learned.
        data_format (str): where the channels are: "NCHW" or "NHWC".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.GroupNorm(2, 4)(paddle.ones([1, 4, 2, 2])).sum().item()
        0.0
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if data_format not in ("NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
            raise ArgumentError("unsupported data layout:" + data_format)
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        self._data_format = "NCHW" if data_format[1] == "C" else "NHWC"
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.own(num_channels, weight_attr, 1.0)
        self.bias = self.own(num_channels, bias_attr, 0.0)

    def own(self, size: int, attr: Any, value: float) -> Any:
        """A parameter that is `value` at first, and stays so where `attr` is False."""
        made = self.create_parameter(
            [size],
            None if attr is False else attr,
            is_bias=value == 0.0,
            default_initializer=Constant(value),
        )
        made.stop_gradient = made.stop_gradient or attr is False
        return made

    def forward(self, input: Any) -> Any:
        """`input`, normalised."""
        _, _, out = group_norm.group_norm(
            input,
            self.weight,
            self.bias,
            groups=self._num_groups,
            epsilon=self._epsilon,
            data_layout=self._data_format,
            name=self._full_name,
        )
        return out

    def extra_repr(self) -> str:
        channels = f"num_channels={self._num_channels}"
        return f"num_groups={self._num_groups}, {channels}, epsilon={self._epsilon}"


class InstanceNorm(Layer):
    """What normalisation of each channel over one, two and three axes has in common."""

    axes: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise ArgumentError(
                "weight_attr and bias_attr must be set to False at the same time in InstanceNorm"
            )
        self._num_features, self._epsilon, self._momentum = num_features, epsilon, momentum
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.scale = self.create_parameter(
            [num_features], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """`input`, normalised."""
        if len(input.shape) not in self.axes:
            needed = " or ".join(f"{n}D" for n in self.axes)
            raise ShapeError(f"expected {needed} input (got {len(input.shape)}D input)")
        return F.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon)

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(InstanceNorm):
    """Zero mean and unit variance of each channel of each sample over 1 axis.

    Args:
        num_features (int): how many channels there are.
        epsilon (float): added to the variance.
        momentum (float): not used.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): the channels are axis 1.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.InstanceNorm1D(2)(paddle.ones([1, 2, 4])).sum().item()
        0.0
    """

    axes = (2, 3)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(InstanceNorm):
    """Zero mean and unit variance of each channel of each sample over 2 axes.

    Args:
        num_features (int): how many channels there are.
        epsilon (float): added to the variance.
        momentum (float): not used.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): the channels are axis 1.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.InstanceNorm2D(2)(paddle.ones([1, 2, 4, 4])).sum().item()
        0.0
    """

    axes = (4,)


class InstanceNorm3D(InstanceNorm):
    """Zero mean and unit variance of each channel of each sample over 3 axes.

    Args:
        num_features (int): how many channels there are.
        epsilon (float): added to the variance.
        momentum (float): not used.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): the channels are axis 1.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.InstanceNorm3D(2)(paddle.ones([1, 2, 2, 2, 2])).sum().item()
        0.0
    """

    axes = (5,)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class LocalResponseNorm(Layer):
    """Each element divided by how large those of the channels around it are.

    Args:
        size (int): how many channels count.
        alpha (float): how much their mean square counts.
        beta (float): the power of the divisor.
        k (float): added to the divisor.
        data_format (str): where the channels are.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> norm = paddle.nn.LocalResponseNorm(3, alpha=0.0)
        >>> norm(paddle.ones([1, 3, 1, 1])).flatten().tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Any) -> Any:
        """`input`, divided."""
        return F.local_response_norm(
            input, self.size, self.alpha, self.beta, self.k, self.data_format, self.name
        )

    def extra_repr(self) -> str:
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        text += f", data_format={self.data_format}" if self.data_format != "NCHW" else ""
        return text + (f", name={self.name}" if self.name else "")
