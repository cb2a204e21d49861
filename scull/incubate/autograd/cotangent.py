"""Linear basic operators the other way round: the rules of reverse derivatives.

A rule takes the operator, `is_dot`, which tells the operands it is linear in from its
coefficients, and what a result's change is worth. It gives what the changes of the operands are
worth, None for a coefficient.
"""

from collections.abc import Callable
from typing import Any

from scull.errors import AssertError
from scull.incubate.autograd import primops
from scull.incubate.autograd.primops import filled, select, slice_assign

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}


def rule(type: str) -> Callable[[Rule], Rule]:
    """Note the rule of an operator."""

    def note(function: Rule) -> Rule:
        RULES[type] = function
        return function

    return note


def needs(condition: object, o: Any, law: str) -> None:
    """Refuse an operator that is not linear in its operands together."""
    if not condition:
        raise AssertError(f"`{o.type}` is no linear operator here: {law}")


def dotted(o: Any, is_dot: Any) -> Any:
    """The one operand, which changes."""
    (x,) = o.inputs
    needs(is_dot(x), o, "its operand does not change")
    return x


def one_factor(o: Any, is_dot: Any) -> bool:
    """Whether the first of two operands changes, and not the second; never both, nor none."""
    x, y = map(is_dot, o.inputs)
    needs(x is not y, o, "exactly one of its operands changes")
    return bool(x)


@rule("add_p")
def add_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Each summand has it whole."""
    dots = [*map(is_dot, o.inputs)]
    needs(any(dots), o, "none of its operands changes")
    return tuple(bar if dot else None for dot in dots)


@rule("sub_p")
def sub_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """What is subtracted has it with the other sign."""
    x, y = map(is_dot, o.inputs)
    needs(x or y, o, "none of its operands changes")
    return bar if x else None, primops.neg(bar) if y else None


@rule("mul_p")
def mul_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Times the other factor."""
    x, y = o.inputs
    if one_factor(o, is_dot):
        return primops.mul(bar, y), None
    return None, primops.mul(x, bar)


@rule("div_p")
def div_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Divided by the same."""
    needs(not is_dot(o.inputs[1]), o, "its second operand changes")
    return primops.div(bar, o.inputs[1]) if is_dot(o.inputs[0]) else None, None


@rule("matmul_p")
def matmul_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Times the other matrix, turned."""
    x, y = o.inputs
    order = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
    if one_factor(o, is_dot):
        return primops.matmul(bar, primops.transpose(y, axis=order)), None
    return None, primops.matmul(primops.transpose(x, axis=order), bar)


@rule("reshape_p")
def reshape_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """In the shape there was before."""
    return primops.reshape(bar, shape=dotted(o, is_dot).shape)


@rule("broadcast_p")
def broadcast_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Added up along the axes that were stretched."""
    x = dotted(o, is_dot)
    lead = len(bar.shape) - len(x.shape)
    axes = [*range(lead), *(lead + i for i, size in enumerate(x.shape) if size == 1)]
    return primops.reshape(primops.reduce_sum(bar, axis=axes) if axes else bar, x.shape)


@rule("transpose_p")
def transpose_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """With its axes put back."""
    dotted(o, is_dot)
    order = [a % len(bar.shape) for a in o.attrs["axis"]]
    return primops.transpose(bar, axis=[order.index(i) for i in range(len(order))])


@rule("split_p")
def split_cotangent(o: Any, is_dot: Any, bars: Any) -> Any:
    """One behind the other."""
    dotted(o, is_dot)
    return primops.concat(bars, axis=o.attrs["axis"])


@rule("concat_p")
def concat_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Cut into the pieces that were joined."""
    (xs,), axis = o.inputs, o.attrs["axis"]
    needs(any(map(is_dot, xs)), o, "none of its operands changes")
    pieces = primops.split(bar, [x.shape[axis] for x in xs], axis) if len(xs) > 1 else [bar]
    return [p if is_dot(x) else None for p, x in zip(pieces, xs, strict=True)]


@rule("reduce_sum_p")
def reduce_sum_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Repeated along the axes that were summed."""
    x = dotted(o, is_dot)
    axes = {a % len(x.shape) for a in o.attrs["axis"]}
    sizes = [1 if i in axes else size for i, size in enumerate(x.shape)]
    return primops.broadcast(primops.reshape(bar, shape=sizes), shape=x.shape)


@rule("slice_select_p")
def slice_select_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Zeros but in the window."""
    x = dotted(o, is_dot)
    return slice_assign(filled(0.0, x), bar, **o.attrs)


@rule("slice_assign_p")
def slice_assign_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Zeros in the window for `x`; the window for `y`."""
    if one_factor(o, is_dot):
        return slice_assign(bar, filled(0.0, o.inputs[1]), **o.attrs), None
    return None, primops.slice_select(bar, **o.attrs)


@rule("gather_p")
def gather_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Added where it was read."""
    x, places = o.inputs
    needs(is_dot(x), o, "its operand does not change")
    return primops.scatter_add(filled(0.0, x), bar, places, **o.attrs), None


@rule("scatter_add_p")
def scatter_add_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """Whole for `x`; for `y` what lies where it was added."""
    x, y, places = o.inputs
    needs(is_dot(x) or is_dot(y), o, "none of its operands changes")
    read = primops.gather(bar, places, **o.attrs) if is_dot(y) else None
    return bar if is_dot(x) else None, read, None


@rule("select_p")
def select_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """It goes to the operand that was taken."""
    condition, x, y = o.inputs
    needs(is_dot(condition) or is_dot(x) or is_dot(y), o, "none of its operands changes")
    none = primops.fill_const(0.0, condition.shape, condition.dtype) if is_dot(condition) else None
    left = select(condition, bar, filled(0.0, x)) if is_dot(x) else None
    right = select(condition, filled(0.0, y), bar) if is_dot(y) else None
    return none, left, right


@rule("cast_p")
def cast_cotangent(o: Any, is_dot: Any, bar: Any) -> Any:
    """In the element type there was before."""
    return primops.cast(bar, dotted(o, is_dot).dtype)
