"""What Paddle has in its module `transforms`, with what transforms of users' own ask there."""

from scull.core.door import shown_by
from scull.vision.transforms.color import _check_input

__getattr__ = shown_by("scull.vision.transforms")
__all__ = ["_check_input"]
