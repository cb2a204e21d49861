"""Images: so far the handwritten digits that `scull demo` learns."""

from scull.vision.digits import Digits

__all__ = ["Digits"]
