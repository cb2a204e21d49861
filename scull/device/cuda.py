"""GPUs: this process has none. What counts them says 0, what needs one refuses."""

from typing import Any, NoReturn

from scull.core.absent import absent
from scull.errors import ArgumentError


def device_count() -> int:
    """How many GPUs there are: 0."""
    return 0


def empty_cache() -> None:
    """Give cached memory of the GPU back: there is none."""


def refuse(name: str) -> NoReturn:
    """Say that `name` needs a GPU."""
    raise ArgumentError(
        f"The API paddle.device.cuda.{name} is not supported in CPU-only PaddlePaddle. "
        "scull runs on the CPU, there is no GPU to ask."
    )


def get_device_properties(device: Any = None) -> NoReturn:
    """What a GPU is like."""
    refuse("get_device_properties")


def get_device_name(device: Any = None) -> NoReturn:
    """What a GPU is called."""
    refuse("get_device_properties")


def get_device_capability(device: Any = None) -> NoReturn:
    """The compute capability of a GPU."""
    refuse("get_device_properties")


def max_memory_allocated(device: Any = None) -> NoReturn:
    """The most memory of a GPU that tensors took."""
    refuse("max_memory_allocated")


def max_memory_reserved(device: Any = None) -> NoReturn:
    """The most memory of a GPU that was reserved."""
    refuse("max_memory_reserved")


def memory_allocated(device: Any = None) -> NoReturn:
    """The memory of a GPU that tensors take."""
    refuse("memory_allocated")


def memory_reserved(device: Any = None) -> NoReturn:
    """The memory of a GPU that is reserved."""
    refuse("memory_reserved")


__getattr__ = absent(
    __name__,
    {
        "there is no GPU": "Stream Event current_stream synchronize stream_guard graphs CUDAGraph",
    },
)

__all__ = [
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
]
