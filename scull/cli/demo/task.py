"""What the demo trains, and on what: the same for both modes."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import scull as paddle
from scull import nn
from scull.cli.demo.bar import Bar
from scull.io import DataLoader
from scull.vision import Digits

BATCH = 64
RATE = 0.01  # the learning rate of the first epoch


class Network(nn.Layer):
    """Two convolutions, and a linear layer over the 2 × 2 that is left of the image."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 16, 3, padding=1),
            nn.BatchNorm2D(16),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 10))

    def forward(self, image):
        return self.head(self.features(image))


@dataclass(frozen=True)
class Task:
    """What is learned: from which seed, for how long."""

    seed: int
    epochs: int
    bar: Callable[[str, int, int], Bar]  # of a mode, an epoch and its number of steps

    def loader(self) -> DataLoader:
        """The training images in batches, in an order that the seed decides."""
        np.random.seed(self.seed)  # what DataLoader shuffles by
        return DataLoader(Digits("train"), batch_size=BATCH, shuffle=True)

    def schedule(self) -> paddle.optimizer.lr.LRScheduler:
        """A learning rate that falls to nothing over the epochs."""
        return paddle.optimizer.lr.CosineAnnealingDecay(RATE, T_max=self.epochs)


@dataclass(frozen=True)
class Fitted:
    """The losses of all steps, and their seconds without the loading of images."""

    losses: list[float]
    seconds: list[float]


def fit(task: Task, mode: str, step: Callable, rate) -> Fitted:
    """Call `step` with every batch of every epoch; it returns the loss."""
    losses, seconds, loader = [], [], task.loader()
    for epoch in range(task.epochs):
        progress = task.bar(mode, epoch, len(loader))
        for image, label in loader:
            start = time.perf_counter()
            losses.append(step(image, label))
            seconds.append(time.perf_counter() - start)
            progress.step(f"loss {losses[-1]:.4f}")
        progress.close(f"loss {sum(losses[-len(loader) :]) / len(loader):.4f}")
        rate.step()
    return Fitted(losses, seconds)


@dataclass(frozen=True)
class Trained:
    """What one mode came to."""

    mode: str
    fitted: Fitted
    logits: np.ndarray  # of the test images
    reloaded: np.ndarray  # the same by what was saved and loaded again
    peak: int  # bytes one step takes besides what was there before it

    @property
    def predicted(self) -> np.ndarray:
        """The digit each test image is taken for."""
        return self.logits.argmax(1)

    @property
    def right(self) -> int:
        """How many test images are read right."""
        return int((self.predicted == Digits("test").labels[:, 0]).sum())

    @property
    def accuracy(self) -> float:
        """The share of test images that are read right."""
        return self.right / len(self.logits)
