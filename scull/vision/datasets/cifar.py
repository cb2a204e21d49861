"""Photographs of 32 × 32 pixels of ten or a hundred things."""

import io
import tarfile

import numpy as np

from scull.core import session
from scull.errors import FileError
from scull.files.pickles import load
from scull.io import Dataset
from scull.io.source import checked, file_of
from scull.vision.datasets.mnist import shown
from scull.vision.image import checked as backend_of

SHAPE = (3, 32, 32)
LARGEST = 1 << 28  # bytes of a member of the archive


class Cifar10(Dataset):
    """Photographs of ten things: an image and its label, a 0-D int64 array.

    The image is one of Pillow, or an array [32, 32, 3]: of bytes where Pillow is not installed, of
    floats from 0 to 255 for ``"cv2"``. `transform` makes of it what a network takes.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        mode (str, optional): ``"train"`` or ``"test"``.
        transform (Callable, optional): what each image goes through.
        download (bool, optional): True: look for a file that is not given; nothing is downloaded.
        backend (str, optional): ``"pil"`` or ``"cv2"``.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged or of another kind.
        AssertError: another mode, or no file and `download` is False.
        ImportError: ``"pil"`` was asked for, and Pillow is not installed.
    """

    URL = "https://dataset.bj.bcebos.com/cifar/cifar-10-python.tar.gz"
    MD5 = "c58f30108f718f92721af3b95e74349a"
    MEMBERS = {"train": "data_batch", "test": "test_batch"}  # noqa: RUF012
    LABELS = "labels"

    def __init__(self, data_file=None, mode="train", transform=None, download=True, backend=None):
        self.mode = checked(mode)
        self.backend, self.transform = backend, transform
        if backend is not None:
            backend_of(backend)
        self.data_file = file_of(data_file, "data_file", "cifar", self.URL, self.MD5, download)
        self.data = list(self._samples())
        if not self.data:
            raise FileError(f"`{self.data_file}` has no member `{self.MEMBERS[self.mode]}`")
        self.dtype = session.default_dtype()

    def _samples(self):
        for name, data in members(self.data_file, self.MEMBERS[self.mode]):
            batch = {as_text(key): value for key, value in data.items()}
            try:
                pixels, labels = np.asarray(batch["data"], np.uint8), batch[self.LABELS]
                images = pixels.reshape(-1, *SHAPE)
                yield from zip(images, map(int, labels), strict=True)
            except (KeyError, ValueError, TypeError) as error:
                raise FileError(f"`{name}` of `{self.data_file}` is no batch: {error}") from None

    def __getitem__(self, index):
        image, label = self.data[index]
        return shown(image.transpose(1, 2, 0), self), np.array(label, np.int64)

    def __len__(self):
        return len(self.data)


class Cifar100(Cifar10):
    """Photographs of a hundred things, with the arguments and the errors of `Cifar10`."""

    URL = "https://dataset.bj.bcebos.com/cifar/cifar-100-python.tar.gz"
    MD5 = "eb9058c3a382ffc7106e4002c42a8d85"
    MEMBERS = {"train": "train", "test": "test"}  # noqa: RUF012
    LABELS = "fine_labels"


def as_text(key):
    """A key as text, which old pickles have as bytes."""
    return key.decode() if isinstance(key, bytes) else key


def members(path, part):
    """The pickles of an archive whose names have `part` in them, in order, read as plain data."""
    try:
        with tarfile.open(path) as archive:
            names = sorted(item.name for item in archive if item.isfile() and part in item.name)
            for name in names:
                stream = archive.extractfile(name)
                data = load(io.BytesIO(stream.read(LARGEST)))
                if not isinstance(data, dict):
                    raise FileError(f"`{name}` of `{path}` holds no dictionary")
                yield name, data
    except (tarfile.TarError, EOFError, OSError) as error:
        raise FileError(f"`{path}` is no archive: {error}") from None
