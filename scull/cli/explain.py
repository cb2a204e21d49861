"""`scull explain`: pages that show how saved models are run."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ScullError, ShapeError
from scull.files.file_set import open_set
from scull.files.model import Model, load_model
from scull.ir.variable import Variable
from scull.profiler.explain import explain
from scull.runtime.scope import Scope
from scull.static import Executor

MODEL, PARAMETERS = ".pdmodel", ".pdiparams"


def main(arguments: Sequence[str]) -> int:
    """Write a page for each model; 1 when one could not be explained."""
    options = parser().parse_args(arguments)
    if options.output and len(options.model) > 1:
        parser().error("--output names one page, and there are several models")
    failed = 0
    for model in options.model:
        try:
            print(f"{model}: {explained(model, options)}")
        except (ScullError, OSError) as error:
            print(f"scull explain: {model}: {error}", file=sys.stderr)
            failed = 1
    return failed


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    text = (
        "Run saved models and write a page for each: the Program, dependencies, streams, times, "
        "memory. In a script, Executor.explain does the same."
    )
    made = argparse.ArgumentParser(prog="scull explain", description=text)
    made.add_argument("model", nargs="+", help="a saved model, MODEL.pdmodel")
    made.add_argument(
        "--shape",
        action="append",
        default=[],
        type=shape,
        metavar="NAME=SIZES",
        help="of an input, as in x=1,3,224,224; otherwise unknown sizes are 1",
    )
    made.add_argument(
        "--machine-code", action="store_true", help="show what the compiler makes of them, too"
    )
    made.add_argument("--output", type=Path, help="the page (MODEL.html, in this folder)")
    return made


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """The name of an input and its sizes."""
    name, equals, sizes = text.rpartition("=")
    found = [size.strip() for size in sizes.split(",")] if sizes.strip() else []
    if not name or not equals or not all(size.isdecimal() for size in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=1,3,224,224")
    return name, tuple(map(int, found))


def explained(model: str, options: argparse.Namespace) -> str:
    """The page of one model, once it is written."""
    (found, scope), shapes = loaded(model), dict(options.shape)
    unknown = shapes.keys() - found.feeds
    if unknown:
        known = ", ".join(f"`{name}`" for name in found.feeds)
        raise ArgumentError(f"the model has no input `{min(unknown)}`; its inputs are {known}")
    block = found.program.global_block()
    feed = {name: fed(block.find(name), shapes.get(name)) for name in found.feeds}
    path = options.output or Path(f"{prefix(model).name}.html")
    title = prefix(model).name
    code = True if options.machine_code else None
    return explain(Executor(), found.program, feed, found.fetches, path, scope, title, code)


def loaded(model: str) -> tuple[Model, Scope]:
    """A saved model, and a scope with its values."""
    if model.endswith(".py"):
        raise ArgumentError("this is a script: call Executor.explain in it instead of run")
    path, scope = prefix(model), Scope()
    with open_set(path, (MODEL, PARAMETERS)) as streams:
        if MODEL not in streams:
            raise ArgumentError(f"there is no model {path}{MODEL}")
        data, values = streams[MODEL].read(), streams.get(PARAMETERS)
        return load_model(data, values, f"{path}{PARAMETERS}", scope), scope


def prefix(model: str) -> Path:
    """Where the files of a model are, without suffix."""
    return Path(model.removesuffix(MODEL))


def fed(variable: Variable, sizes: tuple[int, ...] | None) -> Any:
    """An array for an input: some numbers between 0 and 1, and zeros where they count or name."""
    declared, dtype = tuple(variable.shape), variable.dtype
    if sizes is None:
        sizes = tuple(1 if n == -1 else n for n in declared)
    pairs = zip(declared, sizes, strict=False)
    if len(declared) != len(sizes) or any(n not in (-1, m) for n, m in pairs):
        raise ShapeError(f"`{variable.name}` is {variable.meta}; shape {list(sizes)} does not fit")
    if dtype.array.kind not in "fcV":
        return np.zeros(sizes, dtype.array)
    return np.random.default_rng(0).random(sizes).astype(dtype.array)
