"""Training on many machines: the names exist, so that files with them can be imported."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "processes do not train together": (
            "DistributedStrategy Fleet HybridCommunicateGroup UtilBase UserDefinedRoleMaker"
            " PaddleCloudRoleMaker distributed_model distributed_optimizer init is_first_worker"
            " worker_index worker_num"
        ),
    },
)
