"""Saving and loading Programs with their values, in Paddle's files."""

import io
import os
import warnings
from functools import partial
from typing import Any

import numpy as np

from scull.core.meta import Kind, Meta
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    MissingFileError,
    UninitializedError,
)
from scull.files.file_set import Writer, is_there, open_file, open_set, write_file, write_set
from scull.files.legacy.window import legacy
from scull.files.model import checked_values, load_model, persistables, put_values
from scull.files.program import bytes_of, message_of, program_of
from scull.files.tensor_stream import read_combined, write_combined
from scull.ir.block import Block
from scull.ir.clone import copied_variable, for_test, pruned
from scull.ir.operator import Operator
from scull.ir.program import Program, main_program
from scull.ir.variable import ParameterVariable, Variable
from scull.runtime.scope import global_scope
from scull.static.portable import portable

EMPTY = "no variable in your model, please ensure there are any variables in your model to save"


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
    if inner is not found:
        warnings.warn("The input is a CompiledProgram, this is not recommended.", stacklevel=3)
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
    if any(o.type == "auc" for o in program.global_block().ops):
        warnings.warn(
            "Be sure that you have set auc states to 0 before saving inference model.",
            stacklevel=2,
        )
    skip = options.get("skip_prune_program", False)
    return inference_program(program, feeds, fetches, skip, strict=True)


def inference_program(
    program: Program, feeds: list[Variable], fetches: list[Variable], skip: bool, strict: bool
) -> Program:
    """A copy for inference; `skip` keeps what nothing needs, `strict` refuses such inputs."""
    tested = for_test(program)
    block = tested.global_block()
    without_edges(block)
    for b in tested.blocks:
        without_recorders(b)
    kept = [block.vars.get(v.name) or block.add(copied_variable(v, block)) for v in fetches]
    targets = [scaled(block, v, i) for i, v in enumerate(kept)]
    names = [v.name for v in feeds]
    made = tested if skip else pruned(tested, names, targets)
    if strict and not skip:
        drop_unused(made, names, targets)
    with_feeds(made, names)
    with_fetches(made, [t.name for t in targets])
    return made


def drop_unused(program: Program, names: list[str], targets: list[Variable]) -> None:
    """Take away the inputs that nothing in a Program needs, and that are no outputs."""
    operators = [o for b in program.blocks for o in b.ops]
    used = {v.name for o in operators for v in o.operands()} | {v.name for v in targets}
    for name in set(names) - used:
        program.global_block().vars.pop(name, None)


def without_edges(block: Block) -> None:
    """Take away the feed and fetch operators of a Program that was saved before."""
    for i, o in reversed(list(enumerate(block.ops))):
        o.is_target, o.device = False, ""
        if o.type in ("feed", "fetch", "fetch_v2"):
            block._remove_op(i)


def without_recorders(block: Block) -> None:
    """Leave of what only records gradients, by functions of this process, the results."""
    for i, o in reversed(list(enumerate(block.ops))):
        if o.type == "python_gradient":
            block._remove_op(i)
            for v, out in reversed(list(zip(o.inputs[1], o.outputs[0], strict=True))):
                if v is not out:
                    block._insert_op(i, "assign", {"X": [v]}, {"Out": [out]})


def scaled(block: Block, v: Variable, i: int) -> Variable:
    """The target as the result of an operator of its own, as Paddle saves all but truth values."""
    if v.dtype.name == "bool":
        return v
    attrs = {"scale": 1.0, "bias": 0.0, "bias_after_scale": True}
    out = block.variable(f"save_infer_model/scale_{i}.tmp_0", v.meta, stop_gradient=v.stop_gradient)
    block.append_op("scale", {"X": [v]}, {"Out": [out]}, attrs)
    return out


def with_feeds(program: Program, names: list[str], holder: str = "feed") -> None:
    """Put feed operators in front of a Program, that of the last input first."""
    block = program.global_block()
    for i, name in enumerate(names):
        if not block.has_var(name):
            raise ArgumentError(
                f"The feeded_var_names[{i}]: '{name}' doesn't exist in pruned inference program. "
                f"Please check whether '{name}' is a valid feed_var name, or remove it from "
                f"feeded_var_names if '{name}' is not involved in the target_vars calculation."
            )
        source = block.variable(holder, Meta((), kind=Kind.FEED), persistable=True)
        block.insert(0, edge(block, "feed", source, block.var(name), i))


def with_fetches(program: Program, names: list[str], holder: str = "fetch") -> None:
    """Put fetch operators behind a Program."""
    block = program.global_block()
    sink = block.variable(holder, Meta((), kind=Kind.FETCH), persistable=True)
    for i, name in enumerate(names):
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

    Both are replaced together or not at all.

    Args:
        path_prefix (str): folder and name; the folder is made.
        feed_vars, fetch_vars (Variable | list): inputs and outputs.
        executor (Executor): kept for Paddle's signature.
        options: `program=` the Program when it is not that of the variables;
            `skip_prune_program=True` keeps operators that the outputs do not need;
            `legacy_format=True` writes the Program as before Paddle 2.5; `clip_extra=False` keeps
            the shapes that are recorded for gradients.

    Raises:
        ArgumentError: the path is none, or what is given are no variables.
        UninitializedError: a value is missing; the startup Program was not run.
    """
    path = checked_prefix(path_prefix)
    feeds, fetches = inference_edges(feed_vars, fetch_vars)
    source = program_behind(fetches, options.get("program"))
    skip = options.get("skip_prune_program", False)
    program = normalize_program(source, feeds, fetches, skip_prune_program=skip)
    if options.get("clip_extra", True):
        program = portable(program)
    data = program_bytes(program, options.get("legacy_format", False))
    values = values_of(persistables(program))
    parts: dict[str, Writer] = {".pdmodel": lambda stream: stream.write(data)}
    if values:
        parts[".pdiparams"] = partial(write_combined, arrays=values)
    else:
        warnings.warn(EMPTY, stacklevel=2)
    write_set(path, parts)


def program_bytes(program: Program, old: bool) -> bytes:
    """A Program as the bytes of a file; `old` as before Paddle 2.5."""
    return bytes(legacy(message_of(program)).SerializeToString()) if old else bytes_of(program)


def checked_prefix(path_prefix: Any) -> str:
    """A path with a name at its end."""
    if not isinstance(path_prefix, str):
        raise ArgumentError(f"'path_prefix' should be a string, not {type(path_prefix).__name__}")
    if path_prefix.endswith("/"):
        raise ArgumentError(f"'path_prefix' should not be a directory: {path_prefix}")
    path = os.path.normpath(path_prefix)
    for suffix in (".pdmodel", ".pdiparams"):
        if os.path.isdir(path + suffix):
            raise ArgumentError(f"'{path}{suffix}' is an existing directory.")
    return path


def load_inference_model(path_prefix: Any, executor: Any, **options: Any) -> list[Any]:
    """What `save_inference_model` of scull or Paddle wrote; the values go into the global scope.

    Args:
        path_prefix (str): folder and name, without suffix; the folder alone when the files have
            names of their own; None when the next two hold bytes.
        executor (Executor): kept for Paddle's signature.
        options: `model_filename=` the file of the Program, else `__model__`; `params_filename=` the
            file of all values, else there is a file for each; `allow_ops=` the types of operators
            with effects outside that the model may have, none unless they are named.

    Returns:
        list: the Program, the names to feed, the variables to fetch.

    Raises:
        ArgumentError: there is no such model, or an option is unknown.
        FileError: a file is damaged; its tensor is named.
        UnsafeFileError: the model would reach outside.
    """
    allow_ops = options.pop("allow_ops", ())
    unknown = options.keys() - {"model_filename", "params_filename"}
    if unknown:
        raise ArgumentError(f"load_inference_model takes no `{unknown.pop()}`")
    if path_prefix is None:
        data, params = options.get("model_filename"), options.get("params_filename")
        if data is None or params is None:
            raise ArgumentError("params_filename cannot be None when path_prefix is None.")
        stream = io.BytesIO(params)
        return list(load_model(data, stream, "the bytes given", allow_ops=allow_ops))
    if not isinstance(path_prefix, str | os.PathLike):
        raise ArgumentError(f"'path_prefix' should be a string, not {type(path_prefix).__name__}")
    path = os.path.normpath(os.fspath(path_prefix))
    if os.fspath(path_prefix).endswith("/"):
        raise ArgumentError(f"'path_prefix' should not be a directory: {path}")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ArgumentError(f"There is no directory named {folder}")
    if options or (os.path.isdir(path) and not os.path.exists(path + ".pdmodel")):
        names = options.get("model_filename"), options.get("params_filename")
        return loaded_by_name(path, *names, allow_ops)
    with open_set(path, (".pdmodel", ".pdiparams")) as streams:
        if ".pdmodel" not in streams:
            raise MissingFileError(f"there is no model `{path}.pdmodel`")
        data, params = streams[".pdmodel"].read(), streams.get(".pdiparams")
        return list(load_model(data, params, path + ".pdiparams", allow_ops=allow_ops))


def loaded_by_name(folder: str, model: str | None, params: str | None, allow_ops: Any) -> list[Any]:
    """A model whose files have names of their own; without one for all values each has its own."""
    with open_file(file_within(folder, model or "__model__", ".pdmodel")) as stream:
        data = stream.read()
    if params is None:
        return list(load_model(data, folder, folder, allow_ops=allow_ops))
    path = file_within(folder, params, ".pdiparams")
    with open_file(path) as stream:
        return list(load_model(data, stream, path, allow_ops=allow_ops))


def file_within(folder: str, name: str, suffix: str) -> str:
    """The path of a file that is named with or without its suffix."""
    path = os.path.join(folder, name)
    return path + suffix if is_there(path + suffix) else path


def serialize_program(feed_vars: Any, fetch_vars: Any, **options: Any) -> bytes:
    """The bytes of the inference Program; with `legacy_format=True` as before Paddle 2.5."""
    feeds, fetches = inference_edges(feed_vars, fetch_vars)
    program = normalize_program(program_behind(fetches, options.get("program")), feeds, fetches)
    return program_bytes(program, options.get("legacy_format", False))


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
    if not values:
        warnings.warn(EMPTY, stacklevel=3)
        return None
    stream = io.BytesIO()
    write_combined(stream, values)
    return stream.getvalue()


def deserialize_program(data: bytes, allow_ops: Any = ()) -> Program:
    """The Program of some bytes.

    Args:
        data (bytes): what `serialize_program` gave, or a file holds.
        allow_ops (list): the types of operators with effects outside that it may have.
    """
    return program_of(data, allow_ops)


def deserialize_persistables(program: Program, data: bytes | None, executor: Any) -> None:
    """Put the values of some bytes into the global scope."""
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            f"program type must be `fluid.Program`, but received `{type(program)}`"
        )
    wanted = persistables(program)
    if data is None and any(isinstance(v, ParameterVariable) for v in wanted):
        raise AssertError(
            "Required 'data' shall be not None if program contains parameter, but received 'data' "
            "is None."
        )
    if wanted and data is not None:
        found = read_combined(io.BytesIO(data), [v.name for v in wanted])
        put_values(checked_values(found, wanted))


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes, whole or not at all."""
    if not isinstance(content, bytes):
        raise ArgumentError("'content' type should be bytes.")
    write_file(path, lambda stream: stream.write(content))


def load_from_file(path: str) -> bytes:
    """The bytes of a file."""
    with open_file(path) as stream:
        return stream.read()
