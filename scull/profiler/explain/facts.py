"""What a page shows, as data: of the Program, of the plan, of a run of it."""

import linecache
from collections.abc import Iterable, Iterator
from threading import main_thread
from typing import Any

from scull.executor.alias import written
from scull.executor.plan import FIRST, Plan
from scull.executor.stream import Streams
from scull.ir.operator import COMMON, Operator, each, program_outputs
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.profiler.explain.code_facts import code_facts
from scull.profiler.explain.layout import drawn
from scull.profiler.explain.record import Recorded

Facts = dict[str, Any]

LONGEST = 160  # letters of an attribute
LETTER, BORDER = 7.3, 44.0  # pixels of a letter in a box of the graph, and beside the word
BACKWARD, OPTIMIZE, RATE = 1, 2, 16  # bits of roles of operators


class Numbering:
    """The numbers of variables and operators on the page, those of the plan first."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.plan = plan
        self.variables = {v: i for i, v in enumerate(plan.variables[FIRST:])}
        for block in program.blocks:
            for v in block.vars.values():
                self.variables.setdefault(v, len(self.variables))
            for o in block.ops:
                for v in (*o.operands(), *o.results()):
                    self.variables.setdefault(v, len(self.variables))
        listed = [o for block in program.blocks for o in block.ops]
        made = [as_written(step.operator) for step in plan.instructions]
        self.operators = {o: i for i, o in enumerate(dict.fromkeys((*listed, *made)))}
        self.instructions = {o: i for i, o in enumerate(made)}
        self.places = dict(self.placed())
        self.of_step = instruction_of_step(plan)

    def placed(self) -> Iterator[tuple[int, int]]:
        """Variables of the Program and those of the plan in whose places their values stand."""
        for step in self.plan.instructions:
            found = as_written(step.operator)
            if found.op is step.operator.op:
                for v, place in zip(found.results(), step.operator.results(), strict=True):
                    if v is not place:
                        yield self.variables[v], self.variables[place]

    def called(self, slot: int, number: int | None) -> int:
        """The variable in a slot of a frame, as step `number` has written it."""
        place = self.plan.variables[slot]
        if number is not None:
            o = self.plan.steps[number].operator
            found = as_written(o)
            if found.op is o.op:
                for v, other in zip(found.results(), o.results(), strict=True):
                    if other is place:
                        return self.variables[v]
        return slot - FIRST

    def slots(self, slots: Iterable[int]) -> list[int]:
        """The variables in some slots of a frame."""
        return [slot - FIRST for slot in dict.fromkeys(slots)]

    def of(self, variables: Iterable[Variable]) -> list[int]:
        """The numbers of some variables."""
        return [self.variables[v] for v in variables]


def facts_of(program: Program, recorded: Recorded, title: str) -> Facts:
    """All that a page shows, as what JSON can hold."""
    plan = recorded.plan
    if plan.instructions:  # the Program may have been pruned for this run
        program = as_written(plan.instructions[0].operator).block.program
    numbering = Numbering(program, plan)
    return {
        "title": title,
        "draws": plan.draws,
        "peak": {"size": recorded.peak.size, "because": recorded.peak.because},
        "conflicts": len(plan.graph.conflicts),
        "sequential": plan.sequential,
        "blocks": [
            {"parent": b.parent_idx, "operators": [numbering.operators[o] for o in b.ops]}
            for b in program.blocks
        ],
        "operators": [operator_facts(o, numbering) for o in numbering.operators],
        "variables": variables_facts(program, numbering),
        **graph_facts(plan, numbering),
        "streams": stream_facts(recorded.streams),
        **run_facts(recorded, numbering),
        "code": code_facts(recorded.code, numbering),
    }


def as_written(o: Operator) -> Operator:
    """The operator as it stands in the Program: planning sees one with blocks as a function."""
    found: Operator = getattr(o.op, "source", o.source or o)
    return found


def instruction_of_step(plan: Plan) -> list[int]:
    """For every step the instruction that it is or follows."""
    found, number = [], -1
    for step in plan.steps:
        number += not step.is_shape
        found.append(max(number, 0))
    return found


def operator_facts(o: Operator, numbering: Numbering) -> Facts:
    """One operator as a Program says it."""
    line = str(o.line or "")
    return {
        "type": o.type,
        "role": role_name(o.role),
        "block": o.block.idx if o.block is not None else 0,
        "ins": slot_facts(o.op.inputs, o.inputs, o, numbering),
        "outs": slot_facts(program_outputs(o.op), o.outputs, o, numbering),
        "attrs": list(attributes(o)),
        "line": line,
        "source": source_of(line),
        **plan_facts(numbering.instructions.get(o), numbering),
    }


def plan_facts(i: int | None, numbering: Numbering) -> Facts:
    """What the plan made of an operator: nothing, or an instruction."""
    if i is None:
        return {"instruction": None, "copies": False, "takes": None}
    step = numbering.plan.instructions[i]
    over = step.operator.over
    takes = None if over is None else numbering.variables[over]
    return {"instruction": i, "copies": step.copies, "takes": takes}


def role_name(role: int) -> str:
    """What an operator is for."""
    if role & (OPTIMIZE | RATE):
        return "update"
    return "backward" if role & BACKWARD else "forward"


def slot_facts(
    names: Iterable[str], slots: Iterable[Any], o: Operator, numbering: Numbering
) -> list[tuple[str, list[int]]]:
    """What stands in the slots of an operator, empty ones left out."""
    found = [
        (o.op.slot(name), numbering.of(each(slot)))
        for name, slot in zip(names, slots, strict=False)
    ]
    return [(name, held) for name, held in found if held]


def attributes(o: Operator) -> Iterator[tuple[str, str]]:
    """The attributes that say something, with their values as text."""
    told = {o.op.attribute(n): v for n, v in o.told.items()}
    attrs = o.spelt()
    for name in sorted(attrs.keys() - COMMON.keys() - o.op.unprinted - {"op_callstack"}):
        value = attrs[name]
        if name in told:
            text = ", ".join(v.name for v in each(told[name]))
        else:
            text = f"block {value.idx}" if hasattr(value, "idx") else str(value)
        yield name, text if len(text) <= LONGEST else text[:LONGEST] + "…"


def source_of(line: str) -> str:
    """The user's line itself, where its file is still there."""
    path, _, number = line.rpartition(":")
    return linecache.getline(path, int(number)).strip() if number.isdigit() else ""


def variables_facts(program: Program, numbering: Numbering) -> list[Facts]:
    """Every variable, and who writes, reads and frees it."""
    plan = numbering.plan
    fed, fetched = {v for v, _, _ in plan.feeds}, {slot for slot, _ in plan.fetches}
    found: list[Facts] = []
    names: dict[str, int] = {}
    for v, i in numbering.variables.items():
        again = names.setdefault(v.name, i) != i
        found.append(
            {
                "name": v.name,
                "key": f"{v.name}@{v.block.idx}" if again else v.name,
                "meta": str(v.meta),
                "kind": kind_name(v, v in fed),
                "block": v.block.idx,
                "planned": i + FIRST < len(plan.variables),
                "place": numbering.places.get(i),
                "fetched": i + FIRST in fetched,
                "kept": i + FIRST in plan.kept,
                **{use: [] for use in ("writers", "readers", "shapes", "frees", "last", "inside")},
            }
        )
    note_uses(found, numbering)
    note_places(found, numbering)
    return found


def note_places(found: list[Facts], numbering: Numbering) -> None:
    """Say who uses the variables that the plan has not: by their names in the Program."""
    for o, number in numbering.operators.items():
        reads, writes = set(numbering.of(o.operands())), set(numbering.of(o.results()))
        if o not in numbering.instructions:
            for v in reads | writes:
                found[v]["inside"].append(number)
            continue
        for use, used in (("readers", reads), ("writers", writes)):
            for v in used & numbering.places.keys():
                found[v][use].append(numbering.instructions[o])
    last = {place: v for v, place in numbering.places.items()}  # what stands there in the end
    for place, v in last.items():
        found[v]["frees"] = found[place]["frees"]


def note_uses(found: list[Facts], numbering: Numbering) -> None:
    """Say of the variables of the plan which instructions use them, and how."""
    plan = numbering.plan
    for number, step in zip(numbering.of_step, plan.steps, strict=True):
        for i in numbering.slots(step.frees):
            found[i]["frees"].append(number)
        if step.is_shape:
            continue
        over = numbering.of(written(step.operator))
        for i in dict.fromkeys((*numbering.slots(step.writes), *over)):
            found[i]["writers"].append(number)
        for slot in dict.fromkeys(step.reads):
            use = "shapes" if slot in step.shapes else "readers"
            found[slot - FIRST][use].append(number)
    for life in plan.lifetimes:
        found[life.slot - FIRST]["last"].extend(life.last)


def kind_name(v: Variable, fed: bool) -> str:
    """What a variable is in this run."""
    if fed:
        return "fed"
    if v.is_parameter:
        return "parameter"
    return "persistable" if v.persistable else "temporary"


def graph_facts(plan: Plan, numbering: Numbering) -> Facts:
    """The instructions, what each waits for, and where all that is drawn."""
    steps, edges = plan.instructions, plan.graph.edges
    widths = [len(f"{i} {s.operator.type}") * LETTER + BORDER for i, s in enumerate(steps)]
    drawing = drawn(widths, [(e.before, e.after) for e in edges])
    frees: list[list[int]] = [[] for _ in steps]
    for number, step in zip(numbering.of_step, plan.steps, strict=True):
        frees[number].extend(numbering.slots(step.frees))
    instructions = [
        {
            "operator": numbering.operators[as_written(step.operator)],
            "reads": numbering.slots(step.reads),
            "writes": numbering.slots(step.writes),
            "over": numbering.of(written(step.operator)),
            "frees": freed,
            "box": rounded((x, y, width)),
        }
        for step, freed, (x, y), width in zip(steps, frees, drawing.boxes, widths, strict=True)
    ]
    joined = [
        {
            "before": edge.before,
            "after": edge.after,
            "kinds": list(dict.fromkeys(reason.kind for reason in edge.reasons)),
            "why": edge.why,
            "points": [rounded(point) for point in points],
        }
        for edge, points in zip(edges, drawing.edges, strict=True)
    ]
    size = rounded((drawing.width, drawing.height))
    return {"instructions": instructions, "edges": joined, "size": size}


def stream_facts(streams: Streams) -> Facts:
    """The streams, what runs on each, and how one waits for another."""
    lanes = list(dict.fromkeys(streams.streams))
    return {
        "place": streams.place,
        "lanes": lanes,
        "tasks": [
            [lanes.index(lane), task.instruction, task.text]
            for task, lane in zip(streams.tasks, streams.streams, strict=True)
        ],
        "waits": [
            [w.before, w.after, w.kind, ", ".join(w.names)]
            for w in streams.waits
            if streams.streams[w.before] != streams.streams[w.after]
        ],
        "events": list(streams.events),
    }


def run_facts(recorded: Recorded, numbering: Numbering) -> Facts:
    """When each instruction ran, and the memory it left behind."""
    of_step = numbering.of_step
    main = main_thread().name
    threads = sorted({ran.thread for ran in recorded.spans}, key=lambda t: (t != main, t))
    live, highest = ([0] * len(numbering.instructions) for _ in range(2))
    for number, size, most in zip(of_step, recorded.live, recorded.highest, strict=False):
        live[number], highest[number] = size, max(most, highest[number])
    return {
        "threads": threads,
        "spans": [
            [of_step[ran.step], threads.index(ran.thread), ran.start, ran.end - ran.start]
            for ran in recorded.spans
        ],
        "live": live if recorded.live else None,  # devices do not count
        "highest": highest,
        "buffers": [
            {
                "variables": with_placed(numbering.slots(held.slots), numbering),
                "size": held.size,
                "born": of_step[held.born],
                "freed": None if held.freed is None else of_step[held.freed],
            }
            for held in recorded.buffers
        ],
    }


def with_placed(variables: list[int], numbering: Numbering) -> list[int]:
    """Variables of the plan, each followed by those whose values stand in its place later."""
    after: dict[int, list[int]] = {}
    for v, place in numbering.places.items():
        after.setdefault(place, []).append(v)
    return [v for place in variables for v in (place, *after.get(place, ()))]


def rounded(values: Iterable[float]) -> list[float]:
    """Numbers to a tenth, which a screen cannot tell apart."""
    return [round(v, 1) for v in values]
