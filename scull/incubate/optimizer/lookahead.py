"""Slow copies of parameters that follow them every few steps and take them back."""

from typing import Any

from scull.autograd.interface import no_grad
from scull.autograd.version import changed
from scull.core.dtype import float32
from scull.core.meta import Meta
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program
from scull.ir.program import startup_program as default_startup
from scull.ir.variable import Variable
from scull.optimizer.optimizer import Optimizer, has_gradient
from scull.optimizer.static_update import OPTIMIZE, persistent
from scull.static.scope import name_scope
from scull.tensor import assign, cast, equal


class LookAhead(Optimizer):
    """Lets an optimizer take `k` steps, then goes a part of the way they led.

    Every `k` steps ``slow = slow + alpha * (parameter - slow); parameter = slow``. The slow copies
    are what parameters are after the first step.

    Args:
        inner_optimizer (Optimizer): what takes the steps.
        alpha (float): the part of the way, from 0 to 1.
        k (int): how many steps it takes.
        name (str, optional): for printing.

    Raises:
        ArgumentError: `alpha` or `k` is out of range.
        ArgumentTypeError: `inner_optimizer` is no optimizer.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> inner = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> opt = paddle.incubate.LookAhead(inner, alpha=0.5, k=5)
        >>> layer(paddle.ones([1, 2])).sum().backward()
        >>> opt.step()
        >>> opt.clear_grad()
    """

    states = ("slow",)
    type = "lookahead"

    def __init__(
        self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5, name: str | None = None
    ) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise ArgumentTypeError("inner optimizer can not be None")
        if not 0.0 <= alpha <= 1.0:
            raise ArgumentError(
                "alpha should be larger or equal to 0.0, and less or equal than 1.0"
            )
        if not isinstance(k, int) or k < 1:
            raise ArgumentError("k should be a positive integer")
        super().__init__(float(alpha), inner_optimizer._parameter_list, name=name)
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, float(alpha), k
        self.steps = 0

    def step(self) -> None:
        """One step of the optimizer within; every `k`-th leads back."""
        pairs = [(p, p.node.total) for p in self.parameters() if has_gradient(p)]
        self.inner_optimizer.step()
        self.follow(pairs)

    def follow(self, pairs: list[Any]) -> None:
        """Let the slow copies follow the parameters of `pairs`, if it is time."""
        self.steps += 1
        with no_grad():
            for p, _ in pairs:
                new = p.name not in self._accumulators["slow"]
                slow = self.state("slow", p)
                if new and self.steps == 1:
                    slow.array[...] = p.array
                if self.steps % self.k == 0:
                    slow.array += p.array.dtype.type(self.alpha) * (p.array - slow.array)
                    p.array[...] = slow.array
                    changed(p.array, "lookahead")

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[Any]]:
        """As that of the optimizer within; then the slow copies follow."""
        given = (loss, startup_program or default_startup(), parameters, no_grad_set)
        made, pairs = self.inner_optimizer.minimize(*given)
        if isinstance(loss, Variable):
            self.record(pairs)
        else:
            self.follow(pairs)
        return made, pairs

    def record(self, pairs: list[Any]) -> None:
        """Append what lets the slow copies follow."""
        count = persistent("lookahead_step", Meta((1,), float32), 0.0, stop_gradient=True)
        with main_program().serving(OPTIMIZE), name_scope("lookahead"):
            assign(count + 1.0, output=count)
            first = cast(equal(count, 1.0), "float32")
            due = cast(equal(count % float(self.k), 0.0), "float32")
            for p, _ in pairs:
                slow = self.state("slow", p)
                start = first * p + (1.0 - first) * slow
                mixed = self.alpha * p + (1.0 - self.alpha) * start
                assign(due * mixed + (1.0 - due) * start, output=slow)
                assign(due * mixed + (1.0 - due) * p, output=p)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Forget the gradients of all parameters."""
        self.inner_optimizer.clear_grad(set_to_zero)

    def get_lr(self) -> float:
        """The learning rate of the optimizer within."""
        return float(self.inner_optimizer.get_lr())
