"""Devices: this process computes on the CPU."""

from typing import Any

from scull.core import session
from scull.core.absent import absent
from scull.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place, place_of
from scull.device import cuda


def get_device() -> str:
    """Where new tensors live: "cpu"."""
    return session.place().name


def set_device(device: str) -> Place:
    """Let new tensors live on `device`.

    Args:
        device (str): "cpu"; "sim" or "null", devices for tests; others are refused.

    Returns:
        Place: the place.

    Examples:
        >>> import scull as paddle
        >>> paddle.device.set_device("cpu")
        Place(cpu)
    """
    place = place_of(device)
    session.put("place", place)
    return place


def get_cudnn_version() -> int | None:
    """The version of cuDNN: None, there is no GPU."""
    return None


def is_compiled_with_cuda() -> bool:
    """Whether CUDA is built in: False."""
    return False


def is_compiled_with_rocm() -> bool:
    """Whether ROCm is built in: False."""
    return False


def is_compiled_with_xpu() -> bool:
    """Whether XPU is built in: False."""
    return False


def is_compiled_with_ipu() -> bool:
    """Whether IPU is built in: False."""
    return False


def is_compiled_with_cinn() -> bool:
    """Whether CINN is built in: False."""
    return False


def is_compiled_with_distribute() -> bool:
    """Whether training on several machines is built in: False."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether a plug-in for `device_type` is there: False."""
    return False


def get_all_device_type() -> list[str]:
    """The kinds of devices beside the CPU: none."""
    return []


def get_all_custom_device_type() -> list[str]:
    """The kinds of devices of plug-ins: none."""
    return []


def get_available_device() -> list[str]:
    """The devices beside the CPU: none."""
    return []


def get_available_custom_device() -> list[str]:
    """The devices of plug-ins: none."""
    return []


def synchronize(device: Any = None) -> None:
    """Wait for a device; on the CPU everything is done when a call returns."""


__getattr__ = absent(
    __name__,
    {
        "the CPU has no streams": "Stream Event current_stream set_stream stream_guard",
        "there is no such device": "XPUPlace IPUPlace xpu",
    },
)

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "cuda",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "set_device",
    "synchronize",
]
