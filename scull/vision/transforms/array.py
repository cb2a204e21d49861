"""What is done to images that are arrays, [height, width] or [height, width, channels]."""

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.vision.transforms.geometry import Size, origins

GRAY = np.array([0.299, 0.587, 0.114])
FIXED_GRAY = np.array([9798, 19235, 3735])  # the same of 2 ** 15
MIDDLE = 74  # what contrast leaves as it is


def size_of(image):
    """Height and width."""
    return image.shape[0], image.shape[1]


def channels_of(image):
    """How many channels there are."""
    return image.shape[2] if image.ndim == 3 else 1


def to_tensor(image, data_format):
    """A Tensor; bytes become numbers from 0 to 1."""
    if image.ndim == 2:
        image = image[:, :, None]
    if data_format == "CHW":
        image = image.transpose(2, 0, 1)
    if image.dtype == np.uint8:
        image = image.astype(np.float32) / np.float32(255)
    return Tensor(np.ascontiguousarray(image))


# ---- resizing: a matrix for each axis ----


def resize(image, size: Size, interpolation):
    """The image in another size."""
    if interpolation not in WEIGHTS:
        raise ArgumentError(f"interpolation is one of {', '.join(WEIGHTS)}, not {interpolation!r}")
    if interpolation == "nearest":
        rows, columns = (nearest(o, n) for o, n in zip(size_of(image), size, strict=True))
        return image[rows][:, columns]
    weights = WEIGHTS[interpolation]
    down, across = (weights(old, new) for old, new in zip(size_of(image), size, strict=True))
    work = image.reshape(*size_of(image), -1).astype(np.float32)
    wide = np.einsum("yc...,xc->yx...", work, across, optimize=True)
    found = np.tensordot(down, wide, (1, 0))
    return as_before(found.reshape(*size, *image.shape[2:]), image.dtype)


def as_before(found, dtype):
    """Numbers in the type of the image; integers are rounded and stay in their range."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        found = np.rint(found).clip(limits.min, limits.max)
    return found.astype(dtype)


def nearest(old, new):
    """Which of `old` pixels each of `new` is."""
    return np.minimum((np.arange(new) * (old / new)).astype(np.int64), old - 1)


def taps(old, new, reach, kernel):
    """Weights of the pixels around each new one, by their distance; those at the edge go on."""
    place = (np.arange(new) + 0.5) * (old / new) - 0.5
    first = np.floor(place).astype(np.int64)
    weights = np.zeros((new, old), np.float32)
    offsets = np.arange(1 - reach, reach + 1)
    values = kernel(place[:, None] - first[:, None] - offsets)
    values /= values.sum(1, keepdims=True)
    columns = np.clip(first[:, None] + offsets, 0, old - 1)
    np.add.at(weights, (np.arange(new)[:, None], columns), values)
    return weights


def triangle(distance):
    """The weight of linear interpolation."""
    return np.maximum(1 - np.abs(distance), 0.0)


def cubic(distance, a=-0.75):
    """The weight of a cubic through two pixels on each side."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def lanczos(distance):
    """The weight of a windowed sinc through four pixels on each side."""
    return np.where(np.abs(distance) < 4, np.sinc(distance) * np.sinc(distance / 4), 0.0)


def area(old, new):
    """Weights by how much of each pixel a new one covers."""
    scale = old / new
    if scale < 1:
        start = np.floor(np.arange(new) * scale).astype(np.int64)
        part = np.arange(1, new + 1) - (start + 1) / scale
        part = np.where(part <= 0, 0.0, part - np.floor(part))
        weights = np.zeros((new, old), np.float32)
        np.add.at(weights, (np.arange(new), start), 1 - part)
        np.add.at(weights, (np.arange(new), np.minimum(start + 1, old - 1)), part)
        return weights
    left = np.arange(new)[:, None] * scale
    pixels = np.arange(old)
    covered = np.minimum(left + scale, pixels + 1) - np.maximum(left, pixels)
    return (np.maximum(covered, 0) / scale).astype(np.float32)


WEIGHTS = {
    "nearest": nearest,
    "bilinear": lambda old, new: taps(old, new, 1, triangle),
    "bicubic": lambda old, new: taps(old, new, 2, cubic),
    "area": area,
    "lanczos": lambda old, new: taps(old, new, 4, lanczos),
}


# ---- moving pixels ----


def pad(image, sides, fill, mode):
    """The image with a border: left, top, right, bottom."""
    left, top, right, bottom = sides
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (image.ndim - 2)
    if mode != "constant":
        return np.pad(image, widths, mode)
    padded = np.pad(image, widths)
    inside = np.zeros(padded.shape[:2], bool)
    inside[top : top + image.shape[0], left : left + image.shape[1]] = True
    padded[~inside] = fill
    return padded


def crop(image, top, left, height, width):
    """A part of the image."""
    return image[top : top + height, left : left + width]


def hflip(image):
    """Left is right."""
    return image[:, ::-1]


def vflip(image):
    """Top is bottom."""
    return image[::-1]


def warped(image, matrix, size: Size, interpolation, fill):
    """The image through a matrix; what comes from outside is `fill`."""
    x, y = origins(matrix, size)
    height, width = size_of(image)
    outside = ~((x >= 0) & (x < width) & (y >= 0) & (y < height))
    x, y = np.where(outside, 0.5, x), np.where(outside, 0.5, y)
    work = image.reshape(height, width, -1)
    if interpolation == "nearest":
        found = work[np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)]
    else:
        reach, kernel = {
            "bilinear": (1, triangle),
            "bicubic": (2, lambda distance: cubic(distance, -1.0)),
        }[interpolation]
        found = as_before(blended(work.astype(np.float64), x, y, reach, kernel), image.dtype)
    found[outside] = 0 if fill is None else fill
    return found.reshape(*size, *image.shape[2:])


def blended(work, x, y, reach, kernel):
    """The mean of the pixels around each place, by their distance."""
    height, width = work.shape[:2]
    left, top = np.floor(x - 0.5).astype(np.int64), np.floor(y - 0.5).astype(np.int64)
    total = np.zeros((*x.shape, work.shape[2]))
    for down in range(1 - reach, reach + 1):
        for across in range(1 - reach, reach + 1):
            weight = kernel(x - 0.5 - left - across) * kernel(y - 0.5 - top - down)
            pixels = np.clip(top + down, 0, height - 1), np.clip(left + across, 0, width - 1)
            total += weight[..., None] * work[pixels]
    return total


def erase(image, top, left, height, width, value, inplace):
    """The image with a part replaced."""
    image = image if inplace else image.copy()
    image[top : top + height, left : left + width, ...] = value
    return image


# ---- colours ----


def gray(image):
    """[height, width, 1]: how bright pixels of red, green and blue are."""
    if image.dtype == np.uint8:
        total = image.astype(np.int64) @ FIXED_GRAY
        return ((total + (1 << 14)) >> 15).astype(np.uint8)[..., None]
    return (image @ GRAY).astype(image.dtype)[..., None]


def to_grayscale(image, channels):
    """The image without colours."""
    found = gray(image) if channels_of(image) == 3 else image.reshape(*size_of(image), 1)
    return found if channels == 1 else np.repeat(found, 3, axis=2)


def looked_up(image, values):
    """Bytes replaced by a table of 256."""
    return np.clip(values, 0, 255).astype(np.uint8)[image.astype(np.uint8)]


def adjust_brightness(image, factor):
    """Bytes times `factor`."""
    return looked_up(image, np.arange(256) * factor)


def adjust_contrast(image, factor):
    """Bytes further from the middle, or nearer to it."""
    return looked_up(image, (np.arange(256) - MIDDLE) * factor + MIDDLE)


def adjust_saturation(image, factor):
    """Bytes further from gray, or nearer to it."""
    if channels_of(image) != 3:
        return image
    colored = image.astype(np.float32)
    plain = (colored @ GRAY.astype(np.float32))[..., None]
    return (colored * factor + plain * (1 - factor)).clip(0, 255).astype(image.dtype)


def adjust_hue(image, factor):
    """Bytes with their colours moved around the circle."""
    if channels_of(image) != 3:
        return image
    hue, most, spread = hue_of(image.astype(np.float64))
    around = (hue + factor) * 6
    distance = np.abs((around[..., None] - np.array([0.0, 2.0, 4.0]) + 3) % 6 - 3)
    share = np.clip(2 - distance, 0, 1)  # of red, green and blue in the pure colour
    found = most[..., None] - spread[..., None] * (1 - share)
    return as_before(found, image.dtype)


def hue_of(image):
    """The hue from 0 to 1, the largest part, and how far the smallest is from it."""
    red, green, blue = np.moveaxis(image, -1, 0)
    most, spread = image.max(-1), np.ptp(image, axis=-1)
    safe = np.where(spread == 0, 1, spread)
    sixth = np.select(
        [most == red, most == green],
        [(green - blue) / safe, (blue - red) / safe + 2],
        (red - green) / safe + 4,
    )
    return sixth / 6 % 1, most, spread
