"""Layers whose parameters several processes share, as one process has them: whole."""

from scull.core.absent import absent
from scull.core.door import doors
from scull.distributed.fleet.meta_parallel.pipeline import (
    LayerDesc,
    PipelineLayer,
    SharedLayerDesc,
)
from scull.distributed.fleet.meta_parallel.tracker import (
    RNGStatesTracker,
    get_rng_state_tracker,
    model_parallel_random_seed,
)
from scull.distributed.fleet.meta_parallel.whole import (
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)

doors(__name__, "parallel_layers pp_utils sharding")
doors(f"{__name__}.parallel_layers", "mp_layers pp_layers random", __name__)
doors(
    f"{__name__}.sharding",
    "group_sharded_optimizer_stage2 group_sharded_stage2 group_sharded_stage3 group_sharded_utils",
    __name__,
)
__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "GroupShardedOptimizerStage2 GroupShardedScaler GroupShardedStage2"
            " GroupShardedStage3 PipelineParallel PipelineParallelWithInterleave"
            " PipelineParallelWithInterleaveFthenB SegmentParallel ShardingParallel TensorParallel"
        )
    },
)

__all__ = [
    "ColumnParallelLinear",
    "LayerDesc",
    "ParallelCrossEntropy",
    "PipelineLayer",
    "RNGStatesTracker",
    "RowParallelLinear",
    "SharedLayerDesc",
    "VocabParallelEmbedding",
    "get_rng_state_tracker",
    "model_parallel_random_seed",
]
