"""To source and back: what the tests do with a model."""

import importlib.util
import itertools
import sys
from types import ModuleType
from typing import Any

import scull as paddle
from scull.files.model import edges
from scull.files.saved import read_model
from scull.passes.isomorphism import Likeness, alike
from scull.passes.reader import structure_of
from scull.passes.structure import Structure

NUMBERS = itertools.count()


def module_of(source: str, folder: Any) -> ModuleType:
    """The module that a text is: what a user does with it, not the library."""
    name = f"written_{next(NUMBERS)}"
    path = folder / f"{name}.py"
    path.write_text(source, encoding="ascii")
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


def structure(program: Any) -> Structure:
    """What a saved Program computes."""
    feeds, fetches = edges(program)
    return structure_of(program, feeds, [v.name for v in fetches])


def compared(first: str, second: str, method: str = "forward") -> Likeness:
    """Two saved models."""
    return alike(*[structure(read_model(str(p)).programs[method]) for p in (first, second)])


def written(path: Any, folder: Any) -> tuple[Any, ModuleType]:
    """The layer that the source of a saved model declares, with its values, and the module."""
    made = module_of(paddle.jit.to_source(str(path)), folder)
    return made.Model.load(str(path)), made


def assert_same_graph(path: Any, layer: Any, made: ModuleType, folder: Any) -> None:
    """Saved again the layer is the same graph, with the same bits for values."""
    paddle.jit.save(layer, str(folder / "again"), made.INPUTS)
    found = compared(path, folder / "again")
    assert found.differences == []
    ours, theirs = (read_model(str(p)).values["forward"] for p in (path, folder / "again"))
    names = {a: b for a, b in found.names().items() if a in ours}
    assert names.keys() == ours.keys()
    for name, other in names.items():
        assert ours[name].tobytes() == theirs[other].tobytes(), name
