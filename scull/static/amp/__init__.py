"""Mixed precision of Programs: operators cast, losses scaled, updates of float32 copies.

A network is built as always; `decorate` wraps the optimizer, whose `minimize` rewrites the Program.
Lists and Programs are those of PaddlePaddle 2.6 for devices that compute in every element type: on
the CPU float16 is computed in float16, too, which is slow.
"""

from scull.core.absent import absent
from scull.deferred import deferred, listed

NAMES = {
    "": "amp_nn bf16 decorator fp16_lists fp16_utils",
    "decorator": "decorate",
    "fp16_lists": "AutoMixedPrecisionLists CustomOpLists",
    "fp16_utils": "cast_model_to_fp16 cast_parameters_to_fp16 fp16_guard",
}
lacking = absent(__name__, {"`paddle.amp.debugging` is for eager mode": "debugging"})
found, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)


def __getattr__(name: str) -> object:
    return lacking(name) if name == "debugging" else found(name)
