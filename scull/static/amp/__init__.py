"""Mixed precision of Programs: the names exist, so that files with them can be imported."""

from scull.core.absent import absent

REASON = "Programs are run in the element types they were built with"

__getattr__ = absent(
    __name__,
    {
        REASON: (
            "AutoMixedPrecisionLists CustomOpLists bf16 bf16_guard cast_model_to_fp16"
            " cast_parameters_to_fp16 decorate fp16_guard amp_nn"
        )
    },
)
