"""Functions as layers, so that their inputs and outputs can be rounded."""

from typing import Any

from scull import tensor
from scull.nn.layer.layers import Layer


class FloatFunctionalLayer(Layer):
    """The parent of functions as layers."""


class add(FloatFunctionalLayer):
    """`paddle.add` as a layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.quant.add()(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [3.0]
    """

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        """``x + y``."""
        return tensor.add(x, y, name)


class subtract(FloatFunctionalLayer):
    """`paddle.subtract` as a layer."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        """``x - y``."""
        return tensor.subtract(x, y, name)


class multiply(FloatFunctionalLayer):
    """`paddle.multiply` as a layer."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        """``x * y``, elementwise."""
        return tensor.multiply(x, y, name)


class divide(FloatFunctionalLayer):
    """`paddle.divide` as a layer."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        """``x / y``, elementwise."""
        return tensor.divide(x, y, name)


class reshape(FloatFunctionalLayer):
    """`paddle.reshape` as a layer."""

    def forward(self, x: Any, shape: Any, name: str | None = None) -> Any:
        """`x` in another shape."""
        return tensor.reshape(x, shape, name)


class transpose(FloatFunctionalLayer):
    """`paddle.transpose` as a layer."""

    def forward(self, x: Any, perm: Any, name: str | None = None) -> Any:
        """`x` with its axes in another order."""
        return tensor.transpose(x, perm, name)


class concat(FloatFunctionalLayer):
    """`paddle.concat` as a layer."""

    def forward(self, x: Any, axis: int = 0, name: str | None = None) -> Any:
        """The tensors of a list, joined along an axis."""
        return tensor.concat(x, axis, name)


class flatten(FloatFunctionalLayer):
    """`paddle.flatten` as a layer."""

    def forward(
        self, x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None
    ) -> Any:
        """`x` with some axes as one."""
        return tensor.flatten(x, start_axis, stop_axis, name)


class matmul(FloatFunctionalLayer):
    """`paddle.matmul` as a layer."""

    def forward(
        self,
        x: Any,
        y: Any,
        transpose_x: bool = False,
        transpose_y: bool = False,
        name: str | None = None,
    ) -> Any:
        """The product of matrices."""
        return tensor.matmul(x, y, transpose_x, transpose_y, name)
