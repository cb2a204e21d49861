"""Functions of one sparse tensor that leave 0 as it is: they run over the stored elements."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.core.tensor import Tensor
from scull.sparse.tensor import SparseTensor, needs_sparse
from scull.tensor import elementwise, function, trigonometry
from scull.tensor.size import number


def over(dense: Any, x: Any, *arguments: Any) -> Any:
    """What a function of dense tensors makes of the stored elements, at their places."""
    needs_sparse(x, dense.__name__)
    return x.like(dense(x.held, *arguments))


def sin(x: Any, name: str | None = None) -> Any:
    """The sine of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.sin(x).values().item(), 6)
        0.479426
    """
    return over(trigonometry.sin, x)


def tan(x: Any, name: str | None = None) -> Any:
    """The tangent of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.tan(x).values().item(), 6)
        0.546302
    """
    return over(trigonometry.tan, x)


def asin(x: Any, name: str | None = None) -> Any:
    """The angle in [-pi/2, pi/2] whose sine each stored element is.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.asin(x).values().item(), 6)
        0.523599
    """
    return over(trigonometry.asin, x)


def atan(x: Any, name: str | None = None) -> Any:
    """The angle in (-pi/2, pi/2) whose tangent each stored element is.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.atan(x).values().item(), 6)
        0.463648
    """
    return over(trigonometry.atan, x)


def sinh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic sine of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.sinh(x).values().item(), 6)
        0.521095
    """
    return over(trigonometry.sinh, x)


def tanh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic tangent of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.tanh(x).values().item(), 6)
        0.462117
    """
    return over(function.tanh, x)


def asinh(x: Any, name: str | None = None) -> Any:
    """The inverse hyperbolic sine of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.asinh(x).values().item(), 6)
        0.481212
    """
    return over(trigonometry.asinh, x)


def atanh(x: Any, name: str | None = None) -> Any:
    """The inverse hyperbolic tangent of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.atanh(x).values().item(), 6)
        0.549306
    """
    return over(trigonometry.atanh, x)


def sqrt(x: Any, name: str | None = None) -> Any:
    """The square root of each stored element; NaN of negative ones.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [4.0])
        >>> round(paddle.sparse.sqrt(x).values().item(), 6)
        2.0
    """
    return over(function.sqrt, x)


def square(x: Any, name: str | None = None) -> Any:
    """The square of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [4.0])
        >>> round(paddle.sparse.square(x).values().item(), 6)
        16.0
    """
    return over(function.square, x)


def log1p(x: Any, name: str | None = None) -> Any:
    """The natural logarithm of 1 and each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.log1p(x).values().item(), 6)
        0.405465
    """
    return over(function.log1p, x)


def expm1(x: Any, name: str | None = None) -> Any:
    """e to the power of each stored element, less 1.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.expm1(x).values().item(), 6)
        0.648721
    """
    return over(function.expm1, x)


def abs(x: Any, name: str | None = None) -> Any:
    """The magnitude of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [-4.0])
        >>> round(paddle.sparse.abs(x).values().item(), 6)
        4.0
    """
    return over(function.abs, x)


def neg(x: Any, name: str | None = None) -> Any:
    """The negative of each stored element.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [4.0])
        >>> round(paddle.sparse.neg(x).values().item(), 6)
        -4.0
    """
    return over(function.neg, x)


def deg2rad(x: Any, name: str | None = None) -> Any:
    """Degrees as radians; of integers as float32.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [180.0])
        >>> round(paddle.sparse.deg2rad(x).values().item(), 6)
        3.141593
    """
    return over(trigonometry.deg2rad, x)


def rad2deg(x: Any, name: str | None = None) -> Any:
    """Radians as degrees; of integers as float32.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [0.5])
        >>> round(paddle.sparse.rad2deg(x).values().item(), 6)
        28.64789
    """
    return over(trigonometry.rad2deg, x)


def isnan(x: Any, name: str | None = None) -> Any:
    """Which stored elements are no numbers.

    Args:
        x (Tensor): a sparse tensor.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, of bool, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, float("nan")])
        >>> paddle.sparse.isnan(x).values().tolist()
        [False, True]
    """
    return over(function.isnan, x)


def pow(x: Any, factor: float, name: str | None = None) -> Any:
    """Each stored element to a power.

    Args:
        x (Tensor): a sparse tensor.
        factor (float): the power, above 0 where what is not stored is to stay 0.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 3.0])
        >>> paddle.sparse.pow(x, 2).values().tolist()
        [1.0, 9.0]
    """
    return over(elementwise.pow, x, number(factor, "factor"))


def cast(x: Any, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> Any:
    """A sparse tensor with other element types.

    Args:
        x (Tensor): a sparse tensor.
        index_dtype (str | DType, optional): what places are to be; as they are when None.
        value_dtype (str | DType, optional): what elements are to be; as they are when None.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the same places.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 3.0])
        >>> paddle.sparse.cast(x, "int32", "float64").indices().dtype
        paddle.int32
    """
    needs_sparse(x, "cast")
    values = x.held if value_dtype is None else cast_values(x.held, value_dtype)
    made: SparseTensor = x.like(values)
    if index_dtype is not None:
        kind = dtype_of(index_dtype).array
        for own in x.lists.values():
            setattr(made, own, getattr(x, own).astype(kind))
    return made


def cast_values(held: Tensor, dtype: Any) -> Tensor:
    """Values as elements of another type."""
    return function.cast(held, dtype)
