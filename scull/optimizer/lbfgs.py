"""L-BFGS: a quasi-Newton method that remembers a few steps."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.autograd.interface import enable_grad, no_grad
from scull.autograd.version import changed
from scull.core.tensor import Tensor
from scull.core.timeline import UPDATE, spanned
from scull.errors import ArgumentError, UnsupportedError
from scull.optimizer.line_search import Point, strong_wolfe
from scull.optimizer.optimizer import Optimizer

LEAST_CURVATURE = 1e-10  # steps along which the gradient hardly changes teach nothing


@dataclass
class Memory:
    """What is known of the curvature: pairs of a step and the change of the gradient along it."""

    steps: deque[Any]
    changes: deque[Any]
    scale: Any = 1.0

    def learn(self, step: Any, change: Any) -> None:
        """Remember one step."""
        curvature = change @ step
        if curvature > LEAST_CURVATURE:
            self.steps.append(step)
            self.changes.append(change)
            self.scale = curvature / (change @ change)

    def direction(self, gradient: Any) -> Any:
        """Where to go: the gradient, downwards, times the inverse of the remembered curvature."""
        found = -gradient
        inverses = [1.0 / (y @ s) for s, y in zip(self.steps, self.changes, strict=True)]
        pairs = list(zip(self.steps, self.changes, inverses, strict=True))
        shares = []
        for s, y, inverse in reversed(pairs):
            shares.append((s @ found) * inverse)
            found = found - shares[-1] * y
        found = found * self.scale
        for (s, y, inverse), share in zip(pairs, reversed(shares), strict=True):
            found = found + s * (share - (y @ found) * inverse)
        return found


class LBFGS(Optimizer):
    """Goes where the curvature seen along the last steps says the least value is.

    Nocedal and Wright, "Numerical optimization", 2006, chapter 7.2.

    Args:
        learning_rate (float): a factor of the steps.
        max_iter (int): the most iterations of a `step`.
        max_eval (int, optional): the most calls of the closure; ``max_iter * 5 / 4`` when None.
        tolerance_grad (float): where the largest gradient is below, the step ends.
        tolerance_change (float): where neither value nor parameters change by more, the step ends.
        history_size (int): how many steps are remembered.
        line_search_fn (str, optional): None, or "strong_wolfe".
        parameters (list, optional): what to update; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): not used.
        grad_clip (GradientClipBase, optional): not used.
        name (str, optional): for printing.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.create_parameter([2], "float32")
        >>> opt = paddle.optimizer.LBFGS(parameters=[x])
        >>> def closure():
        ...     opt.clear_grad()
        ...     loss = ((x - 3.0) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> _ = opt.step(closure)
        >>> [round(number, 3) for number in x.tolist()]
        [3.0, 3.0]
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.max_iter, self.history_size = max_iter, history_size
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.line_search_fn = line_search_fn
        self._state: dict[str, Any] = {}

    def flat(self, arrays: list[Any]) -> Any:
        """Arrays as one vector."""
        return np.concatenate([x.reshape(-1) for x in arrays])

    def gradient(self) -> Any:
        """The gradients of all parameters as one vector."""
        return self.flat(
            [
                np.zeros_like(p.array)
                if p.node is None or p.node.total is None
                else p.node.total.array
                for p in self.parameters()
            ]
        )

    def place(self) -> Any:
        """All parameters as one vector."""
        return self.flat([p.array for p in self.parameters()])

    def move(self, place: Any) -> None:
        """Put the parameters at `place`."""
        begin = 0
        for p in self.parameters():
            p.array[...] = place[begin : begin + p.array.size].reshape(p.array.shape)
            begin += p.array.size
            changed(p.array, "lbfgs")

    @spanned("Optimization Step", UPDATE)
    def step(self, closure: Callable[[], Any]) -> Any:
        """Go downhill until it is flat or the limits are reached.

        Args:
            closure (Callable): computes the loss and its gradients anew.

        Returns:
            Tensor: the loss before.
        """
        if self.line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError("only 'strong_wolfe' is supported")
        with no_grad():
            return self.descend(closure)

    def descend(self, closure: Callable[[], Any]) -> Any:
        """The iterations of one step."""
        state, calls = self._state, 0

        def value_at(place: Any) -> tuple[float, Any]:
            nonlocal calls
            self.move(place)
            calls += 1
            with enable_grad():
                return float(closure()), self.gradient()

        with enable_grad():
            first = closure()
        calls, value, gradient = 1, float(first), self.gradient()
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        for iteration in range(self.max_iter):
            if abs(gradient).max(initial=0.0) <= self.tolerance_grad:
                break
            state["n_iter"] += 1
            direction, length = self.course(gradient)
            slope = gradient @ direction
            if slope > -self.tolerance_change:
                break
            here, before = self.place(), value
            state["prev_flat_grad"], state["prev_loss"] = gradient, value
            if self.line_search_fn is None and iteration == self.max_iter - 1:
                self.move(here + length * direction)  # the next step begins by evaluating there
            elif self.line_search_fn is None:
                value, gradient = value_at(here + length * direction)
            else:
                found = strong_wolfe(
                    lambda t, x=here, d=direction: value_at(x + t * d),
                    Point(0.0, value, gradient, slope),
                    length,
                    direction,
                )
                length, value, gradient = found.place, found.value, found.gradient
                self.move(here + length * direction)
            state["d"], state["alpha"] = direction, length
            still = abs(length * direction).max() <= self.tolerance_change
            if calls >= self.max_eval or still or abs(value - before) < self.tolerance_change:
                break
        state["func_evals"] += calls
        return first

    def course(self, gradient: Any) -> tuple[Any, Any]:
        """The direction from here and how far to go along it at first."""
        state, rate = self._state, self.get_lr()
        memory = state.get("memory")
        if memory is None:
            remembered = (deque(maxlen=self.history_size), deque(maxlen=self.history_size))
            state["memory"] = Memory(*remembered)
            return -gradient, min(1.0, 1.0 / float(abs(gradient).sum())) * rate
        memory.learn(state["d"] * state["alpha"], gradient - state["prev_flat_grad"])
        return memory.direction(gradient), rate

    def state_dict(self) -> dict[str, Any]:
        """What is remembered, under the key `state`."""
        shown = dict(self._state)
        memory = shown.pop("memory", None)
        if memory is not None:
            shown |= {
                "old_sk": [Tensor(v.copy()) for v in memory.steps],
                "old_yk": [Tensor(v.copy()) for v in memory.changes],
                "H_diag": Tensor(np.asarray(memory.scale, "float32")),
            }
        for name in ("d", "prev_flat_grad"):
            if name in shown:
                shown[name] = Tensor(shown[name].copy())
        return {"state": shown}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what was remembered."""
        state = dict(state_dict["state"])
        if "H_diag" in state:
            steps, changes = (
                deque([np.array(v) for v in state.pop(name)], self.history_size)
                for name in ("old_sk", "old_yk")
            )
            scale = np.asarray(state.pop("H_diag")).reshape(())[()]
            state["memory"] = Memory(steps, changes, scale)
        for name in ("d", "prev_flat_grad"):
            if name in state:
                state[name] = np.array(state[name])
        self._state = state

    set_dict = set_state_dict

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> Any:
        """Refused: a step evaluates the loss many times."""
        raise UnsupportedError("LBFGS needs to evaluate the loss itself: call step(closure)")
