"""What is done to images that are Tensors or variables, [..., channels, height, width]."""

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, UnsupportedError
from scull.ir.variable import Variable
from scull.nn import functional as F
from scull.static.input import setitem
from scull.tensor import (
    assign,
    cast,
    clip,
    clone,
    concat,
    equal,
    expand,
    flip,
    floor,
    lerp,
    logical_and,
    logical_not,
    max,
    mean,
    min,
    mod,
    ones_like,
    squeeze,
    stack,
    sum,
    transpose,
    unbind,
    unsqueeze,
    where,
    zeros_like,
)
from scull.vision.transforms.geometry import Size, origins

PADS = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}
GRAY = np.array([0.2989, 0.5870, 0.1140])


def is_image(image):
    """Whether this is a Tensor or a variable."""
    return isinstance(image, Tensor | Variable)


def size_of(image):
    """Height and width, which a Program has to know."""
    height, width = image.shape[-2], image.shape[-1]
    if height < 0 or width < 0:
        raise UnsupportedError(
            f"the image is {height} x {width}: declare its height and width, which this takes"
        )
    return height, width


def channels_of(image):
    """How many channels there are."""
    return image.shape[-3]


def constant(values, like):
    """Numbers as a tensor of the type of an image, in its mode."""
    return cast(assign(np.asarray(values, "float32")), like.dtype)


def to_tensor(image, data_format):
    """The image, with its channels where they are asked for."""
    return image if data_format == "CHW" else transpose(image, [1, 2, 0])


def batched(function, image):
    """`function` of a batch of images; one image is a batch for a while."""
    if image.ndim == 4:
        return function(image)
    return squeeze(function(unsqueeze(image, 0)), 0)


def sampled(function, image):
    """`function` of a batch of floats, for an image of either type."""
    return as_before(batched(function, floats(image)), image)


def resize(image, size: Size, interpolation):
    """The image in another size."""
    return sampled(lambda x: F.interpolate(x, size=list(size), mode=interpolation), image)


def pad(image, sides, fill, mode):
    """The image with a border: left, top, right, bottom."""
    if mode not in PADS:
        raise ArgumentError(f"a Tensor is padded by one of {', '.join(PADS)}, not {mode!r}")
    if not isinstance(fill, int | float):
        raise ArgumentError(f"a Tensor is filled with one number, not {fill!r}")
    left, top, right, bottom = sides
    border = [left, right, top, bottom]
    return batched(lambda x: F.pad(x, border, mode=PADS[mode], value=float(fill)), image)


def crop(image, top, left, height, width):
    """A part of the image."""
    return image[..., top : top + height, left : left + width]


def hflip(image):
    """Left is right."""
    return flip(image, [-1])


def vflip(image):
    """Top is bottom."""
    return flip(image, [-2])


def warped(image, matrix, size: Size, interpolation, fill):
    """The image through a matrix; what comes from outside is `fill`, unless that is None."""
    x, y = origins(matrix, size)
    height, width = size_of(image)
    grid = np.stack([2 * x / width - 1, 2 * y / height - 1], axis=-1)

    def moved(images):
        places = expand(unsqueeze(constant(grid, images), 0), [images.shape[0], *size, 2])
        return F.grid_sample(images, places, mode=interpolation, align_corners=False)

    def filled(images):
        if fill is None:
            return moved(images)
        inside = moved(ones_like(images[:, :1]))
        if interpolation == "nearest":
            inside = cast(inside >= 0.5, images.dtype)
        values = np.asarray(fill, "float32").reshape(1, -1, 1, 1)
        return moved(images) * inside + (1.0 - inside) * constant(values, images)

    return sampled(filled, image)


def erase(image, top, left, height, width, value, inplace):
    """The image with a part replaced."""
    place = (..., slice(top, top + height), slice(left, left + width))
    if isinstance(image, Variable):
        return setitem(image, place, value)
    image = image if inplace else clone(image)
    image[place] = value
    return image


def to_grayscale(image, channels):
    """The image without colours."""
    plain = as_before(brightness(image), image)
    return concat([plain] * channels, axis=-3) if channels > 1 else plain


def floats(image):
    """The image as floats, in its range."""
    return image if image.dtype.is_float else cast(image, "float32")


def as_before(found, image):
    """Floats in the type of the image: bytes are rounded."""
    if image.dtype.is_float:
        return found
    return cast(clip(floor(found + 0.5), 0.0, 255.0), image.dtype)


def brightness(image):
    """How bright pixels of red, green and blue are, as floats."""
    work = floats(image)
    if channels_of(image) != 3:
        return work
    return sum(work * constant(GRAY.reshape(-1, 1, 1), work), axis=-3, keepdim=True)


def blend(image, other, factor):
    """Further from the other image, or nearer to it, within the range of images."""
    most = 1.0 if image.dtype.is_float else 255.0
    return as_before(clip(lerp(other, floats(image), float(factor)), 0.0, most), image)


def adjust_brightness(image, factor):
    """Pixels times `factor`."""
    return blend(image, zeros_like(floats(image)), factor)


def adjust_contrast(image, factor):
    """Pixels further from the mean, or nearer to it."""
    mean_of = mean(brightness(image), axis=[-3, -2, -1], keepdim=True)
    return blend(image, mean_of, factor)


def adjust_saturation(image, factor):
    """Pixels further from gray, or nearer to it."""
    if channels_of(image) == 1:
        return image
    return blend(image, brightness(image), factor)


def adjust_hue(image, factor):
    """Pixels with their colours moved around the circle."""
    if channels_of(image) == 1:
        return image
    work = floats(image)
    red, green, blue = unbind(work, -3)
    most, least = max(work, -3), min(work, -3)
    spread = most - least
    safe = where(equal(spread, zeros_like(spread)), ones_like(spread), spread)
    is_red = equal(most, red)
    is_green = logical_and(equal(most, green), logical_not(is_red))
    sixth = where(
        is_red,
        (green - blue) / safe,
        where(is_green, (blue - red) / safe + 2.0, (red - green) / safe + 4.0),
    )
    around = sixth + 6.0 * factor
    colors = []
    for start in (0.0, 2.0, 4.0):  # the share of red, green and blue in the pure colour
        distance = mod(around - start + 9.0, constant(6.0, around)) - 3.0
        share = clip(2.0 - distance.abs(), 0.0, 1.0)
        colors.append(most - spread * (1.0 - share))
    return as_before(stack(colors, axis=-3), image)
