"""Saved models as the commands see them: Program, values, sizes, what is asked of them."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TextIO

from scull.core.meta import Kind, Meta
from scull.errors import ArgumentError, ScullError, ShapeError
from scull.executor.binding import planned
from scull.executor.memory import inferred, nbytes
from scull.executor.plan import Plan
from scull.files.model import edges, load_model, persistables, refuse_foreign
from scull.files.outside import OUTSIDE
from scull.files.program import program_of
from scull.inference.opening import reading, size_of
from scull.inference.place import Place, place_of
from scull.ir.operator import ForeignOp, Operator
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.profiler.flops import flops
from scull.runtime.scope import Scope

EDGES = ("feed", "fetch", "fetch_v2")

Shapes = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class SavedModel:
    """A Program and what its files say of it; nothing of it has run."""

    place: Place
    program: Program
    feeds: list[Variable]
    fetches: list[Variable]
    sizes: tuple[int, int]  # bytes of the files of the Program and of the values

    @property
    def values(self) -> list[Variable]:
        """The variables whose values are saved."""
        return persistables(self.program)

    @property
    def operators(self) -> list[Operator]:
        """The operators of all blocks but those that feed and fetch."""
        every = (o for block in self.program.blocks for o in block.ops)
        return [o for o in every if o.type not in EDGES]


def opened(path: str) -> SavedModel:
    """The model that `path` means: a folder, a prefix or one of its files."""
    if path.endswith(".py"):
        raise ArgumentError("this is a script: save its model first")
    place = place_of(path)
    with reading(place) as (stream, params):
        data, size = stream.read(), size_of(params)
    refuse_foreign(data)
    program = program_of(data, OUTSIDE)  # which is not run
    names, fetches = edges(program)
    block = program.global_block()
    return SavedModel(place, program, [block.var(n) for n in names], fetches, (len(data), size))


def values_of(place: Place) -> dict[str, Any]:
    """The saved values by name."""
    scope = Scope()
    with reading(place) as (stream, params):
        load_model(stream.read(), params, place.values or "a file of values", scope, OUTSIDE)
    return {name: cell.value for name, cell in scope.cells.items()}


def given_metas(model: SavedModel, shapes: Shapes) -> dict[Variable, Meta]:
    """The inputs in these shapes; sizes that are not known are 1 where none are given."""
    known = {v.name for v in model.feeds}
    for name in shapes:
        if name not in known:
            inputs = ", ".join(f"`{v.name}`" for v in model.feeds)
            raise ArgumentError(f"the model has no input `{name}`; its inputs are {inputs}")
    found = {}
    for v in model.feeds:
        shape = tuple(shapes.get(v.name) or (1 if n == -1 else n for n in v.shape))
        pairs = zip(v.shape, shape, strict=False)
        if len(shape) != len(v.shape) or any(n not in (-1, m) for n, m in pairs):
            raise ShapeError(f"`{v.name}` is {v.meta}; shape {list(shape)} does not fit")
        found[v] = v.meta.with_shape(shape)
    return found


def plan_of(model: SavedModel) -> Plan:
    """How the model is run."""
    names = tuple(v.name for v in model.fetches)
    return planned(model.program, tuple(v.name for v in model.feeds), names)


def operations(model: SavedModel, metas: Mapping[Variable, Meta]) -> tuple[int, int]:
    """The arithmetic operations of a run, and of how many operators they were counted.

    What stands in blocks of branches and loops is not counted.
    """
    total = counted = 0
    known = dict(metas)
    for o in model.program.global_block().ops:
        if isinstance(o.op, ForeignOp) or o.op.has_blocks or o.type in EDGES:
            continue
        try:
            known.update(inferred(o, known))
        except ScullError:  # sizes that only a run tells
            continue
        shapes = {
            o.op.slot(name): [list(known.get(v, v.meta).shape) for v in variables(slot)]
            for name, slot in zip(o.op.inputs, o.inputs, strict=True)
        }
        if not any(-1 in shape for found in shapes.values() for shape in found):
            found = flops(o.type, shapes, o.spelt())
            total, counted = total + found, counted + bool(found)
    return total, counted


def variables(slot: Any) -> list[Variable]:
    """The variables of a slot."""
    return [v for v in (slot if isinstance(slot, list) else [slot]) if isinstance(v, Variable)]


def bytes_of(variables: Iterable[Variable]) -> int:
    """The bytes of variables of known sizes together."""
    return sum(max(nbytes(v.meta), 0) for v in variables if v.kind is Kind.DENSE)


def elements_of(variables: Iterable[Variable]) -> int:
    """The elements of variables of known sizes together."""
    return sum(prod(v.shape) for v in variables if -1 not in v.shape)


def readable(size: float) -> str:
    """Bytes in a unit that keeps them short."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"


def heading(text: str, stream: TextIO | None = None) -> str:
    """A title: bold on a terminal, unless NO_COLOR is set."""
    stream = sys.stdout if stream is None else stream
    plain = not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else f"\033[1m{text}\033[0m"
