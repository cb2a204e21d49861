"""Places: where the values of a computation live."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A device: its kind (`cpu`, `gpu`, `sim`, `null`) and its number."""

    kind: str = "cpu"
    number: int = 0

    def __repr__(self) -> str:
        return f"Place({self})"

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.number}"

    def is_cpu_place(self) -> bool:
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        return self.kind == "gpu"

    def get_device_id(self) -> int:
        return self.number

    gpu_device_id = get_device_id


CPU = Place()


class CPUPlace(Place):
    """The host."""

    def __init__(self) -> None:
        super().__init__("cpu", 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and other.kind == "cpu"

    def __hash__(self) -> int:
        return hash(("cpu", 0))
