"""The loss that marks where a gradient begins."""

from scull.incubate.loss import identity_loss

__all__ = ["identity_loss"]
