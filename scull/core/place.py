"""Places: where the values of a computation live."""

import re
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError

CUSTOM = ("null", "sim")  # kinds of devices for tests
BUILDS = {"gpu": "CUDA", "xpu": "XPU", "ipu": "IPU", "npu": "NPU"}


class Place:
    """A device: its kind (`cpu`, `gpu`, `sim`, `null`) and its number."""

    __slots__ = ("kind", "number")

    def __init__(self, kind: str = "cpu", number: int = 0) -> None:
        self.kind, self.number = kind, number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.kind, self.number) == (other.kind, other.number)

    _equals = __eq__

    def __hash__(self) -> int:
        return hash((self.kind, self.number))

    def __repr__(self) -> str:
        return f"Place({self.name})"

    @property
    def name(self) -> str:
        """What a device is called: `cpu`, `gpu:0`."""
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.number}"

    def is_cpu_place(self) -> bool:
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        return self.kind == "gpu"

    def is_cuda_pinned_place(self) -> bool:
        return False

    def is_custom_place(self) -> bool:
        return self.kind not in ("cpu", "gpu")

    def get_device_id(self) -> int:
        return self.number

    gpu_device_id = custom_device_id = get_device_id

    def get_device_type(self) -> str:
        return self.kind

    custom_device_type = get_device_type

    def set_place(self, other: Any) -> None:
        """Become the place `other`."""
        self.kind, self.number = other.kind, other.number


class CPUPlace(Place):
    """The host."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("cpu", 0)


class CUDAPlace(Place):
    """A GPU by its number."""

    __slots__ = ()

    def __init__(self, number: int = 0) -> None:
        super().__init__("gpu", number)


class CustomPlace(Place):
    """A device by its kind and number: `sim`, which simulates one, or `null`, which runs nothing.

    Examples:
        >>> import scull as paddle
        >>> place = paddle.CustomPlace("sim", 0)
        >>> place, place.get_device_type(), place.get_device_id()
        (Place(sim:0), 'sim', 0)
    """

    __slots__ = ()

    def __init__(self, kind: str, number: int = 0) -> None:
        if not isinstance(kind, str) or not isinstance(number, int) or number < 0:
            raise ArgumentTypeError(
                f"a place is a kind and a number from 0 on, not {kind!r} and {number!r}"
            )
        super().__init__(kind, number)


class CUDAPinnedPlace(CPUPlace):
    """Host memory that a GPU copies from fast; plain host memory here."""

    __slots__ = ()


CPU = Place()


def place_of(device: Any) -> Place:
    """The place a string names."""
    if isinstance(device, Place):
        return device
    if isinstance(device, str) and device.lower() == "cpu":
        return CPUPlace()
    match = re.fullmatch(rf"({'|'.join(CUSTOM)})(?::(\d+))?", str(device).lower())
    if match:
        return CustomPlace(match[1], int(match[2] or 0))
    match = re.fullmatch(r"(gpu|xpu|ipu|npu)(:\d+)?", str(device).lower())
    if match:
        raise ArgumentError(
            f"The device should not be '{device}', since PaddlePaddle is not compiled with "
            f"{BUILDS[match[1]]}: scull runs on the CPU"
        )
    raise ArgumentError(
        "The device must be a string which is like 'cpu', 'gpu', 'gpu:x', 'xpu', 'xpu:x', 'npu', "
        f"'npu:x', not {device!r}"
    )
