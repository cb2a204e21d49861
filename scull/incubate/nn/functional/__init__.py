"""Functions that are several others, by the names that models for GPUs call them by."""

from scull.core.absent import absent
from scull.incubate.nn.functional.fused_dropout_add import fused_dropout_add
from scull.incubate.nn.functional.fused_layer_norm import fused_layer_norm
from scull.incubate.nn.functional.fused_matmul_bias import (
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
)
from scull.incubate.nn.functional.fused_rms_norm import fused_rms_norm
from scull.incubate.nn.functional.fused_rotary_position_embedding import (
    fused_rotary_position_embedding,
)
from scull.incubate.nn.functional.fused_transformer import (
    fused_bias_dropout_residual_layer_norm,
    fused_feedforward,
    fused_multi_head_attention,
)
from scull.incubate.nn.functional.variable_length_memory_efficient_attention import (
    variable_length_memory_efficient_attention,
)

__getattr__ = absent(
    __name__,
    {
        "what a GPU's kernel of generation keeps between steps is not known here": (
            "block_multihead_attention fused_multi_transformer masked_multihead_attention"
        ),
        "experts are chosen by a kernel of GPUs": "fused_ec_moe",
    },
)
__all__ = [
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_feedforward",
    "fused_layer_norm",
    "fused_linear",
    "fused_linear_activation",
    "fused_matmul_bias",
    "fused_multi_head_attention",
    "fused_rms_norm",
    "fused_rotary_position_embedding",
    "variable_length_memory_efficient_attention",
]
