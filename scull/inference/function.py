"""A model as a pure function of arrays: planned once, its values in place, run by any thread.

What a call changes is its frame, a copy of a list that holds the values of the model already.
Nothing is put back into a scope; values that operators write over are copied for each call.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from threading import Lock, RLock
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from scull.core import session
from scull.core.meta import Kind
from scull.core.op import MARK
from scull.core.timeline import active
from scull.deferred import load
from scull.errors import FeedError, ResourceError, ShapeError
from scull.executor.alias import written
from scull.executor.binding import Bound, Settings, peak_of_run, planned, special
from scull.executor.executor import Executor, as_resource, executed
from scull.executor.feed import Feed, agrees, as_array, fit
from scull.executor.fetch import delivered
from scull.executor.plan import IN_ORDER, Plan
from scull.executor.recorded import recorded
from scull.executor.run import run
from scull.executor.schedule import is_large, touched_bytes
from scull.files.model import Model
from scull.flags import changes
from scull.inference.chain import Call, chained, is_tiny
from scull.inference.simplify import simplified
from scull.runtime.blas import at_most, threads
from scull.runtime.scope import Scope

LEVEL = "scull.executor.level"
PLANNING, DRAWING = Lock(), RLock()
MOST_SHAPES = 256  # of an input that are known to be right
WIDE = 1.5  # times the longest path: a plan that is worth several threads


class Ready(NamedTuple):
    """What a call needs, made under the settings of one moment."""

    era: int  # of the settings
    bound: Bound
    template: list[Any]  # the frame of a call, without its inputs
    entries: tuple[Any, ...]  # by input the Feed and the shapes known to be right
    copied: tuple[int, ...]  # slots of values that operators write over
    plain: bool  # nothing but the loop over its steps is asked for
    chain: tuple[Call, ...] | None  # that loop as a row of functions
    limited: bool  # whether products of matrices would take too many threads
    natives: dict[Any, Call]  # by the shape of the one input, the model as one function
    marks: tuple[tuple[int, int], ...]  # an input, and the slot that its levels of detail take


class Function:
    """The outputs of a model as a function of its inputs, both in order.

    It is planned at its first call, and again when settings have changed.
    """

    def __init__(
        self, model: Model, scope: Scope, passes: Any, threads: int = 1, most: int = 0
    ) -> None:
        self.model, self.scope, self.passes, self.threads = model, scope, tuple(passes), threads
        self.executor = Executor()
        self.simplified: tuple[Model, Scope] | None = None
        self.ready: Ready | None = None
        self.most = most  # bytes that the values and the temporaries of a call may take; 0: any
        self.limit = most and max(most - sum(self.sizes().values()), 1)  # of the temporaries

    def giving(self, model: Model) -> "Function":
        """The function of another model, with the same values; nothing of it is simplified."""
        return Function(model, self.scope, (), self.threads, self.most)

    def sizes(self) -> dict[str, int]:
        """The bytes of the values, by name."""
        cells = self.scope.cells.values()
        return {cell.name: cell.value.nbytes for cell in cells if cell.value is not None}

    def __call__(self, inputs: Any) -> list[Any]:
        """The outputs, as new arrays; as LoDTensors where they have levels of detail."""
        ready = self.ready
        if ready is None or ready.era != changes[0]:
            ready = self.prepared()
        bound, frame = ready.bound, ready.template.copy()
        for (entry, shapes), value in zip(ready.entries, inputs, strict=True):
            if type(value) is not ndarray:
                value = as_array(value, entry)
            if value.shape not in shapes or value.dtype is not entry.dtype:
                value = checked(value, entry, shapes)
            frame[entry.slot] = value
        if ready.marks:
            tell_levels(ready, frame, inputs)
        try:
            if ready.plain and not (active or self.limit):
                steps = bound.steps if bound.tier is None else self.tiered(ready, frame)
                run(bound.plan, steps, frame)
            else:
                self.run_special(ready, frame)
        except MemoryError as error:
            raise as_resource(error) from None
        except ShapeError as error:
            others = [*others_than_declared(ready, inputs)]
            if not others:
                raise
            raise FeedError("\n".join([*others, f"so it cannot run: {error}"])) from error
        found = []
        for slot, copy in bound.fetches:
            value = frame[slot]
            if copy or type(value) is not ndarray or value.base is not None:
                value = delivered(value, True, True)
            found.append(value)
        return load(LEVEL, "levelled")(bound, found, False) if bound.sequences else found

    def single(self, x: Any) -> Any:
        """The one output of the one input: the short way, where the plan is a row of functions."""
        ready = self.ready
        if ready is not None and ready.natives and ready.era == changes[0] and not active:
            native = ready.natives.get(x.shape) if type(x) is ndarray else None
            if native is not None and (found := native(x)) is not None:
                return found
        if ready is None or ready.chain is None or ready.era != changes[0] or active or self.limit:
            return self((x,))[0]
        entry, shapes = ready.entries[0]
        if type(x) is not ndarray or x.dtype is not entry.dtype or x.shape not in shapes:
            return self((x,))[0]
        found = x
        try:
            for call in ready.chain:
                found = call(found)
        except Exception:
            return self((x,))[0]  # which says what is wrong, and where
        if type(found) is not ndarray or found.base is not None:
            return delivered(found, True, True)
        return found

    def tiered(self, ready: Ready, frame: list[Any]) -> Any:
        """The steps of a call, which may be machine code by now."""
        bound = ready.bound
        steps = bound.tier.steps(frame)
        if len(steps) == len(bound.feeds) == len(bound.fetches) == 1 and not self.limit:
            call, slot = steps[0][0], bound.feeds[0].slot
            if hasattr(call, "of_one") and frame[slot].shape not in ready.natives:
                native = call.of_one(slot, frame)
                if native is not None and not bound.fetches[0][1]:
                    ready.natives[frame[slot].shape] = native
        return steps

    def run_special(self, ready: Ready, frame: list[Any]) -> None:
        """Run what needs more than the loop: copies, draws, limits, several threads, a record."""
        bound = ready.bound
        if self.limit:
            self.refuse_beyond(bound, frame)
        for slot in ready.copied:
            frame[slot] = frame[slot].copy()
        if bound.draws:
            with DRAWING:
                self.draw(ready, frame)
        if bound.draws != IN_ORDER:
            self.execute(ready, frame)

    def draw(self, ready: Ready, frame: list[Any]) -> None:
        """Reserve the draws of a call; run it at once where nobody knows how many there are."""
        generator = session.generator()
        if ready.bound.draws == IN_ORDER:
            frame[1] = generator
            self.execute(ready, frame)
        else:
            frame[1] = generator.reserve(ready.bound.draws)

    def execute(self, ready: Ready, frame: list[Any]) -> None:
        """Run a frame that is filled."""
        bound = recorded(ready.bound) if active else ready.bound
        with at_most(self.threads) if ready.limited else nullcontext():
            executed(self.executor, bound, frame, self.limit)

    def refuse_beyond(self, bound: Bound, frame: list[Any]) -> None:
        """Refuse a call that may take too much, before it takes anything."""
        peak = peak_of_run(bound, frame)
        if peak.size is None or peak.size > self.limit:
            raise ResourceError(f"{peak.told}, and {self.limit} bytes are left for it")

    def prepared(self) -> Ready:
        """What calls need under the settings of this moment."""
        with PLANNING:
            ready = self.ready
            if ready is None or ready.era != changes[0]:
                if self.simplified is None:
                    self.simplified = simplified(self.model, self.scope, self.passes)
                ready = self.ready = bound_to(*self.simplified, self.threads)
            return ready


def bound_to(model: Model, scope: Scope, count: int) -> Ready:
    """A model made ready for calls on `count` threads."""
    era, names = changes[0], tuple(v.name for v in model.fetches)
    settings = Settings(threads=count)
    plan = planned(model.program, tuple(model.feeds), names, settings)
    tiny = is_tiny(plan)
    if tiny:  # where new memory takes less time than to say which is taken
        settings = settings._replace(inplace=False, addto=False)
        plan = planned(model.program, tuple(model.feeds), names, settings)
    bound = Bound(plan, scope, count)
    bound.turn, bound.stores, bound.left = None, (), ()
    template = bound.blank.copy()
    for cell, slot in bound.cells:
        template[slot] = cell.value if type(cell.value) is ndarray else special(bound, cell)
    copied = overwritten(plan, template)
    if bound.tier is not None:
        bound.tier.fixed = frozenset(slot for _, slot in bound.cells if slot not in copied)
    plain = not (bound.checked or bound.waits or copied or plan.draws)
    limited = not tiny and blas_threads() > count
    bound.threads = count if count > 1 and not tiny and is_wide(plan) else 1
    plain = plain and bound.threads == 1 and not limited
    feeds = {feed.name: feed for feed in bound.feeds}
    entries = tuple((feeds[name], set[Any]()) for name in model.feeds)
    row = tiny and plain and bound.tier is None
    chain = chained(plan, template) if row else None
    marks = tuple((i, feeds[n + MARK].slot) for i, n in enumerate(model.feeds) if n + MARK in feeds)
    return Ready(era, bound, template, entries, copied, plain, chain, limited, {}, marks)


def tell_levels(ready: Ready, frame: list[Any], inputs: Any) -> None:
    """Put the levels of detail of inputs into a frame."""
    for i, slot in ready.marks:
        name = ready.entries[i][0].name
        frame[slot] = load(LEVEL, "levels_of")(name, {name: inputs[i]})


def others_than_declared(ready: Ready, inputs: Any) -> Iterator[str]:
    """Of each input that has other sizes than declared, what was expected and what came.

    Models of `jit.save` do not ask for the sizes they were saved with: many run with others.
    """
    for (entry, _), value in zip(ready.entries, inputs, strict=True):
        declared, given = entry.variable.meta, np.shape(value)
        if len(given) != len(declared.shape) or not agrees(given, declared.shape):
            came = f"the fed value has shape {list(given)}"
            yield f"the input `{entry.name}` is declared {declared}, {came}"


def is_wide(plan: Plan) -> bool:
    """Whether several threads gain more side by side than each product of matrices by itself."""
    if sum(map(is_large, plan.instructions)) < 2:
        return False
    work = [touched_bytes(step.operator) for step in plan.instructions]
    begins = [0] * len(work)
    for i, successors in enumerate(plan.graph.successors):
        for j in successors:
            begins[j] = max(begins[j], begins[i] + work[i])
    longest = max(begin + own for begin, own in zip(begins, work, strict=True))
    return sum(work) >= WIDE * longest


def overwritten(plan: Plan, template: list[Any]) -> tuple[int, ...]:
    """The slots of values that a call needs copies of, since operators write over them."""
    slots = {v: slot for slot, v in enumerate(plan.variables) if v is not None}
    over = {v for step in plan.instructions for v in written(step.operator)}
    lasting = [slots[v] for v in over if v.persistable and template[slots[v]] is not None]
    return (*lasting, *(slot for _, slot, copies in plan.feeds if copies))


def blas_threads() -> int:
    """How many threads a product of matrices takes, as far as that can be found out."""
    found = threads()
    return 0 if found is None else found.get()


def checked(array: Any, entry: Feed, shapes: set[Any]) -> Any:
    """`array`, whose shape is known to be right from now on; FeedError when it is wrong."""
    if array.dtype.kind not in "biufcV":
        raise FeedError(
            f"the input `{entry.name}` is {entry.variable.meta}, the fed value is {array.dtype}, "
            "which is no number"
        )
    array = fit(array, entry)
    if array.dtype != entry.dtype and entry.variable.kind is Kind.DENSE:
        raise FeedError(
            f"the input `{entry.name}` is {entry.variable.meta}, the fed value is {array.dtype}; "
            f"feed value.astype('{entry.variable.meta.dtype.name}')"
        )
    if len(shapes) < MOST_SHAPES:
        shapes.add(array.shape)
    return np.asarray(array)
