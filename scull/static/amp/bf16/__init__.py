"""The older doors to Programs in bfloat16."""

from scull.deferred import deferred, listed

NAMES = {
    "": "amp_lists amp_utils decorator",
    "amp_lists": "AutoMixedPrecisionListsBF16",
    "amp_utils": """
        bf16_guard cast_model_to_bf16 cast_parameters_to_bf16 convert_float_to_uint16
        rewrite_program_bf16""",
    "decorator": "decorate_bf16",
}
__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
