"""The scheduler every other one is a kind of."""

import warnings

from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError


class LRScheduler:
    """A learning rate that changes from step to step.

    Each kind computes it in `get_lr` from `last_epoch`, `base_lr` and `last_lr`. A kind that can
    also tell the rate of any epoch does so in `_get_closed_form_lr`; `step(epoch)` then asks that.

    Args:
        learning_rate (float, optional): the rate to start from.
        last_epoch (int, optional): the epoch of the step before the first; -1 starts anew.
        verbose (bool, optional): print a line at each step.

    Examples:
        >>> class Halving(LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr / 2**self.last_epoch
        >>> scheduler = Halving(0.8)
        >>> scheduler(), scheduler.step(), scheduler()
        (0.8, None, 0.4)
    """

    def __init__(self, learning_rate=0.1, last_epoch=-1, verbose=False):
        if not isinstance(learning_rate, float | int):
            raise ArgumentTypeError(
                f"The type of learning rate must be float, but received {type(learning_rate)}"
            )
        if learning_rate < 0:
            raise ArgumentError(f"Invalid learning rate: {learning_rate}")
        self._begin(learning_rate, last_epoch, verbose)
        self.step()

    def _begin(self, learning_rate, last_epoch, verbose):
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self._var_name = None  # of the variable that holds the rate in a Program

    def __call__(self):
        """The learning rate of now."""
        return self.last_lr

    def step(self, epoch=None):
        """Go on to the next epoch, or to `epoch`, and compute its learning rate.

        Args:
            epoch (int, optional): where to go; None: one further.

        Examples:
            >>> from scull.optimizer.lr import ExponentialDecay
            >>> scheduler = ExponentialDecay(1.0, gamma=0.5)
            >>> scheduler.step()
            >>> scheduler()
            0.5
            >>> scheduler.step(4)
            >>> scheduler()
            0.0625
        """
        if epoch is None:
            self.last_epoch += 1
            self.last_lr = self.get_lr()
        else:
            self.last_epoch = epoch
            self.last_lr = getattr(self, "_get_closed_form_lr", self.get_lr)()
        self._announce()

    def _announce(self):
        if self.verbose:
            kind = type(self).__name__
            print(f"Epoch {self.last_epoch}: {kind} set learning rate to {self.last_lr}.")

    def state_keys(self):
        """Put into `self.keys` the names of the attributes that `state_dict` saves.

        A kind with more state than these two overrides this.
        """
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self):
        """What `set_state_dict` needs to go on from here.

        Returns:
            dict: the attributes that `state_keys` names; a tensor of one element becomes a float.

        Examples:
            >>> from scull.optimizer.lr import ExponentialDecay
            >>> ExponentialDecay(1.0, gamma=0.5).state_dict()
            {'last_epoch': 0, 'last_lr': 1.0}
        """
        self.state_keys()
        return {key: _number(vars(self)[key]) for key in self.keys if key in vars(self)}

    def set_state_dict(self, state_dict):
        """Go on from what `state_dict` gave.

        Args:
            state_dict (dict): the state of a scheduler of the same kind.

        Examples:
            >>> from scull.optimizer.lr import ExponentialDecay
            >>> scheduler = ExponentialDecay(1.0, gamma=0.5)
            >>> scheduler.set_state_dict({"last_epoch": 3, "last_lr": 0.125})
            >>> scheduler.step()
            >>> scheduler()
            0.0625
        """
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    "Please check whether state_dict is correct for optimizer. "
                    f"Can't find [ {key} ] in state_dict"
                )
            vars(self)[key] = state_dict[key]
        if len(state_dict) > len(self.keys):
            warnings.warn(
                "There are some unused values in state_dict. Maybe the optimizer have different "
                "'LearningRateDecay' when invoking state_dict and set_dict",
                stacklevel=2,
            )

    def set_dict(self, state_dict):
        """The older name of `set_state_dict`."""
        self.set_state_dict(state_dict)

    def get_lr(self):
        """The learning rate of `last_epoch`; each kind says its own."""
        raise UnsupportedError(f"{type(self).__name__} says no rate: it has no `get_lr`")


def _number(value):
    if not hasattr(value, "stop_gradient"):
        return value
    if value.size != 1:
        raise AssertionError("numel of Tensor in state_dict must be 1")
    return float(value)
