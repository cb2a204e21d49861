"""A table of the layers of a network: shapes, parameters, memory."""

import math
import warnings
from dataclasses import dataclass
from numbers import Number
from typing import Any

from scull.autograd import no_grad
from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.ir.mode import in_dynamic_mode
from scull.ir.variable import Variable
from scull.nn import LayerList, Sequential
from scull.nn.layer.rnn import Network
from scull.static.input import InputSpec
from scull.tensor import cast, rand

MEGABYTE = 1024**2


@dataclass(frozen=True)
class Row:
    """One layer of a network."""

    name: str
    inputs: Any
    outputs: Any
    parameters: int
    trainable: int


def summary(net: Any, input_size: Any = None, dtypes: Any = None, input: Any = None) -> Any:
    """Print a table of the layers of `net`, in the order in which they are called.

    Args:
        net (Layer): the network.
        input_size (tuple | InputSpec | list of them, optional): the shape of each input; one size,
            that of the batch, may be -1 or None.
        dtypes (str | list[str], optional): the element type of each input; float32 when None.
        input (Tensor | list | dict, optional): the input itself, instead of shapes.

    Returns:
        dict: `total_params` and `trainable_params`.

    Raises:
        ArgumentError: neither a shape nor an input is given, or a shape is none.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Sequential(paddle.nn.Linear(2, 3))
        >>> paddle.summary(layer, (1, 2))  # doctest: +NORMALIZE_WHITESPACE +ELLIPSIS
        ---------------------------------------------------------------------------
         Layer (type)       Input Shape          Output Shape         Param #
        ===========================================================================
           Linear-...         [[1, 2]]              [1, 3]               9
        ===========================================================================
        Total params: 9
        Trainable params: 9
        Non-trainable params: 0
        ---------------------------------------------------------------------------
        Input size (MB): 0.00
        Forward/backward pass size (MB): 0.00
        Params size (MB): 0.00
        Estimated Total Size (MB): 0.00
        ---------------------------------------------------------------------------
        <BLANKLINE>
        {'total_params': 9, 'trainable_params': 9}
    """
    if input_size is None and input is None:
        raise ArgumentError("input_size and input cannot be None at the same time")
    sizes = checked(shapes_of(input) if input_size is None else declared(input_size))
    if not in_dynamic_mode():
        warnings.warn(
            "Your model was created in static graph mode, this may not get correct summary "
            "information!",
            stacklevel=2,
        )
    training = net.training
    net.eval()
    try:
        rows = called(net, made(sizes, dtypes) if input is None else [input])
    finally:
        if training:
            net.train()
    parameters, trainable = (sum(getattr(r, n) for r in rows) for n in ("parameters", "trainable"))
    print(text_of(rows, sizes))
    return {"total_params": parameters, "trainable_params": trainable}


def shapes_of(value: Any) -> Any:
    """The shapes of an input."""
    if isinstance(value, Tensor | Variable):
        return tuple(value.shape)
    if isinstance(value, list | tuple | dict):
        values = value.values() if isinstance(value, dict) else value
        return [tuple(v.shape) for v in values]
    raise ArgumentError(
        "Input is not tensor, list, tuple and dict, unable to determine input_size, please input "
        "input_size."
    )


def declared(size: Any) -> Any:
    """A shape, or a list of shapes."""
    if isinstance(size, InputSpec):
        return tuple(size.shape)
    if isinstance(size, int):
        return (size,)
    return [declared(v) for v in size] if isinstance(size, list) else size


def is_shape(size: Any) -> bool:
    """Whether this is one shape, not several."""
    return isinstance(size, tuple) and not any(isinstance(n, list | tuple) for n in size)


def checked(size: Any) -> Any:
    """Shapes with 1 for what is unknown."""
    if not is_shape(size):
        return [checked(v) for v in size]
    if sum(n in (None, -1) for n in size) > 1:
        raise ArgumentError("Option input_size only the dim of batch_size can be None or -1.")
    for n in size:
        if isinstance(n, Number) and n != -1 and n <= 0:
            raise ArgumentError(f"Expected element in input size greater than zero, but got {n}")
    return tuple(1 if n in (None, -1) else n for n in size)


def made(sizes: Any, dtypes: Any) -> list[Any]:
    """Random inputs of these shapes."""
    shapes = [sizes] if is_shape(sizes) else sizes
    kinds = dtypes if isinstance(dtypes, list | tuple) else [dtypes] * len(shapes)
    return [
        cast(rand(list(shape)), dtype or "float32") if is_shape(shape) else made(shape, dtype)
        for shape, dtype in zip(shapes, kinds, strict=True)
    ]


def called(net: Any, inputs: list[Any]) -> list[Row]:
    """The layers that a call of `net` on `inputs` calls."""
    rows: dict[str, Row] = {}

    def note(layer: Any, given: Any, found: Any) -> None:
        number = layer._full_name.split("_")[-1]
        place = int(number) if number.isdigit() else len(rows)
        name = f"{type(layer).__name__}-{place + 1}"
        own = [p for p in layer._parameters.values() if p is not None]
        free = [p for p in own if p.trainable and not p.stop_gradient]
        counts = (sum(math.prod(p.shape) for p in ps) for ps in (own, free))
        rows[name] = Row(name, shapes(given, None), shapes(found, []), *counts)

    alone = not net.sublayers()
    handles = [
        layer.register_forward_post_hook(note)
        for layer in net.sublayers(include_self=True)
        if isinstance(layer, Network)
        or (not isinstance(layer, Sequential | LayerList) and (layer is not net or alone))
    ]
    try:
        with no_grad():
            net(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return list(rows.values())


def shapes(value: Any, other: Any) -> Any:
    """The shapes of what a layer gets or returns; `other` stands for what has none."""
    if isinstance(value, list | tuple):
        return [shapes(v, other) for v in value]
    return list(value.shape) if hasattr(value, "shape") else other


def elements(shape: Any) -> int:
    """The elements of all tensors of some shapes."""
    if shape and isinstance(shape[0], list | tuple):
        return sum(map(elements, shape))
    return math.prod(shape)


def text_of(rows: list[Row], sizes: Any) -> str:
    """The table."""
    cells = [(r.name, str(r.inputs), str(r.outputs), f"{r.parameters:,}") for r in rows]
    widths = [
        max([least, *(len(row[i]) for row in cells)]) for i, least in enumerate((15, 20, 20, 15))
    ]
    width = max(75, sum(widths) + 5)
    head = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
    lines = [" ".join(f"{c:^{w}}" for c, w in zip(row, widths, strict=True)) for row in cells]
    title = " ".join(f"{c:^{w}}" for c, w in zip(head, widths, strict=True))
    parameters, trainable = (sum(getattr(r, n) for r in rows) for n in ("parameters", "trainable"))
    given = [sizes] if is_shape(sizes) else sizes
    inputs = elements([list(s) for s in given]) * 4 / MEGABYTE
    passes = 2 * sum(elements(r.outputs) for r in rows) * 4 / MEGABYTE  # with gradients
    weights = parameters * 4 / MEGABYTE
    thin, thick = "-" * width, "=" * width
    return "\n".join(
        [
            thin,
            title,
            thick,
            *lines,
            thick,
            f"Total params: {parameters:,}",
            f"Trainable params: {trainable:,}",
            f"Non-trainable params: {parameters - trainable:,}",
            thin,
            f"Input size (MB): {inputs:0.2f}",
            f"Forward/backward pass size (MB): {passes:0.2f}",
            f"Params size (MB): {weights:0.2f}",
            f"Estimated Total Size (MB): {weights + passes + inputs:0.2f}",
            thin,
            "",
        ]
    )
