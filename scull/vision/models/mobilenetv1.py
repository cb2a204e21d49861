"""MobileNet: Efficient Convolutional Neural Networks for Mobile Vision Applications."""

from scull import nn
from scull.vision.models.part import check_sizes, classified, refuse_pretrained
from scull.vision.ops import ConvNormActivation

FIRST = 32  # channels
BLOCKS = {  # channels and stride
    "conv2_1": (64, 1),
    "conv2_2": (128, 2),
    "conv3_1": (128, 1),
    "conv3_2": (256, 2),
    "conv4_1": (256, 1),
    "conv4_2": (512, 2),
    **{f"conv5_{i}": (512, 1) for i in range(1, 6)},
    "conv5_6": (1024, 2),
    "conv6": (1024, 1),
}


class DepthwiseSeparable(nn.Layer):
    """A filter for each channel, then one that mixes them, each normalised and rectified."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self._depthwise_conv = ConvNormActivation(
            channels, channels, kernel_size=3, stride=stride, padding=1, groups=channels
        )
        self._pointwise_conv = ConvNormActivation(
            channels, filters, kernel_size=1, stride=1, padding=0
        )

    def forward(self, x):
        """Feature maps of as many channels as there are filters."""
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(nn.Layer):
    """Convolutions of single channels, and between them such that mix channels point by point.

    Args:
        scale (float): what all numbers of channels are multiplied by.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - x: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 1024 · scale channels

    Examples:
        >>> import scull as paddle
        >>> MobileNetV1(scale=0.25, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes, scale)
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels = int(FIRST * scale)
        self.conv1 = ConvNormActivation(3, channels, kernel_size=3, stride=2, padding=1)
        self.dwsl = []
        for name, (filters, stride) in BLOCKS.items():
            block = DepthwiseSeparable(channels, int(filters * scale), stride)
            self.dwsl.append(self.add_sublayer(name, block))
            channels = int(filters * scale)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(channels, num_classes)

    def forward(self, x):
        """The score of every class for every image."""
        x = self.conv1(x)
        for block in self.dwsl:
            x = block(x)
        pool = self.pool2d_avg if self.with_pool else None
        return classified(x, pool, self.fc if self.num_classes > 0 else None)


def mobilenet_v1(pretrained=False, scale=1.0, **kwargs):
    """MobileNetV1, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        scale (float): what all numbers of channels are multiplied by.
        **kwargs: `num_classes` and `with_pool`, as `MobileNetV1` takes them.

    Examples:
        >>> import scull as paddle
        >>> mobilenet_v1(scale=0.5, num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 512, 1, 1]
    """
    refuse_pretrained("mobilenet_v1", pretrained)
    return MobileNetV1(scale=scale, **kwargs)
