"""Where the files of scull lie that other programs are built with: there are none."""

from typing import NoReturn

from scull.errors import UnsupportedError


def get_include() -> NoReturn:
    """The folder of C++ headers."""
    raise UnsupportedError("scull is written in Python: it has no headers to compile against")


def get_lib() -> NoReturn:
    """The folder of the native library."""
    raise UnsupportedError("scull is written in Python: it has no native library to link with")
