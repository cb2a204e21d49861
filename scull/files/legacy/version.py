"""The versions of operators a file was written with, and what is known of them."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from scull.errors import UnsupportedError
from scull.files import proto

# A Program notes the release that wrote it as 2006002 for 2.6.2, and 0 where it is not told.
FIRST_WITH_VERSIONS = 2_000_000
NEWEST = 2_007_000  # releases before it have no version of an operator that is not known here

# Versions that releases from 2.0 on note, and 2.6.2 no longer.
EARLIER = {
    "adam": 4,
    "arg_max": 1,
    "arg_min": 1,
    "argsort": 1,
    "assign_value": 1,
    "elementwise_floordiv": 1,
    "elementwise_max": 1,
    "elementwise_min": 1,
    "elementwise_mod": 1,
    "expand_as_v2": 1,
    "gaussian_random": 1,
    "kldiv_loss": 1,
    "softmax_with_cross_entropy": 1,
    "unique": 1,
}

# Attributes that older files lack and meant otherwise than the operator does when none is given.
MEANT = {"linspace": {"dtype": 5}}


@cache
def op_versions() -> bytes:
    """The versions of operators that Paddle 2.6.2 notes in every file."""
    return files("scull.files").joinpath("data/op_versions.bin").read_bytes()


@cache
def known() -> dict[str, int]:
    """The newest version of each operator that has had any but 0."""
    return EARLIER | noted(proto.OpVersionMap.FromString(op_versions()))


def noted(message: Any) -> dict[str, int]:
    """Versions by the types of operators."""
    return {pair.op_name: pair.op_version.version for pair in message.pair}


def versions_of(message: Any) -> Mapping[str, int]:
    """The version of each operator that a Program was written with; 0 of those not in it.

    Files of 1.x tell none, which is version 0 of all; a newer file that tells none, such as the
    bytes of a Program in memory, was written by who knew today's.
    """
    if message.HasField("op_version_map"):
        return noted(message.op_version_map)
    return {} if 0 < message.version.version < FIRST_WITH_VERSIONS else known()


def check_versions(message: Any, versions: Mapping[str, int], types: Iterable[str]) -> None:
    """Refuse a Program with operators of versions that nobody knew when this was written."""
    latest = known()
    sure = latest.keys() - EARLIER.keys()
    trusted = 0 < message.version.version < NEWEST
    newer = [
        f"`{type}` of version {versions[type]}, known up to {latest.get(type, 0)}"
        for type in sorted(types)
        if versions.get(type, 0) > latest.get(type, 0) and (type in sure or not trusted)
    ]
    if newer:
        raise UnsupportedError(
            f"a newer Paddle ({release(message.version.version)}) wrote this Program: its "
            f"operators mean what is not known here: {'; '.join(newer)}"
        )


def release(number: int) -> str:
    """The release that a Program notes, as people write it."""
    if not number:
        return "of unknown release"
    return f"{number // 1_000_000}.{number // 1_000 % 1_000}.{number % 1_000}"
