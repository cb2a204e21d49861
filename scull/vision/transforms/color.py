"""Images whose colours change at random."""

import math
import random
from numbers import Number

from scull.errors import ArgumentError, ArgumentTypeError
from scull.vision.transforms import functional as F
from scull.vision.transforms.transform import Compose, RandomTransform


def _check_input(value, name, center=1, bound=(0, math.inf), clip_first_on_zero=True):
    """From where to where a factor is drawn; None when it is always `center`."""
    if isinstance(value, Number):
        if value < 0:
            raise ArgumentError(f"If {name} is a single number, it must be non negative.")
        value = [center - value, center + value]
        value[0] = max(value[0], 0) if clip_first_on_zero else value[0]
    elif not isinstance(value, list | tuple) or len(value) != 2:
        raise ArgumentTypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ArgumentError(f"{name} values should be between {bound}")
    return None if value[0] == value[1] == center else value


class ColorTransform(RandomTransform):
    """An image by a factor drawn from a span."""

    adjust = None
    limits = ("value",)

    def __init__(self, value, keys=None):
        super().__init__(keys)
        self.value = _check_input(value, *self.limits)

    def _apply_image(self, image):
        if self.value is None:
            return image
        return type(self).adjust(image, random.uniform(self.value[0], self.value[1]))


class BrightnessTransform(ColorTransform):
    """A brighter or darker image, at random.

    Args:
        value (float | list | tuple): how far the factor is from 1 at most, or its span.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    adjust = staticmethod(F.adjust_brightness)
    limits = ("brightness",)


class ContrastTransform(ColorTransform):
    """An image of more or less contrast, at random.

    Args:
        value (float | list | tuple): how far the factor is from 1 at most, or its span.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    adjust = staticmethod(F.adjust_contrast)
    limits = ("contrast",)


class SaturationTransform(ColorTransform):
    """An image of more or less colour, at random.

    Args:
        value (float | list | tuple): how far the factor is from 1 at most, or its span.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    adjust = staticmethod(F.adjust_saturation)
    limits = ("saturation",)


class HueTransform(ColorTransform):
    """An image whose colours move around the circle of hues, at random.

    Args:
        value (float | list | tuple): how far they move at most, up to 0.5, or from where to where.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    adjust = staticmethod(F.adjust_hue)
    limits = ("hue", 0, (-0.5, 0.5), False)


class ColorJitter(RandomTransform):
    """All four, in random order.

    Args:
        brightness (float | list | tuple, optional): as `BrightnessTransform` has it.
        contrast (float | list | tuple, optional): as `ContrastTransform` has it.
        saturation (float | list | tuple, optional): as `SaturationTransform` has it.
        hue (float | list | tuple, optional): as `HueTransform` has it.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0, keys=None):
        super().__init__(keys)
        self.brightness, self.contrast = brightness, contrast
        self.saturation, self.hue = saturation, hue
        self.parts = [
            kind(value, self.keys)
            for kind, value in (
                (BrightnessTransform, brightness),
                (ContrastTransform, contrast),
                (SaturationTransform, saturation),
                (HueTransform, hue),
            )
            if value is not None
        ]

    def _apply_image(self, image):
        parts = list(self.parts)
        random.shuffle(parts)
        return Compose(parts)(image)
