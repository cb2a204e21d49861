"""Optimizers that hold on to slower copies of parameters, and momentum at rates of layers."""

from scull.core.absent import absent
from scull.incubate.optimizer import functional
from scull.incubate.optimizer.gradient_merge import GradientMergeOptimizer
from scull.incubate.optimizer.lars import LarsMomentumOptimizer
from scull.incubate.optimizer.lookahead import LookAhead
from scull.incubate.optimizer.model_average import ModelAverage
from scull.incubate.optimizer.recompute import RecomputeOptimizer
from scull.optimizer import LBFGS

__getattr__ = absent(
    __name__, {"processes do not train together": "DistributedFusedLamb PipelineOptimizer"}
)
__all__ = [
    "GradientMergeOptimizer",
    "LBFGS",
    "LarsMomentumOptimizer",
    "LookAhead",
    "ModelAverage",
    "RecomputeOptimizer",
    "functional",
]
