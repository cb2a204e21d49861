"""Layers of activations: in its `__dict__` stand all, as programs look them up there."""

from typing import Any

from scull.core.door import shown_by
from scull.nn import functional as F
from scull.nn.layer.choice import Maxout, RReLU, Softmax2D  # noqa: F401
from scull.nn.layer.layers import Layer
from scull.nn.layer.shrink import (  # noqa: F401
    CELU,
    SELU,
    Activation,
    Hardshrink,
    Hardtanh,
    LogSigmoid,
    Mish,
    PReLU,
    Softshrink,
    Softsign,
    Tanhshrink,
    ThresholdedReLU,
)


class Along(Layer):
    """What activations along an axis have in common."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._name = axis, name

    def extra_repr(self) -> str:
        return f"axis={self._axis}" + (f", name={self._name}" if self._name else "")


class ReLU(Activation):
    """The rectified linear unit, elementwise: ``max(x, 0)``.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.relu(x, name=self._name)


class ReLU6(Activation):
    """The rectified linear unit that stops at 6, elementwise.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.ReLU6()(paddle.to_tensor([-1.0, 9.0])).tolist()
        [0.0, 6.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.relu6(x, name=self._name)


class Tanh(Activation):
    """The hyperbolic tangent, elementwise.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Tanh()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.tanh(x, name=self._name)


class Sigmoid(Activation):
    """The logistic function, elementwise: ``1 / (1 + e^-x)``.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Sigmoid()(paddle.to_tensor([0.0])).tolist()
        [0.5]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.sigmoid(x, name=self._name)


class Silu(Activation):
    """Each element times its sigmoid.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Silu()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.silu(x, name=self._name)


class Swish(Activation):
    """Each element times its sigmoid: the same as `Silu`.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Swish()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.swish(x, name=self._name)


class Hardswish(Activation):
    """Swish with straight lines: ``x * min(max(x + 3, 0), 6) / 6``.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Hardswish()(paddle.to_tensor([0.0, 5.0])).tolist()
        [0.0, 5.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.hardswish(x, name=self._name)


class Hardsigmoid(Activation):
    """The sigmoid with straight lines: ``min(max(x / 6 + 0.5, 0), 1)``.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Hardsigmoid()(paddle.to_tensor([-4.0, 5.0])).tolist()
        [0.0, 1.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.hardsigmoid(x, name=self._name)


class Softmax(Along):
    """e to the elements, divided by the sum of these along an axis.

    Args:
        axis (int): along which elements add up to 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Softmax()(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.softmax(x, self._axis, name=self._name)


class LogSoftmax(Along):
    """The logarithm of the softmax along an axis.

    Args:
        axis (int): along which elements of the softmax add up to 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.LogSoftmax()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.log_softmax(x, self._axis, name=self._name)


class GLU(Along):
    """The first half along an axis times the sigmoid of the second.

    Args:
        axis (int): which axis is halved.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.GLU()(paddle.to_tensor([4.0, 0.0])).tolist()
        [2.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.glu(x, self._axis, name=self._name)


class GELU(Layer):
    """Each element times the chance that a standard normal number lies below it.

    Args:
        approximate (bool): by tanh instead of the error function.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.GELU()(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._approximate, self._name = approximate, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.gelu(x, self._approximate, self._name)

    def extra_repr(self) -> str:
        return f"approximate={self._approximate}" + (f", name={self._name}" if self._name else "")


class LeakyReLU(Layer):
    """Each element above 0, and a small part of those below.

    Args:
        negative_slope (float): the slope below 0.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.LeakyReLU(0.5)(paddle.to_tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope, self._name = negative_slope, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.leaky_relu(x, self._negative_slope, self._name)

    def extra_repr(self) -> str:
        return f"negative_slope={self._negative_slope}" + (
            f", name={self._name}" if self._name else ""
        )


class ELU(Layer):
    """Each element above 0, and ``alpha * (e^x - 1)`` below.

    Args:
        alpha (float): how far down it goes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.ELU()(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha, self._name = alpha, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.elu(x, self._alpha, self._name)

    def extra_repr(self) -> str:
        return f"alpha={self._alpha}" + (f", name={self._name}" if self._name else "")


class Softplus(Layer):
    """A smooth rectified linear unit: ``log(1 + e^(beta * x)) / beta``.

    Args:
        beta (float): how sharp the bend is.
        threshold (float): from where on it is straight.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Softplus()(paddle.to_tensor([100.0])).tolist()
        [100.0]
    """

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__()
        self._beta, self._threshold, self._name = beta, threshold, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.softplus(x, self._beta, self._threshold, self._name)

    def extra_repr(self) -> str:
        return f"beta={self._beta}, threshold={self._threshold}" + (
            f", name={self._name}" if self._name else ""
        )


__getattr__ = shown_by("scull.nn")
