"""`scull decompile`: a saved model as the Python source of a layer."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scull.errors import ScullError
from scull.files.atomic import atomic_file
from scull.jit import to_source

MODEL = ".pdmodel"


def main(arguments: Sequence[str]) -> int:
    """Write or print the source; 1 when the model cannot be written so."""
    options = parser().parse_args(arguments)
    try:
        source = to_source(options.model.removesuffix(MODEL))
        if options.output is None:
            print(source, end="")
            return 0
        with atomic_file(options.output) as stream:
            stream.write(source.encode())
    except (ScullError, OSError) as error:
        print(f"scull decompile: {options.model}: {error}", file=sys.stderr)
        return 1
    print(f"{options.model}: {options.output}")
    return 0


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    text = (
        "Write a layer that computes what a saved model does, with its loops and branches. Nothing "
        "of the model is executed. In a script, paddle.jit.to_source does the same."
    )
    made = argparse.ArgumentParser(prog="scull decompile", description=text)
    made.add_argument("model", help="a saved model, MODEL.pdmodel")
    made.add_argument("-o", "--output", type=Path, help="the file (else it is printed)")
    return made
