"""What reads the files of images."""

import numpy as np

from scull.errors import ArgumentError
from scull.utils import try_import
from scull.vision.transforms import pillow

BACKENDS = ("pil", "cv2", "tensor")
CHOSEN = {"backend": "pil"}

__all__ = ["get_image_backend", "image_load", "set_image_backend"]


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
