"""How many arithmetic operations on numbers an operator takes, told by the shapes it is given."""

from collections.abc import Callable
from math import prod
from typing import Any

Shapes = dict[
    str, list[int]
]  # by the name of the operand, in lower case: the shape of the first there
Count = Callable[[Shapes, dict[str, Any]], int]


def flops(op_type: str, input_shapes: dict[str, Any], attrs: dict[str, Any]) -> int:
    """The operations an operator takes; 0 of one that is not counted or whose shapes are unknown.

    Args:
        op_type (str): the type of the operator.
        input_shapes (dict): by the name of an input a list of shapes.
        attrs (dict): the attributes.

    Returns:
        int: additions and multiplications, each as one.

    Examples:
        >>> import scull as paddle
        >>> paddle.utils.flops.flops("matmul_v2", {"X": [[2, 3]], "Y": [[3, 4]]}, {})
        48
    """
    count = COUNTS.get(op_type)
    shapes = {n.lower(): list(found[0]) for n, found in input_shapes.items() if found}
    try:
        return count(shapes, {n.lower(): v for n, v in attrs.items()}) if count else 0
    except (LookupError, TypeError, ValueError):
        return 0


def times(factor: int) -> Count:
    """So many operations an element of the first operand."""
    return lambda shapes, attrs: factor * prod(shapes["x"])


def elementwise(shapes: Shapes, attrs: dict[str, Any]) -> int:
    """One operation an element of the result."""
    return prod(aligned(shapes["x"], shapes["y"]))


def aligned(x: list[int], y: list[int]) -> list[int]:
    """The shape two shapes broadcast to."""
    rank = max(len(x), len(y))
    pairs = zip([1] * (rank - len(x)) + x, [1] * (rank - len(y)) + y, strict=True)
    return [max(pair) for pair in pairs]


def layer_norm(shapes: Shapes, attrs: dict[str, Any]) -> int:
    """Of the mean, the variance and what both are used for."""
    return (8 if attrs.get("epsilon") else 7) * prod(shapes["x"])


def matmul(shapes: Shapes, attrs: dict[str, Any]) -> int:
    """A multiplication and an addition for each element of a row of each result."""
    x, y = shapes["x"], shapes["y"]
    *left, m, k = [*x[:-2], x[-1], x[-2]] if turned(attrs, "x") else x
    *right, _, n = [*y[:-2], y[-1], y[-2]] if turned(attrs, "y") else y
    return 2 * prod(aligned(left, right)) * m * k * n


def turned(attrs: dict[str, Any], operand: str) -> bool:
    """Whether an operand of a product is transposed, as either spelling says."""
    return bool(attrs.get(f"transpose_{operand}") or attrs.get(f"trans_{operand}"))


def linear(shapes: Shapes, attrs: dict[str, Any]) -> int:
    """A product with a matrix, and the bias."""
    x, weight = shapes["x"], shapes["weight"]
    results = prod(x[:-1]) * weight[-1]
    return 2 * results * x[-1] + (results if "bias" in shapes else 0)


def flattened(shapes: Shapes, attrs: dict[str, Any]) -> int:
    """A product of two operands seen as matrices."""
    x, y = shapes["x"], shapes["y"]
    return 2 * prod(x) * prod(y[attrs.get("y_num_col_dims", 1) :])


def convolution(shapes: Shapes, attrs: dict[str, Any]) -> int:
    """A multiplication and an addition for each weight at each place of each filter."""
    x, (filters, _, *kernel) = shapes["input"], shapes["filter"]
    last = attrs.get("data_format") == "NHWC"
    batch, channels, sizes = x[0], x[-1] if last else x[1], x[1:-1] if last else x[2:]
    steps = list(zip(sizes, kernel, attrs["strides"], attrs["dilations"], strict=True))
    padding = attrs.get("padding_algorithm", "EXPLICIT")
    if padding == "SAME":
        places = [-(-size // stride) for size, _, stride, _ in steps]
    else:
        added = around(attrs["paddings"], len(kernel)) if padding == "EXPLICIT" else [0, 0]
        places = [
            (size + pad - dilation * (width - 1) - 1) // stride + 1
            for (size, width, stride, dilation), pad in zip(steps, added, strict=True)
        ]
    results = batch * prod(places)
    found: int = 2 * results * prod(kernel) * channels * (filters // (attrs.get("groups") or 1))
    return found + (filters * results if "bias" in shapes else 0)


def around(paddings: list[int], rank: int) -> list[int]:
    """What is added along each axis, on both sides together."""
    if len(paddings) == rank:
        return [2 * n for n in paddings]
    return [a + b for a, b in zip(paddings[::2], paddings[1::2], strict=True)]


ONCE = "elu leaky_relu pool pool2d prelu relu relu6 sigmoid silu tanh"
PAIRS = """
    add divide elementwise_add elementwise_div elementwise_mul elementwise_sub multiply subtract"""
COUNTS: dict[str, Count] = {
    **dict.fromkeys(ONCE.split(), times(1)),
    **dict.fromkeys(PAIRS.split(), elementwise),
    **dict.fromkeys(("conv2d", "depthwise_conv2d"), convolution),
    **dict.fromkeys(("matmul", "matmul_v2"), matmul),
    "gelu": times(5),
    "layer_norm": layer_norm,
    "linear": linear,
    "mul": flattened,
    "softmax": times(3),
    "fused_softmax_mask_upper_triangle": times(3),
}
