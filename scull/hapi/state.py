"""The files of a Model: `.pdparams`, `.pdopt` and `.pdscaler`, replaced all together."""

import os
import re
import warnings
from collections.abc import Iterable
from typing import Any

from scull.errors import ArgumentError, AssertError
from scull.files.file_set import open_set, write_set
from scull.framework.storage import read, restored, write

PARAMETERS, STATES, SCALER = ".pdparams", ".pdopt", ".pdscaler"
PROTOCOL = 4


def save_states(path: str, states: dict[str, Any]) -> None:
    """Write the states, by suffix, that are not empty; an inference model beside them stays."""
    writers = {
        suffix: lambda stream, state=state: write(state, stream, PROTOCOL, False)
        for suffix, state in states.items()
        if state or suffix == PARAMETERS
    }
    write_set(path, writers, keep=True)


def load_states(path: str) -> dict[str, Any]:
    """The states that were saved under `path`, by suffix, as arrays."""
    prefix, extension = os.path.splitext(path)
    if extension not in ("", PARAMETERS, STATES, ".pdmodel"):
        raise AssertError(f"Unknown postfix {extension} from weights")
    with open_set(prefix, (PARAMETERS, STATES, SCALER)) as streams:
        found = {
            suffix: restored(read(stream, ()), {"return_numpy": True})
            for suffix, stream in streams.items()
        }
    if not found.get(PARAMETERS):
        raise AssertError(
            f"Failed to load parameters, please check path: `{prefix}{PARAMETERS}` is not there "
            "or has none"
        )
    return found


def matched(own: dict[str, Any], saved: dict[str, Any], skip: bool) -> list[tuple[Any, Any]]:
    """Each parameter with its saved value; with `skip` those that do not fit are left out."""
    pairs = []
    for key, parameter in own.items():
        problem = misfit(key, parameter, saved.get(key))
        if problem is None:
            pairs.append((parameter, saved[key]))
        elif skip:
            warnings.warn(f"Skip loading for {key}. {problem}", stacklevel=3)
        else:
            raise ArgumentError(problem)
    return pairs


def misfit(key: str, parameter: Any, value: Any) -> str | None:
    """Why a saved value is not one of this parameter."""
    if value is None:
        return f"{key} is not found in the providing file."
    found, expected = list(value.shape), list(parameter.shape)
    if found != expected:
        return f"{key} receives a shape {found}, but the expected shape is {expected}."
    return None


def stem(name: str) -> str:
    """A name without the number that made it unique."""
    return re.sub(r"_\d+$", "", name)


def renamed(saved: dict[str, Any], wanted: Iterable[str]) -> dict[str, Any]:
    """`saved` under the names that are wanted, whatever numbers made them unique then."""
    found = dict(saved)
    by_stem = {stem(name): name for name in saved}
    for name in wanted:
        old = by_stem.get(stem(name))
        if name not in saved and old is not None:
            found[name] = found.pop(old, saved[old])
    return found
