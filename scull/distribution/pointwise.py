"""Transformations of each number by itself."""

import math
from typing import Any

from scull.distribution import constraint, variable
from scull.distribution.mapping import Transform, Type
from scull.distribution.parameter import needs_tensors
from scull.ops.shrink import logsigmoid
from scull.tensor.attribute import broadcast_shape
from scull.tensor.creation import zeros
from scull.tensor.function import abs as size
from scull.tensor.function import exp, log, log1p, sigmoid, tanh
from scull.tensor.trigonometry import atanh


class AbsTransform(Transform):
    """The size of a number, ``y = |x|``: not injective.

    `inverse` gives both values that y comes from, ``(-y, y)``.

    Examples:
        >>> import scull as paddle
        >>> size = paddle.distribution.AbsTransform()
        >>> size.forward(paddle.to_tensor([-1.0, 2.0])).tolist()
        [1.0, 2.0]
        >>> [x.tolist() for x in size.inverse(paddle.to_tensor([1.0]))]
        [[-1.0], [1.0]]
    """

    _type = Type.SURJECTION

    @property
    def _codomain(self) -> Any:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return size(x)

    def _inverse(self, y: Any) -> tuple[Any, Any]:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> tuple[Any, Any]:
        zero = zeros([], dtype=y.dtype)
        return zero, zero


class AffineTransform(Transform):
    """Stretching and moving, ``y = loc + scale * x``.

    Args:
        loc (Tensor): by how much it moves.
        scale (Tensor): by how much it stretches.

    Raises:
        ArgumentTypeError: one of them is no tensor.

    Examples:
        >>> import scull as paddle
        >>> loc, scale = paddle.to_tensor(1.0), paddle.to_tensor(2.0)
        >>> affine = paddle.distribution.AffineTransform(loc, scale)
        >>> affine.forward(paddle.to_tensor([1.0, 2.0])).tolist()
        [3.0, 5.0]
        >>> affine.inverse(paddle.to_tensor([3.0, 5.0])).tolist()
        [1.0, 2.0]
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Any, scale: Any) -> None:
        needs_tensors(loc=loc, scale=scale)
        self._loc, self._scale = loc, scale

    @property
    def loc(self) -> Any:
        """By how much it moves."""
        return self._loc

    @property
    def scale(self) -> Any:
        """By how much it stretches."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(size(self._scale))

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        return broadcast_shape(broadcast_shape(shape, self._loc.shape), self._scale.shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self._forward_shape(shape)


class ExpTransform(Transform):
    """The exponential, ``y = exp(x)``.

    Examples:
        >>> import scull as paddle
        >>> exp = paddle.distribution.ExpTransform()
        >>> exp.inverse(exp.forward(paddle.to_tensor([0.0]))).tolist()
        [0.0]
        >>> exp.forward_log_det_jacobian(paddle.to_tensor([3.0])).tolist()
        [3.0]
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> Any:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return exp(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """A power, ``y = x ** power``.

    Args:
        power (Tensor): the exponent.

    Raises:
        ArgumentTypeError: it is no tensor.

    Examples:
        >>> import scull as paddle
        >>> square = paddle.distribution.PowerTransform(paddle.to_tensor(2.0))
        >>> square.forward(paddle.to_tensor([3.0])).tolist()
        [9.0]
        >>> square.inverse(paddle.to_tensor([9.0])).tolist()
        [3.0]
    """

    _type = Type.BIJECTION

    def __init__(self, power: Any) -> None:
        needs_tensors(power=power)
        self._power = power

    @property
    def power(self) -> Any:
        """The exponent."""
        return self._power

    @property
    def _codomain(self) -> Any:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return x**self._power

    def _inverse(self, y: Any) -> Any:
        return y ** (1.0 / self._power)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(size(self._power * x ** (self._power - 1.0)))

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        return broadcast_shape(shape, self._power.shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self._forward_shape(shape)


class SigmoidTransform(Transform):
    """The logistic function, ``y = 1 / (1 + exp(-x))``.

    Examples:
        >>> import scull as paddle
        >>> sigmoid = paddle.distribution.SigmoidTransform()
        >>> sigmoid.forward(paddle.to_tensor([0.0])).tolist()
        [0.5]
        >>> sigmoid.inverse(paddle.to_tensor([0.5])).tolist()
        [0.0]
    """

    @property
    def _codomain(self) -> Any:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return logsigmoid(x) + logsigmoid(-x)


class TanhTransform(Transform):
    """The hyperbolic tangent, ``y = tanh(x)``.

    Examples:
        >>> import scull as paddle
        >>> tanh = paddle.distribution.TanhTransform()
        >>> tanh.forward(paddle.to_tensor([0.0])).tolist()
        [0.0]
        >>> tanh.forward_log_det_jacobian(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> Any:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return tanh(x)

    def _inverse(self, y: Any) -> Any:
        return atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # the logarithm of 1 - tanh(x)², which rounds to 0 long before this overflows
        return 2.0 * (math.log(2.0) - x + logsigmoid(x * 2.0))
