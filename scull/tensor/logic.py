"""Comparisons, and logic of truth values and bits."""

from typing import Any

from scull.core.door import shown_by
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, DtypeError
from scull.ir.variable import Variable
from scull.ops import classify, compare, listing, logic, reduce_given
from scull.tensor.size import needs_tensor, reduced_axes


def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether ``x == y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [False, True, False]
    """
    return compare.equal(x, y, name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether ``x != y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.not_equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [True, False, True]
    """
    return compare.not_equal(x, y, name)


def less_than(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether ``x < y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.less_than(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [True, False, False]
    """
    return compare.less_than(x, y, name)


def less_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether ``x <= y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.less_equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [True, True, False]
    """
    return compare.less_equal(x, y, name)


def greater_than(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether ``x > y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.greater_than(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [False, False, True]
    """
    return compare.greater_than(x, y, name)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether ``x >= y``, element by element.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.greater_equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [False, True, True]
    """
    return compare.greater_equal(x, y, name)


def logical_and(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether both elements are true.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logical_and(paddle.to_tensor([True, False]), paddle.to_tensor([True])).tolist()
        [True, False]
    """
    return into(logic.logical_and(x, y, name), out)


def logical_or(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether an element is true.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logical_or(paddle.to_tensor([True, False]), paddle.to_tensor([True])).tolist()
        [True, True]
    """
    return into(logic.logical_or(x, y, name), out)


def logical_xor(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether one element alone is true.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logical_xor(paddle.to_tensor([True, False]), paddle.to_tensor([True])).tolist()
        [False, True]
    """
    return into(logic.logical_xor(x, y, name), out)


def bitwise_and(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that both elements have.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bitwise_and(paddle.to_tensor([1, 2]), paddle.to_tensor([3])).tolist()
        [1, 2]
    """
    return into(logic.bitwise_and(x, y, name), out)


def bitwise_or(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that an element has.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bitwise_or(paddle.to_tensor([1, 2]), paddle.to_tensor([3])).tolist()
        [3, 3]
    """
    return into(logic.bitwise_or(x, y, name), out)


def bitwise_xor(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
    """The bits that one element alone has.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one; both stretch to a common shape.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bitwise_xor(paddle.to_tensor([1, 2]), paddle.to_tensor([3])).tolist()
        [2, 1]
    """
    return into(logic.bitwise_xor(x, y, name), out)


def logical_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether each element is 0.

    Args:
        x (Tensor): the operand.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return into(logic.logical_not(x, name), out)


def bitwise_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """Every bit turned.

    Args:
        x (Tensor): integers or truth values.
        out (Tensor, optional): where to write.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bitwise_not(paddle.to_tensor([1])).tolist()
        [-2]
    """
    return into(logic.bitwise_not(x, name), out)


def into(found: Any, out: Any) -> Any:
    """`found`, written to `out` if there is one."""
    if isinstance(out, Tensor):
        out.array, out.node = found.array, found.node
    elif out is not None and not isinstance(out, Variable):
        raise ArgumentTypeError(f"`out` is a tensor, not {type(out).__name__}")
    elif out is not None:
        out.block.append_op("assign", inputs={"X": [found]}, outputs={"Out": [out]})
    return found if out is None else out


def all(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Whether every element along `axis` is true.

    Args:
        x (Tensor): truth values.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.all(paddle.to_tensor([True, False])).item()
        False
    """
    needs_tensor(x, "all")
    axes, whole = reduced_axes(axis, x)
    return reduce_given.reduce_all(x, axis=axes, keepdim=keepdim, reduce_all=whole, name=name)


def any(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Whether an element along `axis` is true.

    Args:
        x (Tensor): truth values.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.any(paddle.to_tensor([True, False])).item()
        True
    """
    needs_tensor(x, "any")
    axes, whole = reduced_axes(axis, x)
    return reduce_given.reduce_any(x, axis=axes, keepdim=keepdim, reduce_all=whole, name=name)


def equal_all(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether two tensors have the same shape and the same elements.

    Args:
        x (Tensor): one.
        y (Tensor): the other.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.equal_all(paddle.ones([2]), paddle.ones([2])).item()
        True
    """
    return classify.equal_all(x, y, name=name)


def isclose(
    x: Any,
    y: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Any:
    """Whether ``abs(x - y) <= atol + rtol * abs(y)``, element by element.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other.
        rtol (float): the tolerance that grows with `y`.
        atol (float): the tolerance that does not.
        equal_nan (bool): whether NaN is close to NaN.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
        [True, False]
    """
    tolerances = {"rtol": str(rtol), "atol": str(atol)}
    return classify.isclose(x, y, **tolerances, equal_nan=equal_nan, name=name)


def allclose(
    x: Any,
    y: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Any:
    """Whether all elements are close, as `isclose` says.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other.
        rtol (float): the tolerance that grows with `y`.
        atol (float): the tolerance that does not.
        equal_nan (bool): whether NaN is close to NaN.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.allclose(paddle.ones([2]), paddle.ones([2])).item()
        True
    """
    if isinstance(rtol, bool) or isinstance(atol, bool) or not isinstance(equal_nan, bool):
        raise ArgumentTypeError("`rtol` and `atol` are numbers, and `equal_nan` is a bool")
    tolerances = {"rtol": str(rtol), "atol": str(atol)}
    return classify.allclose(x, y, **tolerances, equal_nan=equal_nan, name=name)


def is_empty(x: Any, name: str | None = None) -> Any:
    """Whether a tensor has no element.

    Args:
        x (Tensor): the tensor; in a Program of float32, float64, int32 or int64.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a 0-D bool.

    Examples:
        >>> import scull as paddle
        >>> paddle.is_empty(paddle.zeros([0, 2])).item()
        True
    """
    needs_tensor(x, "is_empty")
    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError(f"`name` is a string, not {type(name).__name__}")
    if isinstance(x, Variable) and x.dtype.name not in ("float32", "float64", "int32", "int64"):
        raise DtypeError(f"is_empty() takes no {x.dtype.name} in a Program; cast it")
    return listing.is_empty(x, name=name)


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, of eager or static mode.

    Args:
        x (object): anything.

    Examples:
        >>> import scull as paddle
        >>> paddle.is_tensor(paddle.ones([1])), paddle.is_tensor(1)
        (True, False)
    """
    return isinstance(x, Tensor | Variable)


__getattr__ = shown_by("scull.tensor")
