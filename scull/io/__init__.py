"""Datasets, samplers and the DataLoader."""

from scull.core.door import doors
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
doors(__name__, "dataloader reader")
doors("scull.io.dataloader", "batch_sampler dataset sampler worker", __name__)
doors("scull.io.dataloader", "collate", "scull.io.collate")
doors("scull.io.dataloader", "dataloader_iter", "scull.io.loader")
__all__ = listed(NAMES)
