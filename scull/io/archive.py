"""Archives whose members are read one by one, without extracting them."""

import tarfile
import zlib
from contextlib import contextmanager

from scull.errors import FileError

LONGEST = 1 << 26  # bytes of a member that is read at once
DAMAGES = (tarfile.TarError, zlib.error, EOFError, OSError, UnicodeDecodeError)


@contextmanager
def opened(path):
    """An archive, to be read within a `with`.

    Raises:
        FileError: it is damaged.
    """
    try:
        with tarfile.open(path) as archive:
            yield archive
    except DAMAGES as error:
        raise FileError(f"`{path}` is no archive of this data set: {error}") from None


def members(archive, wanted):
    """Each file of an archive whose name is wanted, with its name, in order."""
    for item in archive:
        name = item.name.removeprefix("./")
        if item.isfile() and wanted(name):
            yield name, archive.extractfile(item)


def member(archive, name):
    """The one file of an archive of this name."""
    names = (name, f"./{name}")
    item = next((item for item in archive.getmembers() if item.name in names), None)
    if item is None or not item.isfile():
        raise FileError(f"`{archive.name}` has no member `{name}`")
    return archive.extractfile(item)


def content(stream, name):
    """The bytes of a member that is not long."""
    data = stream.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise FileError(f"`{name}` is longer than {LONGEST} bytes")
    return data


def lines(stream):
    """The lines of a member as text, without spaces around."""
    return (line.decode("utf-8").strip() for line in stream)
