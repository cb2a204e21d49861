"""Photographs of flowers of 102 kinds."""

import numpy as np

from scull.errors import FileError
from scull.files.matlab import read_matlab
from scull.io.source import file_of
from scull.vision.datasets.picture import Pictures

FOLDER = "http://paddlemodels.bj.bcebos.com/flowers/"
FILES = {
    "data_file": ("102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
    "label_file": ("imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"),
    "setid_file": ("setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c"),
}
PARTS = {"train": "tstid", "valid": "valid", "test": "trnid"}  # the largest part is learned from


class Flowers(Pictures):
    """Photographs of flowers: an image and the number of its kind, int64[1], from 1 to 102.

    M.-E. Nilsback and A. Zisserman, "Automated flower classification over a large number of
    classes" (2008). The image is one of Pillow, or for ``"cv2"`` an array [height, width, 3] of
    floats from 0 to 255, red first; `transform` gets it with bytes.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        label_file (str, optional): the file of the kinds, of MATLAB.
        setid_file (str, optional): the file of the parts, of MATLAB.
        mode (str): ``"train"``: what its authors test with; ``"valid"``; or ``"test"``: what they
            train with.
        transform (Callable, optional): what each image goes through.
        download (bool): True: look for files that are not given; nothing is downloaded.
        backend (str, optional): ``"pil"`` or ``"cv2"``; what is chosen when None.

    Raises:
        MissingFileError: there are no such files; the message says where they come from.
        FileError: a file is damaged or of another kind.
        ValueError: another `backend`.
        AssertError: another mode, or no file and `download` is False.
        ImportError: Pillow is not installed.
    """

    def __init__(
        self,
        data_file=None,
        label_file=None,
        setid_file=None,
        mode="train",
        transform=None,
        download=True,
        backend=None,
    ):
        super().__init__(mode, transform, backend)
        given = data_file, label_file, setid_file
        for (name, (path, md5)), file in zip(FILES.items(), given, strict=True):
            setattr(self, name, file_of(file, name, "flowers", FOLDER + path, md5, download))
        self.labels = column(self.label_file, "labels")
        self.indexes = column(self.setid_file, PARTS[self.mode])
        if not np.isin(self.indexes, np.arange(1, len(self.labels) + 1)).all():
            raise FileError(f"`{self.setid_file}` names pictures that `{self.label_file}` lacks")
        self._find({named(index) for index in self.indexes}.__contains__)

    def __getitem__(self, idx):
        index = self.indexes[idx]
        label = np.array([self.labels[index - 1]], np.int64)
        return self._shown(self._picture(named(index))), label

    def __len__(self):
        return len(self.indexes)


def named(index):
    """The name of a picture in the archive."""
    return f"jpg/image_{index:05d}.jpg"


def column(path, name):
    """The whole numbers in a file of MATLAB that have this name."""
    found = read_matlab(path)
    if name not in found:
        raise FileError(f"`{path}` has no `{name}`")
    return found[name].reshape(-1).astype(np.int64)
