"""Checkpoints that PaddleCloud takes by itself: elsewhere epochs are counted and no more."""

import logging
from collections.abc import Iterator
from typing import Any

from scull.errors import ArgumentError


def train_epoch_range(max_epoch_num: int, save_checkpoint_inter: Any = None) -> Iterator[int]:
    """The numbers of the epochs; a warning says that nothing is saved.

    Args:
        max_epoch_num (int): how many there are.
        save_checkpoint_inter (int, optional): of no effect.

    Raises:
        ArgumentError: the number of epochs is below 0.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.checkpoint import auto_checkpoint
        >>> list(auto_checkpoint.train_epoch_range(2))
        [0, 1]
    """
    if max_epoch_num < 0:
        raise ArgumentError(f"{max_epoch_num} epochs were asked for")
    logging.getLogger(__name__).warning("auto checkpoint will take effect only on PaddleCloud")
    yield from range(max_epoch_num)
