"""What is done to every image of a dataset, one after the other."""

from collections.abc import Sequence

import numpy as np

from scull.errors import ArgumentError, AssertError, UnsupportedError
from scull.ir.variable import Variable
from scull.tensor import transpose
from scull.vision.transforms import functional as F
from scull.vision.transforms import pillow, tensor


class Compose:
    """Transforms one after the other.

    Args:
        transforms (list | tuple): what is called in turn.

    Examples:
        >>> Compose([Transpose(), Normalize([127.5], [127.5])])(np.zeros([2, 2], "uint8")).shape
        (1, 2, 2)
    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, data):
        for function in self.transforms:
            try:
                data = function(data)
            except Exception as error:
                error.add_note(f"in the transform {function}")
                raise
        return data

    def __repr__(self):
        inner = "".join(f"\n    {function}" for function in self.transforms)
        return f"{type(self).__name__}({inner}\n)"


class BaseTransform:
    """A transform of images, and of what belongs to them.

    One of one's own has `_apply_image`, and `_apply_boxes`, `_apply_coords`, `_apply_mask` for what
    else a sample has; `_get_params` may draw, once a sample, what they find in `self.params`.

    Args:
        keys (list[str] | tuple[str], optional): what the parts of a sample are: ``"image"``,
            ``"coords"``, ``"boxes"``, ``"mask"``; an image when None. Parts beyond stay.

    Raises:
        ArgumentError: keys are no sequence.
        UnsupportedError: the transform does nothing to such a part.

    Examples:
        >>> class Double(BaseTransform):
        ...     def _apply_image(self, image):
        ...         return image * 2
        >>> Double()((3, "label"))
        (6, 'label')
    """

    def __init__(self, keys=None):
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence):
            raise ArgumentError(f"keys should be a sequence, but got keys={keys}")
        for key in keys:
            if self._get_apply(key) is None:
                raise UnsupportedError(f"{key} is unsupported data structure")
        self.keys = keys
        self.params = None

    def _get_params(self, inputs):
        """Draw what all parts of a sample share."""

    def __call__(self, inputs):
        """The transformed sample."""
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        pairs = zip(self.keys, parts, strict=False)
        outputs = [self._get_apply(key)(part) for key, part in pairs]
        outputs += parts[len(self.keys) :]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _get_apply(self, key):
        return getattr(self, f"_apply_{key}", None)

    def _apply_image(self, image):
        raise UnsupportedError(f"{type(self).__name__} has no `_apply_image`")

    def _apply_boxes(self, boxes):
        raise UnsupportedError(f"{type(self).__name__} has no `_apply_boxes`")

    def _apply_mask(self, mask):
        raise UnsupportedError(f"{type(self).__name__} has no `_apply_mask`")


class RandomTransform(BaseTransform):
    """A transform that draws anew for each image, which a Program cannot."""

    def __call__(self, inputs):
        """The transformed sample."""
        first = inputs[0] if isinstance(inputs, tuple) else inputs
        if isinstance(first, Variable):
            raise UnsupportedError(
                f"{type(self).__name__} would draw once, when the Program is recorded: transform "
                "the samples of the dataset instead"
            )
        return super().__call__(inputs)


class ToTensor(BaseTransform):
    """An image as a Tensor; bytes become numbers from 0 to 1.

    Args:
        data_format (str, optional): where the channels of the Tensor are: ``"CHW"`` or ``"HWC"``.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.

    Examples:
        >>> ToTensor()(np.zeros([4, 5, 3], "uint8")).shape
        [3, 4, 5]
    """

    def __init__(self, data_format="CHW", keys=None):
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image):
        return F.to_tensor(image, self.data_format)


class Resize(BaseTransform):
    """An image in another size.

    Args:
        size (int | list | tuple): height and width; one number is that of the shorter side.
        interpolation (str, optional): as `resize` has it.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.

    Raises:
        AssertError: the size is neither a number nor two.

    Examples:
        >>> Resize(4)(np.zeros([8, 16, 3], "uint8")).shape
        (4, 8, 3)
    """

    def __init__(self, size, interpolation="bilinear", keys=None):
        super().__init__(keys)
        if not isinstance(size, int) and not (isinstance(size, list | tuple) and len(size) == 2):
            raise AssertError(f"size is a number or two, not {size!r}")
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image):
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of an image.

    Args:
        size (int | list | tuple): height and width; one number is both.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, size, keys=None):
        super().__init__(keys)
        self.size = F.pair(size, "size")

    def _apply_image(self, image):
        return F.center_crop(image, self.size)


class Normalize(BaseTransform):
    """An image less a mean, divided by a deviation.

    Args:
        mean (float | list | tuple, optional): of each channel, or of three.
        std (float | list | tuple, optional): of each channel, or of three.
        data_format (str, optional): where the channels are: ``"CHW"`` or ``"HWC"``.
        to_rgb (bool, optional): reverse the channels of an array, which are last.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, mean=0.0, std=1.0, data_format="CHW", to_rgb=False, keys=None):
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, int | float) else mean
        self.std = [std] * 3 if isinstance(std, int | float) else std
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image):
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """An image with its axes in another order: channels first, unless told otherwise.

    Args:
        order (list | tuple, optional): which axis comes where.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.

    Examples:
        >>> Transpose()(np.zeros([4, 5, 3], "uint8")).shape
        (3, 4, 5)
    """

    def __init__(self, order=(2, 0, 1), keys=None):
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image):
        if tensor.is_image(image):
            return transpose(image, list(self.order))
        image = np.asarray(image) if pillow.is_image(image) else image
        image = image[..., np.newaxis] if image.ndim == 2 else image
        return image.transpose(self.order)


class Pad(BaseTransform):
    """An image with a border.

    Args:
        padding (int | list | tuple): as `pad` has it.
        fill (float | list | tuple, optional): what a constant border is.
        padding_mode (str, optional): ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.

    Raises:
        AssertError: a mode that there is not.
        ArgumentError: other than one, two or four borders.
    """

    def __init__(self, padding, fill=0, padding_mode="constant", keys=None):
        super().__init__(keys)
        F.pad(np.zeros([1, 1], "uint8"), np.multiply(padding, 0).tolist(), 0, padding_mode)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, image):
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class Grayscale(BaseTransform):
    """An image without colours.

    Args:
        num_output_channels (int, optional): 1, or 3 that are the same.
        keys (list[str] | tuple[str], optional): what the parts of a sample are.
    """

    def __init__(self, num_output_channels=1, keys=None):
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image):
        return F.to_grayscale(image, self.num_output_channels)
