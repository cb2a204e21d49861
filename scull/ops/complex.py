"""Complex numbers: their parts, sizes and angles, and how they are made of real ones."""

import builtins
from typing import Any

from scull import lang
from scull.core.dtype import DType, complex64, complex128, float32, float64, of_array
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import DtypeError, ShapeError
from scull.ops.compare import equal, where
from scull.ops.conjugate import is_complex
from scull.ops.create import scale
from scull.ops.elementwise import divide
from scull.ops.like import full_like
from scull.ops.pair import pairwise

NOT_LOWERED = "the loop language has no complex numbers"
REAL = {complex64: float32, complex128: float64}
COMPLEX = {v: k for k, v in REAL.items()}


def real_dtype(x: Meta) -> DType:
    """The element type of the parts of complex `x`."""
    if x.dtype not in REAL:
        raise DtypeError(f"{x} is not of complex elements")
    return REAL[x.dtype]


def complex_dtype(x: Meta) -> DType:
    """The element type of complex numbers whose parts are as in `x`."""
    if x.dtype not in COMPLEX:
        raise DtypeError(f"{x} has neither float32 nor float64 elements")
    return COMPLEX[x.dtype]


def part(name: str) -> Any:
    """Declare `real` or `imag`."""

    def body(x: Meta) -> Meta:
        return x.with_dtype(real_dtype(x))

    def kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
        if x.dtype.kind != "c":
            real_dtype(Meta(x.shape, of_array(x.dtype)))
        out = xp.empty(x.shape, x.real.dtype) if out is None else out
        out[...] = getattr(x, name)
        return out

    body.__name__ = name
    body.__doc__ = f"The {name}inary parts." if name == "imag" else "The real parts."
    function = primitive(body)
    function.kernel(kernel)
    function.no_lowering(NOT_LOWERED)
    return function


def complex_kernel(xp: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    """Complex numbers of their real and imaginary parts."""
    shape = xp.broadcast_shapes(x.shape, y.shape)
    if out is None:
        out = xp.empty(shape, complex_dtype(Meta(x.shape, of_array(x.dtype))).array)
    out.real, out.imag = x, y
    return out


real, imag = part("real"), part("imag")
complex = pairwise("complex", complex_kernel, None, complex_dtype, infer_first=True)
complex.no_lowering(NOT_LOWERED)


real.grad(lambda dout: complex(dout, full_like(dout)))
imag.grad(lambda dout: complex(full_like(dout), dout))
complex.grad("x")(lambda dout: real(dout))
complex.grad("y")(lambda dout: imag(dout))


@primitive(inline_gradient=True, views={"out": "x"})
def as_complex(x: Meta) -> Meta:
    """The pairs along the last axis as complex numbers."""
    if not x.ndim or x.shape[-1] not in (2, -1):
        raise ShapeError(f"{x} does not end with an axis of size 2")
    return Meta(x.shape[:-1], complex_dtype(x))


@as_complex.kernel
def as_complex_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    meta = as_complex.op.body(Meta(x.shape, of_array(x.dtype)))
    return xp.ascontiguousarray(x).reshape(-1).view(meta.dtype.array).reshape(meta.shape)


@primitive(inline_gradient=True, views={"out": "x"})
def as_real(x: Meta) -> Meta:
    """The parts of complex numbers as pairs along a new last axis."""
    return Meta((*x.shape, 2), real_dtype(x))


@as_real.kernel
def as_real_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    meta = as_real.op.body(Meta(x.shape, of_array(x.dtype)))
    return xp.ascontiguousarray(x).reshape(-1).view(meta.dtype.array).reshape(meta.shape)


as_complex.grad(lambda dout: as_real(dout))
as_real.grad(lambda dout: as_complex(dout))
as_complex.no_lowering(NOT_LOWERED)
as_real.no_lowering(NOT_LOWERED)


# Sizes, signs and angles.


@primitive(fixed={"use_mkldnn": False})
def abs(x: Meta) -> Meta:
    """The size of each element without its sign or direction."""
    return x.with_dtype(REAL.get(x.dtype, x.dtype))


abs.ufunc("absolute")


@abs.grad
def abs_grad(x: Any, dout: Any) -> Any:
    """At 0 the gradient is 0."""
    if not is_complex(x):
        return dout * sign(x)
    size = abs(x)
    return x * divide(dout, where(equal(size, 0.0), 1.0, size))


@abs.lower
def abs_at(index: Any, x: Any) -> Any:
    value = x[index]
    return value if value.dtype in ("bool", "uint8") else builtins.abs(value)


@primitive(inline_gradient=True)
def sign(x: Meta) -> Meta:
    """-1, 0 or 1, as each element is negative, 0 or positive; NaN stays."""
    if not (x.dtype.is_float or x.dtype.is_integer):
        raise DtypeError(f"{x} is not of real numbers")
    return x


@sign.kernel
def sign_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    if x.dtype.kind in "bc":
        sign.op.body(Meta(x.shape, of_array(x.dtype)))
    return xp.sign(x, out=out)


sign.grad(lambda dout: scale(dout, scale=0.0))


@sign.lower
def sign_at(index: Any, x: Any) -> Any:
    value = x[index]
    above = lang.select(value > 0, lang.constant(1, value.dtype), value)
    if value.dtype == "uint8":
        return above
    return lang.select(value < 0, lang.constant(-1, value.dtype), above)


@primitive(infer_first=True)
def angle(x: Meta) -> Meta:
    """The direction of each number from 0: pi for negative ones."""
    if x.dtype.is_integer or x.dtype.name == "bool":
        raise DtypeError(f"{x} is not of floating-point or complex elements")
    return x.with_dtype(REAL.get(x.dtype, x.dtype))


@angle.kernel
def angle_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    if x.dtype.kind == "c":
        return xp.arctan2(x.imag, x.real, out=out)
    return xp.multiply(x < 0, x.dtype.type(xp.pi), out=out)


@angle.grad
def angle_grad(x: Any, dout: Any) -> Any:
    """Real numbers do not turn; at 0 the gradient is 0."""
    if not is_complex(x):
        return full_like(x)
    size = abs(x)
    return x * 1j * divide(dout, where(equal(size, 0.0), 1.0, size * size))


@angle.lower
def angle_at(index: Any, x: Any) -> Any:
    value = x[index]
    return lang.select(value < 0, lang.constant(3.141592653589793, value.dtype), 0.0)
