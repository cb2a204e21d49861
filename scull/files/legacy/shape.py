"""Older operators that change shapes: squeeze, unsqueeze, flatten, expand, one_hot and kin."""

from dataclasses import replace
from typing import Any

from scull.errors import UnsupportedError
from scull.files.legacy.call import Call, Names, made

RENAMED_AXES = {
    "roll": {"dims": "axis"},
    "flip": {"dims": "axis"},
    "trace": {"dim1": "axis1", "dim2": "axis2"},
    "trace_grad": {"dim1": "axis1", "dim2": "axis2"},
    "roll_grad": {"dims": "axis"},
}


def recorded(call: Call, names: Names) -> list[Call]:
    """`squeeze`, `unsqueeze`, `flatten`: today's record the shape of their operand."""
    x = call.first("X")
    shape = names.shape(x)
    record = names.like(call.result(), "shape", None if shape is None else [0, *shape])
    outputs = call.outputs | {"XShape": [record]}
    return [replace(call, type=f"{call.type}2", outputs=outputs)]


def tiled(call: Call, names: Names) -> list[Call]:
    """`expand` repeated its operand, which `tile` does today."""
    slots = {"ExpandTimes": "RepeatTimes", "expand_times_tensor": "repeat_times_tensor"}
    inputs = {slots.get(slot, slot): given for slot, given in call.inputs.items()}
    attrs = renamed(call.attrs, {"expand_times": "repeat_times"})
    return [replace(call, type=call.type.replace("expand", "tile"), inputs=inputs, attrs=attrs)]


def tiled_like(call: Call, names: Names) -> list[Call]:
    """`expand_as` repeated its operand until it had the shape of another."""
    x, y = call.first("X"), call.first("target_tensor")
    before, after = names.shape(x) or [], names.shape(y) or []
    if len(before) != len(after):
        raise UnsupportedError(f"{call.where}: x has shape {before} and its target {after}")
    times = [1 if n in (1, m) else m // n for n, m in zip(before, after, strict=True)]
    if all(n == 1 for n in times):
        shape = after or [1]
        return [made("expand_as_v2", {"X": x, "Y": y}, call.outputs, target_shape=shape)]
    pairs = list(zip(before, after, strict=True))
    if any(n in (0, -1) or m == -1 or m % n for n, m in pairs if n not in (1, m)) or any(
        n == 1 and m == -1 for n, m in pairs
    ):
        raise UnsupportedError(f"{call.where}: x has shape {before} and its target {after}")
    times = [m if n == 1 else t for (n, m), t in zip(pairs, times, strict=True)]
    return [made("tile", {"X": x}, call.outputs, repeat_times=times)]


def without_column(call: Call, names: Names) -> list[Call]:
    """`one_hot` took a last axis of one class each, which `one_hot_v2` has not."""
    x = call.first("X")
    shape = names.shape(x)
    rest = None if shape is None else shape[:-1]
    label = names.like(x, "label", rest)
    record = names.like(x, "shape", None if shape is None else [0, *shape])
    squeeze = made("squeeze2", {"X": x}, {"Out": label, "XShape": record}, axes=[-1])
    inputs = call.inputs | {"X": [label]}
    return [squeeze, replace(call, type="one_hot_v2", inputs=inputs)]


def on_diagonal(call: Call, names: Names) -> list[Call]:
    """`diag` made a matrix of its diagonal."""
    return [made("diag_v2", {"X": call.first("Diagonal")}, call.outputs)]


def with_axes(call: Call, names: Names) -> list[Call] | None:
    """`roll`, `flip`, `trace`: what is called axis today was a dim."""
    words = RENAMED_AXES[call.type]
    if not words.keys() & call.attrs.keys():
        return None
    return [replace(call, attrs=renamed(call.attrs, words))]


def renamed(attrs: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    """Attributes, some by other names."""
    return {words.get(name, name): value for name, value in attrs.items()}
