"""Mixed precision of Programs: operators cast, losses scaled, updates of float32 copies.

A network is built as always; `decorate` wraps the optimizer, whose `minimize` rewrites the Program.
Lists and Programs are those of PaddlePaddle 2.6 for devices that compute in every element type: on
the CPU float16 is computed in float16, too, which is slow.
"""

from scull.deferred import deferred, listed

NAMES = {
    "": "amp_nn bf16 debugging decorator fp16_lists fp16_utils",
    "decorator": "decorate",
    "fp16_lists": "AutoMixedPrecisionLists CustomOpLists",
    "fp16_utils": "cast_model_to_fp16 cast_parameters_to_fp16 fp16_guard",
}
__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
