"""Optimizers of training on many machines."""

from scull.core.absent import absent
from scull.core.door import doors

doors(__name__, "dygraph_optimizer")
doors(
    f"{__name__}.dygraph_optimizer",
    "dygraph_sharding_optimizer hybrid_parallel_gradscaler hybrid_parallel_optimizer",
    __name__,
)
__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "AMPOptimizer DGCMomentumOptimizer DygraphShardingOptimizer"
            " DygraphShardingOptimizerV2 HybridParallelGradScaler HybridParallelOptimizer"
            " RecomputeOptimizer"
        )
    },
)
