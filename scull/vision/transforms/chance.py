"""Images cut, turned, tilted and erased at random."""

import math
import random
from collections.abc import Sequence
from numbers import Number

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.tensor import cast, normal
from scull.vision.transforms import functional as F
from scull.vision.transforms import tensor
from scull.vision.transforms.transform import RandomTransform

ATTEMPTS = 10  # at a rectangle that fits


def sized(value, name, *sizes):
    """A sequence of one of these sizes."""
    wanted = " or ".join(map(str, sizes))
    if not isinstance(value, Sequence):
        raise ArgumentTypeError(f"{name} should be a sequence of length {wanted}.")
    if len(value) not in sizes:
        raise ArgumentError(f"{name} should be sequence of length {wanted}.")
    return value


def angles(value, name, *sizes):
    """From where to where an angle is drawn."""
    if isinstance(value, Number):
        if value < 0:
            raise ArgumentError(f"If {name} is a single number, it must be positive.")
        value = [-value, value]
    return [float(v) for v in sized(value, name, *sizes)]


def probability(prob):
    """A chance from 0 to 1."""
    if not 0 <= prob <= 1:
        raise AssertError(f"The probability should be in range [0, 1], not {prob}")
    return prob


def ordered(value, name):
    """The least and the most of something."""
    if not isinstance(value, list | tuple):
        raise AssertError(f"{name} should be a tuple or list")
    if value[0] > value[1]:
        raise AssertError(f"{name} should be of kind (min, max), not {value}")
    return value


class RandomHorizontalFlip(RandomTransform):
    """An image whose left is right, sometimes.

    Args:
        prob (float, optional): how often.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, prob=0.5, keys=None):
        super().__init__(keys)
        self.prob = probability(prob)

    def _apply_image(self, image):
        return F.hflip(image) if random.random() < self.prob else image


class RandomVerticalFlip(RandomTransform):
    """An image whose top is bottom, sometimes.

    Args:
        prob (float, optional): how often.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, prob=0.5, keys=None):
        super().__init__(keys)
        self.prob = probability(prob)

    def _apply_image(self, image):
        return F.vflip(image) if random.random() < self.prob else image


class RandomCrop(RandomTransform):
    """Some part of an image.

    Args:
        size (int | list | tuple): height and width; one number is both.
        padding (int | list | tuple, optional): a border that the image gets first.
        pad_if_needed (bool, optional): make the image as large as the part if it is not.
        fill (float | list | tuple, optional): what a constant border is.
        padding_mode (str, optional): as `pad` has it.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.

    Raises:
        ArgumentError: an image that is smaller than the part.

    Examples:
        >>> RandomCrop(28, padding=4)(np.zeros([28, 28, 3], "uint8")).shape
        (28, 28, 3)
    """

    def __init__(
        self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant", keys=None
    ):
        super().__init__(keys)
        self.size, self.padding, self.pad_if_needed = F.pair(size, "size"), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _apply_image(self, image):
        height, width = self.size
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed and F.size_of(image)[1] < width:
            border = (width - F.size_of(image)[1], 0)
            image = F.pad(image, border, self.fill, self.padding_mode)
        if self.pad_if_needed and F.size_of(image)[0] < height:
            border = (0, height - F.size_of(image)[0])
            image = F.pad(image, border, self.fill, self.padding_mode)
        rows, columns = F.size_of(image)
        if (rows, columns) == (height, width):
            return image
        if rows < height or columns < width:
            raise ArgumentError(
                f"the image is {rows} x {columns}, and {height} x {width} are cut: `pad_if_needed`"
            )
        top, left = random.randint(0, rows - height), random.randint(0, columns - width)
        return F.crop(image, top, left, height, width)


class RandomResizedCrop(RandomTransform):
    """Some part of an image, in another size.

    Args:
        size (int | list | tuple): height and width of the result; one number is both.
        scale (list | tuple, optional): the least and the most share of the image that is cut.
        ratio (list | tuple, optional): the least and the most width by height of the part.
        interpolation (str, optional): as `resize` has it.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4, 4.0 / 3),
        interpolation="bilinear",
        keys=None,
    ):
        super().__init__(keys)
        self.size, self.interpolation = F.pair(size, "size"), interpolation
        self.scale, self.ratio = ordered(scale, "scale"), ordered(ratio, "ratio")

    def _rectangle(self, rows, columns):
        for _ in range(ATTEMPTS):
            share = np.random.uniform(*self.scale) * rows * columns
            ratio = math.exp(np.random.uniform(*map(math.log, self.ratio)))
            width, height = round(math.sqrt(share * ratio)), round(math.sqrt(share / ratio))
            if 0 < width <= columns and 0 < height <= rows:
                top = random.randint(0, rows - height)
                return top, random.randint(0, columns - width), height, width
        width, height = columns, rows
        if columns / rows < min(self.ratio):
            height = round(columns / min(self.ratio))
        elif columns / rows > max(self.ratio):
            width = round(rows * max(self.ratio))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def _apply_image(self, image):
        part = F.crop(image, *self._rectangle(*F.size_of(image)))
        return F.resize(part, self.size, self.interpolation)


class RandomRotation(RandomTransform):
    """A turned image.

    Args:
        degrees (float | list | tuple): how far at most, or from where to where.
        interpolation (str, optional): as `rotate` has it.
        expand (bool, optional): make the image as large as what was turned.
        center (list | tuple, optional): the x and y that stay.
        fill (float | list | tuple, optional): what comes from outside.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(
        self, degrees, interpolation="nearest", expand=False, center=None, fill=0, keys=None
    ):
        super().__init__(keys)
        self.degrees = angles(degrees, "degrees", 2)
        self.interpolation, self.expand = interpolation, expand
        self.center, self.fill = center, fill

    def _apply_image(self, image):
        angle = random.uniform(self.degrees[0], self.degrees[1])
        return F.rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(RandomTransform):
    """An image turned, moved, scaled and sheared.

    Args:
        degrees (float | list | tuple): how far it is turned at most, or from where to where.
        translate (list | tuple, optional): how far it moves at most, as shares of its width and
            height.
        scale (list | tuple, optional): from where to where it is scaled.
        shear (float | list | tuple, optional): how far along x at most, from where to where, or
            that for x and y.
        interpolation (str, optional): as `affine` has it.
        fill (float | list | tuple, optional): what comes from outside.
        center (list | tuple, optional): the x and y that stay.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(
        self,
        degrees,
        translate=None,
        scale=None,
        shear=None,
        interpolation="nearest",
        fill=0,
        center=None,
        keys=None,
    ):
        super().__init__(keys)
        self.degrees = angles(degrees, "degrees", 2)
        self.interpolation = F.interpolated(interpolation)
        for share in () if translate is None else sized(translate, "translate", 2):
            if not 0.0 <= share <= 1.0:
                raise ArgumentError("translation values should be between 0 and 1")
        for factor in () if scale is None else sized(scale, "scale", 2):
            if factor <= 0:
                raise ArgumentError("scale values should be positive")
        if not isinstance(fill, Sequence | Number | None):
            raise ArgumentTypeError("Fill should be either a sequence or a number.")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else angles(shear, "shear", 2, 4)
        self.fill = 0 if fill is None else fill
        self.center = None if center is None else sized(center, "center", 2)

    def _apply_image(self, image):
        height, width = F.size_of(image)
        angle, move, scale, shear = random.uniform(*self.degrees), (0, 0), 1.0, [0.0, 0.0]
        if self.translate is not None:
            across, down = self.translate[0] * width, self.translate[1] * height
            move = int(random.uniform(-across, across)), int(random.uniform(-down, down))
        if self.scale is not None:
            scale = random.uniform(self.scale[0], self.scale[1])
        if self.shear is not None:
            shear[0] = random.uniform(self.shear[0], self.shear[1])
            if len(self.shear) == 4:
                shear[1] = random.uniform(self.shear[2], self.shear[3])
        return F.affine(
            image, angle, move, scale, shear, self.interpolation, self.fill, self.center
        )


class RandomPerspective(RandomTransform):
    """A tilted image, sometimes.

    Args:
        prob (float, optional): how often.
        distortion_scale (float, optional): how far the corners move at most, from 0 to 1.
        interpolation (str, optional): as `perspective` has it.
        fill (float | list | tuple, optional): what comes from outside.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, prob=0.5, distortion_scale=0.5, interpolation="nearest", fill=0, keys=None):
        super().__init__(keys)
        if not 0 <= distortion_scale <= 1:
            raise AssertError("distortion_scale must be between 0 and 1")
        self.prob, self.distortion_scale = probability(prob), distortion_scale
        self.interpolation, self.fill = F.interpolated(interpolation), fill

    def get_params(self, width, height, distortion_scale):
        """The corners of an image of this size, and where they come to.

        Returns:
            tuple: two lists of x and y: top left, top right, bottom right, bottom left.
        """
        across, down = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        spans = {
            "left": (0, across + 1),
            "right": (width - across - 1, width),
            "top": (0, down + 1),
            "bottom": (height - down - 1, height),
        }
        corners = [("left", "top"), ("right", "top"), ("right", "bottom"), ("left", "bottom")]
        ends = [[int(random.uniform(*spans[side])) for side in corner] for corner in corners]
        last, low = width - 1, height - 1
        return [[0, 0], [last, 0], [last, low], [0, low]], ends

    def _apply_image(self, image):
        if random.random() >= self.prob:
            return image
        height, width = F.size_of(image)
        starts, ends = self.get_params(width, height, self.distortion_scale)
        return F.perspective(image, starts, ends, self.interpolation, self.fill)


class RandomErasing(RandomTransform):
    """An image with a part replaced, sometimes.

    Args:
        prob (float, optional): how often.
        scale (list | tuple, optional): the least and the most share of the image.
        ratio (list | tuple, optional): the least and the most height by width.
        value (float | list | tuple | str, optional): what comes there: a number, one for each
            channel, or ``"random"``.
        inplace (bool, optional): write into the image.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(
        self,
        prob=0.5,
        scale=(0.02, 0.33),
        ratio=(0.3, 3.3),
        value=0,
        inplace=False,
        keys=None,
    ):
        super().__init__(keys)
        if isinstance(scale, list | tuple) and not 0 <= scale[0] <= scale[1] <= 1:
            raise AssertError("scale should be of kind (min, max) and in range [0, 1]")
        self.scale, self.ratio = ordered(scale, "scale"), ordered(ratio, "ratio")
        if ratio[0] < 0:
            raise AssertError("ratio should not be negative")
        if not isinstance(value, Number | str | list | tuple):
            raise AssertError("value should be a number, tuple, list or str")
        if isinstance(value, str) and value != "random":
            raise ArgumentError("value must be 'random' when type is str")
        self.prob, self.value, self.inplace = probability(prob), value, inplace

    def _apply_image(self, image):
        if random.random() >= self.prob:
            return image
        rows, columns = F.size_of(image)
        for _ in range(ATTEMPTS):
            share = np.random.uniform(*self.scale) * rows * columns
            ratio = math.exp(np.random.uniform(*np.log(self.ratio)))
            height, width = round(math.sqrt(share * ratio)), round(math.sqrt(share / ratio))
            if height < rows and width < columns:
                value = self._filling(image, height, width)
                top = np.random.randint(0, rows - height + 1)
                left = np.random.randint(0, columns - width + 1)
                return F.erase(image, top, left, height, width, value, self.inplace)
        return image

    def _filling(self, image, height, width):
        kind = F.kind_of(image)
        channels = kind.channels_of(image)
        if self.value == "random":
            if kind is tensor:
                return cast(normal(shape=[channels, height, width]), image.dtype)
            return np.random.normal(size=[height, width, channels]) * 255
        values = np.atleast_1d(self.value)
        if len(values) not in (1, channels):
            raise ArgumentError(
                "Value should be a single number or a sequence with length equals to image's "
                "channel."
            )
        if kind is tensor:
            return Tensor(values.astype(image.dtype.array)[:, None, None])
        return values if F.kind_of(image).channels_of(image) > 1 else values[0]
