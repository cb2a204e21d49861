"""What a lowering writes besides Python's operators: functions, reductions, guards, scatters."""

from collections.abc import Sequence

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.lang.body import Scatter
from scull.lang.dtype import HALF, element
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Expression,
    Operand,
    Reduce,
    apply,
    cast,
    constant,
    guarded,
    only,
    position,
)


def equal(x: Operand, y: Operand) -> Expression:
    """Whether two values are equal; `==` compares the expressions themselves."""
    return apply("equal", x, y)


def not_equal(x: Operand, y: Operand) -> Expression:
    """Whether two values differ; true for NaN and anything."""
    return apply("not_equal", x, y)


def minimum(x: Operand, y: Operand) -> Expression:
    """The lesser; NaN if one is NaN, and -0 is less than +0."""
    return apply("minimum", x, y)


def maximum(x: Operand, y: Operand) -> Expression:
    """The greater; NaN if one is NaN, and +0 is greater than -0."""
    return apply("maximum", x, y)


def select(condition: Operand, x: Operand, y: Operand) -> Expression:
    """`x` where the condition holds, else `y`; both may be computed."""
    return apply("select", condition, x, y)


def pick(place: Expression, values: Sequence[float]) -> Expression:
    """One of eight float32: that at `place`, an int32 of which the lowest three bits count."""
    return apply("pick", place, *(constant(value, "float32") for value in values))


def within(place: Operand, size: int) -> Expression:
    """A place known to lie in [0, size): that it does is looked at when it is computed.

    Where it does not, the run ends with an error; the value is the nearest place that does.
    """
    return apply("within", position(place), size)


def sure(value: Expression, condition: Expression) -> Expression:
    """`value`, for which `condition` must hold: where it does not the run ends with an error."""
    fault = select(condition, constant(0, "int64"), 1)
    return select(equal(within(fault, 1), 0), value, constant(0, value.dtype))


def multiply_add(x: Operand, y: Operand, z: Operand) -> Expression:
    """`x * y + z`, rounded once."""
    return apply("multiply_add", x, y, z)


def multiply_high(x: Operand, y: Operand) -> Expression:
    """The upper half of the product of two unsigned integers."""
    return apply("multiply_high", x, y)


def multiply_wide(x: Expression, y: Expression) -> Expression:
    """The whole product of two uint32, as uint64."""
    if (x.dtype, y.dtype) != ("uint32", "uint32"):
        raise DtypeError(f"multiply_wide takes uint32, not {x.dtype} and {y.dtype}")
    return cast(x, "uint64") * cast(y, "uint64")


def pair(x: Expression, y: Expression) -> Expression:
    """Two bfloat16 in the bits of one uint32, the first in the lower half."""
    return apply("pair", x, y)


def pair_dot(x: Expression, y: Expression) -> Expression:
    """The inner product of two pairs of bfloat16, in float32, in which each product is exact.

    Numbers below 1.2e-38 may count as 0.
    """
    return apply("pair_dot", x, y)


def scale(x: Expression, exponent: Expression) -> Expression:
    """x * 2**exponent, rounded once, where `x` is no denormal number.

    The exponent is a whole number, at most 250 in float32 and 2000 in float64.
    """
    return apply("scale", x, exponent)


def floor(x: Expression) -> Expression:
    """The greatest whole number that is not above x."""
    return apply("floor", x)


def ceil(x: Expression) -> Expression:
    """The least whole number that is not below x."""
    return apply("ceil", x)


def round(x: Expression) -> Expression:
    """The nearest whole number, halves to the even one."""
    return apply("round", x)


def trunc(x: Expression) -> Expression:
    """The whole part."""
    return apply("trunc", x)


def sqrt(x: Expression) -> Expression:
    """The square root, rounded once."""
    return apply("sqrt", x)


def rsqrt(x: Expression) -> Expression:
    """1 / sqrt(x)."""
    return apply("rsqrt", x)


def exp(x: Expression) -> Expression:
    """The exponential function."""
    return apply("exp", x)


def expm1(x: Expression) -> Expression:
    """exp(x) - 1, accurate near 0."""
    return apply("expm1", x)


def log(x: Expression) -> Expression:
    """The natural logarithm."""
    return apply("log", x)


def log1p(x: Expression) -> Expression:
    """log(1 + x), accurate near 0."""
    return apply("log1p", x)


def tanh(x: Expression) -> Expression:
    """The hyperbolic tangent."""
    return apply("tanh", x)


def erf(x: Expression) -> Expression:
    """The error function."""
    return apply("erf", x)


def normal_cdf(x: Expression) -> Expression:
    """The chance that a number of the standard normal distribution is less than x.

    Its error is that of (1 + erf(x / sqrt(2))) / 2: small beside 1, not beside a chance near 0.
    """
    return apply("normal_cdf", x)


def sin(x: Expression) -> Expression:
    """The sine of an angle in radians."""
    return apply("sin", x)


def cos(x: Expression) -> Expression:
    """The cosine of an angle in radians."""
    return apply("cos", x)


def random_bits(key: tuple[Expression, Expression], place: Operand) -> Expression:
    """The uint64 at `place` among the random words of a key, which is two uint64."""
    return apply("random_bits", *key, position(place))


def random_half(key: tuple[Expression, Expression], place: Operand) -> Expression:
    """The uint32 at `place` among the halves of these words; the lower of a word comes first."""
    return apply("random_half", *key, position(place))


def _over(over: Axis | Sequence[Axis]) -> tuple[Axis, ...]:
    axes = (over,) if isinstance(over, Axis) else tuple(over)
    if len(set(axes)) < len(axes):
        raise ArgumentError("an axis is reduced twice")
    return axes


def _reduce(
    operation: str, x: Expression, over: Axis | Sequence[Axis], kinds: tuple[str, ...], dtype: str
) -> Expression:
    axes = _over(over)
    if element(x.dtype).kind not in kinds:
        raise DtypeError(f"{operation} takes {' or '.join(kinds)} elements, not {x.dtype}")
    return only(Reduce, dtype, (x,), operation, axes) if axes or dtype != x.dtype else x


def sum(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """The sum, from the first term on, rounded after each; of nothing it is 0.

    Half-precision terms, and products of such numbers, are added in float32.
    """
    return _gathered("sum", x, over)


def prod(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """The product, from the first factor on, rounded after each; of nothing it is 1.

    Half-precision factors are multiplied in float32.
    """
    return _gathered("prod", x, over)


def _gathered(operation: str, x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """A reduction that every term leaves a trace in: many roundings would leave none."""
    if x.dtype not in HALF:
        return _reduce(operation, x, over, ("integer", "float"), x.dtype)
    if isinstance(x, Apply) and x.operation == "multiply":
        wide = apply("multiply", *(cast(factor, "float32") for factor in x.operands))
    else:
        wide = cast(x, "float32")
    return cast(_reduce(operation, wide, over, ("float",), "float32"), x.dtype)


def max(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """The greatest, NaN if there is one; of nothing it is the least value of the dtype."""
    return _reduce("max", x, over, ("integer", "float"), x.dtype)


def min(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """The least, NaN if there is one; of nothing it is the greatest value of the dtype."""
    return _reduce("min", x, over, ("integer", "float"), x.dtype)


def any(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """Whether one holds."""
    return _reduce("any", x, over, ("bool",), "bool")


def all(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """Whether none fails."""
    return _reduce("all", x, over, ("bool",), "bool")


def argmax(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """The first position of the greatest, over all the axes; NaN beats every number."""
    return _position_of("argmax", x, over)


def argmin(x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    """The first position of the least, over all the axes; NaN beats every number."""
    return _position_of("argmin", x, over)


def _position_of(operation: str, x: Expression, over: Axis | Sequence[Axis]) -> Expression:
    for axis in _over(over):
        if axis.size == 0:
            raise ArgumentError(f"{operation} over an axis without elements")
    return _reduce(operation, x, over, ("integer", "float"), "int64")


def at(x: Array, index: Sequence[Operand]) -> Expression:
    """The element that broadcasts to `index`: last axes match, those of size 1 are read at 0."""
    if x.ndim > len(index):
        raise ShapeError(
            f"`{x.name}` has {x.ndim} axes, more than the {len(index)} it broadcasts to"
        )
    places = list(index)[len(index) - x.ndim :]
    aligned = [0 if size == 1 else place for size, place in zip(x.shape, places, strict=True)]
    return x[tuple(aligned)]


def inside(x: Array, index: Sequence[Operand]) -> Expression:
    """Whether a position lies within `x`, along every axis."""
    condition = constant(True, "bool")
    for size, place in zip(x.shape, index, strict=True):
        if isinstance(place, Axis) and place.size <= size:
            continue
        spot = position(place)
        condition = both(both(condition, spot >= 0), spot < size)
    return condition


def both(x: Expression, y: Expression) -> Expression:
    """Whether both hold."""
    true = constant(True, "bool")
    if x is true or y is true:
        return y if x is true else x
    return x & y


def padded(x: Array, index: Sequence[Operand], otherwise: Operand) -> Expression:
    """The element of `x`; where the position lies outside `otherwise`, and nothing is read."""
    condition = inside(x, index)
    value = x[tuple(index)]
    if condition is constant(True, "bool"):
        return value
    return guarded(condition, value, otherwise)


def scatter_add(
    begin: Array | Sequence[int],
    index: Sequence[Operand],
    value: Expression,
    over: Axis | Sequence[Axis],
    dtype: str = "",
    anew: bool = False,
) -> Scatter:
    """An output where `value` is added at `index`, for each position of the axes.

    It begins as an array, which `value` may read at this index alone, or as zeros of a shape. With
    `anew` the places that are added to begin as 0. Its elements are of `dtype`, or of that of the
    value. Half-precision values are added in float32; sums are rounded once.
    """
    if element(value.dtype).kind == "bool":
        raise DtypeError("scatter_add takes integer or float values, not bool")
    dtype = dtype or value.dtype
    if value.dtype in HALF:
        value = cast(value, "float32")
    rounded = dtype if dtype != value.dtype else ""
    base = begin if isinstance(begin, Array) else None
    shape = begin.shape if isinstance(begin, Array) else tuple(begin)
    spot = _spot(shape, index)
    return Scatter(shape, spot, value, _over(over), base=base, rounded=rounded, anew=anew)


def scatter_set(
    base: Array, index: Sequence[Operand], value: Expression, over: Axis | Sequence[Axis]
) -> Scatter:
    """The output is `base` where nothing else is said, and `value` at `index`, the last one set.

    `value` may read `base` at this index alone.
    """
    places = _spot(base.shape, index)
    return Scatter(base.shape, places, value, _over(over), True, base)


def _spot(shape: Sequence[int], index: Sequence[Operand]) -> tuple[Expression, ...]:
    if len(shape) != len(index):
        raise ShapeError(f"the output has {len(shape)} axes and the index {len(index)}")
    return tuple(position(place) for place in index)
