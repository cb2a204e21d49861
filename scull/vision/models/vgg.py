"""VGG: Very Deep Convolutional Networks for Large-Scale Image Recognition."""

from scull import nn
from scull.vision.models.part import check_sizes, classified, refuse_pretrained

CHANNELS = (64, 128, 256, 512, 512)
CONVOLUTIONS = {  # how many there are of so many channels, by the number of layers
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}


class VGG(nn.Layer):
    """Convolutions of 3 × 3 between pools that halve the images, then three linear layers.

    Args:
        features (Layer): gives maps of 512 channels; `make_layers` makes one.
        num_classes (int): how many classes there are; 0 or less for feature maps alone.
        with_pool (bool): whether the maps are averaged to 7 × 7.

    Shape:
        - x: what `features` takes, such as float32[n, 3, height, width]
        - result: float32[n, num_classes], or float32[n, 512, 7, 7]

    Examples:
        >>> import scull as paddle
        >>> net = VGG(make_layers([8, "M", 512]), num_classes=0)
        >>> net(paddle.ones([1, 3, 14, 14])).shape
        [1, 512, 7, 7]
    """

    def __init__(self, features, num_classes=1000, with_pool=True):
        super().__init__()
        check_sizes(num_classes)
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, num_classes),
            )

    def forward(self, x):
        """The score of every class for every image."""
        pool = self.avgpool if self.with_pool else None
        head = self.classifier if self.num_classes > 0 else None
        return classified(self.features(x), pool, head)


def make_layers(cfg, batch_norm=False):
    """Rectified convolutions of so many channels each, and pools for "M".

    Args:
        cfg (list[int | str]): the channels of each convolution, or "M" for a pool.
        batch_norm (bool): whether the channels are normalised.

    Examples:
        >>> [type(layer).__name__ for layer in make_layers([8, "M"], batch_norm=True)]
        ['Conv2D', 'BatchNorm2D', 'ReLU', 'MaxPool2D']
    """
    layers, channels = [], 3
    for entry in cfg:
        if entry == "M":
            layers.append(nn.MaxPool2D(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2D(channels, entry, kernel_size=3, padding=1))
        layers += [nn.BatchNorm2D(entry)] if batch_norm else []
        layers.append(nn.ReLU())
        channels = entry
    return nn.Sequential(*layers)


def vgg(depth, pretrained, batch_norm, kwargs):
    """The network of so many layers with parameters."""
    refuse_pretrained(f"vgg{depth}", pretrained)
    cfg = []
    for channels, count in zip(CHANNELS, CONVOLUTIONS[depth], strict=True):
        cfg += [channels] * count + ["M"]
    return VGG(make_layers(cfg, batch_norm), **kwargs)


def vgg11(pretrained=False, batch_norm=False, **kwargs):
    """VGG of 11 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `batch_norm` normalises the channels; `kwargs` are those of `VGG`.

    Examples:
        >>> import scull as paddle
        >>> vgg11(num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 512, 7, 7]
    """
    return vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained=False, batch_norm=False, **kwargs):
    """VGG of 13 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `batch_norm` normalises the channels; `kwargs` are those of `VGG`.

    Examples:
        >>> import scull as paddle
        >>> vgg13(num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 512, 7, 7]
    """
    return vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained=False, batch_norm=False, **kwargs):
    """VGG of 16 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `batch_norm` normalises the channels; `kwargs` are those of `VGG`.

    Examples:
        >>> import scull as paddle
        >>> vgg16(num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 512, 7, 7]
    """
    return vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained=False, batch_norm=False, **kwargs):
    """VGG of 19 layers.

    It makes float32[n, num_classes] of float32[n, 3, height, width]. `pretrained` must be False,
    since nothing is downloaded; `batch_norm` normalises the channels; `kwargs` are those of `VGG`.

    Examples:
        >>> import scull as paddle
        >>> vgg19(num_classes=0)(paddle.ones([1, 3, 32, 32])).shape
        [1, 512, 7, 7]
    """
    return vgg(19, pretrained, batch_norm, kwargs)
