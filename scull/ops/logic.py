"""Logic of truth values and of bits, element by element."""

from typing import Any

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta, broadcast
from scull.errors import DtypeError


def logical(name: str, lower: Any) -> Any:
    """Declare one operator of two truth values; a number is true when it is not 0."""

    def body(x: Meta, y: Meta) -> Meta:
        if x.dtype is not y.dtype:
            raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
        return Meta(broadcast(x, y), bool_)

    return declared(name, body, lower, lambda v: lang.cast(v, "bool"))


def bitwise(name: str, lower: Any) -> Any:
    """Declare one operator of the bits of two integers, or of two truth values."""

    def body(x: Meta, y: Meta) -> Meta:
        bits(x)
        if x.dtype is not y.dtype:
            raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
        return Meta(broadcast(x, y), x.dtype)

    return declared(name, body, lower, lambda v: v)


def bits(x: Meta) -> None:
    """Refuse operands without bits of their own."""
    if not (x.dtype.is_integer or x.dtype is bool_):
        raise DtypeError(f"{x} is neither of integers nor bool")


def declared(name: str, body: Any, lower: Any, read: Any) -> Any:
    """The operator called `name`, whose kernel is the array namespace's function of that name."""
    body.__name__ = name
    body.__doc__ = f"`{name.replace('_', ' ')}` of two tensors, element by element."
    function = primitive(body, broadcasts=True)
    function.ufunc(name)
    function.lower(lambda index, x, y: lower(read(lang.at(x, index)), read(lang.at(y, index))))
    function.no_grad("truth values and bits are constant almost everywhere")
    return function


logical_and = logical("logical_and", lambda a, b: a & b)
logical_or = logical("logical_or", lambda a, b: a | b)
logical_xor = logical("logical_xor", lambda a, b: a ^ b)
bitwise_and = bitwise("bitwise_and", lambda a, b: a & b)
bitwise_or = bitwise("bitwise_or", lambda a, b: a | b)
bitwise_xor = bitwise("bitwise_xor", lambda a, b: a ^ b)


@primitive
def logical_not(x: Meta) -> Meta:
    """Whether each element is 0."""
    return x.with_dtype(bool_)


logical_not.ufunc("logical_not")
logical_not.no_grad("truth values are constant almost everywhere")
logical_not.lower(lambda index, x: ~lang.cast(x[index], "bool"))


@primitive
def bitwise_not(x: Meta) -> Meta:
    """Every bit turned."""
    bits(x)
    return x


bitwise_not.ufunc("invert")
bitwise_not.no_grad("bits are constant almost everywhere")
bitwise_not.lower(lambda index, x: ~x[index])
