"""Products of vectors and matrices that have operators of their own."""

from typing import Any

from scull import lang
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, axis_of, floating
from scull.core.op import meta_of
from scull.errors import DtypeError, ShapeError
from scull.ops.conjugate import turned
from scull.ops.create import scale
from scull.ops.half import is_half, multiplied, placed, single
from scull.ops.like import reshape_like, sum_like, unsqueeze
from scull.ops.linear import matmul


def same_type(x: Any, y: Any) -> None:
    """Refuse operands of differing element types."""
    if x.dtype != y.dtype:
        law = "differ in element type; cast one"
        raise DtypeError(f"{meta_of(x)} and {meta_of(y)} {law}")


def have_axes(x: Meta, *counts: int) -> None:
    """Refuse a tensor that has another number of axes."""
    if x.ndim not in counts:
        allowed = " or ".join(map(str, counts))
        raise ShapeError(f"{x} has {x.ndim} axes, not {allowed}")


def same_shape(x: Meta, y: Meta) -> tuple[int, ...]:
    """The one shape that both operands have."""
    if x.shape == y.shape:
        return x.shape
    law = f"{x} and {y} are not of one shape"
    if x.ndim != y.ndim:
        raise ShapeError(law)
    return tuple([agree(a, b, law) for a, b in zip(x.shape, y.shape, strict=True)])


@primitive(infer_first=True)
def bmm(x: Meta, y: Meta) -> Meta:
    """The products of two rows of matrices."""
    floating(x, y)
    same_type(x, y)
    have_axes(x, 3)
    have_axes(y, 3)
    count = agree(x.shape[0], y.shape[0], "x has {} matrices and y has {}")
    agree(x.shape[2], y.shape[1], "x has {} columns and y has {} rows")
    return x.with_shape((count, x.shape[1], y.shape[2]))


@bmm.kernel
def bmm_kernel(xp: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    return multiplied(xp, x, y, out)


bmm.grad("x")(lambda y, dout: matmul(dout, turned(y), transpose_y=True))
bmm.grad("y")(lambda x, dout: matmul(turned(x), dout, transpose_x=True))


@bmm.lower
def bmm_at(index: Any, x: Any, y: Any) -> Any:
    i, m, n = index
    k = lang.axis(x.shape[2])
    return lang.sum(x[i, m, k] * y[i, k, n], over=k)


@primitive(infer_first=True)
def mv(x: Meta, vec: Meta) -> Meta:
    """The product of a matrix and a vector."""
    floating(x, vec)
    same_type(x, vec)
    have_axes(x, 2)
    have_axes(vec, 1)
    agree(x.shape[1], vec.shape[0], "x has {} columns and vec has {} elements")
    return x.with_shape(x.shape[:1])


@mv.kernel
def mv_kernel(xp: Any, x: Any, vec: Any, *, out: Any = None) -> Any:
    return bmm_kernel(xp, x, vec, out=out)


mv.grad("x")(lambda vec, dout: unsqueeze(dout, axes=(1,)) * unsqueeze(turned(vec), axes=(0,)))
mv.grad("vec")(lambda x, dout: matmul(turned(x), dout, transpose_x=True))


@mv.lower
def mv_at(index: Any, x: Any, vec: Any) -> Any:
    k = lang.axis(vec.shape[0])
    return lang.sum(x[index[0], k] * vec[k], over=k)


@primitive(infer_first=True)
def dot(x: Meta, y: Meta) -> Meta:
    """The inner products along the last axis, of vectors or of rows of them."""
    same_type(x, y)
    if x.dtype.name in ("bool", "uint8", "int8", "int16"):
        raise DtypeError(f"{x} is of elements too narrow for a sum of products; cast it")
    have_axes(x, 1, 2)
    return x.with_shape(same_shape(x, y)[:-1])


@dot.kernel
def dot_kernel(xp: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    if is_half(x):
        return placed(dot_kernel(xp, single(x), single(y)), x.dtype, out)
    return xp.add.reduce(x * y, -1, x.dtype, out)


dot.grad("x")(lambda y, dout: unsqueeze(dout, axes=(-1,)) * turned(y))
dot.grad("y")(lambda x, dout: unsqueeze(dout, axes=(-1,)) * turned(x))


@dot.lower
def dot_at(index: Any, x: Any, y: Any) -> Any:
    k = lang.axis(x.shape[-1])
    return lang.sum(x[(*index, k)] * y[(*index, k)], over=k)


@primitive(attrs={"alpha": "Alpha", "beta": "Beta"}, infer_first=True)
def addmm(input: Meta, x: Meta, y: Meta, *, beta: float = 1.0, alpha: float = 1.0) -> Meta:
    """`beta * input + alpha * (x @ y)`, where `input` stretches to the product."""
    floating(input, x, y)
    same_type(input, x)
    same_type(x, y)
    have_axes(input, 1, 2)
    have_axes(x, 2)
    have_axes(y, 2)
    agree(x.shape[1], y.shape[0], "x has {} columns and y has {} rows")
    shape = (x.shape[0], y.shape[1])
    for a, b in zip(reversed(input.shape), reversed(shape), strict=False):
        if a not in (1, -1, b) and b != -1:
            raise ShapeError(f"{input} does not stretch to {list(map(int, shape))}")
    return x.with_shape(shape)


@addmm.kernel
def addmm_kernel(
    xp: Any, input: Any, x: Any, y: Any, *, out: Any = None, beta: float, alpha: float
) -> Any:
    out = bmm_kernel(xp, x, y, out=out)
    if alpha != 1.0:
        out *= alpha
    out += input if beta == 1.0 else input * input.dtype.type(beta)
    return out


addmm.grad("input")(lambda input_meta, dout, beta: scale(sum_like(dout, input_meta), scale=beta))
addmm.grad("x")(
    lambda y, dout, alpha: scale(matmul(dout, turned(y), transpose_y=True), scale=alpha)
)
addmm.grad("y")(
    lambda x, dout, alpha: scale(matmul(turned(x), dout, transpose_x=True), scale=alpha)
)


@addmm.lower
def addmm_at(index: Any, input: Any, x: Any, y: Any, beta: float, alpha: float) -> Any:
    m, n = index
    k = lang.axis(x.shape[1])
    return lang.sum(x[m, k] * y[k, n], over=k) * alpha + lang.at(input, index) * beta


@composite
def kron(x, y):
    """Every element of `x` replaced by its product with `y`."""
    same_type(x, y)
    ndim = max(len(x.shape), len(y.shape))
    x = unsqueeze(x, axes=(0,) * (ndim - len(x.shape)))
    y = unsqueeze(y, axes=(0,) * (ndim - len(y.shape)))
    wide = unsqueeze(x, axes=tuple(range(1, 2 * ndim, 2)))
    tall = unsqueeze(y, axes=tuple(range(0, 2 * ndim, 2)))
    return join_pairs(wide * tall)


@primitive(views={"out": "x"})
def join_pairs(x: Meta) -> Meta:
    """Axes 0 and 1 made one, axes 2 and 3, and so on."""
    if x.ndim % 2:
        raise ShapeError(f"{x} has an odd number of axes")
    pairs = zip(x.shape[::2], x.shape[1::2], strict=True)
    return x.with_shape([-1 if -1 in pair else pair[0] * pair[1] for pair in pairs])


@join_pairs.kernel
def join_pairs_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return x.reshape([a * b for a, b in zip(x.shape[::2], x.shape[1::2], strict=True)])


join_pairs.grad(lambda x_meta, dout: reshape_like(dout, x_meta))


@join_pairs.lower
def join_pairs_at(index: Any, x: Any) -> Any:
    pairs = zip(index, x.shape[1::2], strict=True)
    return x[tuple([spot for i, n in pairs for spot in (i // n, i % n)])]


FIRST = 9  # as an axis of `cross`: the first of size 3


def axis_of_three(shape: tuple[int, ...], axis: int) -> int:
    """The axis along which vectors of three elements lie."""
    if axis != FIRST:
        found = axis_of(axis, len(shape))
        agree(shape[found], 3, f"axis {found} has size {{}}, not {{}}")
        return found
    found = next((i for i, n in enumerate(shape) if n in (3, -1)), None)
    if found is None:
        raise ShapeError(f"no axis of {list(map(int, shape))} has size 3")
    return found


@primitive(attrs={"axis": "dim"}, infer_first=True)
def cross(x: Meta, y: Meta, *, axis: int = FIRST) -> Meta:
    """The vector products along an axis of size 3."""
    same_type(x, y)
    shape = same_shape(x, y)
    axis_of_three(shape, axis)
    return x.with_shape(shape)


@cross.kernel
def cross_kernel(xp: Any, x: Any, y: Any, *, out: Any = None, axis: int) -> Any:
    axis = axis_of_three(x.shape, axis)
    out = xp.empty(x.shape, x.dtype) if out is None else out
    (a, b, c), (d, e, f), found = (xp.moveaxis(t, axis, 0) for t in (x, y, out))
    found[0], found[1], found[2] = b * f - c * e, c * d - a * f, a * e - b * d
    return out


cross.grad("x")(lambda y, dout, axis: cross(turned(y), dout, axis=axis))
cross.grad("y")(lambda x, dout, axis: cross(dout, turned(x), axis=axis))


@cross.lower
def cross_at(index: Any, x: Any, y: Any, axis: int) -> Any:
    axis = axis_of_three(x.shape, axis)
    places = [(*index[:axis], (index[axis] + i) % 3, *index[axis + 1 :]) for i in (1, 2)]
    return x[places[0]] * y[places[1]] - x[places[1]] * y[places[0]]
