"""The values of a training Program in files: parameters, states of optimizers, the Program."""

import os
import warnings
from typing import Any

import numpy as np

from scull.core.dtype import bfloat16
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    FileError,
    MissingFileError,
    RangeError,
    RunError,
)
from scull.executor.executor import Executor
from scull.files.file_set import open_set, write_set
from scull.files.model import checked_values, persistables, put_values, saved_variables
from scull.files.pickles import PIECES, dump, joined
from scull.files.pickles import load as load_pickle
from scull.files.program import bytes_of
from scull.files.tensor_stream import files_within, read_combined, read_separate
from scull.ir.program import Program
from scull.ir.variable import ParameterVariable, Variable
from scull.runtime.scope import global_scope
from scull.static.model import program_behind, values_of

MODEL, PARAMETERS, STATES = ".pdmodel", ".pdparams", ".pdopt"
NAMES = "StructuredToParameterName@@"
RUNS = "RunsBeforeMachineCode@@"  # of what trains: where it went on as code, it does so again
OLDER = "[ save_params, save_persistables, save_vars ]"


def save(program: Any, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Write parameters (`.pdparams`), other lasting values (`.pdopt`), the Program (`.pdmodel`).

    All are replaced together or not at all.

    Args:
        program (Program): what to save.
        model_path (str): folder and name; the folder is made.
        protocol (int): of the pickles: 2, 3 or 4.
        configs: `pickle_protocol` is the older name of `protocol`.

    Raises:
        ArgumentError: there is no name, or the protocol is another.
        UninitializedError: a variable has no value; the startup Program was not run.
    """
    if os.path.basename(model_path) == "":
        raise AssertError(
            "The input model_path MUST be format of dirname/filename [dirname\\filename in Windows "
            "system], but received model_path is empty string."
        )
    if "pickle_protocol" in configs:
        protocol = configs["pickle_protocol"]
        warnings.warn(
            "'pickle_protocol' is a deprecated argument. Please use 'protocol' instead.",
            stacklevel=2,
        )
    if isinstance(protocol, bool) or not isinstance(protocol, int):
        raise ArgumentError(f"The 'protocol' MUST be `int`, but received {type(protocol)}")
    if not 2 <= protocol <= 4:
        raise ArgumentError(f"Expected 1<'protocol'<5, but received protocol={protocol}")
    program = program_behind([], program)
    parameters, others = lasting(program)
    trained, states = values_of(parameters), values_of(others)
    if global_scope().runs:
        states[RUNS] = dict(global_scope().runs)
    write_set(
        model_path,
        {
            MODEL: lambda stream: stream.write(bytes_of(program)),
            PARAMETERS: lambda stream: dump(trained, stream, protocol),
            STATES: lambda stream: dump(states, stream, protocol),
        },
    )


def lasting(program: Program) -> tuple[list[Variable], list[Variable]]:
    """The parameters of a Program, and what else outlives runs and is not fed."""
    everything = saved_variables(program)
    parameters = [v for v in everything if isinstance(v, ParameterVariable)]
    others = [v for v in everything if not isinstance(v, ParameterVariable)]
    return parameters, [v for v in others if not v.need_check_feed]


def load(program: Any, model_path: str, executor: Any = None, var_list: Any = None) -> None:
    """Put saved values of `program` into the global scope: what `save` wrote, or `save_vars`.

    Args:
        program (Program): whose variables get values.
        model_path (str): folder and name, with or without suffix; or the folder or the file that
            `save_vars` wrote.
        executor (Executor, optional): asked for where `save_vars` wrote.
        var_list (list, optional): the variables of such a file, or those to take of a folder.

    Raises:
        ArgumentError: what is asked for is not there, or not said.
        FileError: a file is damaged, or holds other shapes or dtypes.
    """
    if executor is not None and not isinstance(executor, Executor):
        raise AssertError(f"executor is an Executor, not {type(executor).__name__}")
    program, prefix = program_behind([], program), without_suffix(model_path)
    with open_set(prefix, (PARAMETERS, STATES)) as streams:
        read = {suffix: load_pickle(stream) for suffix, stream in streams.items()}
    found = {suffix: arrays_of(value) for suffix, value in read.items()}
    if PARAMETERS not in found:
        load_variables(program, model_path, executor, var_list)
        return
    parameters, others = lasting(program)
    if others and STATES not in found:
        raise AssertError(f"Optimizer file [{prefix}{STATES}] not exits")
    values = {}
    for variables, suffix in ((parameters, PARAMETERS), (others, STATES)):
        for v in variables:
            if v.name not in found[suffix]:
                raise AssertError(f"Can not find [{v.name}] in model file [{prefix}{suffix}]")
            values[v.name] = fitted(found[suffix][v.name], v)
    put_values(checked_values(values, [*parameters, *others]))
    global_scope().runs.update(runs_of(read.get(STATES, {}).get(RUNS, {})))


def runs_of(value: Any) -> dict[str, int]:
    """What a file says of runs before machine code."""
    if isinstance(value, dict) and all(type(n) is int for n in value.values()):
        return {str(name): n for name, n in value.items()}
    raise FileError(f"the file holds {value!r} where counts of runs are expected")


def fitted(array: Any, v: Variable) -> Any:
    """An array of a pickle, where uint16 stands for bfloat16."""
    array = np.asarray(array)
    stands = v.meta.dtype is bfloat16 and array.dtype == np.uint16
    return array.view(bfloat16.array) if stands else array


def without_suffix(path: str) -> str:
    """The path of a saved Program without the suffix of one of its files."""
    for suffix in (PARAMETERS, STATES, MODEL):
        if path.endswith(suffix):
            return path.removesuffix(suffix)
    return path


def arrays_of(value: Any) -> dict[str, Any]:
    """The values of a pickle by name."""
    if not isinstance(value, dict):
        raise FileError(f"the file holds a {type(value).__name__}, no dictionary of values")
    return {name: v for name, v in value.items() if name not in (NAMES, RUNS)}


def load_variables(program: Program, path: str, executor: Any, var_list: Any) -> None:
    """Put what `save_vars` wrote into the global scope."""
    if executor is None:
        raise ArgumentError(f"executor is required when loading model file saved with {OLDER}")
    if os.path.isdir(path):
        asked = None if var_list is None else {v.name for v in var_list}
        there = set(files_within(path))
        wanted = [v for v in program.list_vars() if v.name in there]
        wanted = [v for v in wanted if asked is None or v.name in asked]
        put_values(checked_values(read_variables(path, wanted), wanted))
    elif os.path.isfile(path):
        if var_list is None:
            raise ArgumentError(f"var_list is required when loading model file saved with {OLDER}")
        names = {v.name for v in program.list_vars()}
        for v in var_list:
            if v.name not in names:
                raise RangeError(f"loaded var [{v.name}] is not in program variable list")
        put_values(checked_values(read_variables(path, var_list), var_list))
    else:
        raise MissingFileError(f"there is no `{without_suffix(path)}{PARAMETERS}`")


def read_variables(path: str, variables: list[Variable]) -> dict[str, Any]:
    """The values of variables in a folder, a file each, or in one file."""
    names = [v.name for v in variables]
    try:
        if os.path.isdir(path):
            return read_separate(path, names)
        with open_set(path, [""]) as streams:
            return read_combined(streams[""], names)
    except (FileError, FileNotFoundError) as error:
        raise RunError(
            f"Failed to load model/variables `{path}`: {error}. It is read as what was saved with "
            f"{OLDER}"
        ) from error


def load_program_state(model_path: str, var_list: Any = None) -> dict[str, Any]:
    """Saved values by name: of what `save` wrote, or `save_vars`.

    Args:
        model_path (str): folder and name, with or without suffix; or the folder or the file that
            `save_vars` wrote.
        var_list (list, optional): the variables of such a file or folder.

    Returns:
        dict: arrays by the names of their variables; bfloat16 is uint16.

    Raises:
        ArgumentError: there is nothing, or a file of several values does not say which.
    """
    prefix = without_suffix(model_path)
    with open_set(prefix, (PARAMETERS, STATES)) as streams:
        if PARAMETERS in streams:
            state: dict[str, Any] = {}
            for stream in streams.values():
                state.update(arrays_of(load_pickle(stream)))
            return state
    if os.path.isdir(model_path) and var_list is None:
        return readable(model_path)
    if not os.path.exists(model_path):
        raise MissingFileError(f"Parameter file [{prefix}{PARAMETERS}] not exits")
    if var_list is None:
        raise ArgumentError("var_list can not be None when model_path is a file type")
    for v in var_list:
        if not isinstance(v, Variable):
            raise ArgumentTypeError("value in var_list must be variable")
    return read_variables(model_path, list(var_list))


def readable(folder: str) -> dict[str, Any]:
    """The values of all files in a folder that hold one; the others are told of."""
    values = {}
    for name in files_within(folder):
        try:
            values.update(read_separate(folder, [name]))
        except FileError as error:
            warnings.warn(
                f"Failed to load model/variables `{name}`: {error}. It is read as what was saved "
                f"with {OLDER}",
                RuntimeWarning,
                stacklevel=3,
            )
    return values


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Put `state_dict` into the scope, for the variables of `program` it names.

    Args:
        program (Program): its startup Program has been run.
        state_dict (dict): arrays by name, as `load_program_state` gives them.

    Raises:
        ArgumentError: a variable has no value yet, or one of another shape or dtype.
    """
    state = joined(state_dict) if PIECES in state_dict else state_dict
    values = {}
    for v in persistables(program):
        cell = global_scope().find_var(v.name)
        if cell is None or cell.value is None:
            raise AssertError(
                f"Variable [ {v.name} ] Not found, Please make sure run startup program"
            )
        if v.name in state:
            values[v.name] = alike(fitted(state[v.name], v), cell.value, v.name)
    put_values(values)
    unused = [name for name in state if name not in values and name != NAMES]
    if unused:
        warnings.warn(
            "This list is not set, Because of Paramerter not found in program. There are: "
            + " ".join(unused),
            stacklevel=2,
        )


def alike(array: Any, present: Any, name: str) -> Any:
    """An array of the shape and dtype of the one it replaces."""
    for what, old, new in (
        ("shape", np.shape(present), array.shape),
        ("data type", present.dtype, array.dtype),
    ):
        if old != new:
            raise AssertError(
                f"Parameter's {what} does not match, the Program requires a parameter with a "
                f"{what} of ({old}), while the loaded parameter (namely [ {name} ]) has a {what} "
                f"of ({new})."
            )
    return array
