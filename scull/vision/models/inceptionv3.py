"""Inception v3: Rethinking the Inception Architecture for Computer Vision."""

from scull import nn
from scull.tensor import concat, reshape
from scull.vision.models.part import check_sizes, refuse_pretrained, uniform
from scull.vision.ops import ConvNormActivation


def convolution(channels, filters, size, stride=1, padding=None):
    """Normalised and rectified; it keeps the size of the images at stride 1."""
    if padding is None and stride > 1:
        padding = 0
    return ConvNormActivation(channels, filters, size, stride=stride, padding=padding)


def average():
    """The means of windows of 3 × 3, with zeros around the images."""
    return nn.AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)


class InceptionStem(nn.Layer):
    """Plain convolutions and pools, which make images of an eighth of the size."""

    def __init__(self):
        super().__init__()
        self.conv_1a_3x3 = convolution(3, 32, 3, stride=2)
        self.conv_2a_3x3 = convolution(32, 32, 3, padding=0)
        self.conv_2b_3x3 = convolution(32, 64, 3)
        self.max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)
        self.conv_3b_1x1 = convolution(64, 80, 1)
        self.conv_4a_3x3 = convolution(80, 192, 3, padding=0)

    def forward(self, x):
        """Feature maps of 192 channels."""
        x = self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x)))
        x = self.conv_4a_3x3(self.conv_3b_1x1(self.max_pool(x)))
        return self.max_pool(x)


class Branches(nn.Layer):
    """Named layers, and paths through them whose results stand side by side.

    A path is a sequence of names; a tuple of names in it is a fork.
    """

    def __init__(self, layers, paths):
        super().__init__()
        for name, layer in layers.items():
            self.add_sublayer(name, layer if isinstance(layer, nn.Layer) else convolution(*layer))
        self.paths = paths

    def followed(self, x, path):
        """What `x` becomes on a path."""
        for step in path:
            if isinstance(step, tuple):
                x = concat([self._sub_layers[name](x) for name in step], axis=1)
            else:
                x = self._sub_layers[step](x)
        return x

    def forward(self, x):
        """What all paths give, in order."""
        return concat([self.followed(x, path) for path in self.paths], axis=1)


class InceptionA(Branches):
    """Filters of 1 × 1 and 5 × 5, two of 3 × 3 one after another, and a pool."""

    def __init__(self, channels, pooled):
        layers = {
            "branch1x1": (channels, 64, 1),
            "branch5x5_1": (channels, 48, 1),
            "branch5x5_2": (48, 64, 5),
            "branch3x3dbl_1": (channels, 64, 1),
            "branch3x3dbl_2": (64, 96, 3),
            "branch3x3dbl_3": (96, 96, 3),
            "branch_pool": average(),
            "branch_pool_conv": (channels, pooled, 1),
        }
        one, five_1, five_2, three_1, three_2, three_3, pool, pool_conv = layers
        paths = (one,), (five_1, five_2), (three_1, three_2, three_3), (pool, pool_conv)
        super().__init__(layers, paths)


class InceptionB(Branches):
    """Filters of 3 × 3, once and twice, and a pool: images half the size."""

    def __init__(self, channels):
        layers = {
            "branch3x3": (channels, 384, 3, 2),
            "branch3x3dbl_1": (channels, 64, 1),
            "branch3x3dbl_2": (64, 96, 3),
            "branch3x3dbl_3": (96, 96, 3, 2),
            "branch_pool": nn.MaxPool2D(kernel_size=3, stride=2),
        }
        one, *double, pool = layers
        super().__init__(layers, ((one,), double, (pool,)))


class InceptionC(Branches):
    """Filters of 7 × 7, once and twice, each as a row and a column."""

    def __init__(self, channels, inner):
        row, column = (1, 7), (7, 1)
        layers = {
            "branch1x1": (channels, 192, 1),
            "branch7x7_1": (channels, inner, 1),
            "branch7x7_2": (inner, inner, row),
            "branch7x7_3": (inner, 192, column),
            "branch7x7dbl_1": (channels, inner, 1),
            "branch7x7dbl_2": (inner, inner, column),
            "branch7x7dbl_3": (inner, inner, row),
            "branch7x7dbl_4": (inner, inner, column),
            "branch7x7dbl_5": (inner, 192, row),
            "branch_pool": average(),
            "branch_pool_conv": (channels, 192, 1),
        }
        names = list(layers)
        super().__init__(layers, (names[:1], names[1:4], names[4:9], names[9:]))


class InceptionD(Branches):
    """Filters of 3 × 3 and 7 × 7 and a pool: images half the size."""

    def __init__(self, channels):
        layers = {
            "branch3x3_1": (channels, 192, 1),
            "branch3x3_2": (192, 320, 3, 2),
            "branch7x7x3_1": (channels, 192, 1),
            "branch7x7x3_2": (192, 192, (1, 7)),
            "branch7x7x3_3": (192, 192, (7, 1)),
            "branch7x7x3_4": (192, 192, 3, 2),
            "branch_pool": nn.MaxPool2D(kernel_size=3, stride=2),
        }
        names = list(layers)
        super().__init__(layers, (names[:2], names[2:6], names[6:]))


class InceptionE(Branches):
    """Filters of 3 × 3 as rows beside columns, once and twice."""

    def __init__(self, channels):
        layers = {
            "branch1x1": (channels, 320, 1),
            "branch3x3_1": (channels, 384, 1),
            "branch3x3_2a": (384, 384, (1, 3)),
            "branch3x3_2b": (384, 384, (3, 1)),
            "branch3x3dbl_1": (channels, 448, 1),
            "branch3x3dbl_2": (448, 384, 3),
            "branch3x3dbl_3a": (384, 384, (1, 3)),
            "branch3x3dbl_3b": (384, 384, (3, 1)),
            "branch_pool": average(),
            "branch_pool_conv": (channels, 192, 1),
        }
        one, first, *fork, double_1, double_2, row, column, pool, pool_conv = layers
        paths = (
            (one,),
            (first, tuple(fork)),
            (double_1, double_2, (row, column)),
            (pool, pool_conv),
        )
        super().__init__(layers, paths)


BLOCKS = (
    (InceptionA, 192, 32),
    (InceptionA, 256, 64),
    (InceptionA, 288, 64),
    (InceptionB, 288),
    (InceptionC, 768, 128),
    (InceptionC, 768, 160),
    (InceptionC, 768, 160),
    (InceptionC, 768, 192),
    (InceptionD, 768),
    (InceptionE, 1280),
    (InceptionE, 2048),
)
FEATURES = 2048


class InceptionV3(nn.Layer):
    """Eleven blocks of filters of several shapes, side by side.

    Args:
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - x: float32[n, 3, height, width], of 75 × 75 at least
        - result: float32[n, num_classes], or maps of 2048 channels

    Examples:
        >>> import scull as paddle
        >>> InceptionV3(num_classes=10)(paddle.ones([1, 3, 75, 75])).shape
        [1, 10]
    """

    def __init__(self, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes)
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inception_stem = InceptionStem()
        self.inception_block_list = nn.LayerList([kind(*sizes) for kind, *sizes in BLOCKS])
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = nn.Dropout(p=0.2, mode="downscale_in_infer")
            self.fc = nn.Linear(FEATURES, num_classes, weight_attr=uniform(FEATURES))

    def forward(self, x):
        """The score of every class for every image."""
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        if self.num_classes > 0:
            x = self.fc(self.dropout(reshape(x, [-1, FEATURES])))
        return x


def inception_v3(pretrained=False, **kwargs):
    """Inception v3, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        **kwargs: `num_classes` and `with_pool`, as `InceptionV3` takes them.

    Examples:
        >>> import scull as paddle
        >>> inception_v3(num_classes=0)(paddle.ones([1, 3, 75, 75])).shape
        [1, 2048, 1, 1]
    """
    refuse_pretrained("inception_v3", pretrained)
    return InceptionV3(**kwargs)
