"""GoogLeNet: Going Deeper with Convolutions."""

from scull import nn
from scull.nn import functional as F
from scull.tensor import concat, flatten, squeeze
from scull.vision.models.part import check_sizes, refuse_pretrained, uniform

BLOCKS = {  # filters of 1, of 3 (how many channels they see) and of 5 (likewise), after a pool
    "_ince3a": (64, 96, 128, 16, 32, 32),
    "_ince3b": (128, 128, 192, 32, 96, 64),
    "_ince4a": (192, 96, 208, 16, 48, 64),
    "_ince4b": (160, 112, 224, 24, 64, 64),
    "_ince4c": (128, 128, 256, 24, 64, 64),
    "_ince4d": (112, 144, 288, 32, 64, 64),
    "_ince4e": (256, 160, 320, 32, 128, 128),
    "_ince5a": (256, 160, 320, 32, 128, 128),
    "_ince5b": (384, 192, 384, 48, 128, 128),
}
POOLED = {"_ince3b", "_ince4e"}  # the blocks after which there is a pool
TAPPED = ("_ince4a", "_ince4d")  # the blocks that feed the two other classifiers


class ConvLayer(nn.Layer):
    """A convolution without a bias that keeps the size of the images at stride 1."""

    def __init__(self, channels, filters, size, stride=1):
        super().__init__()
        self._conv = nn.Conv2D(
            channels, filters, size, stride=stride, padding=(size - 1) // 2, bias_attr=False
        )

    def forward(self, inputs):
        """Feature maps of as many channels as there are filters."""
        return self._conv(inputs)


class Inception(nn.Layer):
    """Filters of 1 × 1, 3 × 3 and 5 × 5 and a pool, side by side."""

    def __init__(self, channels, ones, seen3, threes, seen5, fives, pooled):
        super().__init__()
        self._conv1 = ConvLayer(channels, ones, 1)
        self._conv3r = ConvLayer(channels, seen3, 1)
        self._conv3 = ConvLayer(seen3, threes, 3)
        self._conv5r = ConvLayer(channels, seen5, 1)
        self._conv5 = ConvLayer(seen5, fives, 5)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=1, padding=1)
        self._convprj = ConvLayer(channels, pooled, 1)

    def forward(self, inputs):
        """What all of them give, rectified."""
        branches = [
            self._conv1(inputs),
            self._conv3(self._conv3r(inputs)),
            self._conv5(self._conv5r(inputs)),
            self._convprj(self._pool(inputs)),
        ]
        return F.relu(concat(branches, axis=1))


class GoogLeNet(nn.Layer):
    """Nine blocks of filters of several sizes, with two more classifiers on the way.

    Args:
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether the feature maps are averaged.

    Shape:
        - inputs: float32[n, 3, height, width], about 224 × 224 for the classifiers on the way
        - result: a list of three float32[n, num_classes], of the end, the middle and between, or
          of maps of 1024, 512 and 528 channels

    Examples:
        >>> import scull as paddle
        >>> net = GoogLeNet(num_classes=0, with_pool=False)
        >>> [maps.shape for maps in net(paddle.ones([1, 3, 64, 64]))]
        [[1, 1024, 1, 1], [1, 512, 3, 3], [1, 528, 3, 3]]
    """

    def __init__(self, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes)
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        channels = 192
        for name, (ones, seen3, threes, seen5, fives, pooled) in BLOCKS.items():
            setattr(self, name, Inception(channels, ones, seen3, threes, seen5, fives, pooled))
            channels = ones + threes + fives + pooled
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(kernel_size=5, stride=3)
            self._pool_o2 = nn.AvgPool2D(kernel_size=5, stride=3)
        if num_classes > 0:
            self._drop = nn.Dropout(p=0.4, mode="downscale_in_infer")
            self._fc_out = nn.Linear(1024, num_classes, weight_attr=uniform(1024, 3.0))
            for end, tapped in (("1", 512), ("2", 528)):
                setattr(self, f"_conv_o{end}", ConvLayer(tapped, 128, 1))
                hidden = nn.Linear(1152, 1024, weight_attr=uniform(2048, 3.0))
                setattr(self, f"_fc_o{end}", hidden)
                setattr(self, f"_drop_o{end}", nn.Dropout(p=0.7, mode="downscale_in_infer"))
                last = nn.Linear(1024, num_classes, weight_attr=uniform(1024, 3.0))
                setattr(self, f"_out{end}", last)

    def forward(self, inputs):
        """The scores of every class for every image: of the end, the middle and between."""
        x = self._conv_2(self._conv_1(self._pool(self._conv(inputs))))
        x = self._pool(x)
        tapped = []
        for name in BLOCKS:
            x = getattr(self, name)(x)
            tapped += [x] if name in TAPPED else []
            x = self._pool(x) if name in POOLED else x
        one, two = tapped
        if self.with_pool:
            x, one, two = self._pool_5(x), self._pool_o1(one), self._pool_o2(two)
        if self.num_classes > 0:
            x = self._fc_out(squeeze(self._drop(x), axis=[2, 3]))
            one = F.relu(self._fc_o1(flatten(self._conv_o1(one), 1)))
            one = self._out1(self._drop_o1(one))
            two = self._fc_o2(flatten(self._conv_o2(two), 1))  # not rectified, as in Paddle
            two = self._out2(self._drop_o2(two))
        return [x, one, two]


def googlenet(pretrained=False, **kwargs):
    """GoogLeNet, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        **kwargs: `num_classes` and `with_pool`, as `GoogLeNet` takes them.

    Examples:
        >>> import scull as paddle
        >>> [scores.shape for scores in googlenet(num_classes=10)(paddle.ones([1, 3, 192, 192]))]
        [[1, 10], [1, 10], [1, 10]]
    """
    refuse_pretrained("googlenet", pretrained)
    return GoogLeNet(**kwargs)
