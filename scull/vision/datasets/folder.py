"""Images in folders."""

import os

from scull.core import session
from scull.errors import AssertError, RunError
from scull.io import Dataset
from scull.vision.image import colors_of

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_valid_extension(filename, extensions):
    """Whether a name ends with one of these, in capitals or not.

    Args:
        filename (str): the name.
        extensions (list[str] | tuple[str]): the ends, with their points.

    Returns:
        bool: whether it does.

    Examples:
        >>> has_valid_extension("a.JPG", (".jpg",))
        True
    """
    if not isinstance(extensions, list | tuple):
        raise AssertError("`extensions` must be list or tuple.")
    return filename.lower().endswith(tuple(end.lower() for end in extensions))


def files_in(folder, extensions, is_valid_file):
    """The files of a folder and of those in it that are wanted, in order."""
    for root, _, names in sorted(os.walk(folder, followlinks=True)):
        for path in (os.path.join(root, name) for name in sorted(names)):
            if is_valid_file(path) if is_valid_file else has_valid_extension(path, extensions):
                yield path


def wanted(extensions, is_valid_file):
    """The ends of names: those of images, unless files are chosen otherwise."""
    return IMG_EXTENSIONS if extensions is None and is_valid_file is None else extensions


class DatasetFolder(Dataset):
    """Images in a folder for each class: an image and the number of its class.

    Args:
        root (str): the folder of the folders, whose names in order are the classes.
        loader (Callable, optional): what reads a file: Pillow or OpenCV when None.
        extensions (list[str] | tuple[str], optional): the ends of names; those of images.
        transform (Callable, optional): what each image goes through.
        is_valid_file (Callable, optional): whether a path is wanted, instead of `extensions`.

    Raises:
        RunError: there are no files.
        ImportError: an image is asked for, and what reads it is not installed.
    """

    def __init__(self, root, loader=None, extensions=None, transform=None, is_valid_file=None):
        self.root, self.transform = root, transform
        self.loader = colors_of if loader is None else loader
        self.extensions = wanted(extensions, is_valid_file)
        top = os.path.expanduser(root)
        self.classes = sorted(entry.name for entry in os.scandir(top) if entry.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples = [
            (path, i)
            for name, i in self.class_to_idx.items()
            for path in files_in(os.path.join(top, name), self.extensions, is_valid_file)
        ]
        if not self.samples:
            raise RunError(nothing("directories", root, self.extensions))
        self.targets = [target for _, target in self.samples]
        self.dtype = session.default_dtype()

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample), target

    def __len__(self):
        return len(self.samples)


class ImageFolder(Dataset):
    """Images in a folder and those in it: a list of one image.

    Args:
        root (str): the folder.
        loader (Callable, optional): what reads a file: Pillow or OpenCV when None.
        extensions (list[str] | tuple[str], optional): the ends of names; those of images.
        transform (Callable, optional): what each image goes through.
        is_valid_file (Callable, optional): whether a path is wanted, instead of `extensions`.

    Raises:
        RunError: there are no files.
        ImportError: an image is asked for, and what reads it is not installed.
    """

    def __init__(self, root, loader=None, extensions=None, transform=None, is_valid_file=None):
        self.root, self.transform = root, transform
        self.loader = colors_of if loader is None else loader
        self.extensions = wanted(extensions, is_valid_file)
        self.samples = list(files_in(os.path.expanduser(root), self.extensions, is_valid_file))
        if not self.samples:
            raise RunError(nothing("files", root, self.extensions))

    def __getitem__(self, index):
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self):
        return len(self.samples)


def nothing(what, root, extensions):
    """The message about a folder without files."""
    ends = f"\nSupported extensions are: {','.join(extensions)}" if extensions else ""
    return f"Found 0 {what} in subfolders of: {root}{ends}"
