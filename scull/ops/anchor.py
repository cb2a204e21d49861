"""Boxes of a detector before it sees anything: of given sizes, around each place of a map."""

from typing import Any

import numpy as np

from scull.core.attribute import Floats, Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, floating
from scull.errors import ArgumentError, ShapeError
from scull.ops.box import CONSTANT, NO_LOOP
from scull.ops.half import placed


def check_maps(**maps: Meta) -> None:
    """Refuse what is no map of images."""
    for name, m in maps.items():
        floating(m)
        if m.ndim != 4:
            raise ShapeError(f"{name} has {m.ndim} axes, 4 are needed")


def check_above(name: str, numbers: Any, *, fewest: int = 1) -> None:
    """Refuse too few numbers, and any that is not above 0."""
    if len(numbers) < fewest or (numbers and min(numbers) <= 0):
        raise ArgumentError(f"{name} is {list(numbers)}; numbers above 0 are needed")


def check_variance(variance: Any) -> None:
    """Refuse what does not say how much each number of a box is divided by."""
    if len(variance) != 4 or min(variance) <= 0:
        raise ArgumentError(f"variances is {list(variance)}; four numbers above 0 are needed")


def spread(xp: Any, variance: Any, boxes: Any, dtype: Any) -> Any:
    """The variances of each of some boxes."""
    return xp.array(xp.broadcast_to(xp.array(variance, dtype), boxes.shape))


def shapes_of(
    least: Any, most: Any, ratios: Any, flip: bool, largest_second: bool
) -> list[tuple[float, float]]:
    """How wide and high the boxes around a place are."""
    known = [1.0]
    for ratio in ratios:
        if all(abs(ratio - other) >= 1e-6 for other in known):
            known += [ratio, 1.0 / ratio] if flip else [ratio]
    found = []
    for i, size in enumerate(least):
        boxes = [(size * r**0.5, size / r**0.5) for r in known]
        square = [((size * most[i]) ** 0.5,) * 2] if most else []
        found += boxes[:1] + square + boxes[1:] if largest_second else boxes + square
    return found


@primitive(
    outputs=("boxes", "variances"),
    attrs={"variance": "variances"},
    fixed={"mkldnn_data_type": "float32", "use_mkldnn": False, "use_quantizer": False},
    infer_first=True,
)
def prior_box(
    input_meta: Meta,
    image_meta: Meta,
    *,
    min_sizes: Floats,
    max_sizes: Floats = (),
    aspect_ratios: Floats = (),
    variance: Floats = (),
    flip: bool = True,
    clip: bool = True,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
) -> tuple[Meta, Meta]:
    """Boxes of many sizes and shapes around each place of `input`, in shares of `image`."""
    check_maps(input=input_meta, image=image_meta)
    if not min_sizes or min(min_sizes) <= 0:
        raise ArgumentError(f"min_sizes is {list(min_sizes)}; sizes above 0 are needed")
    if max_sizes and len(max_sizes) != len(min_sizes):
        raise ArgumentError(f"there are {len(min_sizes)} min_sizes and {len(max_sizes)} max_sizes")
    if any(b <= a for a, b in zip(min_sizes, max_sizes, strict=False)):
        raise ArgumentError("a size of max_sizes is not above that of min_sizes")
    if any(r <= 0 for r in aspect_ratios):
        raise ArgumentError(f"aspect_ratios is {list(aspect_ratios)}; all are to be above 0")
    check_variance(variance)
    order = min_max_aspect_ratios_order
    count = len(shapes_of(min_sizes, max_sizes, aspect_ratios, flip, order))
    found = input_meta.with_shape((*input_meta.shape[2:], count, 4))
    return found, found


@prior_box.kernel
def prior_box_kernel(
    xp: Any,
    input: Any,
    image: Any,
    *,
    out: Any = None,
    min_sizes: Any,
    max_sizes: Any,
    aspect_ratios: Any,
    variance: Any,
    flip: bool,
    clip: bool,
    step_w: float,
    step_h: float,
    offset: float,
    min_max_aspect_ratios_order: bool,
) -> Any:
    boxes, variances = out or (None, None)
    order = min_max_aspect_ratios_order
    half = xp.array(shapes_of(min_sizes, max_sizes, aspect_ratios, flip, order)) / 2
    rows, columns, dtype = *input.shape[2:], input.dtype
    height, width = image.shape[2:]
    if step_w == 0 or step_h == 0:
        step_w, step_h = width / max(columns, 1), height / max(rows, 1)
    middle = xp.empty((rows, columns, 1, 2))
    middle[..., 0] = ((xp.arange(columns) + offset) * step_w)[:, None]
    middle[..., 1] = ((xp.arange(rows) + offset) * step_h)[:, None, None]
    size = xp.array([width, height])
    found = xp.concatenate([(middle - half) / size, (middle + half) / size], -1)
    found = xp.clip(found, 0, 1) if clip else found
    return placed(found, dtype, boxes), placed(spread(xp, variance, found, dtype), dtype, variances)


@primitive(outputs=("anchors", "variances"), attrs={"variance": "variances"}, infer_first=True)
def anchor_generator(
    input_meta: Meta,
    *,
    anchor_sizes: Floats = (),
    aspect_ratios: Floats = (),
    variance: Floats = (),
    stride: Floats = (16.0, 16.0),
    offset: float = 0.5,
) -> tuple[Meta, Meta]:
    """Boxes of all sizes and shapes around each place, in pixels of images `stride` as large."""
    check_maps(input=input_meta)
    check_above("anchor_sizes", anchor_sizes)
    check_above("aspect_ratios", aspect_ratios)
    check_above("stride", stride, fewest=2)
    check_variance(variance)
    count = len(anchor_sizes) * len(aspect_ratios)
    found = input_meta.with_shape((*input_meta.shape[2:], count, 4))
    return found, found


@anchor_generator.kernel
def anchor_generator_kernel(
    xp: Any,
    input: Any,
    *,
    out: Any = None,
    anchor_sizes: Any,
    aspect_ratios: Any,
    variance: Any,
    stride: Any,
    offset: float,
) -> Any:
    anchors, variances = out or (None, None)
    dtype = input.dtype
    wide, high = stride[:2]
    ratios = xp.array(aspect_ratios, dtype)[:, None]
    base = xp.floor(xp.sqrt(dtype.type(wide * high) / ratios) + 0.5)
    sides = xp.stack([base / wide, xp.floor(base * ratios + 0.5) / high], -1)
    half = (sides * xp.array(anchor_sizes, dtype)[:, None] - 1).reshape(-1, 2) / 2
    around = xp.concatenate([-half, half], 1)
    steps = [
        (xp.arange(n) * step + offset * (step - 1)).astype(dtype)[:, None, None]
        for n, step in zip(input.shape[2:], (high, wide), strict=True)
    ]
    line = around + steps[1] * xp.array([1, 0, 1, 0], dtype)  # of the first row
    found = line + (steps[0] * xp.array([0, 1, 0, 1], dtype) + xp.zeros_like(around))[:, None]
    return placed(found, dtype, anchors), placed(
        spread(xp, variance, found, dtype), dtype, variances
    )


@primitive(outputs=("boxes", "variances"), attrs={"variance": "variances"}, infer_first=True)
def density_prior_box(
    input_meta: Meta,
    image_meta: Meta,
    *,
    variance: Floats = (),
    clip: bool = True,
    flatten_to_2d: bool = False,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float = 0.5,
    fixed_sizes: Floats = (),
    fixed_ratios: Floats = (),
    densities: Ints = (),
) -> tuple[Meta, Meta]:
    """Boxes around each place of `input`, small ones more densely, in shares of `image`."""
    check_maps(input=input_meta, image=image_meta)
    if len(fixed_sizes) != len(densities):
        raise ArgumentError(f"there are {len(fixed_sizes)} fixed_sizes, {len(densities)} densities")
    check_above("fixed_sizes", fixed_sizes, fewest=0)
    check_above("fixed_ratios", fixed_ratios, fewest=0)
    check_above("densities", densities, fewest=0)
    check_variance(variance)
    count = len(fixed_ratios) * sum(d * d for d in densities)
    rows, columns = input_meta.shape[2:]
    shape: tuple[int, ...] = (rows, columns, count, 4)
    if flatten_to_2d:
        shape = (UNKNOWN if -1 in (rows, columns) else rows * columns * count, 4)
    found = input_meta.with_shape(shape)
    return found, found


@density_prior_box.kernel
def density_prior_box_kernel(
    xp: Any,
    input: Any,
    image: Any,
    *,
    out: Any = None,
    variance: Any,
    clip: bool,
    flatten_to_2d: bool,
    step_w: float,
    step_h: float,
    offset: float,
    fixed_sizes: Any,
    fixed_ratios: Any,
    densities: Any,
) -> Any:
    boxes, variances = out or (None, None)
    rows, columns = input.shape[2:]
    height, width = image.shape[2:]
    if step_w == 0 or step_h == 0:
        step_w, step_h = width / max(columns, 1), height / max(rows, 1)
    step = int((step_w + step_h) * 0.5)
    shifts, halves = [], []
    for size, density in zip(fixed_sizes, densities, strict=True):
        shift = step // density
        places = np.arange(density) * shift + shift / 2 - step / 2
        for ratio in fixed_ratios:
            shifts += [(x, y) for y in places for x in places]
            halves += [(size * ratio**0.5 / 2, size / ratio**0.5 / 2)] * density**2
    middle = xp.empty((rows, columns, 1, 2))
    middle[..., 0] = ((xp.arange(columns) + offset) * step_w)[:, None]
    middle[..., 1] = ((xp.arange(rows) + offset) * step_h)[:, None, None]
    middle = middle + xp.array(shifts).reshape(-1, 2)
    half, edge = xp.array(halves).reshape(-1, 2), xp.array([width, height])
    low, high = xp.maximum((middle - half) / edge, 0), xp.minimum((middle + half) / edge, 1)
    found = xp.concatenate([low, high], -1).astype(input.dtype)
    found = xp.clip(found, 0, 1) if clip else found
    found = found.reshape(-1, 4) if flatten_to_2d else found
    dtype = input.dtype
    return placed(found, dtype, boxes), placed(spread(xp, variance, found, dtype), dtype, variances)


for function in (prior_box, anchor_generator, density_prior_box):
    function.no_grad(CONSTANT)
    function.no_lowering(NO_LOOP)
