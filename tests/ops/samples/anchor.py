"""Samples of boxes around each place of a map; references go place by place."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples


def around(input: Any, image: Any, **attrs: Any) -> Any:
    ratios = [1.0]
    for r in attrs["aspect_ratios"]:
        if r != 1:
            ratios += [r, 1 / r] if attrs["flip"] else [r]
    rows, columns = input.shape[2:]
    height, width = image.shape[2:]
    step = attrs["step_w"] or width / columns, attrs["step_h"] or height / rows
    found = []
    for h, w in np.ndindex(rows, columns):
        for i, size in enumerate(attrs["min_sizes"]):
            boxes = [(size * r**0.5, size / r**0.5) for r in ratios]
            extra = [((size * attrs["max_sizes"][i]) ** 0.5,) * 2] if attrs["max_sizes"] else []
            second = attrs["min_max_aspect_ratios_order"]
            for a, b in boxes[:1] + extra + boxes[1:] if second else boxes + extra:
                x, y = (w + attrs["offset"]) * step[0], (h + attrs["offset"]) * step[1]
                box = (x - a / 2) / width, (y - b / 2) / height
                found.append([*box, (x + a / 2) / width, (y + b / 2) / height])
    boxes = np.array(found).reshape(rows, columns, -1, 4)
    boxes = np.clip(boxes, 0, 1) if attrs["clip"] else boxes
    return boxes, np.broadcast_to(attrs["variance"], boxes.shape)


@samples("prior_box", reference=around)
def prior_box_samples():
    given, some = (f32(1, 2, 3, 4), f32(1, 3, 9, 16)), (0.1, 0.1, 0.2, 0.2)
    yield call(*given, min_sizes=(2.0,), variance=some)
    both = {"min_sizes": (2.0, 3.0), "max_sizes": (4.0, 6.0), "aspect_ratios": (1.0, 2.0, 0.25)}
    yield call(*given, variance=some, flip=False, clip=False, **both)
    order = {"min_max_aspect_ratios_order": True, "offset": 0.0}
    yield call(*given, variance=some, step_w=4.0, step_h=2.0, **order, **both)
    yield fails(ArgumentError, "variances is []; four numbers", *given, min_sizes=(2.0,))
    law = "there are 1 min_sizes and 2 max_sizes"
    sizes = {"min_sizes": (2.0,), "max_sizes": (4.0, 5.0)}
    yield fails(ArgumentError, law, *given, variance=some, **sizes)


def placed(input: Any, **attrs: Any) -> Any:
    wide, high = attrs["stride"]
    found = []
    for y, x in np.ndindex(input.shape[2:]):
        middle = x * wide + attrs["offset"] * (wide - 1), y * high + attrs["offset"] * (high - 1)
        for ratio in attrs["aspect_ratios"]:
            base = math.floor(math.sqrt(wide * high / ratio) + 0.5)
            sides = base, math.floor(base * ratio + 0.5)
            for size in attrs["anchor_sizes"]:
                half = [(s * size / n - 1) / 2 for s, n in zip(sides, attrs["stride"], strict=True)]
                box = [m - h for m, h in zip(middle, half, strict=True)]
                found.append([*box, *(m + h for m, h in zip(middle, half, strict=True))])
    boxes = np.array(found).reshape(*input.shape[2:], -1, 4)
    return boxes, np.broadcast_to(attrs["variance"], boxes.shape)


FEW = (0.1, 0.1, 0.2, 0.3)


@samples("anchor_generator", reference=placed)
def anchor_generator_samples():
    asked = {"anchor_sizes": (16.0, 40.0), "aspect_ratios": (0.5, 1.0, 2.0), "variance": FEW}
    yield call(f32(1, 2, 3, 4), **asked, stride=(16.0, 16.0))
    yield call(f64(1, 2, 2, 1), **asked, stride=(8.0, 10.0), offset=0.0)
    law = "anchor_sizes is [16.0, -1.0]; numbers above 0"
    wrong = {**asked, "anchor_sizes": (16.0, -1.0)}
    yield fails(ArgumentError, law, f32(1, 2, 3, 4), **wrong, stride=(8.0, 8.0))
    yield fails(ArgumentError, "stride is [8.0]", f32(1, 2, 3, 4), **asked, stride=(8.0,))
    yield fails(ShapeError, "input has 2 axes", f32(3, 4), **asked, stride=(8.0, 8.0))


def dense(input: Any, image: Any, **attrs: Any) -> Any:
    rows, columns = input.shape[2:]
    height, width = image.shape[2:]
    step = attrs["step_w"] or width / columns, attrs["step_h"] or height / rows
    step_of_both, found = int(sum(step) / 2), []
    for y, x in np.ndindex(rows, columns):
        middle = (x + attrs["offset"]) * step[0], (y + attrs["offset"]) * step[1]
        for size, density in zip(attrs["fixed_sizes"], attrs["densities"], strict=True):
            shift = int(step_of_both / density)
            for ratio in attrs["fixed_ratios"]:
                half = size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
                for i, j in np.ndindex(density, density):
                    spot = [
                        m - step_of_both / 2 + shift / 2 + k * shift
                        for m, k in zip(middle, (j, i), strict=True)
                    ]
                    sides = list(zip(spot, half, (width, height), strict=True))
                    low = [max((s - h) / n, 0) for s, h, n in sides]
                    found.append(low + [min((s + h) / n, 1) for s, h, n in sides])
    shape = (-1, 4) if attrs["flatten_to_2d"] else (rows, columns, -1, 4)
    boxes = np.array(found).reshape(shape)
    boxes = np.clip(boxes, 0, 1) if attrs["clip"] else boxes
    return boxes, np.broadcast_to(attrs["variance"], boxes.shape)


@samples("density_prior_box", reference=dense)
def density_prior_box_samples():
    asked = {"fixed_sizes": (4.0, 7.0), "fixed_ratios": (1.0, 2.0), "densities": (2, 1)}
    given = f32(1, 2, 3, 4), f32(1, 3, 30, 32)
    yield call(*given, **asked, variance=FEW)
    yield call(*given, **asked, variance=FEW, clip=False, flatten_to_2d=True, offset=0.0)
    yield call(f64(1, 2, 2, 2), f64(1, 3, 9, 9), **asked, variance=FEW, step_w=5.0, step_h=4.0)
    law = "there are 2 fixed_sizes, 1 densities"
    yield fails(ArgumentError, law, *given, **{**asked, "densities": (2,)}, variance=FEW)
    law = "variances is [0.5]; four numbers above 0"
    yield fails(ArgumentError, law, *given, **asked, variance=(0.5,))
