"""Operators of Python on Variables, spelt as in Paddle's Programs: `x + 1` is a `scale`."""

from typing import Any

from scull.core.attribute import rounded
from scull.core.dtype import DType, float32, float64, int64
from scull.core.interpreter import current
from scull.core.meta import Kind
from scull.core.op import Op, op_of
from scull.core.operand import concrete
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.recorder import UNIFY
from scull.ir.variable import Variable
from scull.ops import create
from scull.ops.method import PYTHON
from scull.ops.promotion import common_dtype

SCALED = {
    "__add__": lambda n: (1.0, n),
    "__radd__": lambda n: (1.0, n),
    "__sub__": lambda n: (1.0, -n),
    "__rsub__": lambda n: (-1.0, n),
    "__mul__": lambda n: (n, 0.0),
    "__rmul__": lambda n: (n, 0.0),
    "__truediv__": lambda n: (inverted(n), 0.0),
}

LISTS: dict[str, Any] = {}  # what operators of Python do with lists of tensors, by their names


def inverted(n: float) -> float:
    """``1 / n``."""
    if not n:
        raise ArgumentError("a Variable is divided by 0")
    return 1.0 / n


def as_tmp(dunder: str, function: Any) -> Any:
    """A dunder of a Variable; its results are called tmp_0, tmp_1, ..."""
    scaled = SCALED.get(dunder)

    def method(x: Any, other: Any) -> Any:
        if x.kind is Kind.ARRAY or getattr(other, "kind", None) is Kind.ARRAY:
            return of_list(dunder, x, other)
        with as_temporary(x):
            if isinstance(other, int | float):
                x = beside_number(dunder, x, other)
            if scaled and isinstance(other, int | float) and not isinstance(other, bool):
                factor, bias = scaled(float(other))
                if x.dtype.name in SHORT or is_short(other, factor, bias):
                    return create.scale(x, scale=factor, bias=bias)
                if dunder == "__truediv__" and not x.number:
                    return multiply(x, factor)  # as in eager mode
                return function(x, other)
            if dunder in FILLED and isinstance(other, int | float):
                other = filled_like(x, float(other))
            if dunder == "__truediv__" and isinstance(other, Variable):
                return divided(x, other)
            return function(x, other)

    method.__name__ = dunder
    return method


SHORT = ("float16", "bfloat16", "float32")  # types whose numbers an attribute of 32 bits holds
WIDER = {"float32": float64, "int32": int64}  # what numbers of Python become
multiply, divide = PYTHON["__mul__"], PYTHON["__truediv__"]


def beside_number(dunder: str, x: Any, number: float) -> Any:
    """`x` in the element type in which an operator joins it with a number."""
    if x.number and x.dtype.name in WIDER:
        x = recast(x, WIDER[x.dtype.name])
    if is_whole(x) and (isinstance(number, float) or dunder in ("__truediv__", "__rtruediv__")):
        return recast(x, float64 if x.number else float32)
    return x


def is_whole(x: Any) -> bool:
    """Whether the elements are integers or truth values."""
    return x.dtype.is_integer or x.dtype.name == "bool"


def is_short(*numbers: float) -> bool:
    """Whether attributes of 32 bits hold `numbers`."""
    return all(rounded(n) == n for n in numbers)


def divided(x: Any, y: Any) -> Any:
    """``x / y``, where one of both may stand for a number: in the steps of eager mode."""
    if x.number and y.number:
        return divide(x, y)
    x, y = (recast(v, float32) if not v.number and is_whole(v) else v for v in (x, y))
    if x.number or not y.number:
        return divide(x, y)
    one = create.fill_constant(shape=(), value=1.0, dtype=float64)
    one.number = True
    return multiply(x, divide(one, recast(y, float64)))


def of_list(dunder: str, x: Any, other: Any) -> Any:
    """An operator of which one operand holds a list of tensors; equal is what is the same."""
    if dunder in ("__eq__", "__ne__"):
        return (x is other) is (dunder == "__eq__")
    if x.kind is Kind.ARRAY and dunder in LISTS:
        return LISTS[dunder](x, other)
    name = (x if x.kind is Kind.ARRAY else other).name
    raise ArgumentTypeError(f"`{name}` holds a list of tensors, which has no `{dunder}` here")


def filled_like(x: Any, value: float) -> Any:
    """A number in the shape of `x`, of which one size may be known only when run."""
    shape, dtype = tuple(map(int, x.shape)), x.dtype
    attrs = {"shape": shape, "value": value, "dtype": dtype}
    if dtype.name not in SHORT and not is_short(value):
        attrs["str_value"] = str(value)
    if -1 not in shape:
        return create.fill_constant(**attrs)
    axis = shape.index(-1)
    places = {"input_dim_idx": axis, "output_dim_idx": axis}
    return create.fill_constant_batch_size_like(x, **attrs, **places)


def negated(x: Any) -> Any:
    """``-x``."""
    with as_temporary(x):
        return create.scale(x, scale=-1.0)


FILLED = ("__rpow__", "__rtruediv__")  # a number on the left of these gets the other's shape
BITS = ("__invert__", "__and__", "__or__", "__xor__")  # their results are named after the operator

for name, function in PYTHON.items():
    if name in BITS:
        setattr(Variable, name, function)
    elif name != "__neg__":
        setattr(Variable, name, as_tmp(name, function))
Variable.__neg__ = negated  # type: ignore[attr-defined]


def of_numbers(function: Any) -> Any:
    """A reflected dunder of Variables that stand for numbers; others have none, as in Paddle."""

    def method(x: Any, other: Any) -> Any:
        if not x.number or not isinstance(other, int | float):
            return NotImplemented
        with as_temporary(x):
            dtype = float64 if isinstance(other, float) or x.dtype.is_float else int64
            left = create.fill_constant(shape=(), value=float(other), dtype=dtype)
            left.number = True
            return function(left, x)

    return method


for name in ("floordiv", "mod"):
    setattr(Variable, f"__r{name}__", of_numbers(PYTHON[f"__{name}__"]))


def unify(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Both operands of one element type: the right one is cast to the left one's.

    What stands for a number of Python takes that of the other; a fraction makes floats of integers.
    """
    x, y = inputs
    if isinstance(x, Variable) and isinstance(y, Variable) and x.dtype is not y.dtype:
        dtype = common(op.name, x, y)
        with as_temporary(x):
            x = x if x.dtype is dtype else recast(x, dtype)
            y = y if y.dtype is dtype else recast(y, dtype)
    return x, y


def common(name: str, x: Variable, y: Variable) -> DType:
    """The element type of an operator on both."""
    real = all(v.dtype.is_float or "int" in v.dtype.name for v in (x, y))
    if not (x.number or y.number) or not real:
        return common_dtype(name, x.dtype, y.dtype)
    if x.number and y.number:
        return float64 if x.dtype.is_float or y.dtype.is_float else int64
    number, tensor = (x, y) if x.number else (y, x)
    return float32 if number.dtype.is_float and not tensor.dtype.is_float else tensor.dtype


def recast(x: Variable, dtype: DType) -> Any:
    """`x` in another element type; a number stays one."""
    made = op_of("cast").call(x, in_dtype=x.dtype, out_dtype=dtype)
    made.number = x.number
    return made


def as_temporary(x: Any) -> Any:
    """Results made of the Variable `x` within are called tmp_0, tmp_1, ..."""
    recorder: Any = current()
    if recorder.eager:
        concrete(x)
    return recorder.naming("tmp")


UNIFY.append(unify)
