"""ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design."""

from functools import partial

from scull import nn
from scull.errors import ArgumentError, UnsupportedError
from scull.tensor import concat, reshape, split, transpose
from scull.vision.models.part import check_sizes, classified, refuse_pretrained
from scull.vision.ops import ConvNormActivation

FIRST = 24  # channels
CHANNELS = {  # of the three stages, and at the end
    0.25: (24, 48, 96, 512),
    0.33: (32, 64, 128, 512),
    0.5: (48, 96, 192, 1024),
    1.0: (116, 232, 464, 1024),
    1.5: (176, 352, 704, 1024),
    2.0: (224, 488, 976, 2048),
}
BLOCKS = (4, 8, 4)
ACTIVATIONS = {"relu": nn.ReLU, "swish": nn.Swish, None: None}
point = partial(ConvNormActivation, kernel_size=1, stride=1, padding=0)


def depthwise(channels, stride):
    """A filter for each channel, normalised."""
    return ConvNormActivation(
        channels,
        channels,
        kernel_size=3,
        stride=stride,
        padding=1,
        groups=channels,
        activation_layer=None,
    )


def shuffled(*halves):
    """Feature maps side by side, then one channel of each in turn."""
    x = concat(list(halves), axis=1)
    n, channels, height, width = x.shape
    x = reshape(x, [n, len(halves), channels // len(halves), height, width])
    return reshape(transpose(x, [0, 2, 1, 3, 4]), [n, channels, height, width])


class InvertedResidual(nn.Layer):
    """A block that changes half of its channels and leaves the other half alone."""

    def __init__(self, channels, activation):
        super().__init__()
        half = channels // 2
        self._conv_pw = point(half, half, activation_layer=activation)
        self._conv_dw = depthwise(half, 1)
        self._conv_linear = point(half, half, activation_layer=activation)

    def forward(self, inputs):
        """Both halves, shuffled."""
        half = inputs.shape[1] // 2
        kept, changed = split(inputs, [half, half], axis=1)
        return shuffled(kept, self._conv_linear(self._conv_dw(self._conv_pw(changed))))


class InvertedResidualDS(nn.Layer):
    """A block that makes both halves of its channels anew, of images half the size."""

    def __init__(self, channels, filters, activation):
        super().__init__()
        half = filters // 2
        self._conv_dw_1 = depthwise(channels, 2)
        self._conv_linear_1 = point(channels, half, activation_layer=activation)
        self._conv_pw_2 = point(channels, half, activation_layer=activation)
        self._conv_dw_2 = depthwise(half, 2)
        self._conv_linear_2 = point(half, half, activation_layer=activation)

    def forward(self, inputs):
        """Both halves, shuffled."""
        left = self._conv_linear_1(self._conv_dw_1(inputs))
        return shuffled(left, self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs))))


class ShuffleNetV2(nn.Layer):
    """Blocks that halve their channels and shuffle them, so that both halves meet in the next.

    Args:
        scale (float): how wide the network is: 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0.
        act (str, optional): the activation, "relu" or "swish"; None for none.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.

    Shape:
        - inputs: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 512, 1024 or 2048 channels

    Examples:
        >>> import scull as paddle
        >>> ShuffleNetV2(scale=0.25, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(self, scale=1.0, act="relu", num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes)
        if act not in list(ACTIVATIONS):
            raise ArgumentError(f"The activation function is not supported: {act}")
        if scale not in list(CHANNELS):
            raise UnsupportedError(f"This scale size:[{scale}] is not implemented!")
        activation = ACTIVATIONS[act]
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv1 = ConvNormActivation(
            3, FIRST, kernel_size=3, stride=2, padding=1, activation_layer=activation
        )
        self._max_pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._block_list = []
        channels, (*stages, last) = FIRST, CHANNELS[scale]
        for stage, (filters, count) in enumerate(zip(stages, BLOCKS, strict=True), 2):
            for i in range(1, count + 1):
                block = (
                    InvertedResidualDS(channels, filters, activation)
                    if i == 1
                    else InvertedResidual(filters, activation)
                )
                self._block_list.append(self.add_sublayer(f"{stage}_{i}", block))
            channels = filters
        self._last_conv = point(channels, last, activation_layer=activation)
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(last, num_classes)

    def forward(self, inputs):
        """The score of every class for every image."""
        x = self._max_pool(self._conv1(inputs))
        for block in self._block_list:
            x = block(x)
        pool = self._pool2d_avg if self.with_pool else None
        return classified(self._last_conv(x), pool, self._fc if self.num_classes > 0 else None)


def shufflenet_v2_x0_25(pretrained=False, **kwargs):
    """ShuffleNetV2 of a quarter of the width.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_x0_25(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_x0_25", pretrained)
    return ShuffleNetV2(scale=0.25, **kwargs)


def shufflenet_v2_x0_33(pretrained=False, **kwargs):
    """ShuffleNetV2 of a third of the width.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_x0_33(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_x0_33", pretrained)
    return ShuffleNetV2(scale=0.33, **kwargs)


def shufflenet_v2_x0_5(pretrained=False, **kwargs):
    """ShuffleNetV2 of half the width.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_x0_5(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_x0_5", pretrained)
    return ShuffleNetV2(scale=0.5, **kwargs)


def shufflenet_v2_x1_0(pretrained=False, **kwargs):
    """ShuffleNetV2 of full width.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_x1_0(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_x1_0", pretrained)
    return ShuffleNetV2(scale=1.0, **kwargs)


def shufflenet_v2_x1_5(pretrained=False, **kwargs):
    """ShuffleNetV2 one and a half times as wide.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_x1_5(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_x1_5", pretrained)
    return ShuffleNetV2(scale=1.5, **kwargs)


def shufflenet_v2_x2_0(pretrained=False, **kwargs):
    """ShuffleNetV2 twice as wide.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_x2_0(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_x2_0", pretrained)
    return ShuffleNetV2(scale=2.0, **kwargs)


def shufflenet_v2_swish(pretrained=False, **kwargs):
    """ShuffleNetV2 with swish as its activation.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ShuffleNetV2`.

    Examples:
        >>> import scull as paddle
        >>> shufflenet_v2_swish(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    refuse_pretrained("shufflenet_v2_swish", pretrained)
    return ShuffleNetV2(scale=1.0, act="swish", **kwargs)
