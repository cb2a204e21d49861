"""A small residual network: batch norm, shortcuts, a hook that watches a stage."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, draws, spec, trained


class Block(nn.Layer):
    """Two convolutions beside a shortcut."""

    def __init__(self, channels, filters, stride=1, norm=nn.BatchNorm2D):
        super().__init__()
        self.conv1 = nn.Conv2D(channels, filters, 3, stride, padding=1, bias_attr=False)
        self.bn1 = norm(filters)
        self.conv2 = nn.Conv2D(filters, filters, 3, padding=1, bias_attr=False)
        self.bn2 = norm(filters)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or channels != filters:
            self.downsample = nn.Sequential(
                nn.Conv2D(channels, filters, 1, stride, bias_attr=False), norm(filters)
            )

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Layer):
    """Three stages of blocks, then the mean of each channel."""

    def __init__(self, depths=(1, 1, 2), widths=(4, 8, 8), classes=5, with_pool=True):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, widths[0], 3, padding=1), nn.BatchNorm2D(widths[0]))
        self.stages = nn.LayerList()
        channels = widths[0]
        for i, (depth, width) in enumerate(zip(depths, widths, strict=True)):
            blocks = []
            for j in range(depth):
                blocks.append(Block(channels, width, stride=2 if i > 0 and j == 0 else 1))
                channels = width
            self.stages.append(nn.Sequential(*blocks))
        self.with_pool, self.fc = with_pool, nn.Linear(channels, classes)
        self.register_buffer("seen", paddle.zeros([1]))
        self.stages[1].register_forward_post_hook(self.watch)

    def watch(self, layer, inputs, output):
        """Count the images that went through, and keep the features within bounds."""
        if self.training:
            self.seen += output.shape[0]
        return paddle.clip(output, -6.0, 6.0)

    def forward(self, image, label):
        x = F.relu(self.stem(image))
        features = {}
        for i, stage in enumerate(self.stages):
            x = stage(x)
            features[f"c{i}"] = x
        if self.with_pool:
            x = F.adaptive_avg_pool2d(x, 1)
        features["logits"] = self.fc(x.flatten(1))
        return features


def build():
    net = ResNet()
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.05, T_max=20)
    optimizer = paddle.optimizer.Momentum(
        rate, 0.9, parameters=net.parameters(), weight_decay=paddle.regularizer.L2Decay(1e-4)
    )

    def batch(i):
        random = draws(i)
        label = random.integers(0, 5, (4 + i % 2,))
        image = random.standard_normal((len(label), 3, 8, 8)).astype("float32")
        return image + label[:, None, None, None].astype("float32"), label

    def loss(found, image, label):
        return F.cross_entropy(found["logits"], label, label_smoothing=0.1)

    specs = [spec([None, 3, 8, 8]), spec([None], "int64")]
    return Case([(net, specs)], batch, trained(net, optimizer, loss), net, rate)
