"""How far the losses of the two modes are apart."""

from dataclasses import dataclass

COMPARED = 50  # steps
TOLERANCE = 1e-5  # relative


@dataclass(frozen=True)
class Difference:
    """The largest relative difference of two curves, and the first step where it is too large."""

    largest: float
    parted: int | None
    values: tuple[float, float] | None  # of both curves there

    def __str__(self) -> str:
        if self.parted is None:
            return f"the largest relative difference is {self.largest:.1g}"
        first, second = self.values
        return f"the losses part at step {self.parted}: {first!r} and {second!r}"


def compare(first: list[float], second: list[float]) -> Difference:
    """The difference over the first steps; a loss that is not a number parts at once."""
    largest, parted, values = 0.0, None, None
    for step, (a, b) in enumerate(zip(first[:COMPARED], second[:COMPARED], strict=True), 1):
        apart = abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0
        largest = max(largest, apart)
        if parted is None and not apart <= TOLERANCE:
            parted, values = step, (a, b)
    return Difference(largest, parted, values)
