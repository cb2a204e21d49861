"""Saving and loading Programs with their values, in Paddle's files."""

import io
import os
import warnings
from typing import Any

import numpy as np

from scull.core.meta import Kind, Meta
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    MissingFileError,
    UninitializedError,
)
from scull.files.atomic import atomic_file
from scull.files.file_set import open_set, write_set
from scull.files.model import checked_values, load_model, persistables, put_values
from scull.files.pickles import dump
from scull.files.pickles import load as load_pickle
from scull.files.program import bytes_of, program_of
from scull.files.tensor_stream import read_combined, write_combined
from scull.ir.block import Block
from scull.ir.clone import copied_variable, for_test, pruned
from scull.ir.operator import Operator
from scull.ir.program import Program, main_program
from scull.ir.variable import ParameterVariable, Variable
from scull.runtime.scope import global_scope


def listed(value: Any, name: str, kind: Any = Variable) -> list[Any]:
    """One variable or several, as a list."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    for v in values:
        if not isinstance(v, kind):
            raise ArgumentTypeError(f"{name} takes Variables, not {type(v).__name__}")
    return values


def inference_edges(feed_vars: Any, fetch_vars: Any) -> tuple[list[Any], list[Any]]:
    """The inputs and the outputs of what is saved, as lists."""
    try:
        return listed(feed_vars, "feed_vars"), listed(fetch_vars, "fetch_vars")
    except ArgumentTypeError as error:
        raise ArgumentError(str(error)) from None


def program_behind(variables: list[Any], program: Any) -> Program:
    """The Program given, else the one the variables belong to."""
    found = (
        program
        if program is not None
        else variables[0].block.program
        if variables
        else main_program()
    )
    inner = getattr(found, "_program", found)
    if not isinstance(inner, Program):
        raise ArgumentTypeError(f"program must be a Program, but received {type(found)}")
    return inner


def normalize_program(program: Any, feed_vars: Any, fetch_vars: Any, **options: Any) -> Program:
    """A copy that computes `fetch_vars` from `feed_vars` alone, with feed and fetch operators.

    Args:
        program (Program): what to copy.
        feed_vars, fetch_vars (Variable | list): its inputs and outputs.
        options: `skip_prune_program=True` keeps what the outputs do not need.

    Returns:
        Program: for inference.
    """
    feeds, fetches = listed(feed_vars, "feed_vars"), listed(fetch_vars, "fetch_vars")
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            f"program type must be `fluid.Program`, but received `{type(program)}`"
        )
    tested = for_test(program)
    block = tested.global_block()
    kept = [block.vars.get(v.name) or block.add(copied_variable(v, block)) for v in fetches]
    targets = [scaled(block, v, i) for i, v in enumerate(kept)]
    names = [v.name for v in feeds]
    made = tested if options.get("skip_prune_program") else pruned(tested, names, targets)
    with_edges(made.global_block(), names, [t.name for t in targets])
    return made


def scaled(block: Block, v: Variable, i: int) -> Variable:
    """The target as the result of an operator of its own, as Paddle saves all but truth values."""
    if v.dtype.name == "bool":
        return v
    attrs = {"scale": 1.0, "bias": 0.0, "bias_after_scale": True}
    out = block.variable(f"save_infer_model/scale_{i}.tmp_0", v.meta, stop_gradient=v.stop_gradient)
    block.append_op("scale", {"X": [v]}, {"Out": [out]}, attrs)
    return out


def with_edges(block: Block, feeds: list[str], fetches: list[str]) -> None:
    """Put feed operators in front, that of the last input first, and fetch operators behind."""
    source = block.variable("feed", Meta((), kind=Kind.FEED), persistable=True)
    sink = block.variable("fetch", Meta((), kind=Kind.FETCH), persistable=True)
    for i, name in enumerate(feeds):
        block.insert(0, edge(block, "feed", source, block.var(name), i))
    for i, name in enumerate(fetches):
        block.append(edge(block, "fetch", block.var(name), sink, i))


def edge(block: Block, type: str, x: Variable, out: Variable, column: int) -> Operator:
    """A feed or fetch operator."""
    return block.made(type, {"X": [x]}, {"Out": [out]}, {"col": column})


def values_of(variables: list[Variable], scope: Any = None) -> dict[str, Any]:
    """The arrays the scope holds for `variables`."""
    scope = scope or global_scope()
    values = {}
    for v in variables:
        cell = scope.find_var(v.name)
        if cell is None or cell.value is None:
            raise UninitializedError(
                f"`{v.name}` has no value in this scope; run the startup Program first"
            )
        values[v.name] = np.ascontiguousarray(cell.value).reshape(np.shape(cell.value))
    return values


def save_inference_model(
    path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **options: Any
) -> None:
    """Write `path_prefix.pdmodel` and `.pdiparams`, which compute `fetch_vars` of `feed_vars`.

    Args:
        path_prefix (str): folder and name.
        feed_vars, fetch_vars (Variable | list): inputs and outputs.
        executor (Executor): kept for Paddle's signature.
        options: `program=` the Program when it is not that of the variables.
    """
    path = checked_prefix(path_prefix)
    feeds, fetches = inference_edges(feed_vars, fetch_vars)
    source = program_behind(fetches, options.get("program"))
    program = normalize_program(source, feeds, fetches)
    if any(o.type == "auc" for o in source.global_block().ops):
        warnings.warn(
            "Be sure that you have set auc states to 0 before saving inference model.",
            stacklevel=2,
        )
    values = values_of(persistables(program))
    parts = {".pdmodel": lambda stream: stream.write(bytes_of(program))}
    if values:
        parts[".pdiparams"] = lambda stream: write_combined(stream, values)
    else:
        warnings.warn(
            "no variable in your model, please ensure there are any variables in your model to "
            "save",
            stacklevel=2,
        )
    write_set(path, parts)


def checked_prefix(path_prefix: Any) -> str:
    """A path with a name at its end, its folder made."""
    if not isinstance(path_prefix, str):
        raise ArgumentError(f"'path_prefix' should be a string, not {type(path_prefix).__name__}")
    path = os.path.normpath(path_prefix)
    if path_prefix.endswith("/") or os.path.isdir(path):
        raise ArgumentError(f"'path_prefix' should not be a directory: {path}")
    for suffix in (".pdmodel", ".pdiparams"):
        if os.path.isdir(path + suffix):
            raise ArgumentError(f"'{path}{suffix}' is an existing directory.")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    return path


def load_inference_model(path_prefix: Any, executor: Any, **options: Any) -> list[Any]:
    """What `save_inference_model` of scull or Paddle wrote; the values go into the global scope.

    Args:
        path_prefix (str): folder and name, without suffix.
        executor (Executor): kept for Paddle's signature.
        options: `model_filename=`, `params_filename=` when the files have other names.

    Returns:
        list: the Program, the names to feed, the variables to fetch.
    """
    unknown = options.keys() - {"model_filename", "params_filename"}
    if unknown:
        raise ArgumentError(f"load_inference_model takes no `{unknown.pop()}`")
    if path_prefix is None:
        data, params = options.get("model_filename"), options.get("params_filename")
        if data is None or params is None:
            raise ArgumentError("params_filename cannot be None when path_prefix is None.")
        stream = io.BytesIO(params) if isinstance(params, bytes) else None
        return list(load_model(data, stream, "the bytes given"))
    if not isinstance(path_prefix, str | os.PathLike):
        raise ArgumentError(f"'path_prefix' should be a string, not {type(path_prefix).__name__}")
    path = os.path.normpath(os.fspath(path_prefix))
    names = options.get("model_filename"), options.get("params_filename")
    if any(names):
        return loaded_by_name(path, *names)
    if os.fspath(path_prefix).endswith("/"):
        raise ArgumentError(f"'path_prefix' should not be a directory: {path}")
    with open_set(path, (".pdmodel", ".pdiparams")) as streams:
        if ".pdmodel" not in streams:
            raise MissingFileError(f"there is no model `{path}.pdmodel`")
        data, params = streams[".pdmodel"].read(), streams.get(".pdiparams")
        return list(load_model(data, params, path + ".pdiparams"))


def loaded_by_name(path: str, model: str | None, params: str | None) -> list[Any]:
    """A model whose files have names of their own."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    with open(os.path.join(folder, model or "__model__"), "rb") as stream:
        data = stream.read()
    if params is None:
        return list(load_model(data, None, folder))
    with open(os.path.join(folder, params), "rb") as stream:
        return list(load_model(data, stream, params))


def serialize_program(feed_vars: Any, fetch_vars: Any, **options: Any) -> bytes:
    """The bytes of the inference Program."""
    feeds, fetches = inference_edges(feed_vars, fetch_vars)
    return bytes_of(
        normalize_program(program_behind(fetches, options.get("program")), feeds, fetches)
    )


def serialize_persistables(
    feed_vars: Any, fetch_vars: Any, executor: Any, **options: Any
) -> bytes | None:
    """The bytes of the values the inference Program needs; None when there are none."""
    feeds, fetches = inference_edges(feed_vars, fetch_vars)
    program = normalize_program(program_behind(fetches, options.get("program")), feeds, fetches)
    return _serialize_persistables(program, executor)


def _serialize_persistables(program: Program, executor: Any) -> bytes | None:
    """The bytes of the values of a Program; None when there are none."""
    values = values_of(persistables(program))
    stream = io.BytesIO()
    write_combined(stream, values)
    return stream.getvalue() if values else None


def deserialize_program(data: bytes) -> Program:
    """The Program of some bytes."""
    return program_of(data)


def deserialize_persistables(program: Program, data: bytes, executor: Any) -> None:
    """Put the values of some bytes into the global scope."""
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            f"program type must be `fluid.Program`, but received `{type(program)}`"
        )
    wanted = persistables(program)
    if wanted:
        put_values(
            checked_values(read_combined(io.BytesIO(data), [v.name for v in wanted]), wanted)
        )


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes, whole or not at all."""
    if not isinstance(content, bytes):
        raise ArgumentError("'content' type should be bytes.")
    with atomic_file(path) as stream:
        stream.write(content)


def load_from_file(path: str) -> bytes:
    """The bytes of a file."""
    with open(path, "rb") as stream:
        return stream.read()


# ---- training Programs ----


def save(program: Any, model_path: str, protocol: int = 4, **options: Any) -> None:
    """Write parameters (`.pdparams`), other lasting values (`.pdopt`), the Program (`.pdmodel`).

    Args:
        program (Program): what to save.
        model_path (str): folder and name.
        protocol (int): of the pickles: 2, 3 or 4.
    """
    if os.path.basename(model_path) == "":
        raise ArgumentError(
            "The input model_path MUST be format of dirname/filename, "
            "but received an empty file name."
        )
    program = program_behind([], program)
    everything = persistables(program)
    parameters = values_of([v for v in everything if isinstance(v, ParameterVariable)])
    others = values_of([v for v in everything if not isinstance(v, ParameterVariable)])
    os.makedirs(os.path.dirname(model_path) or ".", exist_ok=True)
    write_set(
        model_path,
        {
            ".pdmodel": lambda stream: stream.write(bytes_of(program)),
            ".pdparams": lambda stream: dump(parameters, stream, protocol),
            ".pdopt": lambda stream: dump(others, stream, protocol),
        },
    )


def load(program: Any, model_path: str, executor: Any = None, var_list: Any = None) -> None:
    """Put saved values of `program` into the global scope.

    Args:
        program (Program): whose persistable variables get values.
        model_path (str): folder and name, without suffix.
        var_list (list, optional): only these.
    """
    state = load_program_state(model_path, var_list)
    wanted = persistables(program_behind([], program)) if var_list is None else var_list
    missing = [v.name for v in wanted if v.name not in state and isinstance(v, ParameterVariable)]
    if missing:
        raise FileError(f"`{model_path}` holds no value for {', '.join(missing)}")
    put_values({v.name: state[v.name] for v in wanted if v.name in state})


def load_program_state(model_path: str, var_list: Any = None) -> dict[str, Any]:
    """Saved values by name.

    Args:
        model_path (str): folder and name, without suffix.
        var_list (list, optional): only these.
    """
    prefix = model_path
    for suffix in (".pdparams", ".pdopt", ".pdmodel"):
        prefix = prefix.removesuffix(suffix)
    state: dict[str, Any] = {}
    with open_set(prefix, (".pdparams", ".pdopt")) as streams:
        if ".pdparams" not in streams:
            raise MissingFileError(f"there is no `{prefix}.pdparams`")
        for stream in streams.values():
            state.update(load_pickle(stream))
    state.pop("StructuredToParameterName@@", None)
    names = None if var_list is None else {v.name for v in var_list}
    return {n: v for n, v in state.items() if names is None or n in names}


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Put `state_dict` into the scope, for the variables of `program` it names."""
    for v in persistables(program):
        if v.name in state_dict:
            array = np.asarray(state_dict[v.name])
            if array.shape != v.shape:
                raise ArgumentError(
                    f"`{v.name}` is {v.meta} and the value given has shape {list(array.shape)}"
                )
            put_values({v.name: array})
