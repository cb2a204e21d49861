"""Places: where the values of a computation live."""

from typing import Any


class Place:
    """A device: its kind (`cpu`, `gpu`, `sim`, `null`) and its number."""

    __slots__ = ("kind", "number")

    def __init__(self, kind: str = "cpu", number: int = 0) -> None:
        self.kind, self.number = kind, number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.kind, self.number) == (other.kind, other.number)

    def __hash__(self) -> int:
        return hash((self.kind, self.number))

    def __repr__(self) -> str:
        return f"Place({self})"

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.number}"

    def is_cpu_place(self) -> bool:
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        return self.kind == "gpu"

    def is_cuda_pinned_place(self) -> bool:
        return False

    def get_device_id(self) -> int:
        return self.number

    gpu_device_id = get_device_id

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


class CUDAPinnedPlace(CPUPlace):
    """Host memory that a GPU copies from fast; plain host memory here."""

    __slots__ = ()


CPU = Place()
