"""Optimizers: they update parameters by their gradients, in both modes."""

from scull.optimizer import lr
from scull.optimizer.adaptive import Adam, AdamW
from scull.optimizer.gradient_descent import SGD, Momentum
from scull.optimizer.optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Momentum", "Optimizer", "lr"]
