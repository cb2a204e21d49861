"""Mixed precision: operators with fewer digits where that is safe, and losses scaled up so that
small gradients survive them."""

from scull.core.door import door
from scull.deferred import deferred, listed

NAMES = {
    "": "amp_lists debugging",
    "amp_lists": "black_list white_list",
    "decoration": "amp_decorate decorate",
    "grad_scaler": "AmpScaler GradScaler OptimizerState",
    "guard": "amp_guard auto_cast is_bfloat16_supported is_float16_supported",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
door("scull.amp.auto_cast", "scull.amp.guard")  # the function, too, has this name
__all__ = listed(NAMES)
