"""Where the files of data sets are: nothing is downloaded."""

from pathlib import Path

from scull.errors import AssertError, MissingFileError
from scull.utils.download import digest

CACHE = Path.home() / ".cache" / "paddle" / "dataset"  # where Paddle puts them


def file_of(given, name, folder, url, md5, download):
    """The file the user gave, or the one that Paddle downloaded before.

    Raises:
        AssertError: none was given, and `download` is False.
        MissingFileError: there is none; the message says where it comes from.
    """
    if given is not None:
        if not Path(given).is_file():
            raise MissingFileError(f"there is no file `{given}`")
        return given
    if not download:
        raise AssertError(f"{name} is not set and downloading automatically is disabled")
    path = CACHE / folder / url.rpartition("/")[2]
    if not path.is_file() or digest(path) != md5:
        raise MissingFileError(
            f"scull downloads nothing: get {url} (MD5 {md5}), then give its path as `{name}`, or "
            f"put it at {path}"
        )
    return str(path)


def checked(mode, modes=("train", "test"), what="mode"):
    """One of the parts of a data set, however it is written."""
    found = str(mode).lower()
    if found not in modes:
        *others, last = (repr(each) for each in modes)
        raise AssertError(f"{what} should be {', '.join(others)} or {last}, but got {mode}")
    return found
