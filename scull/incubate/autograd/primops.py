"""The functions of basic operators, of which derivatives of Programs are made.

They take Variables in static mode and Tensors in eager mode. With `out` they write a variable that
is there already; that is for static mode. Operands have one shape and one element type: nothing is
stretched or cast.
"""

from collections.abc import Callable
from math import prod
from typing import Any

from scull.errors import ArgumentTypeError, AssertError
from scull.ir.block import Block
from scull.ir.program import main_program
from scull.ops import basic
from scull.ops.slicing import set_value as whole_set_value


def placed(function: Any, *inputs: Any, out: Any = None, **attrs: Any) -> Any:
    """What an operator makes of `inputs`, written into `out` if there is one."""
    if out is None:
        return function(*inputs, **attrs)
    op, block = function.op, main_program().current_block()
    assert isinstance(block, Block)
    slots = {op.slot(n): x for n, x in zip(op.inputs, inputs, strict=True)}
    spelt = {op.attribute(n): v for n, v in attrs.items()}
    block.append_op(type=op.type, inputs=slots, outputs={op.slot(op.outputs[0]): out}, attrs=spelt)
    return out


TEXT = """{first}

    Element by element.

    Args:
        {operands}
        out (Variable, optional): what is written, in static mode; a new one when None.

    Returns:
        Variable|Tensor: of the shape of `x`{kind}.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> x = paddle.to_tensor([0.25, 4.0])
        >>> primops.{name}({given}).tolist()
        {printed}
    """


def unary(function: Any, printed: str) -> Callable[..., Any]:
    """The public function of an operator of one tensor."""

    def call(x: Any, out: Any = None) -> Any:
        return placed(function, x, out=out)

    named(call, function, "x (Variable|Tensor): the operand.", "x", printed)
    return call


def binary(function: Any, printed: str, kind: str = "") -> Callable[..., Any]:
    """The public function of an operator of two tensors that are alike."""

    def call(x: Any, y: Any, out: Any = None) -> Any:
        return placed(function, x, y, out=out)

    operands = "x, y (Variable|Tensor): of one shape and element type."
    named(call, function, operands, "x, x", printed, kind)
    return call


def named(
    call: Any, function: Any, operands: str, given: str, printed: str, kind: str = ""
) -> None:
    """Give a function the name of its operator and a text."""
    call.__name__ = call.__qualname__ = name = function.op.name.removesuffix("_p")
    words = {"operands": operands, "given": given, "name": name, "printed": printed, "kind": kind}
    call.__doc__ = TEXT.format(first=function.__doc__, **words)


add = binary(basic.add_p, "[0.5, 8.0]")
sub = binary(basic.sub_p, "[0.0, 0.0]")
mul = binary(basic.mul_p, "[0.0625, 16.0]")
div = binary(basic.div_p, "[1.0, 1.0]")
max = binary(basic.max_p, "[0.25, 4.0]")
pow = binary(basic.pow_p, "[0.7071067690849304, 256.0]")
eq = binary(basic.eq_p, "[True, True]", ", bool")
ne = binary(basic.ne_p, "[False, False]", ", bool")
gt = binary(basic.gt_p, "[False, False]", ", bool")
ge = binary(basic.ge_p, "[True, True]", ", bool")
sqrt = unary(basic.sqrt_p, "[0.5, 2.0]")
rsqrt = unary(basic.rsqrt_p, "[2.0, 0.5]")
abs = unary(basic.abs_p, "[0.25, 4.0]")
tanh = unary(basic.tanh_p, "[0.24491865932941437, 0.9993293285369873]")
sin = unary(basic.sin_p, "[0.24740396440029144, -0.756802499294281]")
cos = unary(basic.cos_p, "[0.9689124226570129, -0.6536436080932617]")
exp = unary(basic.exp_p, "[1.2840255498886108, 54.598148345947266]")
log = unary(basic.log_p, "[-1.3862943649291992, 1.3862943649291992]")
erf = unary(basic.erf_p, "[0.27632638812065125, 1.0]")


def matmul(x: Any, y: Any, out: Any = None) -> Any:
    """The product of two matrices, or of two batches of as many.

    Args:
        x, y (Variable|Tensor): [m, k] and [k, n], or [b, m, k] and [b, k, n].
        out (Variable, optional): what is written, in static mode; a new one when None.

    Returns:
        Variable|Tensor: [m, n] or [b, m, n].

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.matmul(paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0], [3.0]]
    """
    return placed(basic.matmul_p, x, y, out=out)


def select(cond: Any, x: Any, y: Any, out: Any = None) -> Any:
    """`x` where `cond` holds, `y` elsewhere.

    Args:
        cond (Variable|Tensor): bool, of the shape of `x`.
        x, y (Variable|Tensor): of one shape and element type.
        out (Variable, optional): what is written, in static mode; a new one when None.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> x = paddle.to_tensor([-1.0, 2.0])
        >>> primops.select(x > 0, x, paddle.zeros([2])).tolist()
        [0.0, 2.0]
    """
    return placed(basic.select_p, cond, x, y, out=out)


def cast(x: Any, dtype: Any, out: Any = None) -> Any:
    """`x` in the element type `dtype`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.cast(paddle.to_tensor([1.5]), paddle.int64).tolist()
        [1]
    """
    return placed(basic.cast_p, x, dtype=dtype, out=out)


def reshape(x: Any, shape: Any, out: Any = None) -> Any:
    """The elements of `x` in another shape of as many.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.reshape(paddle.ones([2, 3]), shape=[6]).shape
        [6]
    """
    return placed(basic.reshape_p, x, shape=shape, out=out)


def broadcast(x: Any, shape: Any, out: Any = None) -> Any:
    """`x` repeated along axes of size 1 and new leading ones until it has this shape.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.broadcast(paddle.to_tensor([1.0, 2.0]), shape=[2, 2]).tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """
    return placed(basic.broadcast_p, x, shape=shape, out=out)


def transpose(x: Any, axis: Any = None, out: Any = None) -> Any:
    """`x` with its axes in the order `axis`; in the reverse order when None.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.transpose(paddle.ones([2, 3]), axis=[1, 0]).shape
        [3, 2]
    """
    order = tuple(reversed(range(len(x.shape)))) if axis is None else axis
    return placed(basic.transpose_p, x, axis=order, out=out)


def split(x: Any, num_or_sections: Any, axis: int = 0, outs: Any = None) -> Any:
    """Pieces of `x` along `axis`: as many equal ones, or one of each size in the list.

    Args:
        x (Variable|Tensor): what is cut.
        num_or_sections (int|list[int]): how many pieces, or their sizes.
        axis (int): the axis that is cut.
        outs (list[Variable], optional): what is written, in static mode; new ones when None.

    Returns:
        list[Variable|Tensor]: the pieces.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> [piece.shape for piece in primops.split(paddle.ones([3]), [1, 2])]
        [[1], [2]]
    """
    if not isinstance(num_or_sections, int | list | tuple):
        kind = type(num_or_sections).__name__
        raise ArgumentTypeError(f"`num_or_sections` is a number or a list, not {kind}")
    many = list(num_or_sections) if isinstance(num_or_sections, list | tuple) else None
    if many is not None and len(many) == 1:  # in the operator one number is how many
        return [reshape(x, x.shape, outs and outs[0])]
    return placed(basic.split_p, x, num_or_sections=many or num_or_sections, axis=axis, out=outs)


def concat(xs: Any, axis: int = 0, out: Any = None) -> Any:
    """The tensors `xs` one behind the other along `axis`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.concat([paddle.ones([1, 2]), paddle.zeros([1, 2])]).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
    """
    many = list(xs) if isinstance(xs, list | tuple) else [xs]
    return placed(basic.concat_p, many, axis=axis, out=out)


def reduce_sum(x: Any, axis: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """The sum of `x` along some axes.

    Args:
        x (Variable|Tensor): the summands.
        axis (list[int]|tuple[int]): the axes.
        keepdim (bool): whether they stay, with size 1.
        out (Variable, optional): what is written, in static mode; a new one when None.

    Raises:
        ArgumentTypeError: `axis` is no list, or `keepdim` no bool.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.reduce_sum(paddle.ones([2, 3]), axis=[1]).tolist()
        [3.0, 3.0]
    """
    if not isinstance(axis, list | tuple):
        raise ArgumentTypeError(f"`axis` is a list of axes, not {type(axis).__name__}")
    if not isinstance(keepdim, bool):
        raise ArgumentTypeError(f"`keepdim` is a bool, not {type(keepdim).__name__}")
    return placed(basic.reduce_sum_p, x, axis=axis, keepdim=keepdim, out=out)


def window(axis: Any, starts: Any, ends: Any, strides: Any) -> dict[str, Any]:
    """The attributes of a window, each a list with an entry an axis."""
    found = {"axis": axis, "starts": starts, "ends": ends, "strides": strides}
    for name, value in found.items():
        if not isinstance(value, list | tuple):
            raise ArgumentTypeError(f"`{name}` is a list, not {type(value).__name__}")
    if len({len(v) for v in found.values()}) > 1:
        counts = ", ".join(f"{len(v)} {n}" for n, v in found.items())
        raise AssertError(f"{counts} are not one each an axis")
    return found


def slice_select(x: Any, axis: Any, starts: Any, ends: Any, strides: Any, out: Any = None) -> Any:
    """The window of `x` from `starts` to before `ends`, in steps of `strides`, along `axis`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.slice_select(paddle.arange(5), [0], [1], [5], [2]).tolist()
        [1, 3]
    """
    return placed(basic.slice_select_p, x, **window(axis, starts, ends, strides), out=out)


def slice_assign(
    x: Any, y: Any, axis: Any, starts: Any, ends: Any, strides: Any, out: Any = None
) -> Any:
    """`x` with `y` in the window that `slice_select` would read.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.slice_assign(paddle.ones([3]), paddle.zeros([2]), [0], [1], [3], [1]).tolist()
        [1.0, 0.0, 0.0]
    """
    return placed(basic.slice_assign_p, x, y, **window(axis, starts, ends, strides), out=out)


def gather(x: Any, indextensor: Any, axis: int, out: Any = None) -> Any:
    """The slices of `x` along `axis` that `indextensor`, [n] of integers, lists.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.gather(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1, 1]), axis=0).tolist()
        [2.0, 2.0]
    """
    return placed(basic.gather_p, x, indextensor, axis=axis, out=out)


def scatter_add(x: Any, y: Any, indextensor: Any, axis: int, out: Any = None) -> Any:
    """`x` with the slices of `y` added where `gather` would read them.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> at = paddle.to_tensor([1, 1])
        >>> primops.scatter_add(paddle.zeros([2]), paddle.ones([2]), at, axis=0).tolist()
        [0.0, 2.0]
    """
    return placed(basic.scatter_add_p, x, y, indextensor, axis=axis, out=out)


def set_value(x: Any, y: Any, axis: Any, starts: Any, ends: Any, strides: Any, out: Any) -> Any:
    """Write `y` into a window of `x` itself, which `out` is too."""
    if x is not out:
        raise AssertError("`set_value` writes `x`, so `out` must be the same variable")
    attrs = window(axis, starts, ends, strides)
    bounds = {"axes": attrs.pop("axis"), "steps": attrs.pop("strides"), **attrs}
    block = main_program().current_block()
    block.append_op(
        type=whole_set_value.op.type,
        inputs={"Input": x, "ValueTensor": y},
        outputs={"Out": out},
        attrs=bounds,
    )
    return out


# ---- what has no operand, and what is made of several ----


def fill_const(value: float, shape: Any, dtype: Any, out: Any = None) -> Any:
    """A tensor of one value.

    Examples:
        >>> from scull.incubate.autograd import primops
        >>> primops.fill_const(2.0, [2], "float32").tolist()
        [2.0, 2.0]
    """
    return placed(basic.fill_constant_p, value=value, shape=shape, dtype=dtype, out=out)


def bernoulli(shape: Any, dtype: Any, p: float, out: Any = None) -> Any:
    """1 with the probability `p`, else 0, drawn for every element.

    Examples:
        >>> from scull.incubate.autograd import primops
        >>> primops.bernoulli([2], "float32", p=1.0).tolist()
        [1.0, 1.0]
    """
    return placed(basic.bernoulli_p, shape=shape, dtype=dtype, p=p, out=out)


def uniform_random(
    dtype: Any, min_value: float, max_value: float, seed: int, shape: Any = None, out: Any = None
) -> Any:
    """Numbers from `min_value` to before `max_value`, all equally likely.

    Examples:
        >>> from scull.incubate.autograd import primops
        >>> primops.uniform_random("float32", 0.0, 1.0, 0, shape=[2]).shape
        [2]
    """
    bounds = {"min": min_value, "max": max_value, "seed": seed}
    return placed(basic.uniform_random_p, shape=shape or (), dtype=dtype, **bounds, out=out)


def filled(value: float, like: Any) -> Any:
    """A tensor of one value in the shape and element type of `like`."""
    return fill_const(value, like.shape, like.dtype)


def ones(shape: Any, dtype: Any) -> Any:
    """A tensor of ones."""
    return fill_const(1, shape, dtype)


def zeros(shape: Any, dtype: Any) -> Any:
    """A tensor of zeros."""
    return fill_const(0, shape, dtype)


def neg(x: Any, out: Any = None) -> Any:
    """``0 - x``.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.neg(paddle.to_tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    return sub(filled(0.0, x), x, out)


def square(x: Any) -> Any:
    """`x` to the power 2.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.square(paddle.to_tensor([3.0])).tolist()
        [9.0]
    """
    return pow(x, filled(2.0, x))


def mean(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """The mean of `x` along some axes; along all when None.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> primops.mean(paddle.to_tensor([[1.0, 3.0]]), axis=[1]).tolist()
        [2.0]
    """
    axes = tuple(axis or range(len(x.shape)))
    total = reduce_sum(x, axis=axes, keepdim=keepdim)
    return div(total, filled(prod(x.shape[a] for a in axes), total))


def batch_norm(
    x: Any,
    axis: int,
    gamma: Any,
    beta: Any,
    run_mean: Any,
    run_var: Any,
    eps: float = 1e-5,
    momentum: float = 0.9,
    use_run_stat: bool = False,
    reserve_space: Any = None,
) -> tuple[Any, ...]:
    """Zero mean and unit variance for each place along `axis`, then times `gamma` plus `beta`.

    Args:
        x (Variable|Tensor): floating-point.
        axis (int): the axis of the channels.
        gamma, beta (Variable|Tensor): [channels], the scale and the shift.
        run_mean, run_var (Variable|Tensor): [channels], the statistics of earlier batches.
        eps (float): added to the variance.
        momentum (float): how much of the earlier statistics stays.
        use_run_stat (bool): whether the earlier statistics are used, which then stay.
        reserve_space (Variable, optional): handed back as it is.

    Returns:
        tuple: the new `run_mean`, `reserve_space` if given, mean and variance of the batch (zeros
        with `use_run_stat`), the new `run_var`, and the result.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> x = paddle.to_tensor([[1.0], [3.0]])
        >>> one, none = paddle.ones([1]), paddle.zeros([1])
        >>> primops.batch_norm(x, 1, one, none, none, one, eps=0.0)[-1].tolist()
        [[-1.0], [1.0]]
    """
    others = tuple(i for i in range(len(x.shape)) if i != axis)
    beside = tuple(1 if i in others else s for i, s in enumerate(x.shape))

    def wide(vector: Any) -> Any:
        return broadcast(reshape(vector, beside), x.shape)

    def kept(old: Any, new: Any) -> Any:
        share = filled(momentum, old)
        rest = sub(ones(old.shape, old.dtype), share)
        return add(mul(share, old), mul(rest, reshape(new, old.shape)))

    if use_run_stat:
        mean_now, var_now = filled(0, run_mean), filled(0, run_var)
        centred, spread = sub(x, wide(run_mean)), wide(run_var)
    else:
        mean_now = mean(x, others, keepdim=True)
        centred = sub(x, broadcast(mean_now, x.shape))
        var_now = mean(square(centred), others, keepdim=True)
        spread = broadcast(var_now, x.shape)
        run_mean, run_var = kept(run_mean, mean_now), kept(run_var, var_now)
    normal = div(centred, sqrt(add(spread, filled(eps, spread))))
    y = add(mul(wide(gamma), normal), wide(beta))
    reserved = () if reserve_space is None else (reserve_space,)
    return (run_mean, *reserved, mean_now, var_now, run_var, y)
