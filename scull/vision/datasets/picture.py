"""Pictures that are files within archives."""

import io

import numpy as np

from scull.core import session
from scull.errors import ArgumentError, FileError
from scull.io import Dataset
from scull.io.archive import content, opened
from scull.io.source import checked
from scull.vision.image import get_image_backend
from scull.vision.transforms import pillow

BACKENDS = ("pil", "cv2")


class Pictures(Dataset):
    """A data set of pictures within an archive.

    An archive that is not packed is read where a picture lies; of one that is packed the wanted
    files are kept in memory, as they are.
    """

    def __init__(self, mode, transform, backend):
        self.mode = checked(mode, ("train", "valid", "test"))
        self.backend = get_image_backend() if backend is None else backend
        if self.backend not in BACKENDS:
            law = f"Expected backend are one of {list(BACKENDS)}, but got"
            raise ArgumentError(f"{law} {self.backend}")
        self.transform, self.dtype = transform, session.default_dtype()

    def _find(self, wanted):
        """Look for the files whose names are wanted."""
        self.files = {}
        with opened(self.data_file) as archive:
            packed = not isinstance(archive.fileobj, io.BufferedReader)
            for item in archive:
                name = item.name.removeprefix("./")
                if item.isfile() and wanted(name):
                    place = item.offset_data, item.size
                    self.files[name] = content(archive.extractfile(item), name) if packed else place

    def _read(self, name):
        """The bytes of a file."""
        if name not in self.files:
            raise FileError(f"`{self.data_file}` has no member `{name}`")
        place = self.files[name]
        if isinstance(place, bytes):
            return place
        with open(self.data_file, "rb") as stream:
            stream.seek(place[0])
            return stream.read(place[1])

    def _picture(self, name):
        """The picture of a file: of Pillow, or an array of bytes."""
        try:
            picture = pillow.part("Image").open(io.BytesIO(self._read(name)))
            return np.asarray(picture) if self.backend == "cv2" else picture
        except OSError as error:
            raise FileError(f"`{name}` of `{self.data_file}` is no picture: {error}") from None

    def _shown(self, picture):
        """A picture, transformed."""
        return self._floats(picture if self.transform is None else self.transform(picture))

    def _floats(self, picture):
        """What OpenCV would give has numbers with a fraction."""
        wanted = self.backend == "cv2" and isinstance(picture, np.ndarray)
        return picture.astype(self.dtype.array) if wanted else picture
