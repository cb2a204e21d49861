"""Scaled losses within a recorded function: what a GradScaler does, as operators."""

from enum import Enum
from typing import Any

from scull.errors import RunError, UnsupportedError
from scull.ir.variable import Variable
from scull.static.amp.amp_nn import check_finite_and_unscale, update_loss_scaling
from scull.static.nn.branch import cond
from scull.tensor.join import concat
from scull.tensor.logic import any as any_of


class Done(Enum):
    """How far the gradients of an optimizer are since the last `update`."""

    UNSCALED = 1
    STEPPED = 2


class Scaling:
    """The steps of one GradScaler while a function is recorded.

    The factor and its counts are Tensors of the scaler, which the Program reads and overwrites.
    """

    def __init__(self, gradients: Any, scaler: Any) -> None:
        self.gradients, self.scaler = gradients, scaler
        self.found: dict[Any, Variable] = {}  # by optimizer, whether a gradient was not finite
        self.done: dict[Any, Done] = {}

    def unscale(self, optimizer: Any) -> None:
        """Record that gradients are divided by the factor, unless one is not finite."""
        if self.done.get(optimizer) is Done.UNSCALED:
            raise RunError("unscale_() has already been called on this optimizer since update().")
        if self.done.get(optimizer) is Done.STEPPED:
            raise RunError("unscale_() is being called after step().")
        found = [self.gradients.of(p) for p in optimizer.parameters()]
        grads = [g for g in found if g is not None]
        if not grads:
            raise UnsupportedError(
                "no gradient reached a parameter while this was recorded: `backward` was called "
                "elsewhere, and its gradients are values"
            )
        factor = self.gradients.captured.variable(self.scaler._scale)
        _, self.found[optimizer] = check_finite_and_unscale(
            grads, factor, name="find_infinite_scale"
        )
        self.done[optimizer] = Done.UNSCALED

    def step(self, optimizer: Any) -> None:
        """Record the updates, in a block that runs where all gradients are finite."""
        if self.done.get(optimizer) is Done.STEPPED:
            raise RunError("step() has already been called since the last update().")
        if optimizer not in self.done:
            self.unscale(optimizer)
        cond(self.found[optimizer], None, optimizer.step)
        self.done[optimizer] = Done.STEPPED

    def update(self) -> None:
        """Record how the factor follows what was found."""
        found, scaler = list(self.found.values()), self.scaler
        if found and scaler.is_use_dynamic_loss_scaling():
            bad = found[0] if len(found) == 1 else any_of(concat(found)).reshape([1])
            states = (scaler._scale, scaler._good_steps, scaler._bad_steps)
            update_loss_scaling(
                [],
                bad,
                *map(self.gradients.captured.variable, states),
                incr_every_n_steps=scaler.get_incr_every_n_steps(),
                decr_every_n_nan_or_inf=scaler.get_decr_every_n_nan_or_inf(),
                incr_ratio=scaler.get_incr_ratio(),
                decr_ratio=scaler.get_decr_ratio(),
            )
        self.found.clear()
        self.done.clear()
