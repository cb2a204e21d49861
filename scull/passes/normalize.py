"""Statistics folded into what comes before: a convolution and `batch_norm` are a convolution."""

from typing import Any

import numpy as np

from scull.core.op import op_of
from scull.ir.variable import Variable
from scull.ops.elementwise import add
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode, IrVarNode
from scull.passes.site import Refused, Site, refuse, require
from scull.passes.work import Pass, Work

# By convolution, along which axis of its filter the output channels lie.
CONVOLUTIONS = {"conv2d": 0, "depthwise_conv2d": 0, "conv3d": 0, "conv2d_transpose": 1}
FIRST = ("NCHW", "NCDHW", "AnyLayout")  # layouts with the channels in axis 1


def without_statistics(work: Work) -> None:
    """Fold what `batch_norm` does for tests into the filters before it."""
    for graph in work.graphs():
        for node in graph.operators():
            if node.name() == "batch_norm":
                try:
                    fold(work, graph, node)
                except Refused as reason:
                    work.stays(node, str(reason))


def fold(work: Work, graph: IrGraph, node: IrOpNode) -> None:
    """Fold one `batch_norm`."""
    o = node.operator
    tests = o.attrs["is_test"] and not o.attrs["trainable_statistics"]
    require(tests or o.attrs["use_global_stats"], "it is for training")
    slots = dict(zip(o.op.inputs, o.inputs, strict=True))
    maker, bias, between = convolution_of(graph, node.reading(slots["x"]))
    axis = CONVOLUTIONS[maker.name()]
    transposed = axis == 1 and maker.operator.attrs["groups"] != 1
    require(not transposed, f"`{maker.name()}` has groups")
    names = ("scale", "bias", "mean", "variance")
    scale, offset, mean, variance = (
        array_of(work, graph, node, slots[name]) if slots[name] is not None else None
        for name in names
    )
    filter = maker.operator.inputs[1]
    weights = array_of(work, graph, maker, filter)
    factor = 1 / np.sqrt(wide(variance) + o.attrs["epsilon"])
    factor = factor if scale is None else factor * wide(scale)
    start = 0.0 if bias is None else wide(array_of(work, graph, between[0], bias)).reshape(-1)
    row = (start - wide(mean)) * factor + (0.0 if offset is None else wide(offset))
    shape = [1] * weights.ndim
    shape[axis] = -1
    found = (wide(weights) * factor.reshape(shape)).astype(weights.dtype)
    replace(work, graph, (maker, *between, node), found, row.astype(weights.dtype))


def wide(array: Any) -> Any:
    """The array in double precision."""
    return array.astype("float64")


def array_of(work: Work, graph: IrGraph, node: IrOpNode, v: Variable) -> Any:
    """The value of a parameter that lasts."""
    found = work.constant(graph, node.reading(v))
    require(found is not None, f"`{v.name}` may change from run to run")
    return found


def convolution_of(
    graph: IrGraph, value: IrVarNode
) -> tuple[IrOpNode, Variable | None, tuple[IrOpNode, ...]]:
    """The convolution that makes a value, a bias added to it, and the operators between."""
    maker = value.maker
    require(maker is not None, f"`{value.name()}` is no convolution's")
    assert maker is not None
    if maker.name() in CONVOLUTIONS:
        form = maker.operator.attrs["data_format"]
        require(form in FIRST, f"the images are {form}")
        return maker, None, ()
    if maker.name() != "elementwise_add":
        refuse(f"`{value.name()}` comes from `{maker.name()}`, not from a convolution")
    x, y = maker.operator.inputs
    before = maker.reading(x).maker
    if before is None or before.name() not in CONVOLUTIONS:
        refuse(f"`{value.name()}` is no sum of a convolution and a bias")
    form, channels = before.operator.attrs["data_format"], x.shape[1]
    require(form in FIRST, f"the images are {form}")
    along = maker.operator.attrs["axis"] == 1 and y.shape == (channels,)
    row = y.shape == (1, channels, *[1] * (x.ndim - 2))
    require(along or row, f"`{y.name}` is {y.meta}, not a number for each channel")
    shaped = maker.reading(y).maker
    if shaped is not None and shaped.name() == "reshape2":  # a bias made a row
        return before, shaped.operator.inputs[0], (shaped, maker)
    return before, y, (maker,)


def replace(
    work: Work, graph: IrGraph, nodes: tuple[IrOpNode, ...], weights: Any, row: Any
) -> None:
    """Put a convolution with other weights, and a bias, in place of operators."""
    maker, *_, node = nodes
    o = maker.operator
    (x, filter, *sizes), y = o.inputs, node.operator.outputs[node.operator.op.outputs.index("y")]
    require(not any(sizes), f"a tensor gives a size to `{o.type}`")
    site = Site(graph, nodes, [maker.reading(x)], [node.writing(y)])
    site.check()
    held = [work.hold(graph, filter, weights), work.hold(graph, filter, row)]

    def make() -> Any:
        return add(op_of(o.type).call(x, held[0], **o.attrs), held[1], axis=1)

    again = site.replace(make)
    work.fired(node, f"{site.told()} with the statistics in `{held[0].name}`")
    assert again


PASSES = (
    Pass(
        "conv_bn_fuse_pass",
        "statistics of tests are part of the filters before",
        without_statistics,
        exact=False,
    ),
)
