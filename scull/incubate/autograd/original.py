"""How everyday operators are made of basic ones.

A rule takes the operator and what it reads, in the order in which its slots are sorted, and gives
what stands for its results, sorted likewise. Where sizes must be known, or a tensor says what an
attribute could, it refuses: such an operator stays as it is.
"""

import math
from collections.abc import Callable
from math import prod
from typing import Any

from scull.incubate.autograd import primops
from scull.incubate.autograd.primops import filled
from scull.ops.batch_norm import channel_axis, uses_given
from scull.passes.site import require

RULES: dict[str, Callable[..., Any]] = {}


def rule(*types: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Note the rule of operators of these types."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(types, function))
        return function

    return note


def sized(x: Any) -> Any:
    """The shape of `x`, all of which is known."""
    require(-1 not in x.shape, f"a size of `{x.name}` is not known")
    return x.shape


def same(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of an operator that is a basic one but for its spelling."""
    return lambda o, *operands: function(*operands)


def stretching(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of an operator of two tensors, the second of which is stretched to the first."""

    def made(o: Any, x: Any, y: Any) -> Any:
        require(o.attrs.get("axis", -1) == -1, "its operands meet at an axis")
        if x.shape != y.shape:
            sized(x)
            require(len(y.shape) <= len(x.shape), "its first operand is stretched")
            pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
            require(all(b in (1, a) for a, b in pairs), "its first operand is stretched")
            y = primops.broadcast(y, shape=x.shape)
        return function(x, y)

    return made


for name in ("tanh", "sin", "cos", "exp", "erf", "abs", "log", "sqrt", "rsqrt"):
    RULES[name] = same(getattr(primops, name))
for name, function in {
    "elementwise_add": primops.add,
    "elementwise_sub": primops.sub,
    "elementwise_mul": primops.mul,
    "elementwise_div": primops.div,
    "elementwise_max": primops.max,
    "elementwise_pow": primops.pow,
    "equal": primops.eq,
    "not_equal": primops.ne,
    "greater_than": primops.gt,
    "greater_equal": primops.ge,
}.items():
    RULES[name] = stretching(function)


@rule("where")
def where(o: Any, condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds."""
    require(condition.shape == x.shape == y.shape, "its operands are stretched")
    return primops.select(condition, x, y)


@rule("square")
def square(o: Any, x: Any) -> Any:
    """`x` to the power 2."""
    sized(x)
    return primops.square(x)


@rule("pow")
def pow(o: Any, factor: Any, x: Any) -> Any:
    """`x` to a power that is one number."""
    require(factor is None, "a tensor gives its power")
    sized(x)
    return primops.pow(x, filled(o.attrs["factor"], x))


@rule("sigmoid")
def sigmoid(o: Any, x: Any) -> Any:
    """1 / (1 + e^-x)."""
    sized(x)
    return primops.div(filled(1.0, x), primops.add(filled(1.0, x), primops.exp(primops.neg(x))))


@rule("gelu")
def gelu(o: Any, x: Any) -> Any:
    """`x` times the probability that a normal number is below it."""
    sized(x)
    if not o.attrs["approximate"]:
        scaled = primops.mul(x, filled(1 / math.sqrt(2.0), x))
        below = primops.add(filled(1.0, x), primops.erf(scaled))
        return primops.mul(primops.mul(filled(0.5, x), x), below)
    cubes = primops.mul(filled(0.044715, x), primops.pow(x, filled(3.0, x)))
    bent = primops.mul(filled(math.sqrt(2 / math.pi), x), primops.add(x, cubes))
    below = primops.add(filled(1.0, x), primops.tanh(bent))
    return primops.mul(x, primops.mul(filled(0.5, x), below))


@rule("scale")
def scale(o: Any, tensor: Any, x: Any) -> Any:
    """A multiple of `x` and a number."""
    sized(x)
    require(tensor is None or tensor.shape == x.shape, "a tensor gives its factor")
    factor = filled(o.attrs["scale"], x) if tensor is None else tensor
    bias = filled(o.attrs["bias"], x)
    if o.attrs["bias_after_scale"]:
        return primops.add(primops.mul(x, factor), bias)
    return primops.mul(primops.add(x, bias), factor)


@rule("assign")
def assign(o: Any, x: Any) -> Any:
    """`x` and 0."""
    require(x is not None, "it has no operand")
    sized(x)
    return primops.add(x, filled(0.0, x))


@rule("sum")
def total(o: Any, xs: Any) -> Any:
    """The sum of some tensors."""
    first, *others = xs if isinstance(xs, list) else [xs]
    for x in others:
        first = primops.add(first, x)
    return first


@rule("cast")
def cast(o: Any, x: Any) -> Any:
    """`x` in another element type."""
    return primops.cast(x, o.attrs["out_dtype"])


# ---- what has no operand, or needs only its shape ----


@rule("fill_constant")
def fill_constant(o: Any, *tensors: Any) -> Any:
    """A tensor of one value."""
    require(not any(tensors), "a tensor gives its shape or value")
    require(not o.attrs["str_value"] or exact(o), "its value does not fit 32 bits")
    return primops.fill_const(o.attrs["value"], o.attrs["shape"], o.attrs["dtype"])


def exact(o: Any) -> bool:
    """Whether the text of a value says what the number beside it does."""
    try:
        return float(o.attrs["str_value"]) == o.attrs["value"]
    except ValueError:
        return False


@rule("fill_any_like")
def fill_any_like(o: Any, x: Any) -> Any:
    """A tensor of one value in the shape of another."""
    return primops.fill_const(o.attrs["value"], sized(x), o.attrs["dtype"] or x.dtype)


@rule("size")
def size(o: Any, x: Any) -> Any:
    """How many elements there are."""
    return primops.fill_const(prod(sized(x)), (), "int64")


@rule("uniform_random")
def uniform_random(o: Any, tensor: Any, tensors: Any) -> Any:
    """Numbers between two."""
    require(tensor is None and not tensors, "a tensor gives its shape")
    require(not o.attrs["diag_num"], "it has a diagonal of its own")
    attrs = {n: o.attrs[n] for n in ("dtype", "seed", "shape")}
    return primops.uniform_random(min_value=o.attrs["min"], max_value=o.attrs["max"], **attrs)


@rule("dropout")
def dropout(o: Any, seed: Any, x: Any) -> Any:
    """The mask, and what it leaves of `x`."""
    require(seed is None and not o.attrs["fix_seed"], "it has a seed")
    sized(x)
    rest = 1.0 - o.attrs["dropout_prob"]
    scaled = o.attrs["dropout_implementation"] == "upscale_in_train"
    mask = primops.bernoulli(shape=x.shape, dtype=x.dtype, p=rest)
    if not o.attrs["is_test"]:
        y = primops.mul(x, mask)
        y = primops.div(y, filled(rest, x)) if scaled else y
    else:
        y = x if scaled else primops.mul(x, filled(rest, x))
    return primops.cast(mask, dtype="uint8"), y


# ---- shapes ----


@rule("reshape2")
def reshape2(o: Any, shape: Any, shapes: Any, x: Any) -> Any:
    """The elements in another shape, and zeros for the record of the old one."""
    require(shape is None and not shapes, "a tensor gives its shape")
    y, record = o.outputs
    made = primops.reshape(x, sized(y))
    return made, None if record is None else filled(0.0, record)


@rule("concat")
def concat(o: Any, axis: Any, xs: Any) -> Any:
    """Tensors one behind the other."""
    require(axis is None, "a tensor gives its axis")
    return primops.concat(xs, axis=o.attrs["axis"])


@rule("slice")
def slice(o: Any, ends: Any, ends_list: Any, x: Any, starts: Any, starts_list: Any) -> Any:
    """A window; some of its axes are dropped."""
    given = ends is not None or starts is not None or ends_list or starts_list
    require(not given, "a tensor gives its bounds")
    steps = [1] * len(o.attrs["starts"])
    sized(o.outputs[0])
    y = primops.slice_select(x, o.attrs["axes"], o.attrs["starts"], o.attrs["ends"], steps)
    return primops.reshape(y, o.outputs[0].shape) if o.attrs["decrease_axis"] else y


@rule("index_select")
def index_select(o: Any, places: Any, x: Any) -> Any:
    """The slices that a list names."""
    require(len(places.shape) == 1, "its index is no list")
    return primops.gather(x, places, axis=o.attrs["axis"])


# ---- sums and products ----


@rule("matmul_v2")
def matmul_v2(o: Any, x: Any, y: Any) -> Any:
    """The product of two matrices or as many of them."""
    axes = len(x.shape), len(y.shape)
    require(axes in ((2, 2), (3, 3)), f"its operands have {axes[0]} and {axes[1]} axes")
    require(axes == (2, 2) or x.shape[0] == y.shape[0], "one of its operands is stretched")
    order = [*range(axes[0] - 2), axes[0] - 1, axes[0] - 2]
    x = primops.transpose(x, axis=order) if o.attrs["transpose_x"] else x
    y = primops.transpose(y, axis=order) if o.attrs["transpose_y"] else y
    return primops.matmul(x, y)


def summed_axes(o: Any, x: Any) -> tuple[int, ...]:
    """The axes that a reduction takes away, counted from 0."""
    count = len(x.shape)
    if o.attrs["reduce_all"] or not o.attrs["axis"]:
        return tuple(range(count))
    return tuple(a % count for a in o.attrs["axis"])


@rule("reduce_sum")
def reduce_sum(o: Any, x: Any) -> Any:
    """The sum along some axes."""
    require(o.attrs["out_dtype"] in (None, x.dtype), "it changes the element type")
    return primops.reduce_sum(x, axis=summed_axes(o, x), keepdim=o.attrs["keepdim"])


@rule("reduce_mean")
def reduce_mean(o: Any, x: Any) -> Any:
    """The mean along some axes."""
    sized(x)
    return primops.mean(x, summed_axes(o, x), o.attrs["keepdim"])


@rule("p_norm")
def p_norm(o: Any, x: Any) -> Any:
    """The norm of all elements, of order 1 or 2."""
    require(o.attrs["asvector"] and not o.attrs["keepdim"], "it is a norm along an axis")
    order = o.attrs["porder"]
    require(order in (1.0, 2.0), f"its order is {order:g}")
    x = primops.reshape(x, [prod(sized(x))]) if len(x.shape) != 1 else x
    if order == 2.0:
        return primops.sqrt(primops.reduce_sum(primops.mul(x, x), axis=[0]))
    return primops.reduce_sum(primops.abs(x), axis=[0])


@rule("batch_norm")
def batch_norm(
    o: Any, bias: Any, mean: Any, momentum: Any, scale: Any, variance: Any, x: Any
) -> Any:
    """Zero mean and unit variance of each channel."""
    require(momentum is None, "a tensor gives its momentum")
    require(bias is not None and scale is not None, "it has no scale or bias")
    require(x.dtype is mean.dtype, "its statistics have another element type")
    sized(x)
    flags = (o.attrs[n] for n in ("is_test", "use_global_stats", "trainable_statistics"))
    reserve = o.outputs[o.op.outputs.index("reserve_space")]
    first, *others = primops.batch_norm(
        x,
        channel_axis(x, o.attrs["data_layout"]),
        scale,
        bias,
        mean,
        variance,
        eps=o.attrs["epsilon"],
        momentum=o.attrs["momentum"],
        use_run_stat=uses_given(*flags),
    )
    return first, reserve, *others
