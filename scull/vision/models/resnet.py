"""ResNet, ResNeXt and wide ResNet: Deep Residual Learning for Image Recognition."""

from functools import partial

from scull import nn
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.vision.models.part import check_sizes, classified, refuse_pretrained

FIRST = 64  # channels
CHANNELS = (64, 128, 256, 512)
BLOCKS = {  # of the four stages, by the number of layers with parameters
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
convolution = partial(nn.Conv2D, bias_attr=False)


class BasicBlock(nn.Layer):
    """Two convolutions of 3 × 3 and, around them, the input.

    Args:
        inplanes (int): the channels of the input.
        planes (int): the channels of the result.
        stride (int): how far apart the windows of the first convolution lie.
        downsample (Layer, optional): what makes the input fit the result.
        groups (int): not used.
        base_width (int): not used.
        dilation (int): must be 1.
        norm_layer (Callable, optional): makes the normalisation of so many channels.

    Examples:
        >>> import scull as paddle
        >>> BasicBlock(8, 8)(paddle.ones([1, 8, 4, 4])).shape
        [1, 8, 4, 4]
    """

    expansion = 1

    def __init__(
        self,
        inplanes,
        planes,
        stride=1,
        downsample=None,
        groups=1,
        base_width=64,
        dilation=1,
        norm_layer=None,
    ):
        super().__init__()
        if dilation > 1:
            raise UnsupportedError("Dilation > 1 not supported in BasicBlock")
        norm_layer = norm_layer or nn.BatchNorm2D
        self.conv1 = convolution(inplanes, planes, 3, padding=1, stride=stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU()
        self.conv2 = convolution(planes, planes, 3, padding=1)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        """The result of the convolutions plus the input, rectified."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """A convolution of 3 × 3 on few channels and, around it, the input.

    Args:
        inplanes (int): the channels of the input.
        planes (int): a quarter of the channels of the result.
        stride (int): how far apart the windows of the inner convolution lie.
        downsample (Layer, optional): what makes the input fit the result.
        groups (int): into how many parts the inner channels are divided.
        base_width (int): how many inner channels a group has where `planes` is 64.
        dilation (int): how far apart the elements of a window lie.
        norm_layer (Callable, optional): makes the normalisation of so many channels.

    Examples:
        >>> import scull as paddle
        >>> BottleneckBlock(16, 4)(paddle.ones([1, 16, 4, 4])).shape
        [1, 16, 4, 4]
    """

    expansion = 4

    def __init__(
        self,
        inplanes,
        planes,
        stride=1,
        downsample=None,
        groups=1,
        base_width=64,
        dilation=1,
        norm_layer=None,
    ):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = convolution(inplanes, width, 1)
        self.bn1 = norm_layer(width)
        self.conv2 = convolution(
            width, width, 3, padding=dilation, stride=stride, groups=groups, dilation=dilation
        )
        self.bn2 = norm_layer(width)
        self.conv3 = convolution(width, planes * self.expansion, 1)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        """The result of the convolutions plus the input, rectified."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Layer):
    """Four stages of blocks that add to their input, each of images half the size.

    Args:
        block (type[Layer]): `BasicBlock` or `BottleneckBlock`.
        depth (int): 18, 34, 50, 101 or 152.
        width (int): how many inner channels a group of the first stage has.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether each feature map is averaged.
        groups (int): into how many parts the inner channels are divided.

    Shape:
        - x: float32[n, 3, height, width]
        - result: float32[n, num_classes], or maps of 512 · block.expansion channels

    Examples:
        >>> import scull as paddle
        >>> ResNet(BasicBlock, 18, num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(
        self,
        block,
        depth=50,
        width=64,
        num_classes=1000,
        with_pool=True,
        groups=1,
    ):
        super().__init__()
        check_sizes(num_classes)
        if depth not in list(BLOCKS):
            raise ArgumentError(f"depth should be one of {list(BLOCKS)}, but got {depth}")
        if not hasattr(block, "expansion"):
            raise ArgumentTypeError(f"block is BasicBlock or BottleneckBlock, not {block!r}")
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.conv1 = convolution(3, FIRST, kernel_size=7, stride=2, padding=3)
        self.bn1 = nn.BatchNorm2D(FIRST)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        inplanes = FIRST
        for i, (planes, count) in enumerate(zip(CHANNELS, BLOCKS[depth], strict=True), 1):
            stage = self.stage(block, inplanes, planes, count, stride=1 if i == 1 else 2)
            setattr(self, f"layer{i}", stage)
            inplanes = planes * block.expansion
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(inplanes, num_classes)

    def stage(self, block, inplanes, planes, count, stride):
        """So many blocks of one width, the first of which makes the images smaller."""
        wide = planes * block.expansion
        downsample = None
        if stride != 1 or inplanes != wide:
            downsample = nn.Sequential(
                convolution(inplanes, wide, 1, stride=stride), nn.BatchNorm2D(wide)
            )
        sizes = {"groups": self.groups, "base_width": self.base_width}
        first = block(inplanes, planes, stride, downsample, **sizes)
        return nn.Sequential(first, *(block(wide, planes, **sizes) for _ in range(count - 1)))

    def forward(self, x):
        """The score of every class for every image."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        pool = self.avgpool if self.with_pool else None
        return classified(x, pool, self.fc if self.num_classes > 0 else None)


def resnet(name, pretrained, block, depth, kwargs, **sizes):
    """The network of so many layers, of the sizes that its name means."""
    refuse_pretrained(name, pretrained)
    return ResNet(block, depth, **{**kwargs, **sizes})


def resnet18(pretrained=False, **kwargs):
    """ResNet of 18 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnet18(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnet18", pretrained, BasicBlock, 18, kwargs)


def resnet34(pretrained=False, **kwargs):
    """ResNet of 34 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnet34(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnet34", pretrained, BasicBlock, 34, kwargs)


def resnet50(pretrained=False, **kwargs):
    """ResNet of 50 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnet50(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnet50", pretrained, BottleneckBlock, 50, kwargs)


def resnet101(pretrained=False, **kwargs):
    """ResNet of 101 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnet101(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnet101", pretrained, BottleneckBlock, 101, kwargs)


def resnet152(pretrained=False, **kwargs):
    """ResNet of 152 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnet152(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnet152", pretrained, BottleneckBlock, 152, kwargs)


def resnext50_32x4d(pretrained=False, **kwargs):
    """ResNeXt of 50 layers and 32 groups of 4 channels.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnext50_32x4d(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnext50_32x4d", pretrained, BottleneckBlock, 50, kwargs, width=4, groups=32)


def resnext50_64x4d(pretrained=False, **kwargs):
    """ResNeXt of 50 layers and 64 groups of 4 channels.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnext50_64x4d(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnext50_64x4d", pretrained, BottleneckBlock, 50, kwargs, width=4, groups=64)


def resnext101_32x4d(pretrained=False, **kwargs):
    """ResNeXt of 101 layers and 32 groups of 4 channels.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnext101_32x4d(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnext101_32x4d", pretrained, BottleneckBlock, 101, kwargs, width=4, groups=32)


def resnext101_64x4d(pretrained=False, **kwargs):
    """ResNeXt of 101 layers and 64 groups of 4 channels.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnext101_64x4d(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnext101_64x4d", pretrained, BottleneckBlock, 101, kwargs, width=4, groups=64)


def resnext152_32x4d(pretrained=False, **kwargs):
    """ResNeXt of 152 layers and 32 groups of 4 channels.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnext152_32x4d(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnext152_32x4d", pretrained, BottleneckBlock, 152, kwargs, width=4, groups=32)


def resnext152_64x4d(pretrained=False, **kwargs):
    """ResNeXt of 152 layers and 64 groups of 4 channels.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> resnext152_64x4d(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("resnext152_64x4d", pretrained, BottleneckBlock, 152, kwargs, width=4, groups=64)


def wide_resnet50_2(pretrained=False, **kwargs):
    """ResNet of 50 layers, twice as wide inside.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> wide_resnet50_2(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("wide_resnet50_2", pretrained, BottleneckBlock, 50, kwargs, width=128)


def wide_resnet101_2(pretrained=False, **kwargs):
    """ResNet of 101 layers, twice as wide inside.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `kwargs` are those of `ResNet`.

    Examples:
        >>> import scull as paddle
        >>> wide_resnet101_2(num_classes=10)(paddle.ones([1, 3, 32, 32])).shape
        [1, 10]
    """
    return resnet("wide_resnet101_2", pretrained, BottleneckBlock, 101, kwargs, width=128)
