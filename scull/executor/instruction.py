"""Instructions: a kernel with everything bound, the slots it reads, the slots it fills."""

import itertools
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from scull.autograd.bound import bound_gradient
from scull.core.eager import SILENT
from scull.core.interpreter import interpreting
from scull.core.leaf import leaves
from scull.core.memory import owner
from scull.core.meta import Kind
from scull.core.op import as_outputs, filled
from scull.core.random import Draw
from scull.core.tensor import Rows, Stub, Tensor, new
from scull.executor.alias import shape_readers
from scull.ir.operator import Operator, effects, program_outputs
from scull.ir.told import value_of
from scull.ir.variable import Variable
from scull.runtime.turn import calling

NAMED = frozenset({np.maximum, np.minimum})  # take `out` by its name alone
NOTHING, DRAW = 0, 1  # the slots of a frame that hold None and the first draw of the run


@dataclass(frozen=True)
class Instruction:
    """One operator, ready to run: `frame[put] = call(*get(frame))`, then drop the slots `frees`."""

    operator: Operator
    call: Callable[..., Any]
    get: Callable[[Any], Any]
    put: Any
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    frees: tuple[int, ...] = ()
    is_shape: bool = False  # keeps the shape of a value and lets its memory go
    shapes: tuple[int, ...] = ()  # those of `reads` of which it looks at the shape only
    copies: bool = False  # its results get memory of their own, which is overwritten later
    nested: Any = None  # the plan of its block, which it runs over a frame of its own
    draws: int = 0  # how many draws of the run come before that of a random operator

    def freeing(self, frees: tuple[int, ...]) -> "Instruction":
        """The same, dropping `frees` afterwards."""
        return replace(self, frees=frees)


def bind(
    operator: Operator,
    slots: dict[Variable, int],
    draws: int,
    copies_views: bool,
    overwritten: Container[Variable] = (),
) -> Instruction:
    """The instruction of one operator; `draws` is how many draws of the run come before it.

    Others write over the memory of variables in `overwritten`.
    """
    entries = [slot_numbers(s, slots) for s in (*operator.inputs, *operator.told.values())]
    if operator.over is not None:
        return bind_over(operator, slots, entries)
    call, random = (told_kernel if operator.told else bound_kernel)(operator, draws)
    if copies_views:
        call = copying(call)
    if any(not v.shape and v in overwritten for v in operator.results()):
        call = in_memory(call)
    get = getter([*entries, DRAW] if random else entries)
    reads = tuple(i for e in entries for i in (e if isinstance(e, list) else [e]) if i > DRAW)
    outs = [
        NOTHING if overwrites(operator, n) else slot_numbers(s, slots)
        for n, s in zip(program_outputs(operator.op), operator.outputs, strict=True)
    ]
    places = tuple(i for e in outs for i in (e if isinstance(e, list) else [e]) if i > DRAW)
    shapes = tuple(sorted(slots[v] for v in shape_readers(operator)))
    rest = (reads, places, (), False, shapes, copies_views)
    if len(outs) == 1 and places and not isinstance(outs[0], list):
        return Instruction(operator, call, get, places[0], *rest)
    spread = spreading(operator, call, outs)
    if places == tuple(range(places[0], places[0] + len(places))) if places else True:
        where = slice(places[0], places[-1] + 1) if places else slice(0, 0)
        return Instruction(operator, spread, get, where, *rest)
    return Instruction(operator, scattering(spread, get, places), whole, slice(0, 0), *rest)


def bind_over(operator: Operator, slots: dict[Variable, int], entries: list[Any]) -> Instruction:
    """The instruction of an operator whose result takes the memory of an operand."""
    assert operator.over is not None
    call, over = operator.op.over, slots[operator.over]
    reads = tuple(i for e in entries for i in (e if isinstance(e, list) else [e]) if i > DRAW)
    if not isinstance(call, np.ufunc) or call in (np.maximum, np.minimum):  # these want `out=`
        call = partial(into_last, call, {} if isinstance(call, np.ufunc) else operator.attrs)
    return Instruction(operator, call, getter([*entries, over]), over, reads, ())


def into_last(kernel: Any, attrs: dict[str, Any], *operands: Any) -> Any:
    """Run a kernel that puts its result into the last operand."""
    return kernel(*operands[:-1], out=operands[-1], **attrs)


def overwrites(operator: Operator, output: str) -> bool:
    """Whether this output is written into the memory of the operand that stands there too."""
    operand = operator.op.in_place.get(output)
    if operand is None:
        return False
    result = operator.outputs[operator.op.outputs.index(output)]
    source = operator.inputs[operator.op.inputs.index(operand)]
    if not isinstance(result, list):
        return result is not None and result is source
    same = len(result) == len(source)
    return same and all(r is x for r, x in zip(result, source, strict=True))


def first_of(slot: int) -> Callable[[Any], Any]:
    """A function that picks one operand from a frame."""
    return itemgetter(slice(slot, slot + 1))


def spreading(operator: Operator, call: Any, outs: list[Any]) -> Any:
    """`call` with its results in line, those of lists too, without those nobody has a place for."""
    if operator.op.xshape:
        return with_xshape(operator, call, outs)
    several = len(operator.op.outputs) > 1

    def spread(*operands: Any) -> Any:
        found = call(*operands)
        values = []
        for place, value in zip(outs, found if several else (found,), strict=False):
            if place == []:  # the whole list is left out
                continue
            if isinstance(place, list):
                values.extend([v for i, v in zip(place, value, strict=True) if i > DRAW])
            elif place > DRAW:
                values.append(value)
        return values

    return spread


def whole(frame: Any) -> Any:
    """The frame itself as the only operand."""
    return (frame,)


def scattering(call: Any, get: Any, places: tuple[int, ...]) -> Any:
    """A call that reads and fills a frame by itself, for results that do not lie side by side."""

    def scatter(frame: Any) -> Any:
        for i, value in zip(places, call(*get(frame)), strict=True):
            frame[i] = value
        return ()

    return scatter


def slot_numbers(slot: Any, slots: dict[Variable, int]) -> Any:
    """The frame's places of what stands in one slot."""
    if isinstance(slot, list | tuple):
        return [NOTHING if v is None else slots[v] for v in slot]
    return NOTHING if slot is None else slots[slot]


def getter(entries: list[Any]) -> Callable[[Any], Any]:
    """A function that picks the operands from a frame."""
    if any(isinstance(e, list) for e in entries):
        return lambda frame: [
            [frame[i] for i in e] if isinstance(e, list) else frame[e] for e in entries
        ]
    if len(entries) == 1:
        return first_of(entries[0])
    return itemgetter(*entries) if entries else itemgetter(slice(0, 0))


def with_xshape(operator: Operator, call: Any, outs: list[Any]) -> Any:
    """The result and, if the Program has a place for it, the empty array that notes a shape."""
    place = operator.op.inputs.index(operator.op.xshape)
    wanted = outs[1] > DRAW

    def calling(*operands: Any) -> Any:
        x = operands[place]
        out = call(*operands)
        return [out, np.empty((0, *x.shape), x.dtype)] if wanted else [out]

    return calling


def copying(call: Any) -> Any:
    """`call` with results in memory of their own, where views would see later writes."""

    def copy(*operands: Any) -> Any:
        found = call(*operands)
        taken = [id(owner(v)) for v in flat(operands)]
        return apart(found, set(taken))

    return copy


def in_memory(call: Any) -> Any:
    """`call` with arrays in place of numbers, which nobody can write over."""

    def calling(*operands: Any) -> Any:
        return as_arrays(call(*operands))

    return calling


def as_arrays(found: Any) -> Any:
    """`found`, its numbers as arrays without axes."""
    if isinstance(found, list | tuple):
        return [as_arrays(v) for v in found]
    return np.asarray(found) if isinstance(found, np.generic) else found


def apart(found: Any, taken: set[int]) -> Any:
    """`found` with a copy of what lies in memory that is `taken`, and takes that of the others."""
    if isinstance(found, list | tuple):
        return [apart(v, taken) for v in found]
    memories = {id(owner(v)) for v in flat([found])}
    if memories & taken:
        return found.copy()
    taken |= memories
    return found


def flat(values: Any) -> Iterator[Any]:
    """The arrays among values, those of lists and of sparse rows too."""
    for v in leaves(values):
        if isinstance(v, Rows):
            yield v.values
        elif isinstance(v, np.ndarray):
            yield v


def told_kernel(operator: Operator, draws: int) -> tuple[Any, bool]:
    """The kernel of an operator of whose attributes some are operands, behind its own."""
    op, names, first = operator.op, list(operator.told), len(operator.inputs)
    behind = first + len(names)

    def calling(*operands: Any) -> Any:
        found = zip(names, operands[first:behind], strict=True)
        told = {n: value_of(op.kinds[n].wire, v) for n, v in found}
        return bound_kernel(operator, draws, told)[0](*operands[:first], *operands[behind:])

    return calling, "random" in effects(operator)


def bound_kernel(
    operator: Operator, draws: int, told: dict[str, Any] | None = None
) -> tuple[Any, bool]:
    """The kernel with its attributes; whether it takes the run's first draw as its last operand."""
    op, attrs = operator.op, operator.attrs | (told or {})
    if op.takes_wanted:
        attrs["wanted"] = tuple(
            n for n, s in zip(op.outputs, operator.outputs, strict=False) if s is not None
        )
    if op.shape_record:
        return unshaped(op, attrs), False
    if any(not v.dtype.native for v in operator.operands()) and op.cpu is None:
        return partial(by_tensors, op, attrs), False
    if "random" in op.effects:
        kernel = in_place(operator, op.cpu, attrs) if op.in_place else partial(op.cpu, **attrs)
        return with_draw(kernel, attrs.get("seed"), draws)
    if "python" in op.effects:
        return counting(operator, attrs), False
    if any(v.kind is Kind.ROWS for v in operator.operands()) and op.rows_kernel is not None:
        kernel = op.rows_kernel
    elif op.rows_kernel is not None and op.ufunc is None:
        return by_kind(operator, attrs), False
    else:
        kernel = op.cpu or op.compute
    if op.forward is not None:
        bound = None if op.planned else bound_gradient(op, attrs)
        return bound or partial(op.planned or op.compute, **attrs), False
    if op.in_place:
        return in_place(operator, kernel, attrs), False
    plain = op.ufunc is not None and kernel is not op.rows_kernel
    if plain and attrs.get("axis", -1) == -1:
        return op.ufunc, False
    return (partial(kernel, **attrs) if attrs else kernel), False


def with_draw(kernel: Any, seed: Any, draws: int) -> tuple[Any, bool]:
    """A random kernel: of a fixed draw where the operator has a seed, else of this run's draw.

    Where nobody knows how many draws come before it, it is given the generator and takes the next.
    """
    if seed:
        return partial(kernel, draw=Draw(seed & (2**64 - 1), 0)), False

    if draws < 0:
        return (lambda *operands: kernel(*operands[:-1], draw=operands[-1].reserve(1))), True

    def drawing(*operands: Any) -> Any:
        first = operands[-1]
        return kernel(*operands[:-1], draw=Draw(first.seed, first.number + draws))

    return drawing, True


def counting(operator: Operator, attrs: dict[str, Any]) -> Any:
    """A kernel that calls Python: it is told what a Program knows of its operator.

    That is its operand's name, how often it ran before and which results have a place.
    """
    names = [v.name for v in operator.operands()]
    numbers = itertools.count()
    slots = [v for s in operator.outputs for v in (s if isinstance(s, list) else [s])]
    known = {"variable": names[0] if names else "", "placed": [v is not None for v in slots]}

    place = operator.line or "a loaded file"

    def counted(*operands: Any) -> Any:
        with calling(operator.type, place):
            return operator.op.cpu(*operands, **attrs, **known, calls=next(numbers))

    return counted


def by_kind(operator: Operator, attrs: dict[str, Any]) -> Any:
    """A kernel chosen by what the operands are when run: a gradient may be row-sparse."""
    op = operator.op
    dense, sparse = (
        in_place(operator, kernel, attrs) if op.in_place else partial(kernel, **attrs)
        for kernel in (op.cpu or op.body, op.rows_kernel)
    )

    def chosen(*operands: Any) -> Any:
        for x in operands:
            if type(x) is Rows or (type(x) is list and any([type(v) is Rows for v in x])):
                return sparse(*operands)
        return dense(*operands)

    return chosen


def in_place(operator: Operator, kernel: Any, attrs: dict[str, Any]) -> Any:
    """A kernel that writes over its operands."""
    op = operator.op
    places = [
        op.inputs.index(op.in_place[n]) if overwrites(operator, n) else None for n in op.outputs
    ]
    several = len(op.outputs) > 1

    def writing(*operands: Any, **draw: Any) -> Any:
        outs = tuple([None if i is None else operands[i] for i in places])
        return kernel(*operands, out=outs if several else outs[0], **attrs, **draw)

    return writing


def unshaped(op: Any, attrs: dict[str, Any]) -> Any:
    """The kernel of a gradient operator that reads a shape from XShape."""
    place = op.inputs.index(op.shape_record)

    def reading(*operands: Any) -> Any:
        recorded = operands[place]
        like = new(Stub)
        like.shape, like.dtype = recorded.shape[1:], recorded.dtype
        return op.compute(*operands[:place], like, *operands[place + 1 :], **attrs)

    return reading


def unrecorded(op: Any, metas: tuple[Any, ...]) -> tuple[Any, ...]:
    """`metas` of operands as they are; of an XShape that of what it records."""
    if not op.shape_record:
        return metas
    pairs = zip(op.inputs, metas, strict=True)
    return tuple(m.with_shape(m.shape[1:]) if m and n == op.shape_record else m for n, m in pairs)


def by_tensors(op: Any, attrs: dict[str, Any], *operands: Any) -> Any:
    """Run a body on Tensors: for element types whose arithmetic NumPy would promote."""
    with interpreting(SILENT):
        found = op.body(*map(as_tensor, operands), **attrs)
    results = tuple(map(as_array, as_outputs(op, found)))
    made = results if len(op.outputs) > 1 else results[0]
    return filled(op, operands, attrs["wanted"], made) if op.takes_wanted else made


def as_tensor(x: Any) -> Any:
    """An array as a Tensor, those in lists too."""
    if type(x) is list:
        return [as_tensor(v) for v in x]
    return Tensor(x) if isinstance(x, np.ndarray) else x


def as_array(x: Any) -> Any:
    """The array of a Tensor, those in lists too."""
    if type(x) is list:
        return [as_array(v) for v in x]
    return x.array if isinstance(x, Tensor) else x
