"""The head of a detector: boxes at two scales, a loss with masks, and boxes kept at the end."""

import numpy as np

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained

ANCHORS = [[(0.2, 0.3), (0.4, 0.2)], [(0.6, 0.5), (0.8, 0.9)]]
CLASSES = 3


class Head(nn.Layer):
    """A neck, and for each scale a convolution that tells boxes, confidence and classes."""

    def __init__(self, channels=6):
        super().__init__()
        self.stem = nn.Conv2D(3, channels, 3, stride=2, padding=1)
        self.down = nn.Conv2D(channels, channels, 3, stride=2, padding=1)
        self.heads = []
        for i, anchors in enumerate(ANCHORS):
            layer = nn.Conv2D(channels, len(anchors) * (5 + CLASSES), 1)
            self.heads.append(self.add_sublayer(f"head_{i}", layer))

    def forward(self, image, boxes, classes):
        x = F.leaky_relu(self.stem(image), 0.1)
        scales = [x, F.leaky_relu(self.down(x), 0.1)]
        outputs = []
        for scale, head in zip(scales, self.heads, strict=True):
            outputs.append(head(scale))
        if self.training:
            return outputs
        decoded = [decode(o, a) for o, a in zip(outputs, ANCHORS, strict=True)]
        found = [paddle.concat(list(part), axis=1) for part in zip(*decoded, strict=True)]
        return dict(zip(("boxes", "scores"), found, strict=True))


def decode(out, anchors):
    """Centres, sizes and scores of all boxes of one scale."""
    n, _, h, w = out.shape
    out = out.reshape([n, len(anchors), 5 + CLASSES, h, w]).transpose([0, 1, 3, 4, 2])
    rows, columns = paddle.meshgrid(paddle.arange(h), paddle.arange(w))
    grid = paddle.stack([columns, rows], axis=-1).astype("float32")
    sizes = paddle.to_tensor(anchors, "float32").reshape([1, len(anchors), 1, 1, 2])
    centre = (F.sigmoid(out[..., :2]) + grid) / paddle.to_tensor([w, h], "float32")
    extent = paddle.exp(out[..., 2:4]) * sizes
    scores = F.sigmoid(out[..., 4:5]) * F.softmax(out[..., 5:])
    boxes = paddle.concat([centre - extent / 2, centre + extent / 2], -1)
    return boxes.reshape([n, -1, 4]), scores.reshape([n, -1, CLASSES])


def overlap(a, b):
    """The area two boxes share over the area of both."""
    low, high = paddle.maximum(a[..., :2], b[..., :2]), paddle.minimum(a[..., 2:], b[..., 2:])
    shared = F.relu(high - low).prod(-1)
    both = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1)
    return shared / (both - shared + 1e-6)


def loss(outputs, image, boxes, classes):
    """What boxes that meet a true one miss of it, and what the others claim."""
    total = 0.0
    for out, anchors in zip(outputs, ANCHORS, strict=True):
        found, scores = decode(out, anchors)
        shared = overlap(found.unsqueeze(2), boxes.unsqueeze(1))
        best, which = shared.max(axis=2), shared.argmax(axis=2)
        hit = (best > 0.2).astype("float32").detach()
        total = total + (1 - hit).unsqueeze(-1).multiply(scores).sum() * 0.1
        if hit.sum() > 0:
            truth = paddle.take_along_axis(classes, which, axis=1)
            likely = (scores * F.one_hot(truth, CLASSES)).sum(-1)
            miss = (1 - best) + F.binary_cross_entropy(likely, hit, reduction="none")
            total = total + (miss * hit).sum() / hit.sum()
    return total / image.shape[0]


def build():
    net = Head()

    def batch(i):
        random = draws(i)
        image = random.random((2 + i % 2, 3, 8, 8), "float32")
        low = random.random((len(image), 2, 2), "float32") * 0.5
        boxes = np.concatenate([low, low + 0.4], -1)
        return image, boxes, random.integers(0, CLASSES, (len(image), 2))

    specs = [spec([None, 3, 8, 8]), spec([None, 2, 4]), spec([None, 2], "int64")]
    return Case([(net, specs)], batch, trained(net, adam(net), loss), net)
