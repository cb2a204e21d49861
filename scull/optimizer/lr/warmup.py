"""Learning rates that rise, or fall, along a straight line first."""

from scull.errors import ArgumentError, ArgumentTypeError
from scull.optimizer.lr.scheduler import LRScheduler


class LinearWarmup(LRScheduler):
    """A straight line from `start_lr` to `end_lr`, then another rate or scheduler.

    A scheduler that follows sees epochs counted from the end of the warm-up.

    Args:
        learning_rate (float | LRScheduler): what follows.
        warmup_steps (int): how many epochs the line takes.
        start_lr (float): where it starts.
        end_lr (float): where it would end; above `start_lr`.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = LinearWarmup(0.5, warmup_steps=2, start_lr=0.0, end_lr=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.0, 0.25, 0.5, 0.5]
    """

    def __init__(self, learning_rate, warmup_steps, start_lr, end_lr, last_epoch=-1, verbose=False):
        if not isinstance(learning_rate, float | int | LRScheduler):
            raise ArgumentTypeError(
                "the type of learning_rate should be [int, float or LRScheduler], "
                f"the current type is {learning_rate}"
            )
        if not (warmup_steps > 0 and isinstance(warmup_steps, int)):
            raise AssertionError(" 'warmup_steps' must be a positive integer.")
        if not end_lr > start_lr:
            raise AssertionError(f"end_lr {end_lr} must be greater than start_lr {start_lr}")
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def state_dict(self):
        """The state of this scheduler, and under `LinearWarmup_LR` of the one that follows.

        Examples:
            >>> LinearWarmup(0.5, warmup_steps=2, start_lr=0.0, end_lr=0.5).state_dict()
            {'last_epoch': 0, 'last_lr': 0.0}
        """
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict):
        """Go on from what `state_dict` gave, the scheduler that follows included.

        Args:
            state_dict (dict): the state of such a scheduler.
        """
        own = dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(own.pop("LinearWarmup_LR"))
        super().set_state_dict(own)

    def get_lr(self):
        if self.last_epoch < self.warmup_steps:
            rise = self.end_lr - self.start_lr
            return rise * float(self.last_epoch) / float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate


class LinearLR(LRScheduler):
    """The rate is multiplied by a factor that goes in a straight line from one value to another.

    Args:
        learning_rate (float): what the factor multiplies.
        total_steps (int): how many epochs the line takes; then the rate stays.
        start_factor (float, optional): above 0, at most 1.
        end_factor (float, optional): from 0 to 1.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = LinearLR(1.0, total_steps=2, start_factor=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        learning_rate,
        total_steps,
        start_factor=1.0 / 3,
        end_factor=1.0,
        last_epoch=-1,
        verbose=False,
    ):
        if start_factor > 1.0 or start_factor <= 0:
            raise ArgumentError(
                "`start_factor` must be greater than 0 and less or equal to 1, "
                f"but got {start_factor}"
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ArgumentError(
                f"`end_factor` must be greater than 0 and less than 1, but got {end_factor}"
            )
        if total_steps <= 0:
            raise ArgumentError(f"`total_steps` must be greater than 0, but got {total_steps}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_steps = total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        change = self.end_factor - self.start_factor
        start = self.total_steps * self.start_factor
        return self.last_lr * (1.0 + change / (start + (self.last_epoch - 1) * change))
