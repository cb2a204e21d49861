"""The messages of Paddle's files; protobuf is imported when the first name is asked for."""

from typing import Any

from scull.files import proto


def __getattr__(name: str) -> Any:
    if name not in proto.NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(proto, name)


def __dir__() -> list[str]:
    return sorted(proto.NAMES)
