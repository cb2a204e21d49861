"""`scull diff`: what differs between two saved models."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

import numpy as np

from scull.cli.model import SavedModel, opened, values_of
from scull.errors import ScullError
from scull.executor.prepare import call_text
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.variable import Variable

SAME, DIFFERENT, TROUBLE = 0, 1, 2  # exit codes, as of diff
SILENT = {  # attributes that say nothing of values
    *("op_callstack", "op_device", "op_namescope", "op_role", "op_role_var", "with_quant_attr"),
}


def main(arguments: Sequence[str]) -> int:
    """Print what differs; 1 when something does, 2 when a model cannot be read."""
    options = parser().parse_args(arguments)
    path = options.first
    try:
        first = opened(path)
        path = options.second
        second = opened(path)
        names: dict[str, str] = {}
        found = [*differences(first, second, names)]
        if not options.no_values:
            path = f"{options.first}, {options.second}"
            found += value_differences(first, second, names)
    except (ScullError, OSError) as error:
        print(f"scull diff: {path}: {error}", file=sys.stderr)
        return TROUBLE
    for line in found:
        print(line)
    return DIFFERENT if found else SAME


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    text = "Print what differs between two saved models: operators, attributes, values."
    made = argparse.ArgumentParser(prog="scull diff", description=text)
    for name in ("first", "second"):
        made.add_argument(name, help="a folder, the prefix of a model, or one of its files")
    made.add_argument("--no-values", action="store_true", help="compare the Programs alone")
    return made


def differences(first: SavedModel, second: SavedModel, names: dict[str, str]) -> Iterator[str]:
    """What differs between the Programs, a line each; `names` gets those of equal variables."""
    for title, ours, theirs in (
        ("input", first.feeds, second.feeds),
        ("output", first.fetches, second.fetches),
    ):
        for a, b in zip_longest(ours, theirs):
            if a is None or b is None or (a.name, a.meta) != (b.name, b.meta):
                yield f"{title}: {said(a)} -> {said(b)}"
            if a is not None and b is not None and title == "input":
                names[a.name] = b.name
    for ours, theirs in zip_longest(first.program.blocks, second.program.blocks):
        if ours is None or theirs is None:
            there, sign = (theirs, "+") if ours is None else (ours, "-")
            yield f"{sign} block {there.idx} with {len(there.ops)} operators"
        else:
            yield from block_differences(ours, theirs, names)


def said(v: Variable | None) -> str:
    """A variable with what it is."""
    return "none" if v is None else f"`{v.name}` {v.meta}"


def block_differences(first: Block, second: Block, names: dict[str, str]) -> Iterator[str]:
    """What differs between the operators of two blocks; `names` are those of equal variables."""
    ours, theirs = ([o for o in b.ops if o.type not in ("feed", "fetch")] for b in (first, second))
    where = f"block {first.idx}, " if first.idx else ""
    types = [[o.type for o in ours], [o.type for o in theirs]]
    for tag, a, b, c, d in SequenceMatcher(None, *types, autojunk=False).get_opcodes():
        if tag == "equal":
            for i, j in zip(range(a, b), range(c, d), strict=True):
                for line in operator_differences(ours[i], theirs[j], names):
                    yield f"{where}operator {i} (`{ours[i].type}`): {line}"
            continue
        yield from (f"- {where}operator {i}: {call_text(ours[i])}" for i in range(a, b))
        yield from (f"+ {where}operator {j}: {call_text(theirs[j])}" for j in range(c, d))


def operator_differences(a: Operator, b: Operator, names: dict[str, str]) -> Iterator[str]:
    """What differs between two operators of one type."""
    mine, other = attributes(a), attributes(b)
    for name in sorted(mine.keys() | other.keys()):
        if mine.get(name) != other.get(name):
            yield f"{name} {mine.get(name)!r} -> {other.get(name)!r}"
    for slots, others in ((a.input_slots(), b.input_slots()), (a.output_slots(), b.output_slots())):
        reads = slots == a.input_slots()
        for slot in sorted(slots.keys() | others.keys()):
            for x, y in zip_longest(slots.get(slot, []), others.get(slot, [])):
                known = names.setdefault(x, y) if x and y else None
                if known != y or x is None:
                    yield f"{slot} {'is' if reads else 'gives'} `{x}` -> `{y}`"
                    if not reads and x and y:
                        names[x] = y
    for v, w in zip(a.results(), b.results(), strict=False):
        if v.meta != w.meta:
            yield f"`{v.name}` {v.meta} -> {w.meta}"


def attributes(o: Operator) -> dict[str, Any]:
    """The attributes that tell what an operator computes; blocks by their number."""
    return {n: plain(v) for n, v in o.spelt().items() if n not in SILENT}


def plain(value: Any) -> Any:
    """An attribute's value; variables by their names."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return getattr(value, "idx", getattr(value, "name", value))


def value_differences(
    first: SavedModel, second: SavedModel, names: dict[str, str]
) -> Iterator[str]:
    """What differs between the values, a line each; `names` tell which stands for which."""
    ours, theirs = values_of(first.place), values_of(second.place)
    pairs = [(n, names.get(n, n)) for n in ours if names.get(n, n) in theirs]
    yield from (f"- value `{n}` {kind(ours[n])}" for n in ours if names.get(n, n) not in theirs)
    met = {b for _, b in pairs}
    yield from (f"+ value `{n}` {kind(theirs[n])}" for n in theirs if n not in met)
    for a, b in pairs:
        x, y = ours[a], theirs[b]
        title = f"value `{a}`" if a == b else f"value `{a}` -> `{b}`"
        if kind(x) != kind(y):
            yield f"{title}: {kind(x)} -> {kind(y)}"
        elif x.tobytes() != y.tobytes():
            yield f"{title}: {apart(x, y)}"
        elif a != b:
            yield f"{title}: the same numbers"


def kind(array: Any) -> str:
    """The element type and the shape."""
    return f"{array.dtype}{list(array.shape)}"


def apart(x: Any, y: Any) -> str:
    """How far two arrays of one kind are from each other."""
    count = int(np.count_nonzero(x != y))
    if x.dtype.kind not in "biuf":
        return f"{count} of {x.size} elements differ"
    most = np.abs(x.astype(np.float64) - y.astype(np.float64)).max()
    return f"{count} of {x.size} elements differ, by {most:.3g} at most"
