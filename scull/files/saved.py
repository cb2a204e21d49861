"""Models as `jit.save` writes them: a Program for each method, their values, what is said of these.

`path.pdmodel` is the method `forward`, `path.<method>.pdmodel` another; values stand in
`.pdiparams` beside each, or all of them in `path.pdiparams`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from scull.errors import FileError, MissingFileError, UninitializedError
from scull.files.file_set import is_there, open_file, open_set, suffixes_of
from scull.files.model import checked_values, persistables, refuse_foreign
from scull.files.pickles import load as load_pickle
from scull.files.program import program_of
from scull.files.property import properties_of
from scull.files.tensor_stream import files_within, read_combined, read_separate
from scull.ir.program import Program

FORWARD = "forward"
MODEL, PARAMETERS, INFORMATION, PROPERTIES = ".pdmodel", ".pdiparams", ".pdiparams.info", ".meta"


@dataclass(frozen=True)
class Saved:
    """What the files hold; `information` is None where no file says more of the values."""

    programs: dict[str, Program]  # by method
    values: dict[str, dict[str, Any]]  # by method and name
    information: dict[str, dict[str, Any]] | None
    properties: dict[str, Any]

    def state(self) -> dict[str, Any]:
        """The values by the names their layer had for them, else by their own."""
        known = self.information or {}
        return {
            known.get(name, {}).get("structured_name", name): array
            for values in self.values.values()
            for name, array in values.items()
        }


def suffix_of(method: str, kind: str) -> str:
    """What the name of a file of `method` ends with."""
    return kind if method == FORWARD else f".{method}{kind}"


def methods_among(suffixes: Iterable[str]) -> list[str]:
    """The methods whose Programs are there, `forward` first."""
    found = set()
    for suffix in suffixes:
        name = suffix.removesuffix(MODEL).removeprefix(".")
        if suffix.endswith(MODEL) and (name.isidentifier() or not name):
            found.add(name or FORWARD)
    return sorted(found, key=lambda name: (name != FORWARD, name))


def read_saved(prefix: str, allow_ops: Iterable[str] = ()) -> Saved:
    """The model whose files begin with `prefix`."""
    with open_set(prefix, suffixes_of(prefix)) as streams:
        methods = methods_among(streams)
        if not methods:
            raise MissingFileError(
                f"The ``path`` ({prefix}) to load model not exists: there is no `{prefix}{MODEL}`"
            )
        programs = {m: program_in(streams[suffix_of(m, MODEL)].read(), allow_ops) for m in methods}
        values = values_in(streams, programs, prefix)
        information = information_in(streams.get(INFORMATION), values)
        properties = properties_of(streams[PROPERTIES].read()) if PROPERTIES in streams else {}
    return Saved(programs, values, information, properties)


def read_folder(
    folder: str, model: str | None, parameters: str | None, allow_ops: Iterable[str] = ()
) -> Saved:
    """The model in `folder`, whose Program and values have names of their own."""
    path = Path(folder, model or "__model__")
    if not is_there(path):
        raise MissingFileError(f"there is no model `{path}`")
    with open_file(path) as stream:
        program = program_in(stream.read(), allow_ops)
    wanted = persistables(program)
    names, values, information = [v.name for v in wanted], dict[str, Any](), None
    if wanted and parameters is None:
        values = read_separate(folder, names)
    elif wanted:
        beside = Path(folder, f"{parameters}.info")
        with open_file(Path(folder, str(parameters))) as stream:
            values = read_combined(stream, names)
        if beside.is_file():
            with open(beside, "rb") as stream:
                information = information_in(stream, {FORWARD: values})
    return Saved({FORWARD: program}, {FORWARD: checked_values(values, wanted)}, information, {})


def read_values(folder: str) -> dict[str, Any]:
    """The values in a folder without a Program, where each has a file of its name."""
    names = [n for n in files_within(folder) if not any(p[:1] == "." for p in n.split("/"))]
    if not names:
        raise MissingFileError(f"there is neither a model nor a value in `{folder}`")
    return read_separate(folder, names)


def read_model(
    path: str,
    model: str | None = None,
    parameters: str | None = None,
    allow_ops: Iterable[str] = (),
) -> Saved:
    """The model of a prefix, or of a folder in which the files have the names given.

    Operators with effects outside are refused but for the types in `allow_ops`.
    """
    if not os.path.isdir(path):
        return read_saved(path, allow_ops)
    if os.path.exists(path + MODEL):
        raise FileError(f"there are both the model `{path}{MODEL}` and the folder `{path}`")
    return read_folder(path, model, parameters, allow_ops)


def program_in(data: bytes, allow_ops: Iterable[str]) -> Program:
    """The Program of some bytes; those of other frameworks are refused by name."""
    refuse_foreign(data)
    return program_of(data, allow_ops)


def values_in(
    streams: Mapping[str, BinaryIO], programs: Mapping[str, Program], prefix: str
) -> dict[str, dict[str, Any]]:
    """By method the values of its Program: of its own file, else of the one for all."""
    wanted = {method: persistables(program) for method, program in programs.items()}
    lacking = [m for m, vs in wanted.items() if vs and suffix_of(m, PARAMETERS) not in streams]
    if lacking and PARAMETERS not in streams:
        raise FileError(
            f"the model needs the values of {len(wanted[lacking[0]])} variables, and "
            f"`{prefix}{PARAMETERS}` is not there"
        )
    if lacking:
        names = {v.name for vs in wanted.values() for v in vs}
        shared = read_combined(streams[PARAMETERS], names)
        found = {m: {v.name: shared[v.name] for v in vs} for m, vs in wanted.items()}
    else:
        found = {
            m: read_combined(streams[suffix_of(m, PARAMETERS)], [v.name for v in vs]) if vs else {}
            for m, vs in wanted.items()
        }
    return {m: checked_values(found[m], vs) for m, vs in wanted.items()}


def information_in(
    stream: BinaryIO | None, values: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]] | None:
    """What a file says of the values: whether they train, and what their layer calls them."""
    if stream is None:
        return None
    found: Any = load_pickle(stream)
    if type(found) is not dict:
        raise FileError(f"what describes the values is a {type(found).__name__}, no dictionary")
    for name, known in found.items():
        if type(name) is not str or type(known) is not dict:
            raise FileError(f"what describes the values says {known!r} of {name!r}")
        if type(known.get("stop_gradient")) is not bool:
            raise FileError(f"it is not told whether `{name}` stops gradients")
        if type(known.get("structured_name", "")) is not str:
            raise FileError(f"the layer calls `{name}` by {known['structured_name']!r}, no text")
    lacking = [n for names in values.values() for n in names if n not in found]
    if lacking:
        raise UninitializedError(
            f"the model is not complete: nothing describes its variable `{lacking[0]}`"
        )
    return found
