"""Networks that are quantized, and what rounding does to numbers."""

import numpy as np

import scull as paddle
from scull import nn


class Block(nn.Layer):
    """Two convolutions with a step beside them."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2D(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2D(channels)
        self.relu = nn.ReLU()
        self.second = nn.Conv2D(channels, channels, 3, padding=1)
        self.stub = nn.quant.Stub()

    def forward(self, x):
        return self.stub(self.second(self.relu(self.norm(self.first(x)))) + x)


def resnet():
    """A small network of residual blocks."""
    return nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1),
        Block(4),
        nn.MaxPool2D(2),
        Block(4),
        nn.AdaptiveAvgPool2D(1),
        nn.Flatten(),
        nn.Linear(4, 3),
    )


def lenet():
    """Two convolutions and two linear layers."""
    return nn.Sequential(
        nn.Conv2D(1, 3, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(3, 4, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16, 8),
        nn.ReLU(),
        nn.Linear(8, 3),
    )


def pictures(count=6):
    """Pictures of three kinds: bright above, bright below, even."""
    generator = np.random.default_rng(count)
    labels = np.arange(count) % 3
    images = generator.normal(0, 0.1, (count, 1, 8, 8)).astype("float32")
    images[labels == 0, :, :4] += 1
    images[labels == 1, :, 4:] += 1
    return paddle.to_tensor(images), paddle.to_tensor(labels)


def trained(model, steps=12, rate=0.1):
    """The losses of some steps of training."""
    optimizer = paddle.optimizer.Momentum(rate, 0.9, parameters=model.parameters())
    images, labels = pictures()
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def stepped(x, scale, bits=8):
    """`x` rounded to steps of a scale, halves away from 0, none beyond it."""
    most = 2 ** (bits - 1) - 1
    count = np.clip(x, -scale, scale) / scale * most
    return np.sign(count) * np.floor(np.abs(count) + 0.5) * scale / most
