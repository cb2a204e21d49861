"""Operators of two tensors, element by element, that stretch their operands."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Kind, Meta, broadcast, first_axis, ones_behind, promote
from scull.errors import DtypeError, ShapeError
from scull.ops.conjugate import turned
from scull.ops.like import unsqueeze


def aligned(x: Any, y: Any, axis: int) -> Any:
    """`y`, where its first axis meets axis `axis` of `x`; -1 is NumPy's rule."""
    more = ones_behind(len(x.shape), len(y.shape), axis)
    if not more:
        return y
    if isinstance(y, Meta):
        return y.with_shape(y.shape + more)
    return unsqueeze(y, axes=tuple(range(len(y.shape), len(y.shape) + len(more))))


def elementwise(
    name: str, type: str, ufunc: str, lower: Any, dtype: Any = None, *, keeps_rows: bool = False
) -> Any:
    """Declare one operator of the family; a row-sparse `x` may stay so."""

    def body(x: Meta, y: Meta, *, axis: int = -1) -> Meta:
        if x.dtype is not y.dtype:
            raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
        kind = x.kind if keeps_rows else Kind.DENSE
        return Meta(broadcast(x, aligned(x, y, axis)), dtype or promote(x.dtype, y.dtype), kind)

    body.__name__ = name
    body.__doc__ = lower.__doc__
    bare = type.startswith("elementwise")
    fixed = None if bare else {"force_cpu": False}
    function = primitive(
        body, type=type, broadcasts=True, bare=bare, fixed=fixed, printed=("force_cpu",)
    )
    function.ufunc(ufunc)
    function.lower(lambda index, x, y, axis: lower(lang.at(x, index), at_axis(x, y, index, axis)))
    function.op.align = lambda known, axis: {"y": aligned(known["x"], known["y"], axis)}
    return function


def at_axis(x: Any, y: Any, index: Any, axis: int) -> Any:
    """The element of `y` beside that of `x` at `index`."""
    if axis == -1 or not y.shape:
        return lang.at(y, index)
    first = first_axis(len(index), len(y.shape), axis)
    return lang.at(y, index[first : first + len(y.shape)])


add = elementwise("add", "elementwise_add", "add", lambda a, b: a + b)
subtract = elementwise("subtract", "elementwise_sub", "subtract", lambda a, b: a - b)
multiply = elementwise(
    "multiply", "elementwise_mul", "multiply", lambda a, b: a * b, keeps_rows=True
)
add.op.commutes = multiply.op.commutes = True
divide = elementwise("divide", "elementwise_div", "divide", lambda a, b: a / b)
maximum = elementwise("maximum", "elementwise_max", "maximum", lambda a, b: lang.maximum(a, b))
minimum = elementwise("minimum", "elementwise_min", "minimum", lambda a, b: lang.minimum(a, b))

add.grad(lambda dout: (dout, dout))
subtract.grad("x")(lambda dout: dout)
subtract.grad("y")(lambda dout: -dout)


multiply.lower_rows("values")


@multiply.kernel(rows=True)
def multiply_rows_kernel(xp: Any, x: Any, y: Any, *, out: Any = None, axis: int = -1) -> Any:
    """Row-sparse `x` times one number."""
    if not isinstance(y, xp.ndarray | xp.generic) or y.size != 1:
        raise ShapeError("a row-sparse tensor is multiplied by one number alone")
    return x * y.reshape(())


multiply.grad("x")(lambda y, dout: dout * turned(y))
multiply.grad("y")(lambda x, dout: dout * turned(x))
divide.grad("x")(lambda y, dout: dout / turned(y))
divide.grad("y")(lambda y, out, dout: -dout * turned(out) / turned(y))
