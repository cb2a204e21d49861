"""Datasets, samplers and the DataLoader."""

from scull.deferred import deferred, listed

NAMES = {
    "batch_sampler": "BatchSampler DistributedBatchSampler",
    "dataset": """
        ChainDataset ComposeDataset ConcatDataset Dataset IterableDataset Subset TensorDataset
        random_split""",
    "loader": "DataLoader",
    "sampler": "RandomSampler Sampler SequenceSampler SubsetRandomSampler WeightedRandomSampler",
    "worker": "get_worker_info",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
