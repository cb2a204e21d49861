"""Operators on sequences of several lengths: they can be imported."""

from scull.core.absent import absent
from scull.nn.functional import sequence_mask

REASON = (
    "operators do not see the levels of detail of what is fed; pad sequences to one length, and use"
    " layers of paddle.nn that take their lengths"
)
NAMES = (
    "sequence_concat sequence_conv sequence_enumerate sequence_expand sequence_expand_as"
    " sequence_first_step sequence_last_step sequence_pad sequence_pool"
    " sequence_reshape sequence_reverse sequence_scatter sequence_slice sequence_softmax"
    " sequence_unpad"
)

__getattr__ = absent(__name__, {REASON: NAMES})
__all__ = ["sequence_mask"]
