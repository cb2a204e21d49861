"""`scull inspect`: what is in a saved model, without running it."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from scull.cli.explain import shape
from scull.cli.model import (
    SavedModel,
    bytes_of,
    elements_of,
    given_metas,
    heading,
    opened,
    operations,
    plan_of,
    readable,
)
from scull.core.meta import Meta
from scull.errors import ScullError
from scull.executor.prepare import call_text
from scull.ir.lacking import lacking
from scull.ir.variable import ParameterVariable, Variable

LARGEST = 10  # values that are listed, unless all are asked for


def main(arguments: Sequence[str]) -> int:
    """Print what is in a model; 1 when it cannot be read."""
    options = parser().parse_args(arguments)
    try:
        model = opened(options.model)
        facts = facts_of(model, dict(options.shape))
    except (ScullError, OSError) as error:
        print(f"scull inspect: {options.model}: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    print("\n".join(lines_of(facts, all_values=options.all)))
    if options.program:
        print(f"\n{heading('Program')}\n{model.program}")
    else:
        print("\n".join(["", *operator_lines(model)]))
    return 0


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    text = "Print what is in a saved model: inputs and outputs, values, operators, memory, flops."
    made = argparse.ArgumentParser(prog="scull inspect", description=text)
    made.add_argument("model", help="a folder, the prefix of a model, or one of its files")
    made.add_argument(
        "--shape",
        action="append",
        default=[],
        type=shape,
        metavar="NAME=SIZES",
        help="of an input, for memory and flops, as in x=1,3,224,224; unknown sizes are 1",
    )
    made.add_argument("--all", action="store_true", help=f"all values, not the {LARGEST} largest")
    made.add_argument("--program", action="store_true", help="the Program with its attributes")
    made.add_argument("--json", action="store_true", help="all of it for programs to read")
    return made


def facts_of(model: SavedModel, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """What there is to say, as JSON spells it."""
    metas = given_metas(model, shapes)
    values, operators = model.values, model.operators
    missing = lacking(model.program.global_block())
    version = model.program.wire.version.version
    counted, operators_counted = operations(model, metas)
    return {
        "program": {"path": model.place.program, "bytes": model.sizes[0], "version": version},
        "values": {
            "path": model.place.values,
            "bytes": model.sizes[1],
            "count": len(values),
            "elements": elements_of(values),
            "memory": bytes_of(values),
        },
        "inputs": [described(v) for v in model.feeds],
        "outputs": [described(v) for v in model.fetches],
        "parameters": [
            {
                **described(v),
                "bytes": bytes_of([v]),
                "trainable": isinstance(v, ParameterVariable) and not v.stop_gradient,
            }
            for v in values
        ],
        "blocks": len(model.program.blocks),
        "operators": dict(Counter(o.type for o in operators).most_common()),
        "unsupported": [{"type": o.type, "count": o.count, "first": o.place} for o in missing],
        "shapes": {v.name: list(meta.shape) for v, meta in metas.items()},
        "memory": None if missing else run_memory(model, metas),
        "flops": counted,
        "operators_counted": operators_counted,
    }


def described(v: Variable) -> dict[str, Any]:
    """A variable: its name, element type and shape."""
    return {"name": v.name, "dtype": v.dtype.name, "shape": list(v.shape)}


def run_memory(model: SavedModel, metas: dict[Variable, Meta]) -> dict[str, Any]:
    """The most bytes of a run's temporaries, and why they are a bound or none."""
    plan = plan_of(model)
    slots = {v: slot for v, slot, _ in plan.feeds}
    peak = plan.peak_for({slots[v]: meta for v, meta in metas.items() if v in slots})
    return {"bytes": peak.size, "because": peak.because}


def lines_of(facts: dict[str, Any], *, all_values: bool = False) -> Iterator[str]:
    """The facts as text."""
    program, values = facts["program"], facts["values"]
    version = program["version"]
    paddle = f"{version // 10**6}.{version // 1000 % 1000}.{version % 1000}" if version else "?"
    yield f"{program['path']}  {readable(program['bytes'])}, written for Paddle {paddle}"
    if values["path"]:
        yield f"{values['path']}  {readable(values['bytes'])}"
    for title in ("inputs", "outputs"):
        yield f"\n{heading(title.capitalize())}"
        yield from (f"  {v['name']}  {kind(v)}" for v in facts[title])
    total = f"{values['count']}, {values['elements']:,} elements, {readable(values['memory'])}"
    yield f"\n{heading('Values')}  {total}"
    largest = sorted(facts["parameters"], key=lambda v: -v["bytes"])
    listed = facts["parameters"] if all_values else largest[:LARGEST]
    for v in listed:
        trained = "" if v["trainable"] else ", not trained"
        yield f"  {v['name']}  {kind(v)}  {readable(v['bytes'])}{trained}"
    if len(listed) < values["count"]:
        yield f"  and {values['count'] - len(listed)} smaller ones"
    yield from run_lines(facts)


def run_lines(facts: dict[str, Any]) -> Iterator[str]:
    """What a run takes, and which operators it has."""
    memory, shapes = facts["memory"], facts["shapes"]
    given = ", ".join(f"{name}={','.join(map(str, s))}" for name, s in shapes.items())
    yield f"\n{heading('A run')}  {f'of {given}' if given else 'without inputs'}"
    if memory is None:
        yield "  memory  none: it cannot run"
    elif memory["bytes"] is None:
        yield f"  memory  unbounded because of {memory['because']}"
    else:
        most = f"at most {readable(memory['bytes'])}, a bound because of {memory['because']}"
        took = most if memory["because"] else readable(memory["bytes"])
        yield f"  memory  {took} besides values and inputs"
    of = f"{facts['operators_counted']} of {sum(facts['operators'].values())} operators"
    yield f"  flops   {facts['flops']:,}, of {of}"
    yield f"\n{heading('Operators')}  {sum(facts['operators'].values())}"
    yield from (f"  {count:>5}  {name}" for name, count in facts["operators"].items())
    if facts["unsupported"]:
        yield f"\n{heading('Not in scull')}"
        for o in facts["unsupported"]:
            yield f"  {o['count']:>5}  {o['type']}, the first at {o['first']}"


def operator_lines(model: SavedModel) -> Iterator[str]:
    """The operators in order, a line each."""
    for block in model.program.blocks:
        title = "Program" if not block.idx else f"Block {block.idx} in block {block.parent_idx}"
        yield heading(title)
        kept = [o for o in block.ops if o.type not in ("feed", "fetch", "fetch_v2")]
        yield from (f"  {i:>4}  {call_text(o)}" for i, o in enumerate(kept))


def kind(v: dict[str, Any]) -> str:
    """The element type and the shape of a variable."""
    return f"{v['dtype']}{v['shape']}"
