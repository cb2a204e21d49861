"""Functions of three tensors of which one is sparse."""

from typing import Any

from scull.errors import UnsupportedError
from scull.ops import elementwise
from scull.ops.create import scale
from scull.sparse.binary import add, matmul, multiply
from scull.sparse.tensor import SparseTensor, needs_sparse
from scull.tensor.size import needs_tensor, number


def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Any:
    """``beta * input + alpha * x @ y`` with a sparse `x`.

    Args:
        input (Tensor): of the shape of the product; sparse where `y` is.
        x (Tensor): a sparse matrix.
        y (Tensor): a matrix, dense or of the kind of `x`.
        beta (float): what `input` is multiplied by.
        alpha (float): what the product is multiplied by.
        name (str, optional): not used.

    Returns:
        Tensor: dense, or sparse where `y` is.

    Raises:
        ShapeError: the shapes do not fit together.
        UnsupportedError: `x` is dense, or one of `input` and `y` is sparse alone.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [2.0, 3.0], [2, 2])
        >>> paddle.sparse.addmm(paddle.ones([2, 2]), x, paddle.ones([2, 2]), 1.0, 10.0).tolist()
        [[21.0, 21.0], [31.0, 31.0]]
    """
    needs_sparse(x, "addmm")
    needs_tensor(input, "addmm", "input")
    needs_tensor(y, "addmm", "y")
    if isinstance(input, SparseTensor) != isinstance(y, SparseTensor):
        raise UnsupportedError("addmm(): `input` and `y` are both sparse or both dense")
    found, beta, alpha = matmul(x, y), number(beta, "beta"), number(alpha, "alpha")
    if isinstance(found, SparseTensor):
        return add(multiply(input, beta), multiply(found, alpha))
    return elementwise.add(scale(input, scale=beta), scale(found, scale=alpha))
