"""What processes send each other, as Paddle has it in this module; here there is one."""

from scull.core.door import door, shown_by
from scull.distributed.communication import group as group

WORDS = (
    "all_gather all_reduce all_to_all batch_isend_irecv broadcast gather recv reduce"
    " reduce_scatter scatter send"
)
for word in WORDS.split():
    door(f"{__name__}.{word}", "scull.distributed")
__getattr__ = shown_by("scull.distributed")
