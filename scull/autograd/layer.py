"""PyLayer: an operator whose forward and backward are Python functions on Tensors."""

from typing import Any

import numpy as np

from scull.autograd.saving import Saving
from scull.autograd.version import changed
from scull.core.eager import SILENT
from scull.core.interpreter import current, interpreting, is_recording
from scull.core.tensor import Leaf, Node, Part, Tensor, new, tick
from scull.errors import ArgumentError


class PyLayerContext:
    """What `forward` keeps for `backward`."""

    def __init__(self) -> None:
        mode = current().below
        self.hooks = (mode.pack, mode.unpack) if isinstance(mode, Saving) else None
        self.container: tuple[Any, ...] = ()
        self.given: tuple[Any, ...] = ()  # what was kept, until `forward` is over
        self.own: dict[int, Any] = {}  # places of the layer's results among what was kept
        self.not_inplace: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep `tensors`; `saved_tensor()` gives them back."""
        pack = self.hooks and self.hooks[0]
        self.container = tuple(map(pack, tensors)) if pack else tensors
        self.given = tensors

    def saved_tensor(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept."""
        unpack = self.hooks and self.hooks[1]
        kept = list(map(unpack, self.container) if unpack else self.container)
        for place, part in self.own.items():
            kept[place] = Tensor(kept[place].array)
            kept[place].node = part
        return tuple(kept)

    def mark_not_inplace(self, *tensors: Any) -> None:
        self.not_inplace = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Results that get no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients arrive as zeros (True) or None."""
        self.materialize_grads = value


class LayerOp:
    """What the tape asks of an operator, for one application of a PyLayer."""

    broadcasts = False
    gradient_kernel = True  # whatever the element type
    kept = ()

    def __init__(self, layer: Any, context: PyLayerContext, inputs: int, outputs: int) -> None:
        self.layer, self.context, self.name = layer, context, layer.__name__
        self.count = inputs
        self.outputs = tuple(map(str, range(outputs)))
        self.optional = frozenset(self.outputs)
        self.own: dict[int, int] = {}  # which result a place of what was kept is

    def pull(self, node: Any, dout: Any) -> list[Any]:
        """Gradients as arrays."""
        found = self.pull_tensors(node, [None if g is None else Tensor(g) for g in dout])
        return [None if g is None else g.array for g in found]

    def pull_tensors(self, node: Any, dout: Any) -> list[Any]:
        """Call the user's `backward` with Tensors; one gradient an edge."""
        if self.context.materialize_grads:
            dout = [
                Tensor(np.zeros(*shape)) if g is None and shape else g
                for g, shape in zip(dout, node.shapes[1], strict=True)
            ]
        arrived = [g for g, shape in zip(dout, node.shapes[1], strict=True) if shape]
        # Only while `backward` runs: kept for good, a node would hold itself.
        self.context.own = {place: Part(node, i) for place, i in self.own.items()}
        try:
            found = self.layer.backward(self.context, *arrived)
        finally:
            self.context.own = {}
        grads = list(found) if isinstance(found, tuple | list) else [found]
        without = node.edges[len(grads) :]
        if len(grads) > self.count or any(e is not None for e in without):
            raise ArgumentError(
                f"{self.name}.backward returned {len(grads)} gradients for {self.count} Tensors "
                "given to forward"
            )
        for g in grads:
            if g is not None and not isinstance(g, Tensor):
                raise ArgumentError(
                    f"{self.name}.backward returned a {type(g).__name__}, not a Tensor"
                )
        return grads + [None] * len(without)


class PyLayer:
    """An operation with a gradient of its own: subclass it, and call `apply`.

    A subclass has the static methods `forward(ctx, ...)` and `backward(ctx, *grads)`.

    Examples:
        >>> import scull as paddle
        >>> class Double(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2.0
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         return dy * 2.0
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> Double.apply(x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 2.0]
    """

    @staticmethod
    def forward(ctx: Any, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for PyLayer.")

    @staticmethod
    def backward(ctx: Any, *arguments: Any) -> Any:
        raise NotImplementedError("You must implement the backward function for PyLayer.")

    @classmethod
    def apply(cls, *arguments: Any, **options: Any) -> Any:
        """Run `forward`; the results are on the tape with `backward` as their rule."""
        mode: Any = current()
        if mode.captures:
            return mode.applied(cls, arguments, options)
        context = PyLayerContext()
        with interpreting(mode.over(SILENT)):
            found = cls.forward(context, *arguments, **options)
        several = isinstance(found, tuple | list)
        outs = list(found) if several else [found]
        given = tensors_in([*arguments, *options.values()])
        if not any(isinstance(o, Tensor) for o in outs):
            raise ArgumentError(f"{cls.__name__}.forward returned no Tensor")
        if is_recording() and any(t.node is not None for t in given):
            outs = recorded(cls, context, given, outs)
        return type(found)(outs) if several else outs[0]


def tensors_in(values: Any) -> list[Any]:
    """The Tensors among `values`, those in lists too."""
    result: list[Any] = []
    for v in values:
        if isinstance(v, Tensor):
            result.append(v)
        elif isinstance(v, list | tuple):
            result.extend(tensors_in(v))
    return result


def recorded(layer: Any, context: PyLayerContext, given: list[Any], outs: list[Any]) -> list[Any]:
    """`outs` as results of one node."""
    node = new(Node)
    op = LayerOp(layer, context, len(given), len(outs))
    node.op, node.attrs, node.grad, node.hooks, node.order = op, None, None, None, tick()
    node.saved, node.edges = (), [t.node for t in given]
    node.shapes = (
        None,
        [(o.array.shape, o.array.dtype) if isinstance(o, Tensor) else None for o in outs],
    )
    results = []
    silent = {id(t) for t in context.non_differentiable}
    for i, o in enumerate(outs):
        if not isinstance(o, Tensor):
            results.append(o)
            continue
        same = any(o is t for t in given) and not any(o is t for t in context.not_inplace)
        if same:
            overwritten(o, op.name)
        made = o if same else Tensor(o.array)
        if id(o) not in silent:
            made.node = Part(node, i)
            op.own.update((at, i) for at, t in enumerate(context.given) if t is o and not same)
        results.append(made)
    context.given = ()
    return results


def overwritten(tensor: Any, how: str) -> None:
    """Note that the layer `how` returned its argument `tensor`, and so works in place."""
    if type(tensor.node) is Leaf:
        raise ArgumentError(
            f"Leaf Tensor ({tensor.name}) that doesn't stop gradient can't use inplace strategy: "
            f"`{how}` returns it unchanged"
        )
    changed(tensor.array, how)
