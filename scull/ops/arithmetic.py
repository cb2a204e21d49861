"""Powers, quotients rounded down and remainders of two tensors, element by element."""

from typing import Any

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta, broadcast, ones_behind
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError
from scull.ops.conjugate import turned
from scull.ops.elementwise import elementwise
from scull.ops.half import is_half, narrowed, wide_at
from scull.ops.like import squeeze
from scull.ops.math import log


def whole(x: Any) -> bool:
    """Whether the elements are integers."""
    return x.dtype.kind in "iu"


def power_kernel(xp: Any, x: Any, y: Any, *, out: Any = None, axis: int = -1) -> Any:
    """Integers to the power of integers as float64, rounded, as Paddle has them."""
    if axis != -1:
        y = y.reshape(y.shape + ones_behind(x.ndim, y.ndim, axis))
    if not whole(x):
        return xp.power(x, y, out)
    found = xp.rint(xp.power(x.astype("float64"), y.astype("float64"))).astype(x.dtype)
    if out is None:
        return found
    out[...] = found
    return out


def divided(name: str) -> Any:
    """The kernel of a division that integers cannot do by 0."""

    def kernel(xp: Any, x: Any, y: Any, *, out: Any = None, axis: int = -1) -> Any:
        if axis != -1:
            y = y.reshape(y.shape + ones_behind(x.ndim, y.ndim, axis))
        if whole(y) and not y.all():
            raise ArgumentError("an integer is divided by 0")
        return getattr(xp, name)(x, y, out)

    return kernel


def integer_power_at(a: Any, b: Any) -> Any:
    """One power; of integers by way of float64."""
    if a.dtype[0] not in "iu":
        return a**b
    return lang.cast(lang.round(lang.cast(a, "float64") ** lang.cast(b, "float64")), a.dtype)


def by_nonzero(b: Any) -> Any:
    """A divisor, which is not 0 if it is an integer."""
    return b if b.dtype[0] not in "iu" else lang.sure(b, lang.not_equal(b, 0))


power = elementwise("power", "elementwise_pow", "power", integer_power_at)
floor_divide = elementwise(
    "floor_divide", "elementwise_floordiv", "floor_divide", lambda a, b: a // by_nonzero(b)
)
remainder = elementwise("remainder", "elementwise_mod", "remainder", lambda a, b: a % by_nonzero(b))

power.kernel(power_kernel)
floor_divide.kernel(divided("floor_divide"))
remainder.kernel(divided("remainder"))

power.grad("x")(lambda x, y, dout: dout * turned(y * power(x, y - 1.0)))
power.grad("y")(lambda x, y, dout: dout * turned(log(x) * power(x, y)))
floor_divide.no_grad("a whole quotient is constant almost everywhere")
remainder.no_grad("Paddle gives it none")


# Neighbours among floating-point numbers, and common divisors.


def exact(name: str, meaning: str, kinds: str, law: str, **options: Any) -> Any:
    """Declare NumPy's function `name` of two tensors with elements of some of its `kinds`."""

    def body(x: Meta, y: Meta) -> Meta:
        for m in (x, y):
            if m.dtype.array.kind not in kinds or not m.dtype.native:
                raise DtypeError(f"{m} is not of {law} elements")
        if x.dtype is not y.dtype:
            raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
        return Meta(broadcast(x, y), x.dtype)

    body.__name__, body.__doc__ = name, meaning
    function = primitive(body, broadcasts=True, infer_first=True, **options)
    function.ufunc(name)
    return function


SPELT = {"x": "x", "y": "y", "out": "out"}
NEXT = "The number next to `x` on the way to `y`."
nextafter = exact("nextafter", NEXT, "f", "floating-point", slots=SPELT)
nextafter.no_grad("a neighbour among rounded numbers has no slope")
nextafter.no_lowering("it counts the bits of a number")

gcd = exact("gcd", "The greatest number that divides both.", "iu", "integer")
gcd.no_grad("whole numbers have no slope")
gcd.no_lowering("how often it divides depends on values")


# To the power of one number.


@primitive
def pow(x: Meta, factor_tensor: Meta = None, *, factor: float = 1.0) -> Meta:
    """Each element to the power `factor`, which for integers is a whole number too."""
    if x.dtype.name == "bool":
        raise DtypeError(f"{x} is not of numbers")
    return x


@pow.kernel
def pow_kernel(xp: Any, x: Any, tensor: Any = None, *, out: Any = None, factor: float) -> Any:
    if tensor is not None:
        factor = tensor.reshape(-1)[0].item()
    if x.dtype.kind in "biu":
        if x.dtype.kind == "b":
            raise DtypeError(f"{meta_of(x)} is not of numbers")
        return power_kernel(xp, x, xp.asarray(int(factor)), out=out)
    if factor == 2:
        return xp.multiply(x, x, out=out)
    if is_half(x):
        found = xp.power(x.astype("float32"), factor).astype(x.dtype)
        return narrowed(xp, found, x.dtype, out)
    return xp.power(x, factor, out=out)


@pow.grad("x")
def pow_grad(x: Any, factor_tensor: Any, dout: Any, factor: float) -> Any:
    if factor_tensor is None:
        return dout * turned(pow(x, factor=factor - 1.0) * factor)
    return dout * squeeze(factor_tensor) * turned(pow(x, factor_tensor - 1.0))


@pow.lower
def pow_at(index: Any, x: Any, tensor: Any, factor: float) -> Any:
    value = wide_at(x[index])
    if tensor is not None:
        exponent = lang.cast(tensor[(0,) * tensor.ndim], value.dtype)
    elif value.dtype[0] in "iu":
        exponent = lang.constant(int(factor), value.dtype)
    else:
        exponent = lang.constant(factor, value.dtype)
    return lang.cast(integer_power_at(value, exponent), x.dtype)
