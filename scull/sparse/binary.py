"""Functions of two tensors of which one at least is sparse."""

import math
from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import DtypeError, ShapeError, UnsupportedError
from scull.ops import elementwise
from scull.ops.create import scale
from scull.ops.move import reshape
from scull.sparse.conversion import placed
from scull.sparse.order import as_kind, transpose
from scull.sparse.place import coordinates, merged, picked, spots, spread
from scull.sparse.product import Pattern, Sampled, Summed
from scull.sparse.tensor import CooTensor, SparseTensor, coo, needs_sparse, refuse_static
from scull.sparse.unary import cast
from scull.tensor import manipulation
from scull.tensor.size import needs_tensor


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """The sum of two sparse tensors of one kind and shape.

    Args:
        x (Tensor): a sparse tensor.
        y (Tensor): of the same kind and shape; or dense, for the dense axes behind the
            coordinates of `x`. Another dtype is cast to that of `x`.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the places of both; those of `x` in their order where they are equal.

    Raises:
        ShapeError: the shapes differ.
        UnsupportedError: one is dense, or they are of different kinds.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 3.0], [3])
        >>> y = paddle.sparse.sparse_coo_tensor([[1, 2]], [1.0, 3.0], [3])
        >>> paddle.sparse.add(x, y).to_dense().tolist()
        [1.0, 4.0, 3.0]
    """
    needs_sparse(x, "add")
    dense = isinstance(y, Tensor) and not isinstance(y, SparseTensor)
    if dense and isinstance(x, CooTensor) and 0 < len(y.shape) <= len(x.sizes) - len(x.places):
        return x.like(elementwise.add(x.held, y.astype(x.dtype)))
    return joined(elementwise.add, x, y)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """The difference of two sparse tensors of one kind and shape.

    Args:
        x (Tensor): a sparse tensor.
        y (Tensor): of the same kind and shape. Another dtype is cast to that of `x`.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the places of both; those of `x` in their order where they are equal.

    Raises:
        ShapeError: the shapes differ.
        UnsupportedError: one is dense, or they are of different kinds.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 3.0], [3])
        >>> y = paddle.sparse.sparse_coo_tensor([[1, 2]], [1.0, 3.0], [3])
        >>> paddle.sparse.subtract(x, y).to_dense().tolist()
        [1.0, 2.0, -3.0]
    """
    return joined(elementwise.subtract, x, y)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """The products of the elements of two sparse tensors of one kind and shape.

    Args:
        x (Tensor): a sparse tensor.
        y (Tensor | float): of the same kind and shape, or a number. Another dtype is cast to that
            of `x`.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the places of both; those of `x` in their order where they are equal.

    Raises:
        ShapeError: the shapes differ.
        UnsupportedError: one is dense, or they are of different kinds.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 3.0], [3])
        >>> y = paddle.sparse.sparse_coo_tensor([[1, 2]], [2.0, 3.0], [3])
        >>> paddle.sparse.multiply(x, y).values().tolist()
        [0.0, 6.0, 0.0]
    """
    needs_sparse(x, "multiply")
    if isinstance(y, int | float):
        return x.like(scale(x.held, scale=float(y)))
    return joined(elementwise.multiply, x, y)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """The elements of a sparse tensor divided by those of another of its kind and shape.

    Args:
        x (Tensor): a sparse tensor; integers are taken as float32.
        y (Tensor | float): of the same kind and shape, or a number. Another dtype is cast to that
            of `x`.
        name (str, optional): not used.

    Returns:
        Tensor: sparse; by a number with the places of `x`, else with every place: 0 by 0 is NaN.

    Raises:
        ShapeError: the shapes differ.
        UnsupportedError: one is dense, or they are of different kinds.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [1.0, 3.0], [2])
        >>> paddle.sparse.divide(x, 2).values().tolist()
        [0.5, 1.5]
        >>> paddle.sparse.divide(x, x).values().tolist()
        [1.0, 1.0]
    """
    needs_sparse(x, "divide")
    x = x if x.dtype.is_float or x.dtype.is_complex else cast(x, None, "float32")
    if isinstance(y, int | float):
        return x.like(elementwise.divide(x.held, float(y)))
    return joined(elementwise.divide, x, y, everywhere=True)


def joined(function: Any, x: Any, y: Any, everywhere: bool = False) -> Any:
    """What an operator makes of the elements at all places of two tensors, or at every place."""
    word = function.__name__.removeprefix("elementwise_")
    needs_sparse(x, word)
    if isinstance(y, int | float):
        raise UnsupportedError(
            f"{word}(): a number changes the elements that are not stored, too; to_dense() first"
        )
    needs_sparse(y, word, type(x), parameter="y")
    if x.sizes != y.sizes:
        raise ShapeError(f"x has the shape {x.shape} and y {y.shape}")
    y = y if y.dtype is x.dtype else cast(y, None, x.dtype)
    if x.lies_as(y) and not everywhere:
        return x.like(function(x.held, y.held))
    a, b = placed(x), placed(y)
    if len(a.places) != len(b.places):
        raise ShapeError(f"x has {len(a.places)} sparse axes and y {len(b.places)}")
    sizes = a.sizes[: len(a.places)]
    (m, first), (n, second) = (merged(spots(v.places, sizes), v.held) for v in (a, b))
    every = np.arange(math.prod(sizes)) if everywhere else np.union1d(m, n)
    first = spread(first, np.searchsorted(every, m), len(every))
    second = spread(second, np.searchsorted(every, n), len(every))
    places = coordinates(every, sizes, a.places.dtype)
    return as_kind(x, coo(places, function(first, second), a.sizes))


def is_same_shape(x: Any, y: Any) -> bool:
    """Whether two tensors, sparse or dense, have one shape.

    Args:
        x (Tensor): a tensor.
        y (Tensor): another.

    Returns:
        bool: whether all sizes are equal.

    Raises:
        ArgumentTypeError: one is no tensor.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([2, 3])
        >>> paddle.sparse.is_same_shape(x.to_sparse_csr(), x)
        True
    """
    needs_tensor(x, "is_same_shape")
    needs_tensor(y, "is_same_shape", "y")
    return list(x.shape) == list(y.shape)


def matmul(x: Any, y: Any, name: str | None = None) -> Any:
    """The product of matrices, of which one at least is sparse; axes in front count matrices.

    Args:
        x (Tensor): sparse or dense, ``[..., m, k]``.
        y (Tensor): sparse or dense, ``[..., k, n]``, with as many axes; where both are sparse, of
            one kind.
        name (str, optional): not used.

    Returns:
        Tensor: ``[..., m, n]``: dense, or sparse where both are.

    Raises:
        ShapeError: the shapes do not fit together.
        UnsupportedError: both are dense, they are of different kinds, or have dense axes.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
        >>> paddle.sparse.matmul(x, paddle.to_tensor([[1.0], [10.0]])).tolist()
        [[20.0], [3.0]]
        >>> paddle.sparse.matmul(x, x).to_dense().tolist()
        [[6.0, 0.0], [0.0, 6.0]]
    """
    refuse_static(x, y)
    needs_tensor(x, "matmul")
    needs_tensor(y, "matmul", "y")
    if not isinstance(y, SparseTensor):
        needs_sparse(x, "matmul")
    ndim = len(x.shape)
    fits = ndim == len(y.shape) >= 2 and [*x.shape[:-2], x.shape[-1]] == [*y.shape[:-1]]
    if not fits:
        raise ShapeError(f"x of the shape {x.shape} and y of {y.shape} have no product")
    for v in (x, y):
        if isinstance(v, CooTensor) and len(v.places) != ndim:
            raise UnsupportedError("matrices with dense axes are not multiplied")
    if not isinstance(y, SparseTensor):
        return product(x, y)
    if isinstance(x, SparseTensor):
        needs_sparse(y, "matmul", type(x), parameter="y")
        return sparse_product(x, y)
    turn = [*range(ndim - 2), ndim - 1, ndim - 2]
    found = product(transpose(y, turn), manipulation.transpose(x, turn))
    return manipulation.transpose(found, turn)


def matmul_from_left(y: Any, x: Any) -> Any:
    """What ``x @ y`` is."""
    return matmul(x, y)


def product(x: Any, y: Tensor) -> Tensor:
    """A sparse matrix times a dense one."""
    if y.dtype is not x.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    n = y.shape[-1]
    pattern, held = pattern_of(x)
    found = Summed.apply(held, reshape(y, shape=(-1, n)), pattern)
    return reshape(found, shape=(*x.sizes[:-1], n))


def pattern_of(x: Any) -> tuple[Pattern, Tensor]:
    """Where a sparse matrix, or several, store elements, and these, in rising order."""
    found, (m, n) = placed(x), x.sizes[-2:]
    old = spots(found.places, x.sizes)
    numbers, held = merged(old, found.held)
    if "pattern" not in x.rules or numbers is not old:
        rows, columns = np.divmod(numbers, n)
        count = math.prod(x.sizes[:-2])
        x.rules["pattern"] = Pattern(rows, rows // m * n + columns, (count * m, count * n), count)
    return x.rules["pattern"], held


def sparse_product(x: Any, y: Any) -> Any:
    """The product of sparse matrices: of each element of `x` with those of the row it meets."""
    a, b = placed(x), placed(y)
    (p, left), (q, right) = (merged(spots(v.places, v.sizes), v.held) for v in (a, b))
    m, k, n = x.sizes[-2], x.sizes[-1], y.sizes[-1]
    rows, inner = np.divmod(p, k)
    met = rows // m * k + inner  # the row of `y` that each element of `x` meets
    starts = np.searchsorted(q, met * n)
    counts = np.searchsorted(q, (met + 1) * n) - starts
    first = np.repeat(np.arange(len(p)), counts)
    second = np.arange(len(first)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
    numbers = rows[first] * n + q[second] % n
    parts = elementwise.multiply(picked(left, first), picked(right, second))
    sizes = (*x.sizes[:-1], n)
    numbers, held = merged(numbers, parts)
    return as_kind(x, coo(coordinates(numbers, sizes, a.places.dtype), held, sizes))


def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """The product of a sparse matrix and a vector.

    Args:
        x (Tensor): a sparse matrix, ``[m, n]``.
        vec (Tensor): dense, ``[n]``.
        name (str, optional): not used.

    Returns:
        Tensor: dense, ``[m]``.

    Raises:
        ShapeError: the shapes do not fit together.
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
        >>> paddle.sparse.mv(x, paddle.to_tensor([1.0, 10.0])).tolist()
        [20.0, 3.0]
    """
    needs_sparse(x, "mv")
    needs_tensor(vec, "mv", "vec")
    if len(x.sizes) != 2 or len(vec.shape) != 1 or x.sizes[1] != vec.shape[0]:
        raise ShapeError(f"x of the shape {x.shape} and vec of {vec.shape} have no product")
    return reshape(matmul(x, reshape(vec, shape=(-1, 1))), shape=(-1,))


def masked_matmul(x: Any, y: Any, mask: Any, name: str | None = None) -> Any:
    """The product of dense matrices at the places that a sparse one stores.

    Args:
        x (Tensor): dense, ``[..., m, k]``.
        y (Tensor): dense, ``[..., k, n]``.
        mask (Tensor): sparse, ``[..., m, n]``; its values do not matter.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, with the places of `mask`.

    Raises:
        ShapeError: the shapes do not fit together.
        UnsupportedError: `mask` is dense, or one of the others sparse.

    Examples:
        >>> import scull as paddle
        >>> mask = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 1.0], [2, 2])
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.sparse.masked_matmul(x, x, mask).values().tolist()
        [10.0, 15.0]
    """
    needs_sparse(mask, "masked_matmul", parameter="mask")
    for parameter, v in (("x", x), ("y", y)):
        needs_tensor(v, "masked_matmul", parameter)
        if isinstance(v, SparseTensor):
            raise UnsupportedError(f"masked_matmul(): `{parameter}` is sparse, not dense")
    lead, (m, n) = mask.sizes[:-2], mask.sizes[-2:]
    k = x.shape[-1] if x.shape else 0
    if list(x.shape) != [*lead, m, k] or list(y.shape) != [*lead, k, n]:
        raise ShapeError(f"{x.shape} by {y.shape} is not {mask.shape}")
    found = placed(mask)
    if len(found.places) != len(mask.sizes):
        raise UnsupportedError("a mask has no dense axes")
    numbers = spots(found.places, mask.sizes)
    rows, columns = np.divmod(numbers, n)
    count = math.prod(lead)
    pattern = Pattern(rows, rows // m * n + columns, (count * m, count * n), count)
    turned = manipulation.transpose(y, [*range(len(lead)), len(lead) + 1, len(lead)])
    flat = (reshape(v, shape=(-1, k)) for v in (x, turned))
    if (rows[1:] >= rows[:-1]).all():
        return mask.like(Sampled.apply(*flat, pattern))
    order = rows.argsort(kind="stable")
    rising = Pattern(rows[order], pattern.columns[order], pattern.heights, count)
    return mask.like(picked(Sampled.apply(*flat, rising), order.argsort()))
