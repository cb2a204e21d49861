"""MobileNetV3: Searching for MobileNetV3."""

from functools import partial

from scull import nn
from scull.tensor import add
from scull.vision.models.part import check_sizes, classified, divisible, refuse_pretrained
from scull.vision.ops import ConvNormActivation

FIRST = 16  # channels
SMALL = (  # filter, width inside, channels, whether channels are weighed, activation, stride
    (3, 16, 16, True, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 2),
    (3, 88, 24, False, nn.ReLU, 1),
    (5, 96, 40, True, nn.Hardswish, 2),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 120, 48, True, nn.Hardswish, 1),
    (5, 144, 48, True, nn.Hardswish, 1),
    (5, 288, 96, True, nn.Hardswish, 2),
    (5, 576, 96, True, nn.Hardswish, 1),
    (5, 576, 96, True, nn.Hardswish, 1),
)
LARGE = (
    (3, 16, 16, False, nn.ReLU, 1),
    (3, 64, 24, False, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 1),
    (5, 72, 40, True, nn.ReLU, 2),
    (5, 120, 40, True, nn.ReLU, 1),
    (5, 120, 40, True, nn.ReLU, 1),
    (3, 240, 80, False, nn.Hardswish, 2),
    (3, 200, 80, False, nn.Hardswish, 1),
    (3, 184, 80, False, nn.Hardswish, 1),
    (3, 184, 80, False, nn.Hardswish, 1),
    (3, 480, 112, True, nn.Hardswish, 1),
    (3, 672, 112, True, nn.Hardswish, 1),
    (5, 672, 160, True, nn.Hardswish, 2),
    (5, 960, 160, True, nn.Hardswish, 1),
    (5, 960, 160, True, nn.Hardswish, 1),
)
convolution = partial(
    ConvNormActivation, norm_layer=partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
)


class SqueezeExcitation(nn.Layer):
    """Channels weighed by what a small network makes of the means of all of them.

    Args:
        input_channels (int): the channels of the images.
        squeeze_channels (int): how wide the small network is.
        activation (Callable): makes its first activation.
        scale_activation (Callable): makes its last one, which gives the weights.

    Examples:
        >>> import scull as paddle
        >>> SqueezeExcitation(8, 2)(paddle.ones([1, 8, 4, 4])).shape
        [1, 8, 4, 4]
    """

    def __init__(
        self,
        input_channels,
        squeeze_channels,
        activation=nn.ReLU,
        scale_activation=nn.Sigmoid,
    ):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input):
        """`input` times the weight of each channel."""
        inner = self.activation(self.fc1(self.avgpool(input)))
        return self.scale_activation(self.fc2(inner)) * input


class InvertedResidual(nn.Layer):
    """A block that widens its input, filters and weighs each channel, and narrows it again."""

    def __init__(self, channels, size, wide, filters, weighed, activation, stride):
        super().__init__()
        self.use_res_connect = stride == 1 and channels == filters
        self.expand = channels != wide
        self.use_se = weighed
        point = {"kernel_size": 1, "stride": 1, "padding": 0}
        if self.expand:
            self.expand_conv = convolution(channels, wide, activation_layer=activation, **point)
        self.bottleneck_conv = convolution(
            wide,
            wide,
            kernel_size=size,
            stride=stride,
            padding=(size - 1) // 2,
            groups=wide,
            activation_layer=activation,
        )
        if weighed:
            self.mid_se = SqueezeExcitation(
                wide, divisible(wide // 4), scale_activation=nn.Hardsigmoid
            )
        self.linear_conv = convolution(wide, filters, activation_layer=None, **point)

    def forward(self, x):
        """The narrow result, plus the input where both have one shape."""
        inner = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        inner = self.linear_conv(self.mid_se(inner) if self.use_se else inner)
        return add(x, inner) if self.use_res_connect else inner


class MobileNetV3(nn.Layer):
    """What both sizes of the network have in common."""

    def __init__(self, blocks, last_channel, scale, num_classes, with_pool):
        super().__init__()
        check_sizes(num_classes, scale)
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.last_channel = divisible(last_channel * scale)
        channels = divisible(FIRST * scale)
        self.conv = convolution(
            3, channels, kernel_size=3, stride=2, padding=1, activation_layer=nn.Hardswish
        )
        layers = []
        for size, wide, filters, *rest in blocks:
            sizes = size, divisible(wide * scale), divisible(filters * scale)
            layers.append(InvertedResidual(channels, *sizes, *rest))
            channels = divisible(filters * scale)
        self.blocks = nn.Sequential(*layers)
        wide = channels * 6
        self.lastconv = convolution(
            channels, wide, kernel_size=1, stride=1, padding=0, activation_layer=nn.Hardswish
        )
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(wide, self.last_channel),
                nn.Hardswish(),
                nn.Dropout(p=0.2),
                nn.Linear(self.last_channel, num_classes),
            )

    def forward(self, x):
        """The score of every class for every image."""
        x = self.lastconv(self.blocks(self.conv(x)))
        pool = self.avgpool if self.with_pool else None
        return classified(x, pool, self.classifier if self.num_classes > 0 else None)


class MobileNetV3Small(MobileNetV3):
    """The small network: 11 blocks with a filter a channel, most of them weighing their channels.

    Args:
        scale (float): what all numbers of channels are multiplied by.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - x: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 576 · scale channels

    Examples:
        >>> import scull as paddle
        >>> MobileNetV3Small(scale=0.25, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__(SMALL, 1024, scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The large network: 15 blocks with a filter a channel, most of them weighing their channels.

    Args:
        scale (float): what all numbers of channels are multiplied by.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - x: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 960 · scale channels

    Examples:
        >>> import scull as paddle
        >>> MobileNetV3Large(scale=0.25, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__(LARGE, 1280, scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained=False, scale=1.0, **kwargs):
    """The small MobileNetV3, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        scale (float): what all numbers of channels are multiplied by.
        **kwargs: `num_classes` and `with_pool`, as `MobileNetV3Small` takes them.

    Examples:
        >>> import scull as paddle
        >>> mobilenet_v3_small(scale=0.5, num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 288, 1, 1]
    """
    refuse_pretrained("mobilenet_v3_small", pretrained)
    return MobileNetV3Small(scale=scale, **kwargs)


def mobilenet_v3_large(pretrained=False, scale=1.0, **kwargs):
    """The large MobileNetV3, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        scale (float): what all numbers of channels are multiplied by.
        **kwargs: `num_classes` and `with_pool`, as `MobileNetV3Large` takes them.

    Examples:
        >>> import scull as paddle
        >>> mobilenet_v3_large(scale=0.5, num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 480, 1, 1]
    """
    refuse_pretrained("mobilenet_v3_large", pretrained)
    return MobileNetV3Large(scale=scale, **kwargs)
