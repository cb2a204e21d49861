"""The layer that divides a weight by its largest singular value."""

import math
from typing import Any

from scull.errors import ArgumentError
from scull.nn.initializer import Normal
from scull.nn.layer.layers import Layer
from scull.nn.param_attr import ParamAttr
from scull.ops.spectral import spectral_norm


class SpectralNorm(Layer):
    """A weight divided by its largest singular value, which power iterations find.

    Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    Args:
        weight_shape (list[int]): the shape of the weights.
        dim (int): the axis, 0 or 1, that becomes the rows of a matrix.
        power_iters (int): how many iterations each call makes, always from the same start.
        eps (float): the least length that is divided by.
        dtype (str): the element type of the weights, float32 or float64.

    Examples:
        >>> import scull as paddle
        >>> norm = paddle.nn.SpectralNorm([2, 2], power_iters=20)
        >>> out = norm(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]))
        >>> out.numpy().round(3).tolist()
        [[0.5, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        weight_shape: Any,
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: str = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        self._weight_shape, self._dim = list(weight_shape), dim
        self._power_iters, self._eps = power_iters, eps
        if 0 in self._weight_shape:
            raise ArgumentError("Any dimension of `weight_shape` cannot be equal to 0.")
        if not -len(self._weight_shape) <= dim < len(self._weight_shape):
            raise ArgumentError(
                "The input `dim` should be less than the length of `weight_shape`, "
                f"but received dim={dim}"
            )
        rows = self._weight_shape[dim]
        self.weight_u = self.vector(rows)
        self.weight_v = self.vector(math.prod(self._weight_shape) // rows)

    def vector(self, size: int) -> Any:
        """What the iterations begin with; it is not learned."""
        made = self.create_parameter(
            [size],
            ParamAttr(initializer=Normal(0.0, 1.0), trainable=False),
            dtype=self._dtype,
        )
        made.stop_gradient = True
        return made

    def forward(self, x: Any) -> Any:
        """The weight `x`, divided."""
        attrs = {"dim": self._dim, "power_iters": self._power_iters, "eps": self._eps}
        return spectral_norm(x, self.weight_u, self.weight_v, **attrs)
