"""What `Tensor.grad_fn` shows: a node of the tape by Paddle's names."""

from typing import Any

from scull.core.tensor import Leaf, Part

SHORT = {"power": "pow"}  # operators that Paddle's node names spell otherwise


class GradNode:
    """A node of the tape: `name()` and the nodes it passes gradients on to."""

    def __init__(self, node: Any) -> None:
        self.node = node.node if type(node) is Part else node

    def name(self) -> str:
        """What Paddle calls it: `AddGradNode`, and `GradNodeAccumulation` for a leaf.

        Examples:
            >>> import scull as paddle
            >>> x = paddle.ones([2]); x.stop_gradient = False
            >>> (x + x).grad_fn.name()
            'AddGradNode'
        """
        if type(self.node) is Leaf:
            return "GradNodeAccumulation"
        own = self.node.op.name
        if not own.islower():
            return f"GradNodePyLayer_{own}"
        words = SHORT.get(own, own.removeprefix("reduce_")).split("_")
        return "".join(word.capitalize() for word in words) + "GradNode"

    @property
    def next_functions(self) -> "list[GradNode | None]":
        """The nodes it passes gradients on to; None stands for those of a leaf."""
        if type(self.node) is Leaf:
            return [None]
        return [GradNode(edge) for edge in self.node.edges if edge is not None]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradNode) and other.node is self.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return f"<{self.name()}>"
