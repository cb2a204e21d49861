"""Learning rates that fall along half a cosine, and rise again."""

import math

from scull.errors import ArgumentError, ArgumentTypeError
from scull.optimizer.lr.scheduler import LRScheduler


class CosineAnnealingDecay(LRScheduler):
    r"""Half a cosine from the first rate to `eta_min` in `T_max` epochs, then up again.

    .. math:: rate = eta_{min} + (base - eta_{min}) \cdot (1 + \cos(\pi \cdot epoch / T_{max})) / 2

    A step computes the rate from the one before, which gives this formula when all steps are
    taken and also works when others change the rate between; `step(epoch)` uses the formula.

    Args:
        learning_rate (float): the rate of epoch 0.
        T_max (int): half the period.
        eta_min (float, optional): the lowest rate.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = CosineAnnealingDecay(1.0, T_max=2)
        >>> scheduler.step()
        >>> round(scheduler(), 6)
        0.5
    """

    def __init__(self, learning_rate, T_max, eta_min=0, last_epoch=-1, verbose=False):
        if not isinstance(T_max, int):
            raise ArgumentTypeError(
                "The type of 'T_max' in 'CosineAnnealingDecay' must be 'int', "
                f"but received {type(T_max)}."
            )
        if not isinstance(eta_min, float | int):
            raise ArgumentTypeError(
                "The type of 'eta_min' in 'CosineAnnealingDecay' must be 'float, int', "
                f"but received {type(eta_min)}."
            )
        if T_max <= 0:
            raise AssertionError(" 'T_max' must be a positive integer.")
        self.T_max = T_max
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        epoch, period = self.last_epoch, self.T_max
        if epoch == 0:
            return self.base_lr
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = self.base_lr - self.eta_min
            return self.last_lr + rise * (1 - math.cos(math.pi / period)) / 2
        ratio = (1 + math.cos(math.pi * epoch / period)) / (
            1 + math.cos(math.pi * (epoch - 1) / period)
        )
        return ratio * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self):
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (self.base_lr - self.eta_min) * height / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the first rate to `eta_min`, then back up at once and down again.

    Args:
        learning_rate (float): the rate of epoch 0 and after each restart.
        T_0 (int): how many epochs the first descent takes.
        T_mult (int, optional): how many times longer each descent is than the one before.
        eta_min (float, optional): the lowest rate.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = CosineAnnealingWarmRestarts(1.0, T_0=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(scheduler(), 6))
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(self, learning_rate, T_0, T_mult=1, eta_min=0, last_epoch=-1, verbose=False):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ArgumentError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ArgumentError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return self.eta_min + (self.base_lr - self.eta_min) * height / 2

    def step(self, epoch=None):
        """Go on to the next epoch, or to `epoch`, which may be a fraction.

        Args:
            epoch (int | float, optional): where to go; None: one further.

        Examples:
            >>> scheduler = CosineAnnealingWarmRestarts(1.0, T_0=2, T_mult=2)
            >>> scheduler.step(4)
            >>> scheduler.T_cur, scheduler.T_i
            (2, 4)
        """
        if epoch is None:
            epoch = self.last_epoch + 1 if self.last_epoch >= 0 else 0
        if epoch < 0:
            raise ArgumentError(f"Expected non-negative epoch, but got {epoch}")
        self._find_descent(epoch)
        self.last_epoch = math.floor(epoch)
        self.last_lr = self.get_lr()
        self._announce()

    def set_state_dict(self, state_dict):
        """Go on from what `state_dict` gave, in the same descent.

        Args:
            state_dict (dict): the state of such a scheduler.
        """
        super().set_state_dict(state_dict)
        self._find_descent(self.last_epoch)

    def _find_descent(self, epoch):
        begin, length = 0, self.T_0
        while epoch >= begin + length:
            begin, length = begin + length, length * self.T_mult
        self.T_cur, self.T_i = epoch - begin, length
