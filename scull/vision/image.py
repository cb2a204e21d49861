"""What reads the files of images."""

import io
from pathlib import Path

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, MissingFileError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.utils import try_import
from scull.vision.transforms import pillow

BACKENDS = ("pil", "cv2", "tensor")
CHOSEN = {"backend": "pil"}

MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}

__all__ = ["decode_jpeg", "get_image_backend", "image_load", "read_file", "set_image_backend"]


def set_image_backend(backend):
    """Choose what datasets read images with.

    Args:
        backend (str): ``"pil"`` or ``"tensor"``: images of Pillow; ``"cv2"``: arrays.

    Raises:
        ArgumentError: a backend that there is not.

    Examples:
        >>> set_image_backend("cv2")
        >>> get_image_backend()
        'cv2'
        >>> set_image_backend("pil")
    """
    CHOSEN["backend"] = checked(backend)


def get_image_backend():
    """What datasets read images with.

    Returns:
        str: ``"pil"``, ``"cv2"`` or ``"tensor"``.
    """
    return CHOSEN["backend"]


def checked(backend):
    """A backend that there is; the chosen one for None."""
    backend = get_image_backend() if backend is None else backend
    if backend not in BACKENDS:
        raise ArgumentError(f"Expected backend are one of {list(BACKENDS)}, but got {backend}")
    return backend


def image_load(path, backend=None):
    """The image of a file.

    Args:
        path (str): the file.
        backend (str, optional): ``"cv2"``, an array of blue, green and red, else an image of
            Pillow; the chosen one when None.

    Returns:
        PIL.Image | numpy.ndarray: the image.

    Raises:
        ImportError: the library is not installed.
        ArgumentError: a backend that there is not.
    """
    if checked(backend) != "cv2":
        return pillow.part("Image").open(path)
    return opencv().imread(path)


def read_file(filename, name=None):
    """The bytes of a file.

    Args:
        filename (str): where it lies.
        name (str, optional): not used.

    Returns:
        Tensor: uint8, of one axis.

    Raises:
        UnsupportedError: a Program is built, which reads no files.
    """
    if not isinstance(filename, str):
        raise ArgumentTypeError(f"filename is a str, not {type(filename).__name__}")
    if not in_dynamic_mode():
        raise UnsupportedError("Programs read no files: feed the bytes")
    if not Path(filename).is_file():
        raise MissingFileError(f"there is no file {filename}")
    return Tensor(np.fromfile(filename, "uint8"))


def decode_jpeg(x, mode="unchanged", name=None):
    """The image that the bytes of a JPEG file say.

    Args:
        x (Tensor): the bytes, as `read_file` gives them.
        mode (str): ``"gray"`` or ``"rgb"``; ``"unchanged"`` for the channels of the file.
        name (str, optional): not used.

    Returns:
        Tensor: uint8, [channels, height, width].
    """
    if mode not in MODES:
        raise ArgumentError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    if not in_dynamic_mode():
        raise UnsupportedError("Programs decode no images: feed the pixels")
    with pillow.part("Image").open(io.BytesIO(x.numpy().tobytes()), formats=("JPEG",)) as image:
        pixels = np.asarray(image.convert(MODES[mode]) if MODES[mode] else image)
    return Tensor(np.ascontiguousarray(np.atleast_3d(pixels).transpose(2, 0, 1)))


def opencv():
    """OpenCV, if it is installed."""
    return try_import("cv2", "the backend `cv2` reads files by OpenCV: pip install opencv-python")


def colors_of(path):
    """The image of a file as red, green and blue, as datasets give it."""
    if get_image_backend() == "cv2":
        return np.ascontiguousarray(opencv().imread(path)[..., ::-1])
    with pillow.part("Image").open(path) as image:
        return image.convert("RGB")


def made(array, backend):
    """Bytes as an image of Pillow; without Pillow, and unless that was asked for, an array."""
    if backend is None and get_image_backend() != "cv2" and not pillow.is_installed():
        return array
    return pillow.part("Image").fromarray(array) if checked(backend) != "cv2" else array
