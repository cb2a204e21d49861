"""Losses scaled up, gradients scaled down, and steps left out where gradients overflow."""

from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from scull.autograd.version import changed
from scull.core.dtype import float32
from scull.core.interpreter import current
from scull.core.tensor import Rows, Tensor
from scull.errors import ArgumentError, ArgumentTypeError, RunError
from scull.ir.variable import Variable
from scull.ops.scaling import check_finite_and_unscale, next_scale
from scull.optimizer.optimizer import Optimizer, has_gradient


class OptimizerState(Enum):
    """How far the gradients of an optimizer are since the last `update`."""

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


def positive(value: Any, name: str) -> Any:
    """`value`, refused when it is no number above 0."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArgumentTypeError(f"`{name}` is a number, not {type(value).__name__}")
    if not value > 0:
        raise ArgumentError(f"`{name}` is {value}, not above 0")
    return value


class AmpScaler:
    """Scales losses, and the gradients of an optimizer back, by a factor that follows overflows.

    A step whose gradients hold an infinity or NaN is left out, and the factor shrinks; after so
    many good steps it grows.

    Args:
        enable (bool): False passes everything through.
        init_loss_scaling (float): the factor at first.
        incr_ratio (float): what it grows by, above 1.
        decr_ratio (float): what it shrinks by, below 1.
        incr_every_n_steps (int): how many good steps in a row it grows after.
        decr_every_n_nan_or_inf (int): how many bad ones it shrinks after.
        use_dynamic_loss_scaling (bool): whether it changes at all.

    Raises:
        ArgumentError: a ratio is on the wrong side of 1, the factor or a count below 1.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> scaler = paddle.amp.AmpScaler(init_loss_scaling=1024)
        >>> scaled = scaler.scale(layer(paddle.ones([1, 2])).sum())
        >>> scaled.backward()
        >>> _ = scaler.minimize(opt, scaled)
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**15,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        self._enable = bool(enable)
        self._use_dynamic_loss_scaling = bool(use_dynamic_loss_scaling)
        first = positive(init_loss_scaling, "init_loss_scaling")
        self._scale = Tensor(np.array([first], "float32"))
        self._good_steps, self._bad_steps = (Tensor(np.zeros(1, "int32")) for _ in range(2))
        self.set_incr_ratio(incr_ratio)
        self.set_decr_ratio(decr_ratio)
        self._incr_every_n_steps = int(positive(incr_every_n_steps, "incr_every_n_steps"))
        every = positive(decr_every_n_nan_or_inf, "decr_every_n_nan_or_inf")
        self._decr_every_n_nan_or_inf = int(every)
        self._found_inf = False
        self._states: WeakKeyDictionary[Optimizer, tuple[OptimizerState, bool]] = (
            WeakKeyDictionary()
        )

    def scale(self, var: Any) -> Any:
        """A loss times the factor.

        Args:
            var (Tensor): the loss.
        """
        if not isinstance(var, Tensor | Variable):
            raise ArgumentTypeError(f"the loss is a Tensor, not {type(var).__name__}")
        if not self._enable:
            return var
        wide = var.astype("float32") if var.dtype.itemsize < 4 else var
        if isinstance(wide, Variable):
            factor = self._scale if wide.dtype is float32 else self._scale.astype(wide.dtype)
            return wide * factor.reshape([])
        return wide * Tensor(self._scale.array.astype(wide.array.dtype).reshape(()))

    def _unscale(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer by the factor, and see whether all are finite.

        Args:
            optimizer (Optimizer): whose parameters have gradients of a scaled loss.

        Raises:
            RunError: it was done before, or the step was.
        """
        if not self._enable:
            return
        recorded = self.recorded()
        if recorded is not None:
            recorded.unscale(optimizer)
            return
        state, _ = self.state_of(optimizer)
        if state is OptimizerState.UNSCALED:
            raise RunError("unscale_() has already been called on this optimizer since update().")
        if state is OptimizerState.STEPPED:
            raise RunError("unscale_() is being called after step().")
        grads = [p.node.total for p in optimizer.parameters() if has_gradient(p)]
        arrays = [g.array.values if isinstance(g.array, Rows) else g.array for g in grads]
        _, found = check_finite_and_unscale.op.cpu(arrays, self._scale.array, out=(arrays, None))
        for array in arrays:
            changed(array, "unscale_")
        bad = bool(found[0])
        self._found_inf = self._found_inf or bad
        self._states[optimizer] = OptimizerState.UNSCALED, bad

    def recorded(self) -> Any:
        """What does the same while a function is recorded; None in eager mode."""
        mode: Any = current()
        return mode.gradients.scaling(self) if mode.captures else None

    def state_of(self, optimizer: Optimizer) -> tuple[OptimizerState, bool]:
        """How far the gradients of an optimizer are, and whether one was not finite."""
        return self._states.get(optimizer, (OptimizerState.INIT, False))

    def _update(self) -> None:
        """Let the factor follow what was found since the last time."""
        if not self._enable:
            return
        recorded = self.recorded()
        if recorded is not None:
            recorded.update()
            return
        if self._use_dynamic_loss_scaling:
            counts = self._incr_count, self._decr_count
            scale, self._incr_count, self._decr_count = next_scale(
                self._found_inf,
                self._scale.array[0],
                *counts,
                incr_every_n_steps=self._incr_every_n_steps,
                decr_every_n_nan_or_inf=self._decr_every_n_nan_or_inf,
                incr_ratio=self._incr_ratio,
                decr_ratio=self._decr_ratio,
            )
            self._scale.array = np.array([scale], "float32")
        self._found_inf = False
        self._states.clear()

    def minimize(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """A step by `optimizer.minimize` unless a gradient is infinite or NaN; the factor follows.

        Args:
            optimizer (Optimizer): what takes the step.
            args, kwargs: of its `minimize`: the scaled loss, for which `backward` was called.
        """
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        recorded = self.recorded()
        if recorded is not None:
            recorded.step(optimizer)
            recorded.update()
            return [], []
        if self.state_of(optimizer)[0] is OptimizerState.INIT:
            self._unscale(optimizer)
        made: Any = ([], [])
        if not self.state_of(optimizer)[1]:
            made = optimizer.minimize(*args, **kwargs)
        self._update()
        return made

    # ---- settings ----

    @property
    def _incr_count(self) -> int:
        """How many good steps there were in a row."""
        return int(self._good_steps.array[0])

    @_incr_count.setter
    def _incr_count(self, count: int) -> None:
        self._good_steps.array = np.array([count], "int32")

    @property
    def _decr_count(self) -> int:
        """How many bad ones."""
        return int(self._bad_steps.array[0])

    @_decr_count.setter
    def _decr_count(self, count: int) -> None:
        self._bad_steps.array = np.array([count], "int32")

    def is_enable(self) -> bool:
        """Whether anything is scaled."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the factor changes."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The factor."""
        return float(self._scale.array[0])

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Change the factor."""
        self._scale.array = np.array([new_init_loss_scaling], "float32")

    def get_incr_ratio(self) -> float:
        """What the factor grows by."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Change what the factor grows by."""
        if not new_incr_ratio > 1.0:
            raise ArgumentError("The new_incr_ratio must be > 1.0.")
        self._incr_ratio = float(new_incr_ratio)

    def get_decr_ratio(self) -> float:
        """What the factor shrinks by."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Change what the factor shrinks by."""
        if not new_decr_ratio < 1.0:
            raise ArgumentError("The new_decr_ratio must be < 1.0.")
        self._decr_ratio = float(new_decr_ratio)

    def get_incr_every_n_steps(self) -> int:
        """How many good steps in a row the factor grows after."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Change how many good steps in a row the factor grows after."""
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """How many bad steps the factor shrinks after."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Change how many bad steps the factor shrinks after."""
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    def state_dict(self) -> dict[str, Any]:
        """The factor, the settings and the counts; nothing where nothing is scaled."""
        if not self._enable:
            return {}
        return {
            "scale": self._scale.array.copy(),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` gave.

        Args:
            state_dict (dict): the factor, the settings and the counts.

        Raises:
            RunError: it is empty, as that of a scaler that scales nothing.
        """
        if not self._enable:
            return
        if not state_dict:
            raise RunError(
                "The input state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._scale.array = np.array(state_dict["scale"], "float32").reshape(1)
        for name in self.state_dict().keys() - {"scale"}:
            setattr(self, "_" + name, state_dict[name])


class GradScaler(AmpScaler):
    """An `AmpScaler` whose unscaling, step and update are called one by one.

    Args:
        enable, init_loss_scaling, incr_ratio, decr_ratio, incr_every_n_steps: as of `AmpScaler`.
        decr_every_n_nan_or_inf, use_dynamic_loss_scaling: as of `AmpScaler`.

    Raises:
        ArgumentError: a ratio is on the wrong side of 1, the factor or a count below 1.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
        >>> scaler.scale(layer(paddle.ones([1, 2])).sum()).backward()
        >>> scaler.step(opt)
        >>> scaler.update()
        >>> opt.clear_grad()
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        super().__init__(
            enable,
            init_loss_scaling,
            incr_ratio,
            decr_ratio,
            incr_every_n_steps,
            decr_every_n_nan_or_inf,
            use_dynamic_loss_scaling,
        )

    unscale_ = AmpScaler._unscale

    def step(self, optimizer: Optimizer) -> None:
        """A step of the optimizer, unless a gradient is infinite or NaN.

        Args:
            optimizer (Optimizer): what takes the step; its gradients are unscaled if need be.

        Raises:
            RunError: the step was done before.
        """
        if not self._enable:
            optimizer.step()
            return
        recorded = self.recorded()
        if recorded is not None:
            recorded.step(optimizer)
            return
        if self.state_of(optimizer)[0] is OptimizerState.STEPPED:
            raise RunError("step() has already been called since the last update().")
        if self.state_of(optimizer)[0] is OptimizerState.INIT:
            self._unscale(optimizer)
        bad = self.state_of(optimizer)[1]
        if not bad:
            optimizer.step()
        self._states[optimizer] = OptimizerState.STEPPED, bad

    update = AmpScaler._update
