"""Saving and loading of whole Programs under the name they have for training in processes."""

import io
import os
from typing import Any

from scull.errors import ArgumentError
from scull.files.model import load_model
from scull.static.io import is_persistable, load_vars, save_vars


def save_persistables(
    executor: Any, dirname: str | None, main_program: Any = None, filename: str | None = None
) -> bytes | None:
    """Write the values of all persistable variables into a folder: a file each, or all in one.

    Args:
        executor (Executor): kept for Paddle's signature.
        dirname (str): the folder; None returns the bytes of all instead.
        main_program (Program, optional): whose variables; the default main Program when None.
        filename (str, optional): one file for all.

    Returns:
        bytes: those of all values, when there is no folder.
    """
    return save_vars(executor, dirname, main_program, predicate=is_persistable, filename=filename)


def load_persistables(
    executor: Any, dirname: str | None, main_program: Any = None, filename: Any = None
) -> None:
    """Put the values that `save_persistables` wrote into the global scope.

    Args:
        executor (Executor): kept for Paddle's signature.
        dirname (str): the folder; None when `filename` holds the bytes themselves.
        main_program (Program, optional): whose variables; the default main Program when None.
        filename (str | bytes, optional): the one file of all.
    """
    load_vars(executor, dirname, main_program, predicate=is_persistable, filename=filename)


def load_inference_model_distributed(
    dirname: str | None,
    executor: Any,
    model_filename: Any = None,
    params_filename: Any = None,
    pserver_endpoints: Any = None,
    allow_ops: Any = (),
) -> list[Any]:
    """A saved model; the values go into the global scope.

    Args:
        dirname (str): the folder; None when the next two hold bytes.
        executor (Executor): kept for Paddle's signature.
        model_filename (str | bytes, optional): the file of the Program, else `__model__`.
        params_filename (str | bytes, optional): the file of all values, else there is one each.
        pserver_endpoints: kept for Paddle's signature.
        allow_ops (list): the types of operators with effects outside that the model may have.

    Returns:
        list: the Program, the names to feed, the variables to fetch.
    """
    program, values = model_filename, params_filename
    if dirname is None:
        if values is None:
            raise ArgumentError(
                "The path of params cannot be None when the directory path is None."
            )
        stream = io.BytesIO(values)
        return list(load_model(program, stream, "the bytes given", allow_ops=allow_ops))
    if not os.path.isdir(dirname):
        raise ArgumentError(f"There is no directory named '{dirname}'")
    with open(os.path.join(dirname, os.path.basename(program or "__model__")), "rb") as stream:
        data = stream.read()
    if values is None:
        return list(load_model(data, dirname, dirname, allow_ops=allow_ops))
    with open(os.path.join(dirname, os.path.basename(values)), "rb") as stream:
        return list(load_model(data, stream, values, allow_ops=allow_ops))


__all__ = [
    "is_persistable",
    "load_inference_model_distributed",
    "load_persistables",
    "save_persistables",
]
