"""Systems of linear equations, inverses and determinants."""

from typing import Any

from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, at_least, broadcast, floating
from scull.errors import ArgumentError, ShapeError
from scull.ops.create import scale
from scull.ops.join import unbind
from scull.ops.like import sum_like, unsqueeze
from scull.ops.linear import matmul
from scull.ops.move import transpose, tril_triu
from scull.ops.product import same_type

LIBRARY = "a library call"


def square(*metas: Meta) -> None:
    """Refuse what are no floating-point matrices with as many rows as columns."""
    for m in metas:
        floating(m)
        at_least(2, m)
        agree(m.shape[-2], m.shape[-1], f"the matrices of {m} have {{}} rows and {{}} columns")


def filled(x: Meta) -> None:
    """Refuse matrices without elements."""
    if 0 in x.shape:
        raise ShapeError(f"the matrices of {x} have no elements")


def turned(x: Any) -> Any:
    """`x` with the last two axes exchanged."""
    axes = range(len(x.shape))
    return transpose(x, perm=(*axes[:-2], axes[-1], axes[-2]))


def wide(x: Any) -> Any:
    """`x` in an element type that LAPACK knows."""
    return x if x.dtype.char in "fdFD" else x.astype("float32")


def called(xp: Any, name: str, *arrays: Any, law: str = "", **options: Any) -> Any:
    """What the library finds, in the element type of the operands; `law` if it finds nothing."""
    try:
        return getattr(xp.linalg, name)(*map(wide, arrays), **options)
    except xp.linalg.LinAlgError as error:
        raise ArgumentError(law or str(error)) from None


def held(found: Any, x: Any, out: Any) -> Any:
    """`found` in the element type of `x`, in `out` if there is one."""
    if out is None:
        return found.astype(x.dtype, copy=False)
    out[...] = found
    return out


@primitive(slots={"x": "Input"}, outputs=("output",), infer_first=True)
def inverse(x: Meta) -> Meta:
    """The inverse of square matrices."""
    square(x)
    return x


@inverse.kernel
def inverse_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return held(called(xp, "inv", x, law="a matrix has no inverse"), x, out)


@inverse.grad
def inverse_grad(output: Any, doutput: Any) -> Any:
    dx = matmul(matmul(output, doutput, transpose_x=True), output, transpose_y=True)
    return scale(dx, scale=-1.0)


inverse.no_lowering(LIBRARY)


@primitive(slots={"x": "Input"}, infer_first=True)
def determinant(x: Meta) -> Meta:
    """The determinants of square matrices."""
    square(x)
    return x.with_shape(x.shape[:-2])


@determinant.kernel
def determinant_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return held(xp.asarray(called(xp, "det", x)), x, out)


@determinant.grad
def determinant_grad(x: Any, out: Any, dout: Any) -> Any:
    return unsqueeze(dout * out, axes=(-1, -1)) * turned(inverse(x))


determinant.no_lowering(LIBRARY)


@primitive(type="slogdeterminant", slots={"x": "Input"}, infer_first=True)
def slogdet(x: Meta) -> Meta:
    """The signs of determinants, and behind them the logarithms of their sizes."""
    square(x)
    return x.with_shape((2, *x.shape[:-2]))


@slogdet.kernel
def slogdet_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return held(xp.stack(called(xp, "slogdet", x)), x, out)


@slogdet.grad
def slogdet_grad(x: Any, out_meta: Any, dout: Any) -> Any:
    _, dlogarithm = unbind(dout, axis=0)
    return unsqueeze(dlogarithm, axes=(-1, -1)) * turned(inverse(x))


slogdet.no_lowering(LIBRARY)


def is_vector(x: Any, y: Any) -> bool:
    """Whether `y` is a vector, or one for each matrix of `x`."""
    if len(y.shape) == 1:
        return True
    if len(y.shape) != len(x.shape) - 1:
        return False
    return all(a == b or -1 in (a, b) for a, b in zip(y.shape, x.shape, strict=False))


@primitive(infer_first=True)
def solve(x: Meta, y: Meta) -> Meta:
    """What times the square matrices `x` gives the vectors or matrices `y`."""
    square(x)
    floating(y)
    same_type(x, y)
    at_least(1, y)
    law = "x has {} columns and y has {} rows"
    if is_vector(x, y):
        agree(x.shape[-1], y.shape[-1], law)
        return y.with_shape((*broadcast(x.shape[:-2], y.shape[:-1]), y.shape[-1]))
    rows = agree(x.shape[-1], y.shape[-2], law)
    return y.with_shape((*broadcast(x.shape[:-2], y.shape[:-2]), rows, y.shape[-1]))


@solve.kernel
def solve_kernel(xp: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    vector = is_vector(x, y)
    column = y[..., None] if vector else y
    found = called(xp, "solve", x, column, law="a matrix has no inverse")
    return held(found[..., 0] if vector else found, x, out)


@solve.grad("x")
def solve_grad_x(x: Any, y_meta: Any, out: Any, dout: Any) -> Any:
    rows = solve(turned(x), dout)
    if is_vector(x, y_meta):
        rows, out = unsqueeze(rows, axes=(-1,)), unsqueeze(out, axes=(-1,))
    return scale(sum_like(matmul(rows, out, transpose_y=True), x), scale=-1.0)


@solve.grad("y")
def solve_grad_y(x: Any, y_meta: Any, dout: Any) -> Any:
    return sum_like(solve(turned(x), dout), y_meta)


solve.no_lowering(LIBRARY)


@primitive(infer_first=True)
def triangular_solve(
    x: Meta,
    y: Meta,
    *,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Meta:
    """What times a triangle of the matrices `x` gives the matrices `y`."""
    square(x)
    floating(y)
    same_type(x, y)
    at_least(2, y)
    rows = agree(x.shape[-1], y.shape[-2], "x has {} columns and y has {} rows")
    return y.with_shape((*broadcast(x.shape[:-2], y.shape[:-2]), rows, y.shape[-1]))


@triangular_solve.kernel
def triangular_solve_kernel(
    xp: Any, x: Any, y: Any, *, out: Any = None, upper: bool, transpose: bool, unitriangular: bool
) -> Any:
    a = wide(x).swapaxes(-1, -2) if transpose else wide(x)
    shape = (*broadcast(x.shape[:-2], y.shape[:-2]), *y.shape[-2:])
    found = xp.array(xp.broadcast_to(wide(y), shape))
    if upper is transpose:
        substitute(a, found, unitriangular)
    else:
        substitute(a[..., ::-1, ::-1], found[..., ::-1, :], unitriangular)
    return held(found, x, out)


def substitute(a: Any, y: Any, unit: bool) -> None:
    """Solve with the lower triangle of `a`, in `y` itself: one half, then the other."""
    size = a.shape[-1]
    if size > 1:
        half = size // 2
        top, bottom = y[..., :half, :], y[..., half:, :]
        substitute(a[..., :half, :half], top, unit)
        bottom -= a[..., half:, :half] @ top
        substitute(a[..., half:, half:], bottom, unit)
    elif not unit:
        y /= a


@triangular_solve.grad("x")
def triangular_solve_grad_x(
    x: Any,
    y_meta: Any,
    out: Any,
    dout: Any,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> Any:
    how = {"upper": upper, "transpose": not transpose, "unitriangular": unitriangular}
    rows = triangular_solve(x, dout, **how)
    left, right = (out, rows) if transpose else (rows, out)
    dx = scale(sum_like(matmul(left, right, transpose_y=True), x), scale=-1.0)
    beside = (1 if upper else -1) if unitriangular else 0
    return tril_triu(dx, diagonal=beside, lower=not upper)


@triangular_solve.grad("y")
def triangular_solve_grad_y(
    x: Any, y_meta: Any, dout: Any, upper: bool, transpose: bool, unitriangular: bool
) -> Any:
    how = {"upper": upper, "transpose": not transpose, "unitriangular": unitriangular}
    return sum_like(triangular_solve(x, dout, **how), y_meta)


triangular_solve.no_lowering(LIBRARY)


@composite
def cholesky_solve(x, y, *, upper: bool = False):
    """What times the matrices whose Cholesky factors are `y` gives the matrices `x`."""
    first = triangular_solve(y, x, upper=upper, transpose=upper)
    return triangular_solve(y, first, upper=upper, transpose=not upper)


@primitive(infer_first=True)
def matrix_power(x: Meta, *, n: int) -> Meta:
    """The `n`-th power of square matrices; of their inverses if `n` is negative."""
    square(x)
    filled(x)
    return x


@matrix_power.kernel
def matrix_power_kernel(xp: Any, x: Any, *, out: Any = None, n: int) -> Any:
    found = called(xp, "matrix_power", x, n=n, law="a matrix has no inverse")
    return held(x.copy() if found is x else found, x, out)


@matrix_power.grad
def matrix_power_grad(x: Any, out: Any, dout: Any, n: int) -> Any:
    """The sum over the factors, each with those before and behind it."""
    if n == 0:
        return scale(dout, scale=0.0)
    base = inverse(x) if n < 0 else x
    dbase, power = dout, base  # of the power that the first binary digits of `n` spell
    for digit in bin(abs(n))[3:]:
        before = matmul(dbase, power, transpose_y=True)
        dbase, power = before + matmul(power, dbase, transpose_x=True), matmul(power, power)
        if digit == "1":
            behind = matmul(dout, power, transpose_y=True)
            dbase, power = matmul(base, dbase, transpose_x=True) + behind, matmul(power, base)
    return inverse_grad(base, dbase) if n < 0 else dbase


matrix_power.no_lowering(LIBRARY)


@composite
def multi_dot(x: list[Meta]):
    """The product of matrices one behind another; the first and last may be vectors."""
    if len(x) < 2:
        raise ArgumentError(f"there are 2 matrices or more to be multiplied, not {len(x)}")
    for i, m in enumerate(x):
        allowed = (1, 2) if i in (0, len(x) - 1) else (2,)
        if len(m.shape) not in allowed:
            raise ShapeError(f"operand {i} has {len(m.shape)} axes")
    if len(x[-1].shape) == 1:
        found = x[-1]
        for m in reversed(x[:-1]):
            found = matmul(m, found)
        return found
    found = x[0]
    for m in x[1:]:
        found = matmul(found, m)
    return found
