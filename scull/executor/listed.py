"""Lists of tensors in a region: memory that grows, and a length that is a value like any other.

All tensors of a list are of one kind. A slot that nothing gave a list holds one without tensors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scull import lang
from scull.compiler.act import Clear, Demand, Give, Read, Write
from scull.compiler.count import known
from scull.compiler.flow import Branch, Carry, Choice, Loop
from scull.compiler.row import row_bytes
from scull.compiler.scan import Scanner
from scull.compiler.stage import nbytes
from scull.compiler.trace import Traced
from scull.core.dtype import bool_, int32, int64
from scull.core.meta import Kind, Meta, axis_of
from scull.core.op import meta_of, op_of
from scull.core.tensor import Value
from scull.errors import UnsupportedError
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import Array, Expression
from scull.runtime.line import LINE, aligned

if TYPE_CHECKING:
    from scull.executor.block import Block

NUMBER, TRUTH, WORDS = Meta((1,), int64), Meta((1,), bool_), Meta((3,), int64)


class Item:
    """What the tensors of a list are, known when the first is written."""

    def __init__(self, meta: Meta | None = None) -> None:
        self.meta = meta

    def agree(self, meta: Meta) -> None:
        """Take a tensor; UnsupportedError where it is none like the others."""
        if self.meta not in (None, meta):
            raise UnsupportedError(f"a list holds tensors {self.meta} and {meta}")
        self.meta = meta

    def known(self) -> Meta:
        """What they are; UnsupportedError where none was written yet."""
        if self.meta is None:
            raise UnsupportedError("nobody knows yet what a list of tensors will hold")
        return self.meta


class Listed(Value):
    """A list of tensors: the name of its memory, how long it is, what its tensors are.

    `count` is how long it is in every run, once that was asked and found.
    """

    __slots__ = ("count", "item", "length", "place")

    def __init__(self, place: Array, length: Traced, item: Item) -> None:
        super().__init__(Meta((), int64, Kind.ARRAY))
        self.place, self.length, self.item = place, length, item
        self.count: int | None = None


class Given(Traced):
    """A list of tensors like `item` that leaves the region: the words that tell where it lies."""

    __slots__ = ("item",)

    def __init__(self, words: Array, item: Array) -> None:
        super().__init__(WORDS, words)
        self.item = item


@dataclass(frozen=True)
class ListOf:
    """Lists of tensors like `item` outside a region, and how they come into one."""

    item: Meta
    count = 3  # arrays: the words that tell where it lies, its length, and what keeps it there

    def laid(self, value: Any) -> tuple[Any, ...] | None:
        """The arrays of a list; None where it is none of such tensors."""
        tensors = [] if value is None else value
        if type(tensors) is not list:
            return None
        like = Array("item", tuple(self.item.shape), self.item.dtype.name)
        dtype, row, size = np.dtype(numpy_dtype(like.dtype)), row_bytes(like), nbytes(like)
        rows = aligned(len(tensors) * row).reshape(len(tensors), row)
        rows[:, row - LINE] = [x is not None for x in tensors]
        for x, place in zip(tensors, rows, strict=True):
            if x is None:
                continue
            if type(x) is not np.ndarray or x.shape != like.shape or x.dtype != dtype:
                return None
            place[:size].view(dtype).reshape(like.shape)[...] = x
        words = np.array([rows.ctypes.data, len(tensors), row])
        return words, words[1:2], rows

    def taken(self, tracer: Scanner) -> Listed:
        """Such a list that comes into a region."""
        return Listed(tracer.given(WORDS).array, tracer.given(NUMBER), Item(self.item))


def list_of(value: Any) -> ListOf | None:
    """What a list of tensors holds; None where there are none, or of several kinds."""
    metas = {meta_of(x) for x in value if type(x) is np.ndarray}
    return ListOf(*metas) if len(metas) == 1 else None


def made_of(o: Operator, known: Callable[[Any], Any]) -> ListOf | None:
    """What the list holds that an instruction makes, as far as that is `known` of its operands."""
    found = known(o.inputs[0]) if o.type == "tensor_array_to_tensor_grad" else None
    return found if isinstance(found, ListOf) else None


def holds_lists(v: Variable | None) -> bool:
    """Whether a variable holds lists of tensors."""
    return v is not None and v.kind is Kind.ARRAY


# ---- operators ----


def write(block: "Block", o: Operator) -> None:
    """A list with one more tensor, or another in its place."""
    x, i = block.array_at(block.slots[o.inputs[0]]), block.array_at(block.slots[o.inputs[1]])
    before = begun(block) if o.inputs[2] is None else block.list_at(block.slots[o.inputs[2]])
    put(block, o.results()[0], written(block, before, i, x))


def written(block: "Block", before: Listed, i: Traced, x: Traced) -> Listed:
    """A list after a write."""
    before.item.agree(x.meta)
    block.tracer.statements.append(Write(block.tracer.origin, before.place, i.array, x.array))
    end = number_in(i) + 1
    return Listed(before.place, longer(block, before.length, end), before.item)


def read(block: "Block", o: Operator) -> None:
    """A tensor of a list; zeros like a third operand where nothing was written, if that is told."""
    held, i = block.list_at(block.slots[o.inputs[0]]), block.array_at(block.slots[o.inputs[1]])
    like = None if o.inputs[2] is None else block.slots[o.inputs[2]]
    zeros = like is not None and block.has(like)
    if zeros:
        assert like is not None
        held.item.agree(block.at(like).meta)
    out, there = row_of(block, held, i)
    if not zeros and o.role & 1:
        put(block, o.results()[0], block.perhaps(out, there))
        return
    if not zeros:
        block.tracer.statements.append(Demand(block.tracer.origin, there.array))
    put(block, o.results()[0], out)


def row_of(block: "Block", held: Listed, i: Traced) -> tuple[Traced, Traced]:
    """What stands at a place of a list, and whether anything does."""
    tracer = block.tracer
    out, there = tracer.given(held.item.known()), tracer.given(TRUTH)
    read = Read(tracer.origin, held.place, i.array, out.array, there.array)
    tracer.statements.append(read)
    return out, there


def length(block: "Block", o: Operator) -> None:
    """How many tensors a list holds."""
    put(block, o.results()[0], block.list_at(block.slots[o.inputs[0]]).length)


def joined(block: "Block", o: Operator) -> None:
    """The tensors of a list side by side, or behind one another along a new axis."""
    held, tracer = block.list_at(block.slots[o.inputs[0]]), block.tracer
    count, item = counted(block, held), held.item.known()
    whole, row = tracer.given(item.with_shape((count, *item.shape))), None

    def one(i: Traced) -> None:
        nonlocal row
        row, there = row_of(block, held, i)
        tracer.statements.append(Demand(tracer.origin, there.array))

    body, carry = numbered(block, one)
    assert row is not None
    writes = ((row.array, whole.array),)
    tracer.statements.append(Loop(tracer.origin, (carry,), body, count=count, writes=writes))
    stacks, at = place_of(o, item)
    size = 1 if stacks else item.shape[at]
    shape = list(whole.shape[1:])
    shape[at:at] = [count] if stacks else []
    if not stacks:
        shape[at] *= count
    axes = tuple(map(lang.axis, shape))
    where = parts_of(axes, at, size, stacks)
    put(
        block,
        o.results()[0],
        block.statement(item.with_shape(tuple(shape)), axes, whole.array[where]),
    )
    if o.outputs[1] is not None:
        put(block, o.outputs[1], tracer.constant(size, Meta((count,), int32)))


def joined_gradient(block: "Block", o: Operator) -> None:
    """The pieces of a gradient as a list."""
    held, tracer = block.list_at(block.slots[o.inputs[0]]), block.tracer
    dout = block.array_at(block.slots[o.inputs[1]])
    count, item = counted(block, held), held.item.known()
    stacks, at = place_of(o, item)
    number, *within = axes = tuple(map(lang.axis, (count, *item.shape)))
    if stacks:
        within.insert(at, number)
    else:
        within[at] = number * item.shape[at] + within[at]
    pieces = item.with_shape((count, *item.shape)).with_dtype(dout.meta.dtype)
    whole = block.statement(pieces, axes, dout.array[tuple(within)])
    row, out = tracer.given(pieces.with_shape(item.shape)), begun(block)
    out.item.agree(row.meta)
    origin = tracer.origin
    body, carry = numbered(
        block, lambda i: tracer.statements.append(Write(origin, out.place, i.array, row.array))
    )
    reads = ((row.array, whole.array),)
    tracer.statements.append(Loop(origin, (carry,), body, count=count, reads=reads))
    put(block, o.results()[0], Listed(out.place, tracer.constant(count, NUMBER), out.item))


def place_of(o: Operator, item: Meta) -> tuple[bool, int]:
    """Whether tensors stand along a new axis, and along which."""
    stacks = bool(o.attrs["use_stack"])
    return stacks, axis_of(o.attrs["axis"], len(item.shape) + stacks)


def parts_of(axes: Any, at: int, size: int, stacks: bool) -> tuple[Expression, ...]:
    """The number of a tensor and the place in it, for a place in all of them side by side."""
    within = list(axes)
    if stacks:
        return (within.pop(at), *within)
    number = within[at] // size
    within[at] = within[at] % size
    return (number, *within)


def counted(block: "Block", held: Listed) -> int:
    """How many tensors a list holds here; UnsupportedError where nobody knows that ahead."""
    if held.count is None:
        found = known(block.tracer.statements, held.length.array)
        if found is None or not found.item():
            raise UnsupportedError("nobody knows ahead how many tensors a list will hold")
        held.count = int(found.item())
    return held.count


def total(block: "Block", o: Operator) -> None:
    """A list of the sums of what stands at one place of several; of one list it is a copy."""
    found, lists = begun(block), [block.list_at(block.slots[v]) for v in o.operands()]
    for meta in [x.item.meta for x in lists if x.item.meta is not None]:
        for x in lists:
            x.item.agree(meta)
    for number, x in enumerate(lists):
        found = poured(block, found, x, adds=number > 0)
    put(block, o.results()[0], found)


def nothing(block: "Block", o: Operator) -> None:
    """A list without tensors."""
    put(block, o.results()[0], begun(block))


LISTS: dict[str, Callable[["Block", Operator], None]] = {
    "write_to_array": write,
    "read_from_array": read,
    "lod_array_length": length,
    "tensor_array_to_tensor": joined,
    "tensor_array_to_tensor_grad": joined_gradient,
}
OF_LISTS: dict[str, Callable[["Block", Operator], None]] = {
    "assign": total,
    "sum": total,
    "fill_any_like": nothing,
}


def of_lists(o: Operator) -> Callable[["Block", Operator], None] | None:
    """What writes the statements of an operator, where that is one of lists."""
    if o.type in OF_LISTS and any(map(holds_lists, o.results())):
        return OF_LISTS[o.type]
    return LISTS.get(o.type)


# ---- lists ----


def begun(block: "Block", place: Array | None = None, item: Item | None = None) -> Listed:
    """A list without tensors: a new one, or another in the same memory."""
    tracer = block.tracer
    place = place or tracer.given(NUMBER).array
    tracer.statements.append(Clear(tracer.origin, place))
    return Listed(place, tracer.constant(0, NUMBER), item or Item())


def put(block: "Block", v: Variable, value: Any) -> None:
    """A variable has a new value."""
    block.note(block.slots[v], value)


def poured(block: "Block", into: Listed, source: Listed, *, adds: bool) -> Listed:
    """`into` with what `source` holds at the same places, added to what is there if it `adds`."""
    if source.item.meta is None and not block.again:
        return into  # nothing was written to it yet
    into.item.agree(source.item.known())
    tracer, origin = block.tracer, block.tracer.origin
    size = number_in(source.length)

    def one(i: Traced) -> None:
        row, there = row_of(block, source, i)
        with block.writing([]) as then:
            x = added(block, into, i, row) if adds else row
            tracer.statements.append(Write(origin, into.place, i.array, x.array))
        tracer.statements.append(Branch(origin, there.array, (), tuple(then)))

    first, now = block.truth(size > 0), tracer.given(TRUTH).array
    body, carry = numbered(block, one)
    with block.writing(list(body)) as nodes:
        more = block.truth(carry.next[0] < size)
    loop = Loop(origin, (carry, Carry(now, first, more)), tuple(nodes), condition=now)
    tracer.statements.append(loop)
    return Listed(into.place, longer(block, into.length, size), into.item)


def added(block: "Block", into: Listed, i: Traced, x: Traced) -> Traced:
    """`x` and what a list holds at a place, if it holds anything there."""
    before, there = row_of(block, into, i)
    origin = block.tracer.origin
    (both,) = block.tracer.operator(op_of("sum"), [[before, x]], {})
    block.tracer.origin = origin
    axes = tuple(map(lang.axis, x.array.shape))
    found = lang.select(element_of(there.array), both.array[axes], x.array[axes])
    return block.statement(x.meta, axes, found)


def one_of(
    block: "Block",
    condition: Array,
    pair: tuple[Listed | None, Listed | None],
    results: list[Choice],
    bodies: tuple[list[Any], list[Any]],
) -> Listed:
    """The one of two lists that a condition tells; None holds nothing."""
    tracer = block.tracer
    there = [x for x in pair if x is not None]
    out, length = there[0], tracer.given(NUMBER)
    if len(there) < 2 or there[0].place != there[1].place:
        item = Item(next((x.item.meta for x in there if x.item.meta is not None), None))
        place = tracer.given(NUMBER).array
        sides = []
        for x, nodes in zip(pair, bodies, strict=True):
            with block.writing(nodes):
                found = begun(block, place, item)
                sides.append(found if x is None else poured(block, found, x, adds=False))
        out, there = sides[0], sides
    results.append(Choice(length.array, *(x.length.array for x in there)))
    return Listed(out.place, length, out.item)


def given(block: "Block", held: Listed) -> Given:
    """A list as it leaves the region."""
    tracer = block.tracer
    words, item = tracer.given(WORDS).array, tracer.given(held.item.known()).array
    give = Give(tracer.origin, held.place, held.length.array, words)
    tracer.statements.append(give)
    return Given(words, item)


# ---- numbers ----


def numbered(block: "Block", one: Callable[[Traced], None]) -> tuple[tuple[Any, ...], Carry]:
    """What rounds do that count from 0 on, and their number."""
    tracer = block.tracer
    first, now = tracer.constant(0, NUMBER), tracer.given(NUMBER)
    with block.writing([]) as body:
        one(now)
        following = block.statement(NUMBER, (lang.axis(1),), number_in(now) + 1)
    return tuple(body), Carry(now.array, first.array, following.array)


def number_in(value: Traced) -> Expression:
    """The one number of a value."""
    found: Expression = lang.cast(element_of(value.array), "int64")
    return found


def element_of(array: Array) -> Expression:
    """The one element of an array."""
    return array[(0,) * array.ndim]


def longer(block: "Block", length: Traced, end: Expression) -> Traced:
    """The larger of two lengths."""
    return block.statement(NUMBER, (lang.axis(1),), lang.maximum(number_in(length), end))
