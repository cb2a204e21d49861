"""What can be done to one image: an array, a Tensor, or an image of Pillow.

An array is [height, width] or [height, width, channels], a Tensor [channels, height, width]. Each
kind of image has a module with the same functions.
"""

from numbers import Number

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ops.elementwise import divide, subtract
from scull.vision.transforms import array, pillow, tensor
from scull.vision.transforms.geometry import affine_matrix, perspective_matrix, rotation

MODES = ("constant", "edge", "reflect", "symmetric")
LAYOUTS = ("CHW", "HWC")
WARPS = ("nearest", "bilinear", "bicubic")


_is_pil_image, _is_tensor_image = pillow.is_image, tensor.is_image  # for transforms of your own


def _is_numpy_image(img):
    """Whether it is an array of two axes or three."""
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def kind_of(image):
    """The module that knows this kind of image."""
    if tensor.is_image(image):
        return tensor
    if pillow.is_image(image):
        return pillow
    if _is_numpy_image(image):
        return array
    raise ArgumentTypeError(
        f"img should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]. Got {type(image)}"
    )


def size_of(image):
    """Height and width of an image."""
    return kind_of(image).size_of(image)


def pair(value, name):
    """Two sizes; one number stands for both."""
    if isinstance(value, Number):
        return int(value), int(value)
    if isinstance(value, list | tuple) and len(value) == 2:
        return value[0], value[1]
    raise ArgumentTypeError(f"Got inappropriate {name} arg: {value}")


def layout(data_format):
    """CHW or HWC, however it is written."""
    if str(data_format).upper() not in LAYOUTS:
        raise ArgumentError(f"data_format should be CHW or HWC. Got {data_format}")
    return data_format.upper()


def to_tensor(pic, data_format="CHW"):
    """An image as a Tensor; bytes become numbers from 0 to 1.

    Args:
        pic (PIL.Image | numpy.ndarray | Tensor): the image.
        data_format (str, optional): where the channels of the Tensor are: ``"CHW"`` or ``"HWC"``.

    Returns:
        Tensor: float32 of bytes, else of the type of the image.

    Examples:
        >>> to_tensor(np.full([2, 3], 51, "uint8")).tolist()
        [[[0.20000000298023224, 0.20000000298023224, 0.20000000298023224], \
[0.20000000298023224, 0.20000000298023224, 0.20000000298023224]]]
    """
    return kind_of(pic).to_tensor(pic, layout(data_format))


def resize(img, size, interpolation="bilinear"):
    """An image in another size.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        size (int | list | tuple): height and width; one number is that of the shorter side.
        interpolation (str, optional): ``"nearest"``, ``"bilinear"`` or ``"bicubic"``; for arrays
            ``"area"`` and ``"lanczos"`` too, for Tensors what `interpolate` takes, for Pillow
            ``"box"``, ``"hamming"`` and ``"lanczos"``.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.

    Examples:
        >>> resize(np.zeros([6, 8], "uint8"), 3).shape
        (3, 4)
    """
    kind = kind_of(img)
    height, width = kind.size_of(img)
    shorter = min(height, width)
    if isinstance(size, int):
        if shorter == size:
            return img
        size = (int(size * height / shorter), int(size * width / shorter))
    size = pair(size, "size")
    if min(size) <= 0:
        raise ArgumentError(f"the sizes of an image are positive, not {size}")
    return kind.resize(img, size, interpolation.lower())


def pad(img, padding, fill=0, padding_mode="constant"):
    """An image with a border.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        padding (int | list | tuple): the border of all sides, of left and right and of top and
            bottom, or of left, top, right and bottom.
        fill (float | list | tuple, optional): what a constant border is; a number for each channel,
            or one for all.
        padding_mode (str, optional): ``"constant"``; ``"edge"``: as the nearest pixel;
            ``"reflect"``: the image mirrored at its last pixel; ``"symmetric"``: behind it, which
            Tensors do not have.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    kind = kind_of(img)
    if not isinstance(padding, Number | list | tuple):
        raise ArgumentTypeError("Got inappropriate padding arg")
    if not isinstance(fill, Number | str | list | tuple):
        raise ArgumentTypeError("Got inappropriate fill arg")
    if not isinstance(padding_mode, str):
        raise ArgumentTypeError("Got inappropriate padding_mode arg")
    if padding_mode not in MODES:
        raise AssertError("Padding mode should be either constant, edge, reflect or symmetric")
    sides = [padding] * 4 if isinstance(padding, Number) else list(padding)
    if len(sides) not in (2, 4):
        raise ArgumentError(
            f"Padding must be an int or a 2, or 4 element tuple, not a {len(sides)} element tuple"
        )
    return kind.pad(img, sides * (4 // len(sides)), fill, padding_mode)


def crop(img, top, left, height, width):
    """A part of an image.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        top (int): the first row.
        left (int): the first column.
        height (int): how many rows.
        width (int): how many columns.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    return kind_of(img).crop(img, top, left, height, width)


def center_crop(img, output_size):
    """The middle of an image.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        output_size (int | list | tuple): height and width; one number is both.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    height, width = pair(output_size, "output_size")
    rows, columns = size_of(img)
    top, left = round((rows - height) / 2), round((columns - width) / 2)
    return crop(img, top, left, height, width)


def hflip(img):
    """An image whose left is right.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    return kind_of(img).hflip(img)


def vflip(img):
    """An image whose top is bottom.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    return kind_of(img).vflip(img)


def colored(img, factor, name):
    """The module for an image whose colours change."""
    kind = kind_of(img)
    if factor < 0:
        raise AssertError(f"{name} should be non-negative, not {factor}")
    if kind is tensor and kind.channels_of(img) not in (1, 3):
        raise ArgumentError("channels of input should be either 1 or 3.")
    return kind


def adjust_brightness(img, brightness_factor):
    """An image that is brighter or darker.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image; an array is one of bytes.
        brightness_factor (float): 0: black; 1: as it is; more: brighter.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.

    Examples:
        >>> adjust_brightness(np.array([[10, 200]], "uint8"), 1.5).tolist()
        [[15, 255]]
    """
    kind = colored(img, brightness_factor, "brightness_factor")
    return kind.adjust_brightness(img, brightness_factor)


def adjust_contrast(img, contrast_factor):
    """An image whose pixels differ more or less.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image; an array is one of bytes.
        contrast_factor (float): 0: all the same; 1: as it is; more: more contrast.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    return colored(img, contrast_factor, "contrast_factor").adjust_contrast(img, contrast_factor)


def adjust_saturation(img, saturation_factor):
    """An image with more or less colour.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image, of red, green and blue.
        saturation_factor (float): 0: gray; 1: as it is; more: more colour.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    kind = colored(img, saturation_factor, "saturation_factor")
    return kind.adjust_saturation(img, saturation_factor)


def adjust_hue(img, hue_factor):
    """An image whose colours have moved around the circle of hues.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image, of red, green and blue.
        hue_factor (float): from -0.5 to 0.5, of the whole circle.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ArgumentError(f"hue_factor:{hue_factor} is not in [-0.5, 0.5].")
    return colored(img, 0, "hue_factor").adjust_hue(img, hue_factor)


def interpolated(interpolation):
    """An interpolation that turned images have."""
    if not isinstance(interpolation, str):
        raise ArgumentTypeError("Argument interpolation should be a string")
    if interpolation not in WARPS:
        raise ArgumentError(f"interpolation is one of {', '.join(WARPS)}, not {interpolation!r}")
    return interpolation


def affine(img, angle, translate, scale, shear, interpolation="nearest", fill=0, center=None):
    """An image turned, moved, scaled and sheared, in its size.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        angle (float): how far it is turned with the clock, in degrees.
        translate (list | tuple): how many pixels it moves right and down.
        scale (float): how much larger it gets.
        shear (float | list | tuple): angles along x and y, in degrees.
        interpolation (str, optional): ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.
        fill (float | list | tuple, optional): what comes from outside.
        center (list | tuple, optional): the x and y that stay; the middle when None.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    kind = kind_of(img)
    if not isinstance(angle, int | float):
        raise ArgumentTypeError("Argument angle should be int or float")
    if not isinstance(translate, list | tuple):
        raise ArgumentTypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ArgumentError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ArgumentError("Argument scale should be positive")
    if not isinstance(shear, Number | list | tuple):
        raise ArgumentTypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, Number) else list(shear)
    shear = shear * 2 if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ArgumentError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None and not isinstance(center, list | tuple):
        raise ArgumentTypeError("Argument center should be a sequence")
    size = kind.size_of(img)
    center = (size[1] / 2, size[0] / 2) if center is None else center
    matrix = affine_matrix(center, angle, translate, scale, shear)
    return kind.warped(img, matrix, size, interpolated(interpolation), fill)


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0):
    """An image turned against the clock.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        angle (float): how far, in degrees.
        interpolation (str, optional): ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.
        expand (bool, optional): make the image as large as what was turned, about its middle.
        center (list | tuple, optional): the x and y that stay; the middle when None.
        fill (float | list | tuple, optional): what comes from outside.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.

    Examples:
        >>> rotate(np.array([[1, 2], [3, 4]], "uint8"), 90).tolist()
        [[2, 4], [1, 3]]
    """
    kind = kind_of(img)
    matrix, size = rotation(kind.size_of(img), angle, expand, center)
    return kind.warped(img, matrix, size, interpolated(interpolation), fill)


def perspective(img, startpoints, endpoints, interpolation="nearest", fill=0):
    """An image tilted, in its size.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        startpoints (list): the x and y of four points: top left, top right, bottom right, bottom
            left.
        endpoints (list): where they come to.
        interpolation (str, optional): ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.
        fill (float | list | tuple, optional): what comes from outside.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    kind = kind_of(img)
    matrix = perspective_matrix(startpoints, endpoints)
    return kind.warped(img, matrix, kind.size_of(img), interpolated(interpolation), fill)


def to_grayscale(img, num_output_channels=1):
    """An image without colours.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image, of red, green and blue.
        num_output_channels (int, optional): 1, or 3 that are the same.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    if num_output_channels not in (1, 3):
        raise ArgumentError("num_output_channels should be either 1 or 3")
    return kind_of(img).to_grayscale(img, num_output_channels)


def normalize(img, mean, std, data_format="CHW", to_rgb=False):
    """An image less a mean, divided by a deviation.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        mean (list | tuple): of each channel.
        std (list | tuple): of each channel.
        data_format (str, optional): where the channels are: ``"CHW"`` or ``"HWC"``.
        to_rgb (bool, optional): reverse the channels of an array, which are last.

    Returns:
        numpy.ndarray | Tensor: an array of an image of Pillow; else as `img`.

    Examples:
        >>> normalize(np.full([1, 1, 2], 255.0, "float32"), [127.5], [127.5]).tolist()
        [[[1.0, 1.0]]]
    """
    shape = [-1, 1, 1] if layout(data_format) == "CHW" else [1, 1, -1]
    mean, std = (np.float32(values).reshape(shape) for values in (mean, std))
    if tensor.is_image(img):
        of, by = tensor.constant(mean, img), tensor.constant(std, img)
        return divide(subtract(img, of), by)
    image = np.asarray(img, np.float32) if pillow.is_image(img) else img
    image = image[..., ::-1] if to_rgb else image
    return (image - mean) / std


def erase(img, i, j, h, w, v, inplace=False):
    """An image with a part replaced.

    Args:
        img (PIL.Image | numpy.ndarray | Tensor): the image.
        i (int): the first row.
        j (int): the first column.
        h (int): how many rows.
        w (int): how many columns.
        v (numpy.ndarray | Tensor): what comes there, as an image has it.
        inplace (bool, optional): write into the image; one of Pillow stays as it is.

    Returns:
        PIL.Image | numpy.ndarray | Tensor: as `img`.
    """
    return kind_of(img).erase(img, i, j, h, w, v, inplace)
