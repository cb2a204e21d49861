"""The least values of functions of a vector."""

from scull.incubate.optimizer.functional.bfgs import minimize_bfgs
from scull.incubate.optimizer.functional.lbfgs import minimize_lbfgs

__all__ = ["minimize_bfgs", "minimize_lbfgs"]
