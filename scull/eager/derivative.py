"""Gradients of one Tensor: sending them back, what arrived, and hooks on the way."""

import itertools
import weakref
from typing import Any

import numpy as np

from scull.autograd.interface import backward as send_back
from scull.autograd.tape import Arrived
from scull.core.interpreter import current
from scull.core.tensor import Rows, Tensor
from scull.eager.attach import attach
from scull.eager.conversion import dense
from scull.eager.property import leaf_of, set_total, tensor_of, total_of
from scull.errors import ArgumentTypeError, TapeError

number = itertools.count().__next__


class TensorHookRemoveHelper:
    """What `register_hook` returns: `remove()` takes the hook away."""

    def __init__(self, hooks: dict[int, Any], key: int) -> None:
        self.hooks, self.key = hooks, key

    def remove(self) -> bool:
        """Take the hook away; whether it was still there."""
        return self.hooks.pop(self.key, None) is not None


def hooked(node: Any, hook: Any) -> TensorHookRemoveHelper:
    """Call `hook` with the gradient that arrives at `node`."""
    if node.hooks is None:
        node.hooks = {}
    key = number()
    node.hooks[key] = hook
    return TensorHookRemoveHelper(node.hooks, key)


@attach(Tensor)
class Differentiated:
    """Backward, gradients and hooks."""

    def backward(self: Any, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients of this tensor to the `grad` of every leaf it depends on.

        Args:
            grad_tensor (Tensor, optional): where to start from; ones when None.
            retain_graph (bool): keep the tape for another pass.

        Examples:
            >>> import scull as paddle
            >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            >>> (x * x).sum().backward()
            >>> x.grad.tolist()
            [2.0, 4.0]
        """
        send_back(self, grad_tensor, retain_graph)

    def gradient(self: Any) -> Any:
        """The gradient that arrived as an array, or None."""
        total = total_of(self)
        if total is None:
            return None
        if type(total.array) is Rows:
            return total.array.values.copy(), total.array.rows.copy()
        return dense(total).copy()

    def _grad_ivar(self: Any) -> Any:
        return self.grad

    _grad_value = _grad_ivar

    def _set_grad_ivar(self: Any, value: Any) -> None:
        self.grad = value

    def _grad_name(self: Any) -> str:
        return f"{self.name}@GRAD"

    def clear_gradient(self: Any, set_to_zero: bool = True) -> None:
        """Forget the gradient that arrived; with `set_to_zero` it becomes zeros.

        Args:
            set_to_zero (bool): zeros instead of None.
        """
        mode: Any = current()
        if mode.captures:
            mode.gradients.clear([self])
            return
        total = total_of(self)
        if total is None:
            return
        if set_to_zero and type(total.array) is not Rows:
            set_total(self, tensor_of(np.zeros_like(total.array)))
        else:
            set_total(self, None)

    def clear_grad(self: Any) -> None:
        """Make the gradient that arrived zeros."""
        self.clear_gradient()

    _zero_grads = zero_grad = clear_grad

    def register_hook(self: Any, hook: Any) -> TensorHookRemoveHelper:
        """Call `hook` with the gradient of this tensor; what it returns replaces it.

        Args:
            hook (callable): takes a Tensor, returns a Tensor or None.

        Returns:
            TensorHookRemoveHelper: its `remove()` takes the hook away.

        Examples:
            >>> import scull as paddle
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> handle = x.register_hook(lambda g: g * 2.0)
            >>> x.sum().backward()
            >>> x.grad.tolist()
            [2.0]
        """
        if self.node is None:
            raise TapeError("Cannot register hook on a tensor that stop gradient.")
        if not callable(hook):
            raise ArgumentTypeError(f"a hook is called, and {type(hook).__name__} cannot be")
        return hooked(self.node, hook)

    _register_grad_hook = register_hook

    def _register_backward_hook(self: Any, hook: Any) -> None:
        """Call `hook` without arguments each time the gradient of this leaf has arrived."""
        if leaf_of(self) is None or self.node is None:
            raise TapeError(
                "a backward hook waits for the gradient of a leaf with stop_gradient=False"
            )
        hooked(self.node, Arrived(hook))

    _register_void_function_post_hook = _register_backward_hook

    def retain_grads(self: Any) -> None:
        """Keep the gradient of a tensor that is no leaf, too."""
        if self.node is None or leaf_of(self) is not None or "_retains" in self.__dict__:
            return
        weak = weakref.ref(self)

        def keep(g: Any) -> None:
            tensor = weak()
            if tensor is not None and g is not None:
                set_total(tensor, tensor_of(g.array.copy(), g.node))

        self.__dict__["_retains"] = hooked(self.node, keep)
