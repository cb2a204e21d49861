"""Optimizers: they update parameters by their gradients, in both modes."""

from scull.deferred import deferred, listed

NAMES = {
    "": "lr",
    "accumulation": "Adadelta Adagrad RMSProp",
    "adaptive": "Adam AdamW Adamax Lamb",
    "gradient_descent": "Momentum SGD",
    "lbfgs": "LBFGS",
    "optimizer": "Optimizer",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
