"""Ready-made networks: the names exist, so that files with them can be imported."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "there are no ready-made networks": (
            "AlexNet LeNet MobileNetV1 MobileNetV2 ResNet VGG alexnet mobilenet_v1 mobilenet_v2"
            " resnet18 resnet34 resnet50 resnet101 resnet152 vgg11 vgg16 vgg19"
        )
    },
)
