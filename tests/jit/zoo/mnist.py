"""Handwritten digits: a small convolutional network in the manner of LeNet."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained


class LeNet(nn.Layer):
    """Two convolutions, two linear layers."""

    def __init__(self, classes=10):
        super().__init__()
        self.classes = classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 4, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(4, 8, 3),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if classes > 0:
            self.fc = nn.Sequential(nn.Linear(32, 24), nn.Linear(24, classes))

    def forward(self, image, label=None):
        x = self.features(image)
        if self.classes > 0:
            x = paddle.flatten(x, 1)
            if self.training:
                x = F.dropout(x, 0.2, training=self.training)
            x = self.fc(x)
        if label is None:
            return F.softmax(x)
        return x, paddle.metric.accuracy(F.softmax(x), label)


def build():
    net = LeNet()

    def batch(i):
        random = draws(i)
        label = random.integers(0, 10, (6 - i % 3, 1))
        image = random.random((len(label), 1, 12, 12), "float32")
        return image * (label[:, :, None, None] + 1).astype("float32"), label

    def loss(found, image, label):
        logits, _ = found
        return F.cross_entropy(logits, label).mean()

    specs = [spec([None, 1, 12, 12]), spec([None, 1], "int64")]
    return Case([(net, specs)], batch, trained(net, adam(net), loss), lambda x, _: net(x))
