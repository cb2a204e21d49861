"""The networks of `paddle.vision.models`, with pictures as small as they take."""

from tests.files.saved.framework import paddle
from tests.files.saved.layers import made

SIZES = {  # of a picture, by the network
    "resnet18": 32,
    "resnet50": 32,
    "resnext50_32x4d": 32,
    "wide_resnet50_2": 32,
    "vgg11": 32,
    "alexnet": 224,
    "mobilenet_v1": 32,
    "mobilenet_v2": 32,
    "mobilenet_v3_small": 32,
    "mobilenet_v3_large": 32,
    "squeezenet1_0": 64,
    "squeezenet1_1": 64,
    "shufflenet_v2_x0_25": 32,
    "densenet121": 32,
    "googlenet": 224,
    "inception_v3": 96,
}


def shape_of(name):
    """The shape of the picture a network is given: the values are those of `uniform`."""
    return 1, 3, SIZES[name], SIZES[name]


def case(name):
    """A function that makes the case of one network."""

    def build():
        network = getattr(paddle.vision.models, name)(num_classes=10)
        return made(name, network, shape_of(name))

    build.__name__ = name
    return build


CASES = tuple(map(case, SIZES))
