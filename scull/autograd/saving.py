"""Hooks on what the tape saves: packed when saved, unpacked when a gradient needs it."""

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from scull.autograd.tape import pull_tensors, pulled, tied, ties_of
from scull.core.eager import EAGER, Eager
from scull.core.interpreter import current, is_recording, pop, push
from scull.core.op import Op
from scull.core.tensor import Part, Tensor, tick


class Packed:
    """What `pack_hook` returned for one array."""

    def __init__(self, content: Any) -> None:
        self.content = content


class PackedOp:
    """An operator whose saved values are unpacked before its rules see them."""

    kept = ()

    def __init__(self, op: Any, values: tuple[Any, ...], unpack: Callable[[Any], Any]) -> None:
        self.op, self.values, self.unpack = op, values, unpack

    def __getattr__(self, name: str) -> Any:
        return getattr(self.op, name)

    def unpacked(self, value: Any) -> Any:
        """One saved value as it was."""
        if type(value) is list:
            return [self.unpacked(v) for v in value]
        return self.unpack(value.content).array if isinstance(value, Packed) else value

    def restored(self, pull: Callable[[Any, Any], Any], node: Any, dout: Any) -> Any:
        """What `pull` gives for the node as it was before it was packed."""
        node.op, node.saved = self.op, tuple(map(self.unpacked, self.values))
        try:
            return pull(node, dout)
        finally:
            node.op, node.saved = self, ()

    def pull(self, node: Any, dout: Any) -> Any:
        """The gradients for the edges as arrays."""
        return self.restored(pulled, node, dout)

    def pull_tensors(self, node: Any, dout: Any) -> Any:
        """The gradients for the edges as Tensors."""
        return self.restored(pull_tensors, node, dout)


class Saving(Eager):
    """Eager mode whose tape packs what it saves."""

    plain = False

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        super().__init__()
        self.pack, self.unpack = pack, unpack

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        start = tick()
        found = EAGER.apply(op, inputs, attrs)
        for tensor in each(found):
            node = tensor.node.node if type(tensor.node) is Part else tensor.node
            fresh = node is not None and 0 > start > node.order
            if fresh and node.saved and type(node.op) is Op:
                named = dict(zip(node.op.kept, node.saved, strict=True))
                ties = ties_of(node.op, node, named)
                values = tuple([self.packed(tied(v, ties.get(n))) for n, v in named.items()])
                node.op, node.saved = PackedOp(node.op, values, self.unpack), ()
        return found

    def packed(self, value: Any) -> Any:
        """One saved tensor as the hook wants it; shapes alone and sparse rows stay as they are."""
        if type(value) is list:
            return [self.packed(v) for v in value]
        if type(value) is not Tensor or type(value.array) is not ndarray:
            return value.array if type(value) is Tensor else value
        push(EAGER)
        try:
            return Packed(self.pack(value))
        finally:
            pop(EAGER)


def each(found: Any) -> list[Tensor]:
    """The Tensors an operator returned."""
    if isinstance(found, tuple | list):
        return [t for part in found for t in each(part)]
    return [found] if isinstance(found, Tensor) else []


class saved_tensors_hooks:
    """What the tape saves within the block is packed by one hook, and unpacked by another.

    Args:
        pack_hook (callable): takes a Tensor that is saved, returns whatever is kept instead.
        unpack_hook (callable): takes what is kept, returns a Tensor of the same content.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        ...     y = x * x
        >>> y.backward()
        >>> x.grad.tolist()
        [6.0]
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.mode = Saving(pack_hook, unpack_hook)
        self.pushed: list[Any] = []

    def __enter__(self) -> None:
        if is_recording():
            self.pushed.append(current().over(self.mode))  # casts of `auto_cast` go on
            push(self.pushed[-1])

    def __exit__(self, *_: object) -> None:
        if self.pushed and current() is self.pushed[-1]:
            pop(self.pushed.pop())
