"""What all else stands on: element types, metas, operators, interpreters, the bare Tensor."""

from typing import Any

from scull.core.door import shown_by

_of_paddle = shown_by("scull.framework.core")


def __getattr__(name: str) -> Any:
    """What Paddle has in its module of this name, which is another: `paddle.core.CPUPlace`."""
    if not name[:1].isupper():
        raise AttributeError(f"module 'scull.core' has no attribute {name!r}")
    return _of_paddle(name)
