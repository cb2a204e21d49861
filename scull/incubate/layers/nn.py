"""Layers that Paddle has for parameter servers and for single devices: they can be imported."""

from typing import Any

from scull.core.absent import absent
from scull.errors import ArgumentTypeError
from scull.ir.program import main_program
from scull.tensor import argsort, gather, reshape, shape, uniform

REASON = "it serves parameter servers or one kind of device"
NAMES = (
    "batch_fc bilateral_slice correlation fused_bn_add_act fused_embedding_seq_pool"
    " fused_seqpool_cvm multiclass_nms2 partial_concat partial_sum pow2_decay_with_linear_warmup"
    " rank_attention search_pyramid_hash tdm_child tdm_sampler"
)

__getattr__ = absent(__name__, {REASON: NAMES})


def shuffle_batch(x: Any, seed: Any = None) -> Any:
    """`x` with its rows, of the last axis, in random order.

    Args:
        x (Tensor): of at least one axis.
        seed (int, optional): not 0: the same order in every run. The Program's `random_seed` when
            None.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> sorted(paddle.incubate.layers.shuffle_batch(x).tolist())
        [[1, 2], [3, 4]]
    """
    if not isinstance(seed, int | None):
        raise ArgumentTypeError(f"seed is an int, not {type(seed).__name__}")
    rows = reshape(x, [-1, x.shape[-1]])
    numbers = uniform(
        [shape(rows)[0]], "float32", 0.0, 1.0, main_program().random_seed if seed is None else seed
    )
    return reshape(gather(rows, argsort(numbers)), shape(x) if -1 in x.shape else x.shape)
