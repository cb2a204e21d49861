"""Several operators as one: products with a bias and an activation, pairs of elementwise ones."""

from collections.abc import Callable
from typing import Any

from scull.core.attribute import Ints, Strings
from scull.core.eager import composite
from scull.core.meta import agree
from scull.errors import ArgumentError, ShapeError
from scull.ops.activation import gelu
from scull.ops.convolution import conv2d
from scull.ops.create import scale as scaled
from scull.ops.elementwise import add, aligned, multiply
from scull.ops.linear import matmul, mul
from scull.ops.math import relu, sigmoid, tanh

ACTIVATIONS: dict[str, Any] = {"relu": relu, "gelu": gelu, "tanh": tanh, "sigmoid": sigmoid}
NONE = ("", "none", "identity")
PAIRED: dict[str, Any] = {"elementwise_add": add, "elementwise_mul": multiply}


def activated(x: Any, name: str) -> Any:
    """`x`, or an activation of it."""
    return x if name in NONE else activation_of(name)(x)


def activation_of(name: str) -> Any:
    """The activation of this name."""
    if name not in ACTIVATIONS:
        raise ArgumentError(f"there is no activation {name!r}; there are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def activate(xp: Any, x: Any, name: str, out: Any) -> Any:
    """An activation of the array `x`, whose memory it may take; in `out`, when that is given."""
    if name in NONE:
        return x
    x = xp.asarray(x)
    op = activation_of(name).op
    if op.over is not None:
        return op.over(x, out=x)
    return op.cpu(x, out=out, **op.attrs)


def room(name: str, out: Any) -> Any:
    """Where what an activation is given may lie: in `out`, unless that is not read to the end."""
    in_place = name in NONE or activation_of(name).op.over is not None
    return out if in_place else None


def check_row(bias: Any, product: Any) -> None:
    """Refuse what is not a number for each column."""
    if len(bias.shape) != 1:
        raise ShapeError(f"bias has {len(bias.shape)} axes, not one")
    agree(bias.shape[0], product.shape[-1], "bias has {} elements, the product has {} columns")


@composite(attrs={"transpose_x": "trans_x", "transpose_y": "trans_y"})
def fused_gemm_epilogue(
    x,
    y,
    bias,
    *,
    transpose_x: bool = False,
    transpose_y: bool = False,
    activation: str = "none",
):
    """``activation(matmul(x, y) + bias)``, the bias a row."""
    product = matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)
    check_row(bias, product)
    return activated(add(product, bias), activation)


@fused_gemm_epilogue.kernel
def fused_gemm_epilogue_kernel(
    xp: Any, x: Any, y: Any, bias: Any, *, out: Any = None, activation: str, **turns: bool
) -> Any:
    product = matmul.op.cpu(x, y, out=room(activation, out), **turns)
    check_row(bias, product)
    product += bias
    return activate(xp, product, activation, out)


FC = {"padding_weights": False, "use_mkldnn": False, "use_quantizer": False}


@composite(slots={"weight": "W"}, fixed=FC)
def fc(input, weight, bias=None, *, in_num_col_dims: int = 1, activation_type: str = ""):
    """``activation(input @ weight + bias)``, the first axes of `input` as rows of a matrix."""
    product = mul(input, weight, x_num_col_dims=in_num_col_dims)
    if bias is not None:
        product = add(product, bias)
    return activated(product, activation_type)


@fc.kernel
def fc_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    out: Any = None,
    in_num_col_dims: int,
    activation_type: str,
) -> Any:
    taken = room(activation_type, out)
    product = mul.op.cpu(input, weight, out=taken, x_num_col_dims=in_num_col_dims)
    if bias is not None:
        product += bias.reshape(-1)
    return activate(xp, product, activation_type, out)


def unary(name: str, factor: float) -> Callable[[Any], Any]:
    """The function of one operand that a list of functors names."""
    if name == "scale":
        return lambda x: scaled(x, scale=factor)
    return activation_of(name)


def compound(
    functors: tuple[str, ...], factor: float
) -> Callable[[Any, Any, int], tuple[Any, Any]]:
    """What two functors make of two operands, and the value between: one of them takes two."""
    if len(functors) != 2 or sum(name in PAIRED for name in functors) != 1:
        raise ArgumentError(f"functor_list is {list(functors)}: one of two is to join operands")
    first, second = functors
    if second in PAIRED:  # unary(binary(x, y))
        joined, outer = PAIRED[second], unary(first, factor)

        def after(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
            between = joined(x, y, axis=axis)
            return outer(between), between

        return after
    inner, join = unary(second, factor), PAIRED[first]

    def before(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
        between = inner(y)
        return join(x, between, axis=axis), between

    return before


def declare_pair(name: str) -> Any:
    """The operator of this name: two functors, one after the other."""

    def body(
        x,
        y,
        *,
        axis: int = -1,
        scale: float = 0.0,
        save_intermediate_out: bool = False,
        functor_list: Strings = (),
    ):
        """``unary(binary(x, y))`` or ``binary(x, unary(y))``, and the value between if asked."""
        found, between = compound(functor_list, scale)(x, y, axis)
        return found, between if save_intermediate_out else None

    body.__name__ = name
    return composite(body, outputs=("out", "intermediate_out"), hidden=("intermediate_out",))


fused_elemwise_activation = declare_pair("fused_elemwise_activation")
fused_elemwise_add_activation = declare_pair("fused_elemwise_add_activation")


def pair_kernel(
    xp: Any,
    x: Any,
    y: Any,
    *,
    out: Any = None,
    axis: int,
    scale: float,
    save_intermediate_out: bool,
    functor_list: tuple[str, ...],
) -> Any:
    """The kernel of pairs: what lies between takes the memory of the result."""
    first, second = functor_list if len(functor_list) == 2 else ("", "")
    target = None if out is None else out[0]
    if second not in PAIRED or first not in ACTIVATIONS or save_intermediate_out:
        found, between = compound(functor_list, scale)(x, y, axis)
        return found, between if save_intermediate_out else None
    y = aligned(x, y, axis)
    between = PAIRED[second].op.cpu(x, y, out=room(first, target))
    return activate(xp, between, first, target), None


fused_elemwise_activation.kernel(pair_kernel)
fused_elemwise_add_activation.kernel(pair_kernel)


def some(functors: tuple[str, ...]) -> tuple[str, ...]:
    """The functors, of which there is one at least."""
    if not functors:
        raise ArgumentError("functor_list is empty")
    return functors


@composite
def fused_activations(x, *, functor_list: Strings):
    """Activations, the last of the list first, as in ``relu(tanh(x))``."""
    some(functor_list)
    for name in reversed(functor_list):
        x = activation_of(name)(x)
    return x


@fused_activations.kernel
def fused_activations_kernel(
    xp: Any, x: Any, *, out: Any = None, functor_list: tuple[str, ...]
) -> Any:
    *rest, first = some(functor_list)
    op = activation_of(first).op
    target = out if all(room(name, out) is out for name in rest) else None
    found = op.cpu(x, out=target, **op.attrs)
    for i, name in enumerate(reversed(rest)):
        found = activate(xp, found, name, out if i == len(rest) - 1 else None)
    return found


@composite(
    outputs=("output", "outputs[]"),
    hidden=("outputs",),
    fixed={"exhaustive_search": False, "workspace_size_MB": 512, "fuse_alpha": 0.0},
)
def fused_conv2d_add_act(
    input,
    filter,
    bias=None,
    residual_data=None,
    *,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    padding_algorithm: str = "EXPLICIT",
    dilations: Ints = (1, 1),
    groups: int = 1,
    data_format: str = "NCHW",
    activation: str = "relu",
    split_channels: Ints = (),
):
    """``activation(convolution + bias + residual_data)``, a number of `bias` for each channel."""
    if split_channels:
        raise ArgumentError(f"split_channels is {list(split_channels)}: results are not split")
    found = conv2d(
        input,
        filter,
        strides=strides,
        paddings=paddings,
        padding_algorithm=padding_algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format,
    )
    if bias is not None:
        found = add(found, bias, axis=1 if data_format == "NCHW" else -1)
    if residual_data is not None:
        found = add(found, residual_data)
    return activated(found, activation), []
