"""From eager code to Programs: to_static, and models saved with what they compute."""

from scull.deferred import deferred, listed
from scull.flags import PADDLE

PADDLE.setdefault("FLAGS_enable_to_static", True)

NAMES = {
    "": "api dy2static layer translated_layer",
    "loading": "load",
    "saving": "save",
    "translated_layer": "TranslatedLayer",
    "decompile": "to_source",
    "api": "enable_to_static ignore_module not_to_static set_code_level set_verbosity to_static",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
