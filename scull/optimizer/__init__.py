"""Optimizers: they update parameters by their gradients, in both modes."""

from scull.core.door import doors
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
doors(__name__, "adadelta adagrad adam adamax adamw lamb momentum rmsprop sgd")
__all__ = listed(NAMES)
