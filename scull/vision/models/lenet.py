"""LeNet: Gradient-based learning applied to document recognition."""

from scull import nn
from scull.vision.models.part import check_sizes, classified


class LeNet(nn.Layer):
    """Two convolutions and three linear layers, for grey images of 28 × 28 pixels.

    Args:
        num_classes (int): how many classes there are; 0 or less for feature maps alone.

    Shape:
        - x: float32[n, 1, 28, 28]
        - result: float32[n, num_classes], or float32[n, 16, 5, 5]

    Examples:
        >>> import scull as paddle
        >>> LeNet()(paddle.ones([2, 1, 28, 28])).shape
        [2, 10]
    """

    def __init__(self, num_classes=10):
        super().__init__()
        check_sizes(num_classes)
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            sizes = (400, 120), (120, 84), (84, num_classes)
            self.fc = nn.Sequential(*(nn.Linear(*pair) for pair in sizes))

    def forward(self, inputs):
        """The score of every class for every image."""
        head = self.fc if self.num_classes > 0 else None
        return classified(self.features(inputs), None, head)
