"""Layers of activations that shrink, saturate or cut off, and those whose slope is learnt."""

from typing import Any

from scull.nn import functional as F
from scull.nn.initializer import Constant
from scull.nn.layer.layers import Layer


class Activation(Layer):
    """What activations without parameters have in common."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class Hardshrink(Layer):
    """Each element, and 0 where it is near 0.

    Args:
        threshold (float): how near.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Hardshrink()(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-1.0, 0.0, 2.0]
    """

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold, self._name = threshold, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.hardshrink(x, self._threshold, name=self._name)

    def extra_repr(self) -> str:
        return f"threshold={self._threshold}" + (f", name={self._name}" if self._name else "")


class Softshrink(Layer):
    """Each element moved towards 0, and 0 where it is nearer.

    Args:
        threshold (float): how far; at least 0.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Softshrink()(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-0.5, 0.0, 1.5]
    """

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold, self._name = threshold, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.softshrink(x, self._threshold, name=self._name)

    def extra_repr(self) -> str:
        return f"threshold={self._threshold}" + (f", name={self._name}" if self._name else "")


class Tanhshrink(Activation):
    """Each element less its hyperbolic tangent.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Tanhshrink()(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.0, 0.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.tanhshrink(x, name=self._name)


class ThresholdedReLU(Layer):
    """Each element above a threshold, and 0 elsewhere.

    Args:
        threshold (float): where it begins.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.ThresholdedReLU()(paddle.to_tensor([-1.0, 0.5, 2.0])).tolist()
        [0.0, 0.0, 2.0]
    """

    def __init__(self, threshold: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._threshold, self._name = threshold, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.thresholded_relu(x, self._threshold, name=self._name)

    def extra_repr(self) -> str:
        return f"threshold={self._threshold}" + (f", name={self._name}" if self._name else "")


class Hardtanh(Layer):
    """Each element kept within bounds.

    Args:
        min (float): the least result.
        max (float): the largest result.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Hardtanh()(paddle.to_tensor([-3.0, 0.5, 2.0])).tolist()
        [-1.0, 0.5, 1.0]
    """

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._min, self._max, self._name = min, max, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.hardtanh(x, self._min, self._max, name=self._name)

    def extra_repr(self) -> str:
        return f"min={self._min}, max={self._max}" + (f", name={self._name}" if self._name else "")


class Softsign(Activation):
    """Each element divided by 1 and its size: ``x / (1 + |x|)``.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Softsign()(paddle.to_tensor([-1.0, 0.0, 3.0])).tolist()
        [-0.5, 0.0, 0.75]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.softsign(x, name=self._name)


class LogSigmoid(Activation):
    """The logarithm of the sigmoid of each element.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.LogSigmoid()(paddle.to_tensor([100.0])).tolist()
        [0.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.log_sigmoid(x, name=self._name)


class Mish(Activation):
    """Each element times the hyperbolic tangent of its softplus.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Mish()(paddle.to_tensor([0.0, 50.0])).tolist()
        [0.0, 50.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.mish(x, name=self._name)


class SELU(Layer):
    """The exponential linear unit that keeps mean 0 and variance 1.

    Args:
        scale (float): a factor, above 1.
        alpha (float): how far down it goes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.SELU()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def __init__(
        self,
        scale: float = 1.0507009873554805,
        alpha: float = 1.6732632423543772,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._scale, self._alpha, self._name = scale, alpha, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.selu(x, self._scale, self._alpha, name=self._name)

    def extra_repr(self) -> str:
        return f"scale={self._scale:.16f}, alpha={self._alpha:.16f}" + (
            f", name={self._name}" if self._name else ""
        )


class CELU(Layer):
    """Each element above 0, and ``alpha * (e^(x / alpha) - 1)`` below.

    Args:
        alpha (float): how far down it goes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.CELU()(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha, self._name = alpha, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.celu(x, self._alpha, name=self._name)

    def extra_repr(self) -> str:
        return f"alpha={self._alpha}" + (f", name={self._name}" if self._name else "")


class PReLU(Layer):
    """Each element above 0, and times a weight that is learnt below.

    Args:
        num_parameters (int): 1, or the number of channels.
        init (float): the first value of the weight.
        weight_attr (ParamAttr, optional): of the weight.
        data_format (str): where the channels are.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.PReLU()(paddle.to_tensor([-2.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters, self._init = num_parameters, init
        self._data_format, self._name, self._weight_attr = data_format, name, weight_attr
        self._weight = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=Constant(init)
        )

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.prelu(x, self._weight, self._data_format, name=self._name)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        shown = f"num_parameters={self._num_parameters}, data_format={self._data_format}"
        return f"{shown}, init={self._init}, dtype={self._dtype}{name}"
