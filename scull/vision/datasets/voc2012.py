"""Photographs with the kinds of what their pixels show."""

from scull.io import archive
from scull.io.source import file_of
from scull.vision.datasets.picture import Pictures

URL = "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar"
MD5 = "6cd6e144f989b92b3379bac3b3de84fd"
LIST = "VOCdevkit/VOC2012/ImageSets/Segmentation/{}.txt"
PHOTO = "VOCdevkit/VOC2012/JPEGImages/{}.jpg"
KINDS = "VOCdevkit/VOC2012/SegmentationClass/{}.png"
PARTS = {"train": "trainval", "valid": "val", "test": "train"}


class VOC2012(Pictures):
    """Photographs, and pictures of the kinds of their pixels.

    M. Everingham and others, "The PASCAL Visual Object Classes challenge 2012". Both are images of
    Pillow, or for ``"cv2"`` arrays of floats, [height, width, 3] with red first and [height,
    width]; `transform` gets the photograph with bytes.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        mode (str): ``"train"``: all of them; ``"valid"``: those to validate with; ``"test"``:
            those its authors train with.
        transform (Callable, optional): what each photograph goes through.
        download (bool): True: look for a file that is not given; nothing is downloaded.
        backend (str, optional): ``"pil"`` or ``"cv2"``; what is chosen when None.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, or lacks a file.
        ValueError: another `backend`.
        AssertError: another mode, or no file and `download` is False.
        ImportError: Pillow is not installed.
    """

    def __init__(self, data_file=None, mode="train", transform=None, download=True, backend=None):
        super().__init__(mode, transform, backend)
        self.data_file = file_of(data_file, "data_file", "voc2012", URL, MD5, download)
        with archive.opened(self.data_file) as found:
            part = archive.member(found, LIST.format(PARTS[self.mode]))
            names = [line for line in archive.lines(part) if line]
        self.data = [PHOTO.format(name) for name in names]
        self.labels = [KINDS.format(name) for name in names]
        self._find({*self.data, *self.labels}.__contains__)

    def __getitem__(self, idx):
        kinds = self._floats(self._picture(self.labels[idx]))
        return self._shown(self._picture(self.data[idx])), kinds

    def __len__(self):
        return len(self.data)
