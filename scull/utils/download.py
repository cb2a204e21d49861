"""Where files of weights are that others put on the disk: nothing is downloaded."""

import hashlib
import os
from pathlib import Path
from typing import Any

from scull.core.absent import absent
from scull.errors import MissingFileError

WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")  # where Paddle puts them


def is_url(path: str) -> bool:
    """Whether `path` is an address of the web.

    Examples:
        >>> import scull as paddle
        >>> paddle.utils.download.is_url("https://example.org/resnet18.pdparams")
        True
    """
    return path.startswith(("http://", "https://"))


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The file of weights that was downloaded from `url` before, by Paddle or by hand.

    Args:
        url (str): where it comes from; its last part is the name of the file.
        md5sum (str, optional): what the file is checked by.

    Returns:
        str: the path of the file in `WEIGHTS_HOME`.

    Raises:
        MissingFileError: it is not there, or is another; the message says where to put it.

    Examples:
        >>> import scull as paddle
        >>> from scull.utils.download import get_weights_path_from_url
        >>> get_weights_path_from_url("https://example.org/none.pdparams")
        Traceback (most recent call last):
        scull.errors.MissingFileError: ...
    """
    path = Path(WEIGHTS_HOME) / url.rpartition("/")[2]
    if not path.is_file() or (md5sum is not None and digest(path) != md5sum):
        check = f" (MD5 {md5sum})" if md5sum else ""
        raise MissingFileError(f"scull downloads nothing: get {url}{check}, and put it at {path}")
    return str(path)


def _get_unique_endpoints(trainer_endpoints: list[str]) -> set[str]:
    """One endpoint of each machine, the least: who fetches a file for all that run there."""
    of_machine: dict[str, str] = {}
    for endpoint in sorted(trainer_endpoints):
        of_machine.setdefault(endpoint.split(":")[0], endpoint)
    return set(of_machine.values())


def digest(path: Any) -> str:
    """The MD5 of a file, by which Paddle tells whether it is whole."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


__getattr__ = absent(__name__, {"nothing is downloaded": "_decompress get_path_from_url"})
