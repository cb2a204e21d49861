"""What reads and writes files of sounds: Python's own `wave`."""

from scull.audio.backends.wave_backend import (
    get_current_backend,
    list_available_backends,
    set_backend,
)
from scull.core.door import doors

doors(__name__, "backend", "scull.audio.backends.wave_backend")
doors(__name__, "init_backend")

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]
