"""Layers that are spread over processes: they can be named, and nothing is one of them."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "ColumnParallelLinear LayerDesc ParallelCrossEntropy PipelineLayer PipelineParallel"
            " PipelineParallelWithInterleave PipelineParallelWithInterleaveFthenB RNGStatesTracker"
            " RowParallelLinear SegmentParallel SharedLayerDesc ShardingParallel TensorParallel"
            " VocabParallelEmbedding get_rng_state_tracker model_parallel_random_seed"
        ),
    },
)
__all__: list[str] = []
