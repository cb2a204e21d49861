"""Saving and loading of Programs under their older name, and of variables one by one."""

import os
import warnings
from collections.abc import Callable
from io import BytesIO
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.files.atomic import atomic_file
from scull.files.model import put_values
from scull.files.tensor_stream import read_combined, read_separate, write_combined, write_separate
from scull.ir.program import Program, main_program
from scull.ir.variable import ParameterVariable, Variable
from scull.static.model import (  # noqa: F401  old code looks for `_serialize_persistables` here
    _serialize_persistables,
    deserialize_persistables,
    deserialize_program,
    load,
    load_from_file,
    load_inference_model,
    load_program_state,
    normalize_program,
    program_behind,
    save,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    set_program_state,
    values_of,
)


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
    values = values_of(chosen(main_program, vars, predicate))
    if dirname is None and filename is None:
        memory = BytesIO()
        write_combined(memory, values)
        return memory.getvalue()
    folder = checked_folder(dirname)
    os.makedirs(folder, exist_ok=True)
    if filename is None:
        write_separate(folder, values)
        return None
    with atomic_file(os.path.join(folder, filename)) as stream:
        write_combined(stream, values)
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
    names = [v.name for v in chosen(main_program, vars, predicate)]
    if dirname is None and isinstance(filename, bytes):
        put_values(read_combined(BytesIO(filename), sorted(names)))
        return
    folder = checked_folder(dirname)
    if filename is None:
        put_values(read_separate(folder, names))
        return
    with open(os.path.join(folder, filename), "rb") as stream:
        put_values(read_combined(stream, sorted(names)))


def _get_valid_program(program: Any = None) -> Program:
    """A Program, or that of a CompiledProgram; the default main Program when None."""
    if getattr(program, "_program", None) is not None:
        warnings.warn("The input is a CompiledProgram, this is not recommended.", stacklevel=2)
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
