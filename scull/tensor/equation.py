"""Systems of linear equations: inverses, determinants, solutions, powers."""

from typing import Any

from scull.ops import factor
from scull.ops import solve as solve_ops
from scull.tensor.size import integer, needs_tensor


def inv(x: Any, name: str | None = None) -> Any:
    """The inverses of square matrices.

    Args:
        x (Tensor): square matrices in the last two axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.inv(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    needs_tensor(x, "inverse")
    return solve_ops.inverse(x, name=name)


inverse = inv


def det(x: Any, name: str | None = None) -> Any:
    """The determinants of square matrices.

    Args:
        x (Tensor): square matrices in the last two axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.det(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
        8.0
    """
    needs_tensor(x, "det")
    return solve_ops.determinant(x, name=name)


def slogdet(x: Any, name: str | None = None) -> Any:
    """The signs of determinants, and behind them the logarithms of their sizes.

    Args:
        x (Tensor): square matrices in the last two axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.slogdet(paddle.to_tensor([[-1.0]])).tolist()
        [-1.0, 0.0]
    """
    needs_tensor(x, "slogdet")
    return solve_ops.slogdet(x, name=name)


def solve(x: Any, y: Any, name: str | None = None) -> Any:
    """What times the matrices `x` gives `y`.

    Args:
        x (Tensor): square matrices in the last two axes.
        y (Tensor): vectors or matrices.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.solve(paddle.to_tensor([[2.0]]), paddle.to_tensor([4.0])).tolist()
        [2.0]
    """
    return solve_ops.solve(x, y, name=name)


def triangular_solve(
    x: Any,
    y: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Any:
    """What times a triangle of the matrices `x` gives `y`.

    Args:
        x (Tensor): square matrices in the last two axes.
        y (Tensor): matrices.
        upper (bool): the upper triangle or the lower.
        transpose (bool): with rows and columns of `x` exchanged.
        unitriangular (bool): take the diagonal as ones.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[2.0, 9.0], [1.0, 1.0]])
        >>> y = paddle.to_tensor([[2.0], [3.0]])
        >>> paddle.linalg.triangular_solve(x, y, upper=False).tolist()
        [[1.0], [2.0]]
    """
    how = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    return solve_ops.triangular_solve(x, y, **how, name=name)


def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> Any:
    """What times the matrices whose Cholesky factors are `y` gives `x`.

    Args:
        x (Tensor): matrices.
        y (Tensor): lower triangles, or upper ones.
        upper (bool): whether they are upper ones.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[8.0]]), paddle.to_tensor([[2.0]])
        >>> paddle.linalg.cholesky_solve(x, y).tolist()
        [[2.0]]
    """
    return solve_ops.cholesky_solve(x, y, upper=upper, name=name)


def matrix_power(x: Any, n: int, name: str | None = None) -> Any:
    """The `n`-th power of square matrices.

    Args:
        x (Tensor): square matrices in the last two axes.
        n (int): of the inverses when negative.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[2.0]]), 3).tolist()
        [[8.0]]
    """
    needs_tensor(x, "matrix_power")
    return solve_ops.matrix_power(x, n=integer(n, "n"), name=name)


def multi_dot(x: Any, name: str | None = None) -> Any:
    """The product of matrices one behind another.

    Args:
        x (list[Tensor]): matrices; the first and last may be vectors.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.multi_dot([paddle.ones([2, 2])] * 3).tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    return solve_ops.multi_dot(list(x), name=name)


def lstsq(x: Any, y: Any, rcond: Any = None, driver: Any = None, name: str | None = None) -> Any:
    """What times the matrices `x` comes nearest to `y`.

    The squares of the distances, the ranks and singular values come with it; a `driver` that does
    not find them leaves them empty.

    Args:
        x (Tensor): matrices.
        y (Tensor): matrices of as many rows.
        rcond (float, optional): singular values below so many times the greatest count as 0.
        driver (str, optional): `gels`, `gelsy`, `gelsd` or `gelss`; `gelsy` when None.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([[1.0], [3.0]])
        >>> paddle.linalg.lstsq(x, y)[0].round().tolist()
        [[2.0]]
    """
    needs_tensor(x, "lstsq")
    if rcond is None:
        step = 2.0**-52 if x.dtype.name == "float64" else 2.0**-23
        rcond = step * max(x.shape[-2:])
    return factor.lstsq(x, y, rcond=rcond, driver=driver or "gelsy")
