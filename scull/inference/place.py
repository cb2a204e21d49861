"""Where the files of a model are, whichever of its names is given."""

import os
from pathlib import Path
from typing import NamedTuple

from scull.errors import FileError, MissingFileError
from scull.files.file_set import suffixes_of

MODEL, PARAMETERS = ".pdmodel", ".pdiparams"
OLD_MODEL, OLD_PARAMETERS = "__model__", "__params__"


class Place(NamedTuple):
    """The file of a Program, and that of its values, or a folder with a file a value."""

    program: str
    values: str | None  # None where there is none: the Program may need none


def place_of(path: str | os.PathLike[str]) -> Place:
    """The files of the model that `path` means.

    That is a prefix, one of the two files, or a folder: one with `__model__` or with one model.

    Args:
        path (str | os.PathLike): what names the model.

    Returns:
        Place: its files; MissingFileError where there is none, FileError where there are several.
    """
    text = os.fspath(path)
    if os.path.isdir(text) and not os.path.exists(text + MODEL):
        return in_folder(text)
    if os.path.basename(text) == OLD_MODEL and os.path.exists(text):
        return in_folder(os.path.dirname(text) or ".")
    prefix = text.removesuffix(MODEL) if text.endswith(MODEL) else text.removesuffix(PARAMETERS)
    known = suffixes_of(prefix)  # of a set that is being replaced, too
    if MODEL in known:
        return Place(prefix + MODEL, prefix + PARAMETERS if PARAMETERS in known else None)
    if os.path.isfile(text):
        return Place(text, None)
    raise MissingFileError(f"there is no model {prefix}{MODEL}")


def in_folder(folder: str) -> Place:
    """The files of the one model in a folder."""
    old = os.path.join(folder, OLD_MODEL)
    if os.path.isfile(old):
        combined = os.path.join(folder, OLD_PARAMETERS)
        return Place(old, combined if os.path.isfile(combined) else folder)
    found = sorted(str(path) for path in Path(folder).glob(f"*{MODEL}"))
    if not found:
        raise MissingFileError(f"there is no model in the folder {folder}")
    if len(found) > 1:
        names = ", ".join(os.path.basename(path) for path in found)
        raise FileError(f"there are several models in the folder {folder}: {names}")
    return place_of(found[0])
