"""Optimizers of training on many machines."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {"processes do not train together": "DGCMomentumOptimizer RecomputeOptimizer AMPOptimizer"},
)
