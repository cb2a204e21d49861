"""Memory that arrays leave stays with the process, up to a bound, for the arrays that follow.

The C library gives the pages of larger arrays back as soon as they are free, and each page costs a
fault when the next array touches it: operators on arrays of 256 KB take two to four times as long.
With glibc a process keeps KEPT_MEGABYTES of what is free at the end of its heap, and arrays up to
32 MB, where glibc's own bound lies, are in that heap. Elsewhere nothing changes, nor where 0 are to
be kept when scull is imported or the environment already says what `malloc` is to do.
"""

import ctypes
import os

from scull.flags import flag, told

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the parameters of mallopt
LARGEST = 32 << 20  # bytes; larger arrays are given back at once
ASKED = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def keep(megabytes: int) -> None:
    """Keep so many megabytes of free memory, if the C library is one that can be told."""
    if os.name != "posix" or any(name in os.environ for name in ASKED):
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(TRIM_THRESHOLD, megabytes << 20)
        library.mallopt(MMAP_THRESHOLD, LARGEST)


told["KEPT_MEGABYTES"] = keep
if flag("KEPT_MEGABYTES"):
    keep(flag("KEPT_MEGABYTES"))
