"""Rewriting of Programs to half precision."""

from scull.core.absent import absent
from scull.static.amp import REASON

__getattr__ = absent(
    __name__,
    {
        REASON: (
            "AmpOptions DEFAULT_AMP_OPTIONS _keep_layer_norm_scale_bias_to_fp32"
            " cast_model_to_fp16 cast_parameters_to_fp16 prepare_op_amp_options"
        )
    },
)
