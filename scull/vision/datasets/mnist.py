"""Digits and clothes of 28 × 28 pixels, from files of the format IDX."""

import gzip
import math
import struct

import numpy as np

from scull.core import session
from scull.errors import FileError
from scull.io import Dataset
from scull.io.source import checked, file_of
from scull.vision.image import checked as backend_of
from scull.vision.image import made

IMAGES, LABELS = 0x803, 0x801  # bytes in three axes, and in one
GZIP = b"\x1f\x8b"


class MNIST(Dataset):
    """Handwritten digits: an image and its label, int64[1].

    The image is one of Pillow, or an array [28, 28]: of bytes where Pillow is not installed, of
    floats from 0 to 255 for ``"cv2"``. `transform` makes of it what a network takes. `images` has
    a row of floats for each image, and `labels` one of a number.

    Args:
        image_path (str, optional): the file of images; the one that Paddle downloaded when None.
        label_path (str, optional): the file of labels; the one that Paddle downloaded when None.
        mode (str, optional): ``"train"`` or ``"test"``.
        transform (Callable, optional): what each image goes through.
        download (bool, optional): True: look for files that are not given; nothing is downloaded.
        backend (str, optional): ``"pil"`` or ``"cv2"``.

    Raises:
        MissingFileError: there are no such files; the message says where they come from.
        FileError: a file is damaged or of another kind.
        AssertError: another mode, or no file and `download` is False.
        ImportError: ``"pil"`` was asked for, and Pillow is not installed.
    """

    NAME = "mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/mnist/"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(
        self,
        image_path=None,
        label_path=None,
        mode="train",
        transform=None,
        download=True,
        backend=None,
    ):
        self.mode = checked(mode)
        self.backend, self.transform = backend, transform
        if backend is not None:
            backend_of(backend)
        self.image_path = self._file(image_path, "image_path", "images-idx3", download)
        self.label_path = self._file(label_path, "label_path", "labels-idx1", download)
        images = read_idx(self.image_path, IMAGES)
        self.size = images.shape[1:]
        self.images = images.reshape(len(images), -1).astype(np.float32)
        self.labels = read_idx(self.label_path, LABELS).astype(np.int64)[:, None]
        if len(self.images) != len(self.labels):
            raise FileError(f"there are {len(self.images)} images and {len(self.labels)} labels")
        self.dtype = session.default_dtype()

    def _file(self, given, name, kind, download):
        start = "train" if self.mode == "train" else "t10k"
        md5 = getattr(self, f"{self.mode}_{name.removesuffix('_path')}_MD5".upper())
        url = f"{self.URL_PREFIX}{start}-{kind}-ubyte.gz"
        return file_of(given, name, self.NAME, url, md5, download)

    def __getitem__(self, index):
        image = self.images[index].reshape(self.size).astype(np.uint8)
        return shown(image, self), self.labels[index]

    def __len__(self):
        return len(self.labels)


class FashionMNIST(MNIST):
    """Clothes in the form of `MNIST`, with its arguments and its errors."""

    NAME = "fashion-mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/fashion_mnist/"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"


def shown(image, dataset):
    """The image of a sample, transformed; arrays that OpenCV would give are of floats."""
    floats = backend_of(dataset.backend) == "cv2"
    image = image.astype(dataset.dtype.array) if floats else made(image, dataset.backend)
    image = image if dataset.transform is None else dataset.transform(image)
    return image.astype(dataset.dtype.array) if isinstance(image, np.ndarray) and floats else image


def read_idx(path, kind):
    """The bytes of a file of the format IDX, in its axes.

    Raises:
        FileError: the file has another kind, or more or fewer bytes than it says.
    """
    with open(path, "rb") as stream:
        packed = stream.read(2) == GZIP
    axes = kind & 0xFF
    try:
        with gzip.open(path) if packed else open(path, "rb") as stream:
            head = stream.read(4 * (axes + 1))
            if len(head) < 4 * (axes + 1):
                raise FileError(f"`{path}` ends within its head")
            found, *sizes = struct.unpack(f">{axes + 1}I", head)
            if found != kind:
                raise FileError(f"`{path}` begins with {found:#x}, and {kind:#x} is wanted")
            data = stream.read(math.prod(sizes) + 1)
    except (OSError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FileError(f"`{path}` cannot be unpacked: {error}") from None
    if len(data) != math.prod(sizes):
        raise FileError(f"`{path}` has not the {math.prod(sizes)} bytes that {sizes} take")
    return np.frombuffer(data, np.uint8).reshape(sizes)
