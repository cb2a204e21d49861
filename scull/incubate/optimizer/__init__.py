"""Optimizers that hold on to slower copies of parameters, and momentum at rates of layers."""

from scull.incubate.optimizer.lars import LarsMomentumOptimizer
from scull.incubate.optimizer.lookahead import LookAhead
from scull.incubate.optimizer.model_average import ModelAverage
from scull.optimizer import LBFGS

__all__ = ["LBFGS", "LarsMomentumOptimizer", "LookAhead", "ModelAverage"]
