"""Optimizers: they update parameters by their gradients, in both modes."""

from scull.optimizer import lr
from scull.optimizer.accumulation import Adadelta, Adagrad, RMSProp
from scull.optimizer.adaptive import Adam, Adamax, AdamW, Lamb
from scull.optimizer.gradient_descent import SGD, Momentum
from scull.optimizer.lbfgs import LBFGS
from scull.optimizer.optimizer import Optimizer

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "Optimizer",
    "RMSProp",
    "lr",
]
