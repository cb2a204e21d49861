"""DenseNet: Densely Connected Convolutional Networks."""

from scull import nn
from scull.errors import ArgumentError
from scull.tensor import concat
from scull.vision.models.part import check_sizes, classified, refuse_pretrained, uniform

SIZES = {  # first channels, channels that a layer adds, layers of the blocks
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(nn.Layer):
    """Normalised and rectified, then convolved."""

    def __init__(self, channels, filters, size, padding=0):
        super().__init__()
        self._batch_norm = nn.BatchNorm(channels, act="relu")
        self._conv = nn.Conv2D(channels, filters, size, padding=padding, bias_attr=False)

    def forward(self, input):
        """Feature maps of as many channels as there are filters."""
        return self._conv(self._batch_norm(input))


class ConvBNLayer(nn.Layer):
    """Convolved, then normalised and rectified."""

    def __init__(self, channels, filters, size, stride, padding):
        super().__init__()
        self._conv = nn.Conv2D(channels, filters, size, stride, padding, bias_attr=False)
        self._batch_norm = nn.BatchNorm(filters, act="relu")

    def forward(self, input):
        """Feature maps of as many channels as there are filters."""
        return self._batch_norm(self._conv(input))


class DenseLayer(nn.Layer):
    """A layer that adds channels to those of its input."""

    def __init__(self, channels, growth, inner, dropout):
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(channels, inner, 1)
        self.bn_ac_func2 = BNACConvLayer(inner, growth, 3, padding=1)
        if dropout:
            self.dropout_func = nn.Dropout(p=dropout, mode="downscale_in_infer")

    def forward(self, input):
        """The input and, behind its channels, the new ones."""
        new = self.bn_ac_func2(self.bn_ac_func1(input))
        return concat([input, self.dropout_func(new) if self.dropout else new], axis=1)


class DenseBlock(nn.Layer):
    """Layers each of which sees the results of all before it."""

    def __init__(self, channels, count, growth, inner, dropout, name):
        super().__init__()
        self.dense_layer_func = [
            self.add_sublayer(
                f"{name}_{i + 1}", DenseLayer(channels + i * growth, growth, inner, dropout)
            )
            for i in range(count)
        ]

    def forward(self, input):
        """The input and, behind its channels, what each layer adds."""
        for layer in self.dense_layer_func:
            input = layer(input)
        return input


class TransitionLayer(nn.Layer):
    """What stands between two blocks: half the channels, of images half the size."""

    def __init__(self, channels):
        super().__init__()
        self.conv_ac_func = BNACConvLayer(channels, channels // 2, 1)
        self.pool2d_avg = nn.AvgPool2D(kernel_size=2, stride=2, padding=0)

    def forward(self, input):
        """Half the channels, averaged over squares of four pixels."""
        return self.pool2d_avg(self.conv_ac_func(input))


class DenseNet(nn.Layer):
    """Four blocks in which each layer sees the results of all before it.

    Args:
        layers (int): 121, 161, 169, 201 or 264.
        bn_size (int): how many times wider a layer is inside than what it adds.
        dropout (float): the share of what a layer adds that is dropped in training.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - input: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 1024 channels and more

    Examples:
        >>> import scull as paddle
        >>> DenseNet(121, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, layers=121, bn_size=4, dropout=0.0, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes)
        if layers not in list(SIZES):
            raise ArgumentError(f"supported layers are {list(SIZES)} but input layer is {layers}")
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, growth, self.block_config = SIZES[layers]
        self.conv1_func = ConvBNLayer(3, channels, 7, stride=2, padding=3)
        self.pool2d_max = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self.stages = []
        for i, count in enumerate(self.block_config, 2):
            if self.stages:
                self.stages.append(
                    self.add_sublayer(f"tr_conv{i - 1}_blk", TransitionLayer(channels))
                )
                channels //= 2
            block = DenseBlock(channels, count, growth, bn_size * growth, dropout, f"conv{i}")
            self.stages.append(self.add_sublayer(f"db_conv_{i}", block))
            channels += count * growth
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.out = nn.Linear(channels, num_classes, weight_attr=uniform(channels))

    def forward(self, input):
        """The score of every class for every image."""
        x = self.pool2d_max(self.conv1_func(input))
        for stage in self.stages:
            x = stage(x)
        pool = self.pool2d_avg if self.with_pool else None
        return classified(self.batch_norm(x), pool, self.out if self.num_classes > 0 else None)


def densenet121(pretrained=False, **kwargs):
    """DenseNet of 121 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `DenseNet`.

    Examples:
        >>> import scull as paddle
        >>> densenet121(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("densenet121", pretrained)
    return DenseNet(121, **kwargs)


def densenet161(pretrained=False, **kwargs):
    """DenseNet of 161 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `DenseNet`.

    Examples:
        >>> import scull as paddle
        >>> densenet161(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("densenet161", pretrained)
    return DenseNet(161, **kwargs)


def densenet169(pretrained=False, **kwargs):
    """DenseNet of 169 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `DenseNet`.

    Examples:
        >>> import scull as paddle
        >>> densenet169(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("densenet169", pretrained)
    return DenseNet(169, **kwargs)


def densenet201(pretrained=False, **kwargs):
    """DenseNet of 201 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `DenseNet`.

    Examples:
        >>> import scull as paddle
        >>> densenet201(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("densenet201", pretrained)
    return DenseNet(201, **kwargs)


def densenet264(pretrained=False, **kwargs):
    """DenseNet of 264 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `DenseNet`.

    Examples:
        >>> import scull as paddle
        >>> densenet264(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("densenet264", pretrained)
    return DenseNet(264, **kwargs)
