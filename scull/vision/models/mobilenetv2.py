"""MobileNetV2: Inverted Residuals and Linear Bottlenecks."""

from scull import nn
from scull.errors import ArgumentError
from scull.vision.models.part import check_sizes, classified, divisible, refuse_pretrained
from scull.vision.ops import ConvNormActivation

FIRST, LAST = 32, 1280  # channels
STAGES = (  # expansion, channels, blocks, stride of the first
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def convolution(channels, filters, norm_layer=nn.BatchNorm2D, **options):
    """A convolution, normalised and rectified up to 6."""
    return ConvNormActivation(
        channels, filters, norm_layer=norm_layer, activation_layer=nn.ReLU6, **options
    )


class InvertedResidual(nn.Layer):
    """A block that widens its input, filters each channel, narrows it again, and adds the input.

    Args:
        inp (int): the channels of the input.
        oup (int): the channels of the result.
        stride (int): 1, or 2 to halve the images.
        expand_ratio (float): how many times wider the block is inside than its input.
        norm_layer (Callable): makes the normalisation of so many channels.
    """

    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=nn.BatchNorm2D):
        super().__init__()
        if stride not in (1, 2):
            raise ArgumentError(f"stride should be 1 or 2, but got {stride}")
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        wide = round(inp * expand_ratio)
        layers = [convolution(inp, wide, norm_layer, kernel_size=1)] if expand_ratio != 1 else []
        layers += [
            convolution(wide, wide, norm_layer, stride=stride, groups=wide),
            nn.Conv2D(wide, oup, 1, 1, 0, bias_attr=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        """The narrow result, plus the input where both have one shape."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Layer):
    """Blocks that are narrow at their ends and wide, with a filter a channel, between.

    Args:
        scale (float): what all numbers of channels are multiplied by.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - x: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 1280 · max(1, scale) channels

    Examples:
        >>> import scull as paddle
        >>> MobileNetV2(scale=0.25, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes, scale)
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.last_channel = divisible(LAST * max(1.0, scale))
        channels = divisible(FIRST * scale)
        features = [convolution(3, channels, stride=2)]
        for ratio, filters, count, stride in STAGES:
            wanted = divisible(filters * scale)
            for i in range(count):
                features.append(InvertedResidual(channels, wanted, stride if i == 0 else 1, ratio))
                channels = wanted
        features.append(convolution(channels, self.last_channel, kernel_size=1))
        self.features = nn.Sequential(*features)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Dropout(0.2), nn.Linear(self.last_channel, num_classes)
            )

    def forward(self, x):
        """The score of every class for every image."""
        pool = self.pool2d_avg if self.with_pool else None
        head = self.classifier if self.num_classes > 0 else None
        return classified(self.features(x), pool, head)


def mobilenet_v2(pretrained=False, scale=1.0, **kwargs):
    """MobileNetV2, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        scale (float): what all numbers of channels are multiplied by.
        **kwargs: `num_classes` and `with_pool`, as `MobileNetV2` takes them.

    Examples:
        >>> import scull as paddle
        >>> mobilenet_v2(scale=0.5, num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 1280, 1, 1]
    """
    refuse_pretrained("mobilenet_v2", pretrained)
    return MobileNetV2(scale=scale, **kwargs)
