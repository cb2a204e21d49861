"""Paddle's pickles (`.pdparams`, `.pdopt`, `.pdiparams.info`), read without running code.

A Tensor in a container is a pair of its name and its array; elsewhere it is an array. bfloat16 is
uint16 in these files, as in Paddle's own arrays.
"""

import math
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from scull.errors import ArgumentError, FileError
from scull.files.checksum import seal, unsealed
from scull.files.pickle_machine import LIMITS, Limits, Machine
from scull.files.pickle_writer import Reduce, Writer
from scull.files.plain import check_plain
from scull.files.source import Source

PIECE = (1 << 30) - 1  # bytes of an array that protocols 2 and 3 hold in one piece
PIECES = "UnpackBigParamInfor@@"


def load(stream: BinaryIO, limits: Limits = LIMITS) -> Any:
    """The value of the pickle at the position of the stream, which is left behind it."""
    start = stream.tell()
    with unsealed(stream):
        value = Machine(Source(stream), limits).run()
    law = check_plain(value, limits.depth, limits.values)
    if law:
        raise FileError(f"{law}, in the pickle at byte {start}")
    return joined(value) if type(value) is dict and PIECES in value else value


def dump(value: Any, stream: BinaryIO, protocol: int = 4, reduce: Reduce | None = None) -> None:
    """Append a value as Paddle writes it; in a file, the checksums of its arrays follow it.

    `reduce` turns whatever is no plain value into a pair of a name and an array, which Paddle loads
    as a Tensor, or into an array; for anything else it returns None.
    """
    if protocol not in (2, 3, 4):
        raise ArgumentError(f"the protocol is 2, 3 or 4, not {protocol!r}")
    if type(value) is dict and protocol < 4:
        value = in_pieces(value)
    Writer(stream, protocol, reduce).dump(value)
    seal(stream)


def in_pieces(state: dict[Any, Any], size: int = PIECE) -> dict[Any, Any]:
    """The dictionary with its large arrays cut, and how to join them."""
    result, pieces = dict(state), {}
    for key, array in state.items():
        if (
            not isinstance(array, np.ndarray)
            or array.nbytes <= size // array.itemsize * array.itemsize
        ):
            continue
        step = size // array.itemsize
        flat = result.pop(key).reshape(-1)
        names = [f"{key}@@.{index}" for index in range(math.ceil(array.size / step))]
        for index, name in enumerate(names):
            result[name] = flat[index * step : (index + 1) * step]
        pieces[key] = {"OriginShape": array.shape, "slices": names}
    return result | {PIECES: pieces} if pieces else result


def joined(state: Mapping[Any, Any]) -> dict[Any, Any]:
    """The dictionary with its arrays whole again."""
    result = dict(state)
    try:
        for key, information in result.pop(PIECES).items():
            parts = [result.pop(name) for name in information["slices"]]
            if any(type(p) is not np.ndarray or p.dtype != parts[0].dtype for p in parts):
                raise TypeError("they are not all arrays of one element type")
            result[key] = np.concatenate(parts).reshape(information["OriginShape"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(f"the pieces of an array do not fit together: {error!r}") from error
    return result
