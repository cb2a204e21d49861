"""Saving and loading of Programs under their older name, and of variables one by one."""

import os
import warnings
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

from scull.core.meta import Kind
from scull.errors import ArgumentError, ArgumentTypeError, MissingFileError
from scull.files.file_set import open_set, write_set
from scull.files.model import checked_values, put_values
from scull.files.tensor_stream import read_combined, read_separate, write_combined, write_separate
from scull.ir.program import Program, main_program
from scull.ir.variable import ParameterVariable, Variable
from scull.static.model import (  # noqa: F401  old code looks for `_serialize_persistables` here
    EMPTY,
    _serialize_persistables,
    deserialize_persistables,
    deserialize_program,
    load_from_file,
    load_inference_model,
    normalize_program,
    program_behind,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    values_of,
    with_fetches,
)
from scull.static.state import load, load_program_state, save, set_program_state

append_fetch_ops = with_fetches


def is_persistable(var: Variable) -> bool:
    """Whether the value of a variable outlives runs and can be saved."""
    return var.persistable and var.kind.name in ("DENSE", "ROWS")


def is_parameter(var: Variable) -> bool:
    """Whether a variable is a parameter."""
    return isinstance(var, ParameterVariable)


def chosen(
    program: Any, variables: list[Any] | None, predicate: Callable[[Variable], bool] | None
) -> list[Variable]:
    """The variables given, by name in their Program; else those that `predicate` picks."""
    source: Program = program_behind([], main_program() if program is None else program)
    if variables is not None:
        return [source.global_block().var(v) if isinstance(v, str) else v for v in variables]
    return [v for v in source.variables() if (predicate or is_persistable)(v)]


def save_vars(
    executor: Any,
    dirname: str | None,
    main_program: Any = None,
    vars: Any = None,
    predicate: Callable[[Variable], bool] | None = None,
    filename: str | None = None,
) -> bytes | None:
    """Write the values of variables into a folder: a file each, or all in one.

    Args:
        executor (Executor): kept for Paddle's signature.
        dirname (str): the folder; it is made. None, without a file, returns the bytes of all.
        main_program (Program, optional): whose variables; the default main Program when None.
        vars (list, optional): variables or names.
        predicate (callable, optional): picks the variables when `vars` is None.
        filename (str, optional): one file for all.
    """
    wanted = [v for v in chosen(main_program, vars, predicate) if v.kind is not Kind.RAW]
    if not wanted:
        warnings.warn(EMPTY, stacklevel=2)
        return None
    values = values_of(wanted)
    if dirname is None and filename is None:
        memory = BytesIO()
        write_combined(memory, values)
        return memory.getvalue()
    folder = checked_folder(dirname)
    if filename is None:
        write_separate(folder, values)
    else:
        write_set(os.path.join(folder, filename), {"": partial(write_combined, arrays=values)})
    return None


def load_vars(
    executor: Any,
    dirname: str | None,
    main_program: Any = None,
    vars: Any = None,
    predicate: Callable[[Variable], bool] | None = None,
    filename: Any = None,
) -> None:
    """Put the values that `save_vars` wrote into the global scope.

    Args:
        executor (Executor): kept for Paddle's signature.
        dirname (str): the folder; None when `filename` holds the bytes of all.
        main_program (Program, optional): whose variables; the default main Program when None.
        vars (list, optional): variables or names.
        predicate (callable, optional): picks the variables when `vars` is None.
        filename (str | bytes, optional): the one file of all.
    """
    wanted = [v for v in chosen(main_program, vars, predicate) if v.kind is not Kind.RAW]
    names = [v.name for v in wanted]
    if dirname is None and isinstance(filename, bytes):
        found = read_combined(BytesIO(filename), names)
    elif not filename:
        found = read_separate(checked_folder(dirname), names)
    else:
        path = os.path.join(checked_folder(dirname), filename)
        with open_set(path, [""]) as streams:
            if not streams:
                raise MissingFileError(f"there is no file `{path}`")
            found = read_combined(streams[""], names)
    put_values(checked_values(found, wanted))


def get_program_persistable_vars(program: Any) -> list[Variable]:
    """The variables of a Program whose values outlive runs and can be saved."""
    return [v for v in program.list_vars() if is_persistable(v)]


def _get_valid_program(program: Any = None) -> Program:
    """A Program, or that of a CompiledProgram; the default main Program when None."""
    return program_behind([], program)


def checked_folder(dirname: Any) -> str:
    """The name of a folder."""
    if dirname is None:
        raise ArgumentError("dirname is the folder of the files, and None was given")
    if not isinstance(dirname, str):
        raise ArgumentTypeError(f"dirname is a text, not {type(dirname).__name__}")
    return dirname


__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "is_parameter",
    "is_persistable",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "load_vars",
    "normalize_program",
    "save",
    "save_inference_model",
    "save_to_file",
    "save_vars",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]
