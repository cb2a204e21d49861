"""Reductions over axes that a tensor may give."""

from typing import Any

from scull import lang
from scull.core.attribute import Dtype, Longs
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta
from scull.errors import ShapeError, UnsupportedError
from scull.ops.compare import equal
from scull.ops.like import given_axes
from scull.ops.reduce import (
    SPELT,
    lowered,
    max_axes,
    min_axes,
    ones_where,
    reduce_sum,
    reduced,
    reduced_axes,
    spread,
)


def result(
    x: Meta, tensor: Any, tensors: Any, axis: tuple[int, ...], keepdim: bool, reduce_all: bool
) -> Meta:
    """What is known of the result when a tensor may give the axes."""
    if reduce_all or (tensor is None and not tensors):
        return reduced(x, axis, keepdim, reduce_all)
    if keepdim:
        return x.with_shape((UNKNOWN,) * x.ndim)
    if not tensors and tensor.shape[:1] == (-1,):
        raise ShapeError("the tensor that holds the axes has itself an unknown size")
    number = len(tensors) if tensors else tensor.shape[0] if tensor.shape else 1
    return x.with_shape((UNKNOWN,) * (x.ndim - number))


def declare(name: str, reduce: Any, combine: Any, *, truth: bool = False) -> Any:
    """Declare one reduction; `reduce` is its kernel over known axes, `truth` says of bool."""

    def body(
        x: Meta,
        axis_tensor: Meta = None,
        axis_tensor_list: list[Meta] | None = None,
        *,
        axis: Longs = (0,),
        keepdim: bool = False,
        reduce_all: bool = False,
        in_dtype: Dtype = None,
        out_dtype: Dtype = None,
    ) -> Meta:
        found = result(x, axis_tensor, axis_tensor_list, axis, keepdim, reduce_all)
        return found.with_dtype(bool_) if truth else found

    def kernel(
        xp: Any,
        x: Any,
        tensor: Any = None,
        tensors: Any = None,
        *,
        out: Any = None,
        axis: Any,
        keepdim: bool,
        reduce_all: bool,
        in_dtype: Any,
        out_dtype: Any,
    ) -> Any:
        axis = given_axes(tensor, tensors, axis)
        axes = None if reduce_all or not axis else reduced_axes(x, axis, False)
        return reduce(xp, x, axes, keepdim, None, out)

    def at(index: Any, x: Any, tensor: Any, tensors: Any, **attrs: Any) -> Any:
        if tensor is not None or tensors:
            raise UnsupportedError("axes that a tensor gives are known only when run")
        return lowered(combine, scalars=True)(index, x, **attrs)

    body.__name__ = "reduce_" + name
    body.__doc__ = reduce.__doc__
    function = primitive(body, prefix=name, **SPELT)
    function.kernel(kernel)
    function.lower(at)
    return function


def all_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """Whether no element over the axes `axis` is 0."""
    return xp.logical_and.reduce(x, axis=axes, keepdims=keepdim, out=out)


def any_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """Whether an element over the axes `axis` is not 0."""
    return xp.logical_or.reduce(x, axis=axes, keepdims=keepdim, out=out)


def truth_of(value: Any, over: Any, combine: str) -> Any:
    """The lowering of `all_axes` and `any_axes`."""
    found = lang.cast(value, "bool")
    return getattr(lang, combine)(found, over=over) if over else found


def extreme_of(value: Any, over: Any, combine: str) -> Any:
    """The lowering of extremes."""
    return getattr(lang, combine)(value, over=over) if over else value


reduce_all = declare("all", all_axes, lambda v, over: truth_of(v, over, "all"), truth=True)
reduce_any = declare("any", any_axes, lambda v, over: truth_of(v, over, "any"), truth=True)
reduce_amax = declare("amax", max_axes, lambda v, over: extreme_of(v, over, "max"))
reduce_amin = declare("amin", min_axes, lambda v, over: extreme_of(v, over, "min"))

for function in (reduce_all, reduce_any):
    function.no_grad("truth values are constant almost everywhere")


def shared(
    x: Any,
    axis_tensor: Any,
    axis_tensor_list: Any,
    out: Any,
    dout: Any,
    axis: Any,
    keepdim: bool,
    reduce_all: bool,
) -> Any:
    """The gradient in equal parts to all elements that are the extreme."""
    if axis_tensor is not None or axis_tensor_list:
        raise UnsupportedError("there is no gradient where a tensor gives the axes")
    same = ones_where(equal(x, spread(out, x, axis, keepdim, reduce_all)), x)
    number = reduce_sum(same, axis=axis, keepdim=True, reduce_all=reduce_all)
    return same / number * spread(dout, x, axis, keepdim, reduce_all)


reduce_amax.grad("x")(shared)
reduce_amin.grad("x")(shared)
