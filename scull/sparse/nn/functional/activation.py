"""Activations of the stored elements, and softmax over those of one row."""

from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import UnsupportedError
from scull.nn import functional as F
from scull.ops.math import exp
from scull.sparse.conversion import rows_of
from scull.sparse.order import axis_in
from scull.sparse.place import picked, pooled, spots
from scull.sparse.tensor import CsrTensor, needs_sparse
from scull.sparse.unary import over
from scull.tensor.size import integer


def relu(x: Any, name: str | None = None) -> Any:
    """The rectified linear unit of each stored element.

    .. math:: out = max(x, 0)

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 2.0])
        >>> paddle.sparse.nn.functional.relu(x).values().tolist()
        [0.0, 2.0]
    """
    return over(F.relu, x)


def relu6(x: Any, name: str | None = None) -> Any:
    """The rectified linear unit that stops at 6 of each stored element.

    .. math:: out = min(max(x, 0), 6)

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 9.0])
        >>> paddle.sparse.nn.functional.relu6(x).values().tolist()
        [0.0, 6.0]
    """
    return over(F.relu6, x)


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """Each stored element above 0, and a small part of those below.

    .. math:: out = x if x > 0 else negative_slope * x

    Args:
        x (Tensor): a sparse tensor.
        negative_slope (float): the part of elements below 0.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 9.0])
        >>> paddle.sparse.nn.functional.leaky_relu(x, 0.5).values().tolist()
        [-0.5, 9.0]
    """
    return over(F.leaky_relu, x, negative_slope)


def softmax(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """e to the stored elements, divided by the sum of these along `axis`; others count nowhere.

    Args:
        x (Tensor): a sparse tensor.
        axis (int): the axis; of rows the last alone.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        RangeError: there is no such axis.
        UnsupportedError: `x` is dense, or stored by rows and `axis` another than -1.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1.0, 1.0, 5.0], [2, 3])
        >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
        [0.5, 0.5, 1.0]
    """
    needs_sparse(x, "softmax")
    axis = integer(axis, "axis")
    if isinstance(x, CsrTensor):
        if axis != -1:
            raise UnsupportedError(f"softmax of rows is along the last axis, -1, not {axis}")
        return x.like(shares(x.held, rows_of(x)))
    axis, count = axis_in(axis, len(x.sizes)), len(x.places)
    if axis >= count:
        return x.like(F.softmax(x.held, axis - count + 1))
    rest = [a for a in range(count) if a != axis]
    return x.like(shares(x.held, spots(x.places[rest], [x.sizes[a] for a in rest])))


def shares(held: Tensor, rows: Any) -> Tensor:
    """The softmax of values over those that have the same number of a row."""
    order = None if (rows[1:] >= rows[:-1]).all() else rows.argsort(kind="stable")
    if order is not None:
        held, rows = picked(held, order), rows[order]
    groups = np.unique(rows, return_inverse=True)[1]
    most = pooled(Tensor(held.array), groups, "MAX")
    raised = exp(held - picked(most, groups))
    found = raised / picked(pooled(raised, groups), groups)
    return found if order is None else picked(found, order.argsort())
