"""Layout: images with channels last inside, so that the channels of each pixel lie together.

Convolutions, pooling and statistics take them so, and what works element by element between them.
The order of axes changes where values come in and where somebody needs them as they were.
"""

from typing import Any

from scull.ir.operator import effects
from scull.ir.variable import Variable
from scull.ops.move import transpose
from scull.passes.dead import without_dead
from scull.passes.graph import IrGraph
from scull.passes.node import IrOpNode, IrVarNode
from scull.passes.site import Refused, Site, require
from scull.passes.subexpression import shared
from scull.passes.work import Pass, Work

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)  # orders of axes: to channels last, and back
IMAGES = {  # by type: what holds images, and the attribute that says how
    "conv2d": ("input", "data_format"),
    "depthwise_conv2d": ("input", "data_format"),
    "pool2d": ("x", "data_format"),
    "batch_norm": ("x", "data_layout"),
}
SINGLE = frozenset(
    (
        *("relu", "relu6", "sigmoid", "tanh", "gelu", "silu", "swish", "leaky_relu", "mish"),
        *("hard_swish", "hard_sigmoid", "elu", "softplus"),
        *("scale", "exp", "sqrt", "square", "abs", "clip"),
    )
)
PAIRS = frozenset(f"elementwise_{name}" for name in ("add", "sub", "mul", "div", "max", "min"))


def channels_last(work: Work) -> None:
    """Give images channels last where an operator of images works on them."""
    for graph in work.graphs():
        for node in graph.operators():
            if node.name() in IMAGES or (node.name() in SINGLE | PAIRS and follows(node)):
                try:
                    turn(work, graph, node)
                except Refused as reason:
                    work.stays(node, str(reason))
    shared(work)  # values that were turned twice
    without_dead(work)  # and those that nobody reads as they were


def twin(value: IrVarNode) -> IrVarNode | None:
    """The value with channels last that a value is made of, if it is."""
    maker = value.maker
    turned = maker is not None and maker.name() == "transpose2"
    if not turned or maker is None or tuple(maker.operator.attrs["perm"]) != FIRST:
        return None
    return maker.inputs[0]


def follows(node: IrOpNode) -> bool:
    """Whether one of the operands comes from an operator that was turned."""
    return any(twin(value) is not None for value in node.inputs)


def turn(work: Work, graph: IrGraph, node: IrOpNode) -> None:
    """Let an operator work on channels last; its result is turned back behind it."""
    o = node.operator
    require(not o.told and not effects(o), "it does more than make images of images")
    require(all(v.ndim == 4 for v in images(node)), "it is not of images with two axes")
    attrs = dict(o.attrs)
    if node.name() in IMAGES:
        name = IMAGES[node.name()][1]
        require(attrs[name] in ("NCHW", "AnyLayout"), f"they are {attrs[name]} already")
        attrs[name] = "NHWC"
    elif node.name() in PAIRS:
        check_pair(node)
        attrs["axis"] = -1
    given = {value.held: twin(value) for value in node.inputs}
    given = {v: found for v, found in given.items() if v in set(images(node))}
    results = [value.held for value in node.outputs]

    def last(slot: Any) -> Any:
        if not isinstance(slot, Variable) or slot not in given:
            return slot
        found = given[slot]
        return transpose(slot, perm=LAST) if found is None else found.held

    def make() -> Any:
        made = o.op.call(*map(last, o.inputs), **attrs)
        slots = zip(o.outputs, made if isinstance(made, tuple) else (made,), strict=False)
        found = {v: r for v, r in slots if isinstance(v, Variable)}
        return tuple(transpose(found[v], perm=FIRST) if v.ndim == 4 else found[v] for v in results)

    twins = [value for value in given.values() if value is not None]
    site = Site(graph, [node], [*node.inputs, *twins], node.outputs)
    site.check(overwrites=node.name() in IMAGES)  # running statistics
    site.replace(make)
    work.fired(node, "the same with channels last")


def images(node: IrOpNode) -> list[Variable]:
    """The operands of an operator that are images."""
    o = node.operator
    if node.name() in IMAGES:
        return [dict(zip(o.op.inputs, o.inputs, strict=True))[IMAGES[node.name()][0]]]
    return [v for v in o.operands() if v.ndim != 1]


def check_pair(node: IrOpNode) -> None:
    """Both operands have as many axes, or one is a number for each channel."""
    x, y = node.operator.inputs
    axis = node.operator.attrs["axis"]
    whole, channels = y.ndim == 4 and axis in (-1, 0), y.ndim == 1 and axis == 1
    require(x.ndim == 4 and (whole or channels), f"`{y.name}` is {y.meta} along axis {axis}")


PASSES = (
    Pass("transfer_layout_pass", "images have their channels last", channels_last, exact=False),
)
