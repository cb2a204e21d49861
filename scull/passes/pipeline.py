"""Pipelines: passes by name, one after the other, and what each of them did and left."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from scull.errors import ArgumentError, ProgramError
from scull.flags import flag
from scull.ir.program import Program
from scull.ir.verify import verify
from scull.passes.catalogue import PASSES
from scull.passes.work import Event, Pass, Work
from scull.runtime.scope import Scope

NEAR = 5  # operators before and behind one that is wrong
PLACE = re.compile(r"block (\d+), operator (\d+)")


@dataclass(frozen=True)
class Outcome:
    """A Program after a pipeline, its constants, and by pass what happened where."""

    program: Program
    scope: Scope | None
    events: dict[str, tuple[Event, ...]]

    def fired(self, name: str = "") -> list[Event]:
        """What a pass changed, or all of them."""
        found = self.events.get(name, ()) if name else sum(self.events.values(), ())
        return [event for event in found if event.fired]

    def explain(self) -> str:
        """By pass where it did something, and where not and why."""
        rows = []
        for name, events in self.events.items():
            rows.append(f"{name}: {sum(e.fired for e in events)} times")
            rows += [f"  {event}" for event in events]
        return "\n".join(rows)


class Pipeline:
    """Passes by their names, in order; `print` shows them.

    Args:
        names (Iterable[str]): of passes in `scull.passes.catalogue.PASSES`.

    Raises:
        scull.errors.ArgumentError: there is no pass of one of the names.

    Examples:
        >>> import scull as paddle
        >>> from scull.passes.pipeline import Pipeline
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y, z = paddle.exp(x), paddle.exp(x)
        ...     total = y + z
        >>> outcome = Pipeline(["common_subexpression_elimination_pass"]).run(
        ...     main, fetches=[total.name]
        ... )
        >>> [o.type for o in outcome.program.global_block().ops]
        ['exp', 'elementwise_add']
        >>> print(outcome.explain())
        common_subexpression_elimination_pass: 1 times
          `exp` (exp_1.tmp_0) becomes `exp_0.tmp_0`
        >>> paddle.disable_static()
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.passes = [found(name) for name in names]

    def run(
        self,
        program: Program,
        feeds: Iterable[str] = (),
        fetches: Iterable[str] = (),
        scope: Scope | None = None,
    ) -> Outcome:
        """Take a copy of `program` through the passes.

        With a `scope` persistable variables that no operator writes are constants, with the values
        they have there; constants that are made stand in one within it.
        """
        inner = None if scope is None else Scope(scope)
        work = Work(program, feeds, fetches, inner)
        shapes = flag("VERIFY_PASSES") and has_shapes(work.program)
        events: dict[str, tuple[Event, ...]] = {}
        for each in self.passes:
            work.events = []
            each.run(work)
            events[each.name] = events.get(each.name, ()) + tuple(work.events)
            shown(each, work, shapes)
        return Outcome(work.settle(), inner, events)

    def __str__(self) -> str:
        return "\n".join(map(str, self.passes))


def passed(
    program: Program, feeds: Iterable[str], fetches: Iterable[str], names: Iterable[str]
) -> Program:
    """A copy of `program` after some passes."""
    return Pipeline(names).run(program, feeds, fetches).program


def apply_to(program: Program, names: Iterable[str], fetches: Iterable[str] = ()) -> list[Event]:
    """Take `program` itself through some passes; what they changed.

    Its variables are new ones of the same names.
    """
    outcome = Pipeline(names).run(program, fetches=fetches)
    program.blocks = outcome.program.blocks
    for block in program.blocks:
        block.program = program
    program.changed()
    return outcome.fired()


def found(name: str) -> Pass:
    """The pass of this name."""
    if name not in PASSES:
        raise ArgumentError(f"there is no pass `{name}`; there are {', '.join(PASSES)}")
    return PASSES[name]


def has_shapes(program: Program) -> bool:
    """Whether a Program declares what operators infer; saved ones leave out what nobody reads."""
    try:
        verify(program)
    except ProgramError:
        return False
    return True


def shown(each: Pass, work: Work, shapes: bool) -> None:
    """Print what the settings ask for; check what came out where they say so."""
    level = flag("DEBUG")
    if flag("VERIFY_PASSES"):
        check(each.name, work.settle(), shapes)
    if level >= 3 and any(event.fired for event in work.events):
        print(f"after {each.name}\n{work.settle()}")
    if level >= 5:
        for event in work.events:
            if not event.fired:
                print(f"{each.name}: {event}")


def check(name: str, program: Program, shapes: bool) -> None:
    """Raise ProgramError, with the operators around the bad one, where a pass broke a rule."""
    try:
        verify(program, shapes=shapes)
    except ProgramError as error:
        place = PLACE.search(str(error))
        lines = near(program, *map(int, place.groups())) if place else []
        raise ProgramError("\n".join([f"after {name}: {error}", *lines])) from error


def near(program: Program, block: int, at: int) -> list[str]:
    """The operators around one of a block."""
    ops = program.blocks[block].ops
    first = max(at - NEAR, 0)
    return [
        f"{'->' if i == at else '  '} {i:>4}  {o}"
        for i, o in enumerate(ops[first : at + NEAR], first)
    ]
