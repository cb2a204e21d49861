"""Every operator of an old file that is tried."""

from collections.abc import Iterator

from tests.files.legacy import basic, layer, merged, other
from tests.files.legacy.case import Case

FAMILIES = (
    basic.products,
    basic.shapes,
    basic.pieces,
    basic.places,
    basic.elementwise,
    layer.images,
    layer.norms,
    layer.scaled,
    layer.activations,
    layer.losses,
    layer.resized,
    other.reductions,
    other.filled,
    other.boxes,
    other.detections,
    other.quantized,
    other.linear_steps,
    other.distances,
    merged.elementwise,
    merged.products,
    merged.convolutions,
    merged.attentions,
)


def cases() -> Iterator[Case]:
    """Every case."""
    for family in FAMILIES:
        yield from family()
