"""Learning rates that follow a formula of the epoch."""

import math

from scull.errors import ArgumentError, ArgumentTypeError
from scull.optimizer.lr.scheduler import LRScheduler


class NoamDecay(LRScheduler):
    r"""A linear rise over `warmup_steps`, then a fall with the root of the epoch (Transformers).

    .. math:: rate = base \cdot d^{-0.5} \cdot \min(epoch^{-0.5}, epoch \cdot warmup^{-1.5})

    Args:
        d_model (int): the width of the model.
        warmup_steps (int): how many steps the rise takes.
        learning_rate (float, optional): the factor in front.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = NoamDecay(d_model=100, warmup_steps=4)
        >>> for _ in range(4):
        ...     scheduler.step()
        >>> round(scheduler(), 6)
        0.05
    """

    def __init__(self, d_model, warmup_steps, learning_rate=1.0, last_epoch=-1, verbose=False):
        if d_model <= 0:
            raise ArgumentError("d_model should be grater than 0")
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        falling = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return self.base_lr * self.d_model**-0.5 * min(falling, rising)


class NaturalExpDecay(LRScheduler):
    r"""The rate falls by the factor `exp(-gamma)` each epoch.

    .. math:: rate = base \cdot e^{-gamma \cdot epoch}

    Args:
        learning_rate (float): the rate of epoch 0.
        gamma (float): above 0.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = NaturalExpDecay(0.5, gamma=0.1)
        >>> scheduler.step()
        >>> round(scheduler(), 6)
        0.452419
    """

    def __init__(self, learning_rate, gamma, last_epoch=-1, verbose=False):
        if not gamma > 0.0:
            raise AssertionError(
                " 'gamma' must be a positive number so that the learning rate will decay."
            )
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    r"""The rate is divided by a number that grows by `gamma` each epoch.

    .. math:: rate = base / (1 + gamma \cdot epoch)

    Args:
        learning_rate (float): the rate of epoch 0.
        gamma (float): how fast it falls.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = InverseTimeDecay(0.5, gamma=1.0)
        >>> scheduler.step()
        >>> scheduler()
        0.25
    """

    def __init__(self, learning_rate, gamma, last_epoch=-1, verbose=False):
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    r"""The rate falls to `end_lr` in `decay_steps`, along a power of the part that is left.

    .. math:: rate = (base - end) \cdot (1 - epoch / steps)^{power} + end

    Without `cycle` it then stays at `end_lr`. With it, `steps` is the next multiple of
    `decay_steps`, so that the rate jumps up and falls again, more slowly.

    Args:
        learning_rate (float): the rate of epoch 0.
        decay_steps (int): how many epochs the fall takes.
        end_lr (float, optional): the lowest rate.
        power (float, optional): above 0; 1 is a straight line.
        cycle (bool, optional): rise again after each fall.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = PolynomialDecay(1.0, decay_steps=4, end_lr=0.0)
        >>> scheduler.step()
        >>> scheduler()
        0.75
    """

    def __init__(
        self,
        learning_rate,
        decay_steps,
        end_lr=0.0001,
        power=1.0,
        cycle=False,
        last_epoch=-1,
        verbose=False,
    ):
        if not (decay_steps > 0 and isinstance(decay_steps, int)):
            raise AssertionError(" 'decay_steps' must be a positive integer.")
        if not power > 0.0:
            raise AssertionError(
                " 'power' must be greater than 0.0 so that the learning rate will decay."
            )
        self.decay_steps = decay_steps
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        epoch, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= 1 if epoch == 0 else math.ceil(float(epoch) / float(steps))
        else:
            epoch = min(epoch, steps)
        left = 1 - float(epoch) / float(steps)
        return (self.base_lr - self.end_lr) * left**self.power + self.end_lr


class ExponentialDecay(LRScheduler):
    r"""The rate is multiplied by `gamma` each epoch.

    .. math:: rate = base \cdot gamma^{epoch}

    Args:
        learning_rate (float): the rate of epoch 0.
        gamma (float): between 0 and 1, both excluded.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = ExponentialDecay(0.5, gamma=0.5, verbose=True)
        Epoch 0: ExponentialDecay set learning rate to 0.5.
        >>> scheduler.step()
        Epoch 1: ExponentialDecay set learning rate to 0.25.
    """

    def __init__(self, learning_rate, gamma, last_epoch=-1, verbose=False):
        if not 0.0 < gamma < 1.0:
            raise AssertionError(
                " 'gamma' must be in interval (0.0, 1.0) so that the learning rate will decay."
            )
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.gamma**self.last_epoch


class LambdaDecay(LRScheduler):
    """The rate of epoch 0 times whatever a function says of the epoch.

    Args:
        learning_rate (float): the rate that the function multiplies.
        lr_lambda (function): from an epoch to a factor.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = LambdaDecay(0.5, lr_lambda=lambda epoch: 1 / (epoch + 1))
        >>> scheduler.step()
        >>> scheduler()
        0.25
    """

    def __init__(self, learning_rate, lr_lambda, last_epoch=-1, verbose=False):
        self.lr_lambda = _function(lr_lambda, "LambdaDecay")
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """The rate is multiplied each epoch by whatever a function says of that epoch.

    Args:
        learning_rate (float): the rate of epoch 0.
        lr_lambda (function): from an epoch, 1 the first, to a factor.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> scheduler = MultiplicativeDecay(1.0, lr_lambda=lambda epoch: 0.5)
        >>> scheduler.step()
        >>> scheduler.step()
        >>> scheduler()
        0.25
    """

    def __init__(self, learning_rate, lr_lambda, last_epoch=-1, verbose=False):
        self.lr_lambda = _function(lr_lambda, "MultiplicativeDecay")
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        rate = self.base_lr
        for epoch in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(epoch)
        return rate


def _function(lr_lambda, kind):
    if not callable(lr_lambda):
        raise ArgumentTypeError(
            f"The type of 'lr_lambda' in '{kind}' must be 'function', "
            f"but received {type(lr_lambda)}."
        )
    return lr_lambda
