"""The model of a Config: its files read straight into the arrays that are its values."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from scull.errors import ArgumentError, MissingFileError, ResourceError, RunError
from scull.files.file_set import open_set
from scull.files.model import Model, load_model
from scull.inference.config import Config
from scull.inference.place import MODEL, PARAMETERS, Place, place_of
from scull.ir.lacking import check_declared
from scull.runtime.scope import Scope


def opened(config: Config, max_memory: int = 0) -> tuple[Model, Scope]:
    """The model of a Config and a scope with its values, which nobody can write over.

    Values of more than `max_memory` bytes are refused before they are read; 0: any number.
    """
    scope = Scope()
    if config.buffers is not None:
        program, values = config.buffers
        refuse_beyond(max_memory, len(values))
        model = load_model(program, io.BytesIO(values), "the buffer", scope, config.allowed)
    else:
        place = files_of(config)
        with reading(place) as (stream, params):
            if max_memory:
                refuse_beyond(max_memory, size_of(params))
            where = place.values or "a file of values"
            model = load_model(stream.read(), params, where, scope, config.allowed)
    check_declared(model.program.global_block())
    for cell in scope.cells.values():
        if isinstance(cell.value, np.ndarray):
            cell.value.flags.writeable = False
    return model, scope


def refuse_beyond(limit: int, size: int) -> None:
    """Refuse values of more bytes than the limit."""
    if 0 < limit < size:
        raise ResourceError(f"the values take {size} bytes, and max_memory is {limit} bytes")


def size_of(params: BinaryIO | str | None) -> int:
    """The bytes of the files of values."""
    if params is None:
        return 0
    if isinstance(params, str):
        return sum(p.stat().st_size for p in Path(params).rglob("*") if p.is_file())
    size = params.seek(0, os.SEEK_END)
    params.seek(0)
    return size


def files_of(config: Config) -> Place:
    """The files that a Config names; ArgumentError when it names none."""
    if config.prog_file():
        return Place(config.prog_file(), config.params_file() or None)
    if not config.model_dir():
        raise ArgumentError("Either model_dir or (prog_file, param_file) should be set.")
    try:
        return place_of(config.model_dir())
    except MissingFileError as error:
        raise RunError(str(error)) from None


@contextmanager
def reading(place: Place) -> Iterator[tuple[BinaryIO, BinaryIO | str | None]]:
    """The stream of a Program, and the stream or the folder of its values.

    Files that were saved together are of one generation, whatever else writes them meanwhile.
    """
    program, values = place
    prefix = program.removesuffix(MODEL)
    try:
        if prefix != program and values in (None, prefix + PARAMETERS):
            with open_set(prefix, (MODEL, PARAMETERS)) as streams:
                if MODEL not in streams:
                    raise RunError(f"cannot open the file {program}: it is not there")
                yield streams[MODEL], streams.get(PARAMETERS) if values else None
        elif values is None or os.path.isdir(values):
            with open(program, "rb") as stream:
                yield stream, values
        else:
            with open(program, "rb") as stream, open(values, "rb") as beside:
                yield stream, beside
    except OSError as error:
        path = error.filename or program
        raise RunError(f"cannot open the file {path}: {error.strerror}") from None
