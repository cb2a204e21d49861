"""Declarations beside the reference's: slots and attributes of operators and their gradients."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from scull.core.attribute import normalised
from scull.core.op import Op

REFERENCE = Path(__file__).parent.parent / "data" / "reference"
HIDDEN = {"use_mkldnn", "use_cudnn", "use_quantizer", "mkldnn_data_type", "use_dequantizer"}

# Where a declaration differs on purpose: by operator type, what is said of it and why it is so.
GLOBAL = "taken with global statistics only, which SavedMean and SavedVariance then hold too"
REAL = "it says whether the matrix is real, and with it the gradient"
BEFORE = "what the list held before, which Programs do not name"
DEVIATIONS: dict[str, dict[str, str]] = {
    "write_to_array": {"input Array is not the reference's": BEFORE},
    "hierarchical_sigmoid": {
        "output W_Out is missing": "it is W itself, handed on to parameter servers",
    },
    "eig": {"gradient input X is not the reference's": REAL},
    "assert": {
        "input Data is optional": "Programs of the reference leave it empty",
        "attribute message is not the reference's": "an `assert` of Python says why it is made",
    },
    "batch_norm": {
        "gradient input Mean is missing": GLOBAL,
        "gradient input Variance is missing": GLOBAL,
    },
    "data_norm": {
        f"gradient output {n} is missing": "written where several processes share their sums"
        for n in ("BatchSize", "BatchSum", "BatchSquareSum")
    },
    "yolov3_loss": {
        f"gradient output {n}@GRAD is missing": "the reference leaves it as it was"
        for n in ("GTBox", "GTLabel", "GTScore")
    },
}


@cache
def table(name: str) -> dict[str, Any]:
    """The facts of one file, by operator type."""
    found: dict[str, Any] = json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))
    return found


def recorded(entry: str, part: str = "forward", type: str = "") -> list[dict[str, Any]]:
    """The operators of `type` (of the entry's own) that the records of an entry show in `part`."""
    return [
        o
        for record in table("op_records").get(entry, ())
        for o in record.get(part, {}).get("operators", ())
        if o["type"] == (type or entry)
    ]


def differing(what: str, own: set[str], expected: set[str]) -> list[str]:
    """What is in one of two sets and not in the other."""
    missing = [f"{what} {s} is missing" for s in sorted(expected - own)]
    return missing + [f"{what} {s} is not the reference's" for s in sorted(own - expected)]


def complaints(op: Op) -> list[str]:
    """How the declaration of `op` differs from the reference's, as far as that knows the type."""
    proto = table("op_protos").get(op.type)
    if proto is None or "inputs" not in proto:
        return []
    found = slot_complaints(op, proto) + attribute_complaints(op, proto)
    return found + empty_complaints(op) + gradient_complaints(op)


def slot_complaints(op: Op, proto: dict[str, Any]) -> list[str]:
    """Slots that differ in name, or in being lists or optional."""
    ins, outs = [{name: flags for name, *flags in proto[side]} for side in ("inputs", "outputs")]
    own = {op.slot(n): n for n in op.inputs if n not in op.levels}
    results = {op.slot(n): n for n in op.outputs if n not in op.tells}
    results |= {"XShape": ""} if op.xshape else {}
    found = differing("input", set(own), set(ins)) + differing("output", set(results), set(outs))
    for slot, n in own.items():
        flags = ins.get(slot, ())
        if slot in ins and ("duplicable" in flags) != (n in op.lists):
            found.append(f"input {slot} is {'no ' * (n not in op.lists)}list")
        if slot in ins and ("dispensable" in flags) != (n not in op.required):
            found.append(f"input {slot} is {'not ' * (n in op.required)}optional")
    for slot, n in results.items():
        if slot in outs and ("duplicable" in outs[slot]) != (n in op.output_lists):
            found.append(f"output {slot} is {'no ' * (n not in op.output_lists)}list")
    return found


def empty_complaints(op: Op) -> list[str]:
    """Slots that are written though nothing stands in them, and should not be; or the reverse."""
    shown = recorded(op.type)
    found = []
    for side, names in (("inputs", op.inputs), ("outputs", op.outputs)):
        written = {slot for o in shown for slot in o[side]}
        empty = {slot for o in shown for slot, variables in o[side].items() if not variables}
        own = {op.slot(n) for n in names} if any(o[side] for o in shown) else set()
        found += [f"empty slot {s} is written" for s in sorted(own - written - op.unsaid)]
        found += [f"empty slot {s} is not written" for s in sorted(empty & op.unsaid)]
    return found


def attribute_complaints(op: Op, proto: dict[str, Any]) -> list[str]:
    """Attributes that differ in name, kind or default."""
    expected = {a["name"]: a for a in proto["attributes"] if a["name"] not in HIDDEN}
    own = {op.attribute(n): n for n in op.kinds}
    extra = {n for n, a in expected.items() if "extra" in a.get("flags", ())}
    undeclared = proto.get("undeclared_attributes", {})
    known = set(own) | set(op.fixed) - HIDDEN - set(undeclared)
    found = differing(
        "attribute", known, set(expected) - (extra - known) | (known & set(undeclared))
    )
    for name, n in own.items():
        if name in expected:
            found += kind_complaints(op, n, expected[name])
    for name, value in op.fixed.items():
        shown = [o["attributes"][name][1] for o in recorded(op.type) if name in o["attributes"]]
        default = expected.get(name, {}).get("default", undeclared.get(name, value))
        if value not in (shown or [default]):
            found.append(f"attribute {name} is {value!r}, by default {default!r}")
    return found


def kind_complaints(op: Op, name: str, expected: dict[str, Any]) -> list[str]:
    """How the kind or the default of an attribute differs."""
    spelt, kind = op.attribute(name), op.kinds[name]
    found = []
    if kind.wire != expected["type"]:
        found.append(f"attribute {spelt} is {kind.wire}, not {expected['type']}")
    if "default" in expected and name not in op.attrs:
        found.append(f"attribute {spelt} has no default")
    elif "default" in expected:
        own = kind.spelt(normalised(kind, name, op.attrs[name]))
        if own != expected["default"]:
            found.append(f"attribute {spelt} is {own!r} by default, not {expected['default']!r}")
    return found


def gradient_complaints(op: Op) -> list[str]:
    """How the derived gradient operator differs from that in Programs of the reference."""
    shown = recorded(op.type, "gradient", op.type + "_grad")
    if not shown:
        return []
    g = op.gradient
    if g is None or op.inline_gradient:
        return ["the gradient operator is missing"]
    ins = {slot for o in shown for slot in o["inputs"]}
    outs = {slot for o in shown for slot in o["outputs"]}
    own = {g.slot(n) for n in g.inputs} - g.unsaid, {g.slot(n) for n in g.outputs}
    return differing("gradient input", own[0], ins) + differing("gradient output", own[1], outs)


def check_slots(op: Op) -> None:
    """Assert that a declaration is the reference's, but for the deviations that have a reason."""
    found, allowed = set(complaints(op)), set(DEVIATIONS.get(op.type, ()))
    text = [f"{op.name} ({op.type}): {c}" for c in sorted(found - allowed)]
    stale = [f"{op.type}: the deviation {c!r} is gone" for c in sorted(allowed - found)]
    assert not text + stale, "\n".join(text + stale)
