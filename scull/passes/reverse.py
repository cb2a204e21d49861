"""The gradient of a loop as a loop: it goes back over the rounds, whose values lists hold.

Of a value that the gradient block reads, the loop keeps a list, a tensor a round.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scull.core.dtype import bool_
from scull.core.meta import Kind, Meta
from scull.core.op import op_of
from scull.ir.operator import Operator, each
from scull.ir.variable import Variable
from scull.passes.constant import empty_list, zero_of
from scull.passes.doubt import guard_of, nothing_at
from scull.passes.place import Frame, Guard, Place, Side, denied, frames

if TYPE_CHECKING:
    from scull.passes.dataflow import Lowering

Step = Callable[[Variable], Variable]  # from a value in one round to that in the next


def computed(to: "Lowering", type: str, like: Variable, *ins: Any, **attrs: Any) -> Variable:
    """The result of an operator, a value of `like`."""
    made = to.version(like)
    to.write(op_of(type), ins, (made,), attrs)
    return made


def opened(
    to: "Lowering", frame: Frame, before: Variable, like: Variable
) -> tuple[Operator, Variable]:
    """The `merge` of a new value of a loop, which begins with `before`, and what it makes."""
    entered = to.moved(
        "enter", before, before, frame_name=frame.name, parallel_iterations=to.parallel
    )
    head = to.merged([entered], like)
    return to.block.ops[-1], head


def looped(
    to: "Lowering", frame: Frame, before: Variable, step: Step, like: Variable
) -> tuple[Variable, Variable]:
    """A new value of a loop: in a round, and behind the loop."""
    merge, head = opened(to, frame, before, like)
    assert frame.goes_on is not None
    now = to.switched(frame, head, Guard(frame.goes_on, True))
    closed(to, merge, step(now))
    return now, left(to, frame, head)


def closed(to: "Lowering", merge: Operator, value: Variable) -> None:
    """Let a loop go on with `value`."""
    again = to.moved("next_iteration", value, merge.outputs[0])
    merge.inputs = ([*merge.inputs[0], again],)


def left(to: "Lowering", frame: Frame, head: Variable) -> Variable:
    """What a value of a loop is behind it."""
    assert frame.goes_on is not None
    return to.moved("exit", to.switched(frame, head, Guard(frame.goes_on, False)), head)


def counter_of(to: "Lowering", frame: Frame) -> tuple[Variable, Variable]:
    """The number of the round in a loop, and how many there were behind it."""
    if frame.counter is None:
        assert frame.around is not None
        zero = to.from_root(frame.around, zero_of(to))
        frame.counter = looped(
            to, frame, zero, lambda i: computed(to, "increment", i, i, step=1.0), zero
        )
    return frame.counter


def stack_of(to: "Lowering", frame: Frame, x: Variable) -> Variable:
    """Behind a loop the list of what `x` was in each round."""
    if x not in frame.stacks:
        assert frame.around is not None
        position, _ = counter_of(to, frame)
        begin = to.from_root(frame.around, empty_list(to, x.meta))
        rounds = Variable(f"{to.names[x]}.rounds", x.meta.with_kind(Kind.ARRAY), to.block)

        def written(held: Variable) -> Variable:
            return computed(to, "write_to_array", held, x, position, held)

        _, frame.stacks[x] = looped(to, frame, begin, written, rounds)
    return frame.stacks[x]


def kept(to: "Lowering", at: Place, x: Variable) -> tuple[Variable, Frame]:
    """A value alive in every round of the loop around `at`: `x`, or anything where that is dead."""
    if x in to.perhaps:
        x = to.merged([nothing_at(to, at, denied(guard_of(to, x))), x], x)
    while isinstance(at, Side):
        assert at.around is not None
        x = to.merged([nothing_at(to, at.around, denied(at.guard)), x], x)
        at = at.around
    assert isinstance(at, Frame)
    return x, at


def recalled(to: "Lowering", place: Place, x: Variable, at: Place) -> Variable:
    """At `place` the value `x` that stands at `at`: where rounds go back, that of the same one."""
    here, there = frames(place), frames(at)
    if here[: len(there)] == there:
        return led(to, place, x, len(there))
    back = next((f for f in here if f.forward is there[-1]), None)
    if back is None or back.around is None or back.position is None:
        raise to.refused(f"`{x.name}` is of a loop whose rounds it does not go back over")
    key = (x, at)
    if key not in back.reads:
        value, frame = kept(to, at, x)
        assert frame.around is not None
        stack = recalled(to, back.around, stack_of(to, frame, value), frame.around)
        found = computed(to, "read_from_array", x, to.led_in(back, stack), back.position, None)
        if x in to.perhaps:
            guard = to.recalled_guard(back, guard_of(to, x))
            found = to.switched(back, found, guard)
            to.perhaps[found] = guard
        back.reads[key] = found
        to.note_form(x, found, lambda v: recalled(to, back, v, at))
    return to.brought(place, back.reads[key], back)


def led(to: "Lowering", place: Place, x: Variable, depth: int) -> Variable:
    """A value that stands within so many loops, led into those further in."""
    at = place
    while len(frames(at)) > depth:
        assert at.around is not None
        at = at.around
    return to.brought(place, x, at)


def begun(to: "Lowering", place: Place, forward: Frame) -> Frame:
    """A loop back over the rounds of another."""
    assert forward.around is not None
    count = recalled(to, place, counter_of(to, forward)[1], forward.around)
    frame = Frame(place, f"while_{to.loops}")
    to.loops += 1
    frame.forward = forward
    last = computed(to, "increment", count, count, step=-1.0)
    merge, head = opened(to, frame, last, last)
    zero = to.moved(
        "enter",
        to.from_root(place, zero_of(to)),
        zero_of(to),
        frame_name=frame.name,
        is_constant=True,
        parallel_iterations=to.parallel,
    )
    holds = to.variable(f"{frame.name}.holds", Meta((1,), bool_), True)
    to.write(op_of("greater_equal"), (head, zero), (holds,), {})
    frame.goes_on = to.moved("loop_cond", holds, holds)
    frame.position = to.switched(frame, head, Guard(frame.goes_on, True))
    closed(to, merge, computed(to, "increment", head, frame.position, step=-1.0))
    frame.is_last = computed(to, "equal", holds, frame.position, to.led_in(frame, last))
    return frame


def write_loop_gradient(to: "Lowering", o: Operator, place: Place) -> None:
    """The block of gradients of a loop, run once for each round of that, the last first."""
    (scopes,), (into,) = each(o.inputs[o.op.inputs.index("step_scopes")]), o.blocks()
    forward = to.frames.get(scopes)
    if forward is None:
        raise to.refused("the loop whose gradient it is stands in no block of the Program")
    results = results_of(o, into)
    carried = set(each(o.inputs[o.op.inputs.index("out")]))
    frame = begun(to, place, forward)
    block = into.program.blocks[into.forward_block_idx]
    frame.recalls.update((v, (x, forward)) for v, x in forward.values.items() if v.block is block)
    frame.recalls.update((v, (x, forward)) for v, x in forward.first.items())
    begins = {inside: to.value(place, d) for d, inside in seeds_of(o, into)}
    for v in (*to.changed(into), *(inside for v, _, inside in results if v in carried)):
        if v.kind is Kind.ARRAY and v not in begins:
            outer = v.block is not into
            begins[v] = to.value(place, v) if outer else to.from_root(place, empty_list(to, v.meta))
    merges: dict[Variable, Operator] = {}
    for inside, before in begins.items():
        merges[inside], head = opened(to, frame, before, inside)
        assert frame.goes_on is not None
        frame.values[inside] = to.switched(frame, head, Guard(frame.goes_on, True))
    to.write_all(into.ops, frame)
    for inside, merge in merges.items():
        closed(to, merge, to.value(frame, inside))
    for v, d, inside in results:
        if v in carried and inside in merges:
            place.set(d, left(to, frame, merges[inside].outputs[0]))
        elif v.kind is Kind.ARRAY:
            place.set(d, added(to, frame, to.value(frame, inside)))
        else:
            place.set(d, summed(to, frame, to.value(place, v), to.value(frame, inside)))


def added(to: "Lowering", frame: Frame, x: Variable) -> Variable:
    """Behind a loop the list of the sums of what stands in the list `x` over its rounds."""
    assert frame.around is not None
    none = to.from_root(frame.around, empty_list(to, x.meta))
    return looped(to, frame, none, lambda total: computed(to, "sum", x, [total, x]), x)[1]


def summed(to: "Lowering", frame: Frame, like: Variable, x: Variable) -> Variable:
    """Behind a loop the sum of `x` over its rounds; zeros in the shape of `like` without any."""
    none = computed(to, "fill_any_like", x, like, value=0.0, dtype=None)

    def more(total: Variable) -> Variable:
        assert frame.is_last is not None
        last, rest = Guard(frame.is_last, True), Guard(frame.is_last, False)
        before, first = to.switched(frame, total, rest), to.switched(frame, x, last)
        second = to.switched(frame, x, rest)
        return to.merged([computed(to, "sum", x, [before, second]), first], x)

    return looped(to, frame, none, more, x)[1]


def results_of(o: Operator, into: Any) -> list[tuple[Variable, Variable, Variable]]:
    """The variables whose gradients are computed, these, and what the block calls them."""
    pairs = zip(o.inputs[o.op.inputs.index("x")], o.outputs[0], strict=False)
    found = ((v, d, into.find(v.name + "@GRAD")) for v, d in pairs if d is not None)
    return [(v, d, inside) for v, d, inside in found if inside is not None]


def seeds_of(o: Operator, into: Any) -> list[tuple[Variable, Variable]]:
    """The gradients that the gradient of a loop is given, and what its block calls them."""
    names = o.attrs["original_output_grad"]
    pairs = zip(each(o.inputs[o.op.inputs.index("dout")]), names, strict=False)
    return [(d, inside) for d, name in pairs if (inside := into.find(name)) is not None]
