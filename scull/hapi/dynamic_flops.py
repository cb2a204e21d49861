"""How many operations the layers of a network take for one input."""

import math
import warnings
from collections.abc import Callable
from typing import Any

from scull import nn
from scull.autograd import no_grad
from scull.errors import UnsupportedError
from scull.ir.program import Program
from scull.tensor import randn, zeros


def flops(
    net: Any, input_size: Any, custom_ops: dict[Any, Any] | None = None, print_detail: bool = False
) -> int:
    """Print and return how many operations `net` takes for an input: a product with a sum is one.

    Args:
        net (Layer): the network.
        input_size (list[int]): the shape of its input.
        custom_ops (dict, optional): by class of layer a function of layer, inputs and result, which
            adds to `layer.total_ops`.
        print_detail (bool): print a table of the layers, too.

    Returns:
        int: the operations; -1, with a warning, where `net` is no Layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.flops(paddle.nn.Sequential(paddle.nn.Linear(2, 3)), [4, 2])
        <class 'scull.nn.layer.linear.Linear'>'s flops has been counted
        Total Flops: 24     Total Params: 9
        24
    """
    if isinstance(net, Program):
        raise UnsupportedError(
            "flops counts those of a Layer; of an operator of a Program paddle.utils.flops does"
        )
    if not isinstance(net, nn.Layer):
        warnings.warn(
            "Your model must be an instance of paddle.nn.Layer or paddle.static.Program.",
            stacklevel=2,
        )
        return -1
    rows = counted(net, randn(input_size), custom_ops or {})
    if print_detail:
        print_table([("Layer Name", "Input Shape", "Output Shape", "Params", "Flops"), *rows])
    total, parameters = sum(row[4] for row in rows), sum(row[3] for row in rows)
    print(f"Total Flops: {total}     Total Params: {parameters}")
    return total


def counted(net: Any, input: Any, custom_ops: dict[Any, Any]) -> list[tuple[Any, ...]]:
    """Name, shapes, parameters and operations of each layer without layers within."""
    leaves = [layer for layer in net.sublayers(include_self=True) if not list(layer.children())]
    shapes: dict[Any, tuple[Any, Any]] = {}
    said: set[type] = set()
    handles = []

    def note(layer: Any, given: Any, found: Any) -> None:
        result = found[0] if isinstance(found, list | tuple) else found
        shapes[layer] = list(given[0].shape), list(result.shape)

    for layer in leaves:
        count = chosen(type(layer), custom_ops, said)
        layer.register_buffer("total_ops", zeros([1], "int64"))
        hooks = [note] if count is None else [count, note]
        handles += [layer.register_forward_post_hook(hook) for hook in hooks]
    training = net.training
    net.eval()
    try:
        with no_grad():
            net(input)
        return [
            (
                layer.full_name(),
                *shapes[layer],
                sum(math.prod(p.shape) for p in layer.parameters()),
                int(layer.total_ops),
            )
            for layer in leaves
            if layer in shapes
        ]
    finally:
        if training:
            net.train()
        for handle in handles:
            handle.remove()
        for layer in leaves:
            layer._buffers.pop("total_ops")


def chosen(kind: type, custom_ops: dict[Any, Any], said: set[type]) -> Callable[..., None] | None:
    """What counts the operations of a class of layers; said once a class."""
    count = custom_ops.get(kind, COUNTS.get(kind))
    if kind not in said:
        said.add(kind)
        if kind in custom_ops:
            print(f"Customize Function has been applied to {kind}")
        elif count is not None:
            print(f"{kind}'s flops has been counted")
        else:
            print(f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")
    return count


def size(x: Any) -> int:
    """How many elements a tensor has."""
    return math.prod(x.shape)


def count_convolution(layer: Any, x: Any, y: Any) -> None:
    window = math.prod(layer.weight.shape[2:])
    products = x[0].shape[1] / layer._groups * window + (layer.bias is not None)
    layer.total_ops += int(size(y) * products)


def count_elements(factor: int) -> Callable[..., None]:
    """So many operations an element of the input."""

    def count(layer: Any, x: Any, y: Any) -> None:
        layer.total_ops += factor * size(x[0])

    return count


def count_linear(layer: Any, x: Any, y: Any) -> None:
    layer.total_ops += layer.weight.shape[0] * size(y)


def count_average(layer: Any, x: Any, y: Any) -> None:
    layer.total_ops += size(y)


def count_adaptive(layer: Any, x: Any, y: Any) -> None:
    windows = [n // m for n, m in zip(x[0].shape[2:], y.shape[2:], strict=True)]
    layer.total_ops += (math.prod(windows) + 1) * size(y)


CONVOLUTIONS = "Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose"
COUNTS: dict[Any, Callable[..., None]] = {
    **{getattr(nn, name): count_convolution for name in CONVOLUTIONS.split()},
    **{getattr(nn, f"AvgPool{n}D"): count_average for n in (1, 2, 3)},
    **{getattr(nn, f"AdaptiveAvgPool{n}D"): count_adaptive for n in (1, 2, 3)},
    **{kind: count_elements(0) for kind in (nn.ReLU, nn.ReLU6, nn.Dropout)},
    **{kind: count_elements(2) for kind in (nn.BatchNorm2D, nn.BatchNorm)},
    nn.LeakyReLU: count_elements(1),
    nn.Linear: count_linear,
}


def print_table(rows: list[tuple[Any, ...]]) -> None:
    """Print rows in a frame, the first as a head."""
    cells = [[str(c) for c in row] for row in rows]
    widths = [max(map(len, column)) + 2 for column in zip(*cells, strict=True)]
    shelf = "+" + "+".join("-" * w for w in widths) + "+"
    lines = ["|" + "|".join(map(str.center, row, widths)) + "|" for row in cells]
    print("\n".join([shelf, lines[0], shelf, *lines[1:], shelf]))
