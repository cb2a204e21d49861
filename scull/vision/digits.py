"""1797 handwritten digits of 8 × 8 pixels; `data/README.md` says where they come from."""

from functools import cache
from pathlib import Path

import numpy as np

from scull.errors import ArgumentError
from scull.io import Dataset

FILE = Path(__file__).parent / "data" / "digits.npz"
EVERY = 5  # each fifth image is for testing
FULL = 16.0  # the value of a pixel with all its dots on


class Digits(Dataset):
    """Images of digits as float32[1, 8, 8] from 0 to 1, each with its label as int64[1].

    Every fifth image is for testing, the others are for training: no image is in both.

    Args:
        mode (str, optional): ``"train"``, 1437 images, or ``"test"``, 360.

    Examples:
        >>> image, label = Digits("test")[0]
        >>> image.shape, image.dtype.name, label.tolist()
        ((1, 8, 8), 'float32', [0])
        >>> len(Digits("train")), len(Digits("test"))
        (1437, 360)
    """

    def __init__(self, mode="train"):
        if mode not in ("train", "test"):
            raise ArgumentError(f"mode is `train` or `test`, not `{mode}`")
        images, labels = all_digits()
        tested = np.arange(len(images)) % EVERY == 0
        chosen = tested if mode == "test" else ~tested
        self.images, self.labels = images[chosen], labels[chosen]

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)


@cache
def all_digits():
    """All images and labels in the order of the file."""
    with np.load(FILE, allow_pickle=False) as arrays:
        images = arrays["images"].astype(np.float32)[:, None] / np.float32(FULL)
        labels = arrays["labels"].astype(np.int64)[:, None]
    return images, labels
