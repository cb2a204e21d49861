"""AlexNet: ImageNet Classification with Deep Convolutional Neural Networks."""

from scull import nn
from scull.nn import functional as F
from scull.tensor import flatten
from scull.vision.models.part import check_sizes, refuse_pretrained, uniform

FEATURES = 256 * 6 * 6
HIDDEN = 4096


def convolution(channels, filters, size, **options):
    """A convolution whose parameters start within what one window adds up to."""
    attrs = [uniform(channels * size * size) for _ in range(2)]
    return nn.Conv2D(channels, filters, size, weight_attr=attrs[0], bias_attr=attrs[1], **options)


def linear(inputs, outputs):
    """A linear layer whose parameters all start within the same bound."""
    return nn.Linear(inputs, outputs, weight_attr=uniform(FEATURES), bias_attr=uniform(FEATURES))


class ConvPoolLayer(nn.Layer):
    """A convolution, rectified and pooled."""

    def __init__(self, channels, filters, size, stride, padding):
        super().__init__()
        self.relu = nn.ReLU()
        self._conv = convolution(channels, filters, size, stride=stride, padding=padding)
        self._pool = nn.MaxPool2D(kernel_size=3, stride=2, padding=0)

    def forward(self, inputs):
        """The largest outputs of the windows."""
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(nn.Layer):
    """Five convolutions and three linear layers, for colour images of 224 × 224 pixels.

    Args:
        num_classes (int): how many classes there are; 0 or less for feature maps alone.

    Shape:
        - inputs: float32[n, 3, 224, 224]
        - result: float32[n, num_classes], or float32[n, 256, 6, 6]

    Examples:
        >>> import scull as paddle
        >>> AlexNet(num_classes=0)(paddle.ones([1, 3, 224, 224])).shape
        [1, 256, 6, 6]
    """

    def __init__(self, num_classes=1000):
        super().__init__()
        check_sizes(num_classes)
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, stride=4, padding=2)
        self._conv2 = ConvPoolLayer(64, 192, 5, stride=1, padding=2)
        self._conv3 = convolution(192, 384, 3, stride=1, padding=1)
        self._conv4 = convolution(384, 256, 3, stride=1, padding=1)
        self._conv5 = ConvPoolLayer(256, 256, 3, stride=1, padding=1)
        if num_classes > 0:
            self._drop1 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc6 = linear(FEATURES, HIDDEN)
            self._drop2 = nn.Dropout(p=0.5, mode="downscale_in_infer")
            self._fc7 = linear(HIDDEN, HIDDEN)
            self._fc8 = linear(HIDDEN, num_classes)

    def forward(self, inputs):
        """The score of every class for every image."""
        x = self._conv2(self._conv1(inputs))
        x = F.relu(self._conv4(F.relu(self._conv3(x))))
        x = self._conv5(x)
        if self.num_classes <= 0:
            return x
        x = F.relu(self._fc6(self._drop1(flatten(x, 1))))
        return self._fc8(F.relu(self._fc7(self._drop2(x))))


def alexnet(pretrained=False, **kwargs):
    """AlexNet, for 1000 classes unless told otherwise.

    Args:
        pretrained (bool): must be False: nothing is downloaded; load a state dict instead.
        **kwargs: what `AlexNet` takes.

    Examples:
        >>> alexnet(num_classes=0).num_classes
        0
    """
    refuse_pretrained("alexnet", pretrained)
    return AlexNet(**kwargs)
