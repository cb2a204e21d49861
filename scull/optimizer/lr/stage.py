"""Learning rates that are constant for a while, then jump."""

from itertools import pairwise

from scull.errors import ArgumentError, ArgumentTypeError
from scull.optimizer.lr.scheduler import LRScheduler


class PiecewiseDecay(LRScheduler):
    """A rate given for each stretch between two boundaries.

    Args:
        boundaries (list | tuple): the epochs at which a new rate begins, rising.
        values (list | tuple): the rates, one more than there are boundaries.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = PiecewiseDecay(boundaries=[2, 3], values=[1.0, 0.5, 0.1])
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.1]
    """

    def __init__(self, boundaries, values, last_epoch=-1, verbose=False):
        if len(boundaries) == 0:
            raise ArgumentError("The boundaries cannot be empty.")
        if len(values) <= len(boundaries):
            raise ArgumentError(
                "The values have one more element than boundaries, but received "
                f"len(values) [{len(values)}] < len(boundaries) + 1 [{len(boundaries) + 1}]."
            )
        self.boundaries = boundaries
        self.values = values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self):
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[len(self.values) - 1]


class MultiStepDecay(LRScheduler):
    """The rate is multiplied by `gamma` at each milestone.

    Args:
        learning_rate (float): the rate before the first milestone.
        milestones (list | tuple): epochs, rising.
        gamma (float, optional): below 1.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = MultiStepDecay(0.5, milestones=[1, 3], gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.5, 0.25, 0.25, 0.125]
    """

    def __init__(self, learning_rate, milestones, gamma=0.1, last_epoch=-1, verbose=False):
        if not isinstance(milestones, tuple | list):
            raise ArgumentTypeError(
                "The type of 'milestones' in 'MultiStepDecay' must be 'tuple, list', "
                f"but received {type(milestones)}."
            )
        if any(a >= b for a, b in pairwise(milestones)):
            raise ArgumentError("The elements of milestones must be incremented")
        if gamma >= 1.0:
            raise ArgumentError("gamma should be < 1.0.")
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        for passed, milestone in enumerate(self.milestones):
            if self.last_epoch < milestone:
                return self.base_lr * self.gamma**passed
        return self.base_lr * self.gamma ** len(self.milestones)


class StepDecay(LRScheduler):
    r"""The rate is multiplied by `gamma` every `step_size` epochs.

    .. math:: rate = base \cdot gamma^{\lfloor epoch / step\_size \rfloor}

    Args:
        learning_rate (float): the rate of epoch 0.
        step_size (int): the epochs between two changes.
        gamma (float, optional): below 1.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = StepDecay(0.5, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.5, 0.5, 0.25, 0.25]
    """

    def __init__(self, learning_rate, step_size, gamma=0.1, last_epoch=-1, verbose=False):
        if not isinstance(step_size, int):
            raise ArgumentTypeError(
                f"The type of 'step_size' must be 'int', but received {type(step_size)}."
            )
        if gamma >= 1.0:
            raise ArgumentError("gamma should be < 1.0.")
        if step_size <= 0:
            raise AssertionError(" 'step_size' must be a positive integer.")
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)
