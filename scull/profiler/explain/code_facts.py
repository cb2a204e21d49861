"""What a page shows of machine code, as data: kernels, why they are what they are, the arena."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scull.compiler.cost import Cost, cost_of
from scull.compiler.decision import Decision, Kind
from scull.compiler.peak import peak
from scull.compiler.target import target
from scull.compiler.text import group_lines, surroundings
from scull.profiler.explain.code import Code, Kernel, Made
from scull.runtime import llvm

if TYPE_CHECKING:
    from scull.profiler.explain.facts import Numbering

Facts = dict[str, Any]

LONGEST = 40_000  # letters of the text of one kernel
MOST = 3_000_000  # and of all on a page
REASONS = 40  # for one kernel
SAID: dict[Kind, str] = {
    "phase": "{0} is a part of {1}: {2}",
    "turned": "{0} has its axes in another order: {2}",
    "stored": "{0} is stored, too: {2}",
    "apart": "{0} is not in the kernel of {1}: {2}",
    "joined": "{0} is in the loop over rows of {1}: {2}",
    "together": "{0} is computed with {1}: {2}",
    "separate": "{0} has loops of its own beside {1}: {2}",
    "read": "{1} reads {0} from memory: {2}",
    "copied": "{0} is an operand of {1}, laid out anew: {2}",
    "inlined": "{0} is computed within {1}: {2}",
    "cut": "{0} is {1}, strip by strip: {2}",
    "trimmed": "{0} is not computed everywhere: {2}",
    "over": "{0} lies in the memory of {1}: {2}",
    "merged": "{0} is kept as the rows that are not 0: {2}",
}
FETCHED, LATER = "it is fetched", "it is used after the region"


def code_facts(code: Code | None, numbering: "Numbering") -> Facts | None:
    """All that is shown; nothing where there is no machine code."""
    if code is None:
        return None
    texts = Texts()
    before, after = code.before, code.after
    regions = [region_facts(View(made, numbering), texts) for made in code.regions]
    return {
        "level": target().name,
        "hits": after.hits - before.hits,
        "misses": after.misses - before.misses,
        "seconds": after.seconds - before.seconds,
        "peak": {
            "operations": peak().operations,
            "bandwidths": [list(pair) for pair in peak().bandwidths],
        },
        "regions": regions,
        "outside": outside(code, numbering),
        "batch": code.batch,
        "texts": texts.found,
    }


def outside(code: Code, numbering: "Numbering") -> list[Facts]:
    """The instructions that no code was made of, each with the reason."""
    inside = {number for made in code.regions for number in made.numbers}
    return [
        {"instruction": numbering.of_step[number], "reason": reason}
        for number, reason in code.reasons.items()
        if number not in inside and not numbering.plan.steps[number].is_shape
    ]


class Texts:
    """The LLVM IR and the instructions of kernels; equal ones are there once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.found: list[Facts] = []
        self.size = 0

    def of(self, kernel: Kernel) -> int:
        """The number of the text of a kernel, which is compiled to be read, and timed by that."""
        if kernel.name not in self.numbers:
            self.numbers[kernel.name] = len(self.found)
            start = time.perf_counter()
            assembly = llvm.machine_text(kernel.text)
            took = time.perf_counter() - start
            self.found.append(
                {"ir": self.cut(kernel.text), "assembly": self.cut(assembly), "seconds": took}
            )
        return self.numbers[kernel.name]

    def cut(self, text: str) -> str:
        """A text, or as much of it as there is room for."""
        room = max(0, min(LONGEST, MOST - self.size))
        self.size += min(room, len(text))
        return text if len(text) <= room else f"{text[:room]}\n; {len(text) - room} letters more"


class View:
    """One region, with what its arrays and steps are called on the page."""

    def __init__(self, made: Made, numbering: "Numbering") -> None:
        self.made, self.of_step = made, numbering.of_step
        self.variables = {
            name: numbering.called(slot, made.steps.get(name)) for name, slot in made.slots.items()
        }
        listed = list(numbering.variables)
        self.names: dict[str, str] = {
            name: listed[number].name for name, number in self.variables.items()
        }
        for name, origin in made.origins.items():
            self.names.setdefault(name, f"{origin}.{name}")
        self.steps = dict(made.steps)
        self.parts: dict[str, list[str]] = {}  # what is computed with an array, and has no memory
        placed = {x.name for x in made.region.inputs}
        placed |= {x.name for group in made.region.groups for s in group.stages for x in s.arrays}
        for d in made.decisions:
            if d.kind == "inlined" or (d.kind == "read" and d.array not in placed):
                self.parts.setdefault(d.other, []).append(d.array)
            elif d.kind in ("copied", "cut"):
                self.steps.setdefault(d.array, self.steps[d.other])
                self.names.setdefault(d.array, f"{self.name(d.other)}.{d.array}")
        self.inlined = {d.array for d in made.decisions if d.kind == "inlined"}
        self.results = {x.name for x in made.region.outputs}
        self.fetched = {slot for slot, _ in numbering.plan.fetches}

    def within(self, kernel: Kernel) -> set[str]:
        """The arrays that a kernel computes, those too that others compute as well."""
        pending = [x.name for stage in kernel.group.stages for x in stage.arrays]
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(self.parts.get(name, ()))
        return seen

    def instructions(self, arrays: Iterable[str]) -> list[int]:
        """The instructions that arrays come from."""
        return sorted({self.of_step[self.steps[name]] for name in arrays if name in self.steps})

    def name(self, array: str) -> str:
        """What an array is called: by its variable, else by its operator."""
        return self.names.get(array, array)

    def said(self, decision: Decision) -> str:
        """A decision as a sentence."""
        kind, array, other, why = decision
        if kind == "stored" and array in self.results:
            why = FETCHED if self.made.slots.get(array) in self.fetched else LATER
        return SAID[kind].format(self.name(array), self.name(other), why)


def region_facts(view: View, texts: Texts) -> Facts:
    """One region: its kernels and the memory between them."""
    made = view.made
    around = surroundings(made.region.nodes, view.names)
    kernels = [
        kernel_facts(kernel, outer, view, texts)
        for kernel, outer in zip(made.kernels, around, strict=True)
    ]
    blocks = [
        {
            "name": view.name(array.name),
            "variable": view.variables.get(array.name),
            "offset": block.offset,
            "size": block.size,
            "first": block.first,
            "last": block.last,
        }
        for array, block in made.region.arena.blocks.items()
    ]
    return {
        "instructions": [view.of_step[number] for number in made.numbers],
        "kernels": kernels,
        "arena": {"size": made.region.arena.size, "blocks": blocks},
    }


def kernel_facts(kernel: Kernel, outer: tuple[str, ...], view: View, texts: Texts) -> Facts:
    """One kernel: its operators and loops, what it costs and how near it comes to the peak."""
    lines = [f"# in: {head}" for head in outer]
    lines += group_lines(kernel.group, names=view.names)
    cost, members = cost_of(kernel.group), view.within(kernel)
    return {
        "instructions": view.instructions(members),
        "origins": kernel.group.origins,
        "seconds": kernel.seconds,
        "read": cost.read,
        "written": cost.written,
        "operations": cost.operations,
        **share_of(cost, kernel.seconds),
        "lines": lines,
        "because": reasons(kernel, members, view)[:REASONS],
        "text": texts.of(kernel),
    }


def share_of(cost: Cost, seconds: float | None) -> Facts:
    """How much of the peak was reached, and what bounds the kernel."""
    least = peak().seconds(cost)
    bound = "memory" if peak().moving(cost) == least else "arithmetic"
    return {"share": None if not seconds else least / seconds, "bound": bound}


def reasons(kernel: Kernel, members: set[str], view: View) -> list[str]:
    """Why a kernel computes what it does, and nothing else."""
    own = {x.name for stage in kernel.group.stages for x in stage.arrays}
    written = {x.name for x in kernel.group.written}
    read = {x.name for x in kernel.group.read}
    found: dict[Kind, list[str]] = {kind: [] for kind in SAID}
    for d in view.made.decisions:
        shown = {
            "inlined": d.other in members,
            "read": d.other in own and d.array in read,
            "stored": d.array in written & view.inlined,
            "together": d.array in members and d.other in members,
            "separate": d.array in own and d.other in own,
            "joined": d.array in own and d.other in own,
            "apart": d.array in own and d.other not in own,
            "copied": d.other in own or d.array in own,
            "phase": d.array in own,
            "turned": d.array in own,
            "cut": d.array in own,
            "trimmed": d.array in own,
            "over": d.array in own,
            "merged": d.array in members or d.array in own,
        }
        if shown.get(d.kind):
            found[d.kind].append(view.said(d))
    alone = ["A contraction has a kernel of its own."] * kernel.group.stages[0].is_contraction
    return [*alone, *(text for kind in SAID for text in found[kind])]
