"""The learning rate that falls when a metric stops getting better."""

from scull.errors import ArgumentError, ArgumentTypeError
from scull.optimizer.lr.scheduler import LRScheduler


class ReduceOnPlateau(LRScheduler):
    """The rate is multiplied by `factor` when a metric has not got better for `patience` epochs.

    Args:
        learning_rate (float): the rate to start from.
        mode (str, optional): "min" when less is better, "max" when more is.
        factor (float, optional): below 1.
        patience (int, optional): how many epochs without a better value are borne.
        threshold (float, optional): by how much a value must be better to count.
        threshold_mode (str, optional): "rel": `threshold` is a part of the best value; "abs": it is
            itself the difference.
        cooldown (int, optional): how many epochs after a change are not counted.
        min_lr (float, optional): the lowest rate.
        epsilon (float, optional): a change that is not larger is not made.
        verbose (bool, optional): print a line at each change.

    Examples:
        >>> scheduler = ReduceOnPlateau(1.0, factor=0.5, patience=1)
        >>> for loss in [3.0, 2.0, 2.0, 2.0]:
        ...     scheduler.step(loss)
        >>> scheduler()
        0.5
    """

    def __init__(
        self,
        learning_rate,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        epsilon=1e-8,
        verbose=False,
    ):
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        if mode not in ("min", "max"):
            raise ArgumentError(f"mode: {mode} is unknown!")
        if factor >= 1.0:
            raise ArgumentError("new_lr = origin_lr * gamma and gamma should be < 1.0.")
        if threshold_mode not in ("rel", "abs"):
            raise ArgumentError(f"threshold mode: {threshold_mode} is unknown!")
        if not isinstance(learning_rate, float | int):
            raise ArgumentTypeError(
                "The type of 'learning_rate' in 'ReduceOnPlateau' must be 'float', "
                f"but received {type(learning_rate)}."
            )
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.cooldown_counter = 0
        self.best = None
        self.num_bad_epochs = 0
        self._begin(learning_rate, 0, verbose)

    def state_keys(self):
        """Put into `self.keys` the names of the attributes that `state_dict` saves."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics, epoch=None):
        """Go on to the next epoch, or to `epoch`, and look at its metric.

        Args:
            metrics (Tensor | numpy.ndarray | float): one value.
            epoch (int, optional): where to go; None: one further.
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        _check_metric(metrics)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(metrics, self.best):
            self.best = metrics
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            self._reduce()

    def _reduce(self):
        reduced = max(self.last_lr * self.factor, self.min_lr)
        if self.last_lr - reduced > self.epsilon:
            self.last_lr = reduced
            self._announce()

    def _is_better(self, current, best):
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return current < best - margin if self.mode == "min" else current > best + margin


def _check_metric(metrics):
    if hasattr(metrics, "item") and hasattr(metrics, "size"):  # a Tensor, an array or its scalar
        if metrics.size != 1:
            raise AssertionError(
                f"the size of metrics must be 1, but the current metrics.size is {metrics.size}. "
                "Maybe that you should call paddle.mean to process it first."
            )
    elif not isinstance(metrics, int | float):
        raise ArgumentTypeError(
            "metrics must be 'int', 'float', 'np.float64', 'numpy.ndarray' or 'paddle.Tensor', "
            f"but receive {type(metrics)}"
        )
