"""What is done to images of Pillow, where that is installed."""

import functools
import importlib
import sys

import numpy as np

from scull.errors import ArgumentError
from scull.vision.transforms import array

MODES = {"I": np.int32, "I;16": np.int32, "F": np.float32}  # of more than bytes
COLORLESS = {"L", "1", "I", "F"}


@functools.cache
def part(name):
    """A module of Pillow."""
    try:
        return importlib.import_module(f"PIL.{name}")
    except ImportError:
        raise ImportError(
            "images of Pillow need Pillow, which scull works without: pip install pillow, or use "
            "arrays and Tensors"
        ) from None


@functools.cache
def is_installed():
    """Whether there is Pillow."""
    try:
        part("Image")
    except ImportError:
        return False
    return True


def is_image(image):
    """Whether this is an image of Pillow, which nobody has who has not loaded it."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def size_of(image):
    """Height and width."""
    return image.size[1], image.size[0]


def channels_of(image):
    """How many channels there are."""
    return len(image.getbands())


def resampling(interpolation):
    """Pillow's name of an interpolation."""
    kinds = part("Image").Resampling
    if interpolation.upper() not in kinds.__members__:
        names = ", ".join(name.lower() for name in kinds.__members__)
        raise ArgumentError(f"interpolation is one of {names}, not {interpolation!r}")
    return kinds[interpolation.upper()]


def to_tensor(image, data_format):
    """A Tensor; bytes become numbers from 0 to 1."""
    if image.mode == "1":
        values = np.asarray(image, np.uint8) * np.uint8(255)
    else:
        values = np.asarray(image, MODES.get(image.mode))
    return array.to_tensor(values, data_format)


def resize(image, size, interpolation):
    """The image in another size."""
    return image.resize((size[1], size[0]), resampling(interpolation))


def pad(image, sides, fill, mode):
    """The image with a border: left, top, right, bottom."""
    if mode == "constant" and not isinstance(fill, list):
        border = part("ImageOps").expand(image, border=tuple(sides), fill=fill)
    else:
        border = part("Image").fromarray(array.pad(np.asarray(image), sides, fill, mode))
    if image.mode == "P":
        border.putpalette(image.getpalette())
    return border


def crop(image, top, left, height, width):
    """A part of the image."""
    return image.crop((left, top, left + width, top + height))


def hflip(image):
    """Left is right."""
    return part("ImageOps").mirror(image)


def vflip(image):
    """Top is bottom."""
    return part("ImageOps").flip(image)


def warped(image, matrix, size, interpolation, fill):
    """The image through a matrix; what comes from outside is `fill`."""
    if isinstance(fill, int | float) and channels_of(image) > 1:
        fill = (fill,) * channels_of(image)
    fill = tuple(fill) if isinstance(fill, list) else fill
    straight = tuple(matrix[2]) == (0, 0, 1)
    kind = part("Image").Transform["AFFINE" if straight else "PERSPECTIVE"]
    numbers = matrix.reshape(-1)[: 6 if straight else 8].tolist()
    filter = resampling(interpolation)
    return image.transform((size[1], size[0]), kind, numbers, filter, fillcolor=fill)


def erase(image, top, left, height, width, value, inplace):
    """The image with a part replaced; never in place."""
    found = array.erase(np.asarray(image), top, left, height, width, value, inplace=False)
    return part("Image").fromarray(found)


def to_grayscale(image, channels):
    """The image without colours."""
    plain = image.convert("L")
    return plain if channels == 1 else part("Image").merge("RGB", [plain] * 3)


def adjust_brightness(image, factor):
    """Pixels times `factor`."""
    return part("ImageEnhance").Brightness(image).enhance(factor)


def adjust_contrast(image, factor):
    """Pixels further from the mean, or nearer to it."""
    return part("ImageEnhance").Contrast(image).enhance(factor)


def adjust_saturation(image, factor):
    """Pixels further from gray, or nearer to it."""
    return part("ImageEnhance").Color(image).enhance(factor)


def adjust_hue(image, factor):
    """Pixels with their colours moved around the circle."""
    if image.mode in COLORLESS:
        return image
    hue, *others = image.convert("HSV").split()
    moved = (np.asarray(hue).astype(np.int64) + int(factor * 255)) % 256
    hue = part("Image").fromarray(moved.astype(np.uint8))
    return part("Image").merge("HSV", (hue, *others)).convert(image.mode)
