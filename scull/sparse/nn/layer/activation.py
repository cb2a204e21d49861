"""Layers of activations of sparse tensors."""

from typing import Any

from scull.nn.layer.activation import Activation
from scull.sparse.nn import functional as F


class ReLU(Activation):
    """The rectified linear unit of each stored element: ``max(x, 0)``.

    Args:
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 2.0])
        >>> paddle.sparse.nn.ReLU()(x).values().tolist()
        [0.0, 2.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.relu(x, self._name)


class ReLU6(Activation):
    """The rectified linear unit that stops at 6 of each stored element.

    Args:
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 9.0])
        >>> paddle.sparse.nn.ReLU6()(x).values().tolist()
        [0.0, 6.0]
    """

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.relu6(x, self._name)


class LeakyReLU(Activation):
    """Each stored element above 0, and a small part of those below.

    Args:
        negative_slope (float): the part of elements below 0.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 9.0])
        >>> paddle.sparse.nn.LeakyReLU(0.5)(x).values().tolist()
        [-0.5, 9.0]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(name)
        self._negative_slope = negative_slope

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.leaky_relu(x, self._negative_slope, self._name)


class Softmax(Activation):
    """e to the stored elements, divided by the sum of these along an axis.

    Args:
        axis (int): the axis; of rows the last alone.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1.0, 1.0, 5.0], [2, 3])
        >>> paddle.sparse.nn.Softmax()(x).values().tolist()
        [0.5, 0.5, 1.0]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._axis = axis

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.softmax(x, self._axis, self._name)
