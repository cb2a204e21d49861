"""`scull run`: a saved model on arrays from files."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scull.errors import ArgumentError, FileError, ScullError
from scull.files.atomic import atomic_file
from scull.inference import Config, create_predictor


def main(arguments: Sequence[str]) -> int:
    """Run a model once; 1 when that fails."""
    options = parser().parse_args(arguments)
    try:
        config = Config(options.model)
        config.allow_ops(*options.allow_op)
        with create_predictor(config, max_memory=options.max_memory) as predictor:
            found = predictor(fed(options.input, predictor.get_input_names()))
            names = predictor.get_output_names()
        values = found if len(names) != 1 else [found]
        for name, value in zip(names, values, strict=True):
            path = f"  {saved(options.output, name, value)}" if options.output else ""
            print(f"{name}  {value.dtype}{list(value.shape)}{summary(value)}{path}")
    except (ScullError, OSError) as error:
        print(f"scull run: {options.model}: {error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    text = "Run a saved model on arrays from files and print its outputs, or write them to files."
    made = argparse.ArgumentParser(prog="scull run", description=text)
    made.add_argument("model", help="a folder, the prefix of a model, or one of its files")
    made.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="an array, FILE.npy, of the input NAME, or of the next one; or FILE.npz by names",
    )
    made.add_argument("--output", type=Path, metavar="FOLDER", help="where to write NAME.npy")
    made.add_argument(
        "--max-memory", type=int, default=0, metavar="BYTES", help="that values and run may take"
    )
    made.add_argument(
        "--allow-op",
        action="append",
        default=[],
        metavar="TYPE",
        help="of operators with effects outside, such as print, which are refused otherwise",
    )
    return made


def fed(texts: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """The arrays by the names of the inputs; those without a name are the next inputs."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or os.path.exists(text):
            name, path = "", text
        for own, array in arrays_in(path).items():
            name = name or own or next((n for n in names if n not in found), "")
            if not name:
                raise ArgumentError(f"{path} is one input more than the {len(names)} of the model")
            if name in found:
                raise ArgumentError(f"there are two values for the input `{name}`")
            found[name], name = array, ""
    return found


def arrays_in(path: str) -> dict[str, Any]:
    """The array of a file, called by no name, or those of a file with names."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, KeyError) as error:
        raise FileError(f"{path} is no array as NumPy saves it: {error}") from None


def saved(folder: Path, name: str, value: Any) -> Path:
    """The file of an output, once it is written."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('/', '_').replace(os.sep, '_')}.npy"
    with atomic_file(path) as stream:
        np.save(stream, value, allow_pickle=False)
    return path


def summary(value: Any) -> str:
    """The numbers of a small array; of a large one the least, the mean and the greatest."""
    if value.size <= 8:
        return f"  {np.array2string(value, separator=', ').replace(chr(10), '')}"
    if value.dtype.kind not in "biuf":
        return ""
    numbers = value.astype(np.float64)
    return f"  least {numbers.min():.6g}, mean {numbers.mean():.6g}, greatest {numbers.max():.6g}"
