"""SqueezeNet: AlexNet-level accuracy with 50x fewer parameters."""

from scull import nn
from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.tensor import concat, squeeze
from scull.vision.models.part import check_sizes, refuse_pretrained

FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
FIRST = {"1.0": (96, 7, 2, 0), "1.1": (64, 3, 2, 1)}  # channels, filter, stride, padding
POOLED = {"1.0": (3, 7), "1.1": (2, 4)}  # the fires after which there is a pool


class MakeFireConv(nn.Layer):
    """A rectified convolution."""

    def __init__(self, channels, filters, size, padding=0):
        super().__init__()
        self._conv = nn.Conv2D(channels, filters, size, padding=padding)

    def forward(self, x):
        """Feature maps of as many channels as there are filters."""
        return F.relu(self._conv(x))


class MakeFire(nn.Layer):
    """Few channels, mixed point by point, and as many filters of 1 × 1 as of 3 × 3 on them."""

    def __init__(self, channels, squeezed, filters):
        super().__init__()
        self._conv = MakeFireConv(channels, squeezed, 1)
        self._conv_path1 = MakeFireConv(squeezed, filters, 1)
        self._conv_path2 = MakeFireConv(squeezed, filters, 3, padding=1)

    def forward(self, inputs):
        """What both kinds of filters give, in that order."""
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


class SqueezeNet(nn.Layer):
    """Eight blocks that narrow their input before they filter it, and no linear layer.

    Args:
        version (str): "1.0", or "1.1", which pools earlier.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether the map of each class is rectified and averaged.

    Shape:
        - inputs: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of so many channels

    Examples:
        >>> import scull as paddle
        >>> SqueezeNet("1.1", num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, version, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes)
        if version not in list(FIRST):
            raise ArgumentError(
                f"supported versions are {list(FIRST)} but input version is {version}"
            )
        self.version = version
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, size, stride, padding = FIRST[version]
        self._conv = nn.Conv2D(3, channels, size, stride=stride, padding=padding)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        self._fires = []
        for i, (squeezed, filters) in enumerate(FIRES, 1):
            fire = MakeFire(channels, squeezed, filters)
            self._fires.append(self.add_sublayer(f"_conv{i}", fire))
            channels = 2 * filters
        self._drop = nn.Dropout(p=0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(channels, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs):
        """The score of every class for every image."""
        x = self._pool(F.relu(self._conv(inputs)))
        for i, fire in enumerate(self._fires, 1):
            x = fire(x)
            x = self._pool(x) if i in POOLED[self.version] else x
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        if self.with_pool:
            x = squeeze(self._avg_pool(F.relu(x)), axis=[2, 3])
        return x


def squeezenet1_0(pretrained=False, **kwargs):
    """SqueezeNet 1.0, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        **kwargs: `num_classes` and `with_pool`, as `SqueezeNet` takes them.

    Examples:
        >>> import scull as paddle
        >>> squeezenet1_0(num_classes=10)(paddle.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    refuse_pretrained("squeezenet1_0", pretrained)
    return SqueezeNet("1.0", **kwargs)


def squeezenet1_1(pretrained=False, **kwargs):
    """SqueezeNet 1.1, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        **kwargs: `num_classes` and `with_pool`, as `SqueezeNet` takes them.

    Examples:
        >>> import scull as paddle
        >>> squeezenet1_1(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("squeezenet1_1", pretrained)
    return SqueezeNet("1.1", **kwargs)
