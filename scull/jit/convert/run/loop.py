"""`while`: rounds of Python as long as Python can tell, then a loop that is recorded once."""

from collections.abc import Callable
from typing import Any

from scull.core.dtype import float64
from scull.core.meta import Meta
from scull.core.op import meta_of
from scull.core.tensor import Tensor
from scull.ir.block import Block
from scull.ir.reach import changed
from scull.ir.variable import Variable
from scull.jit.convert.run.attempt import TRIALS, Again, Kind, Mark, array_of, widened
from scull.jit.convert.run.branch import record_branch
from scull.jit.convert.run.journal import unknown, watched
from scull.jit.convert.run.merge import PLAIN, holds_value
from scull.jit.convert.run.refusal import changing, is_lenient, refused
from scull.jit.convert.run.state import UNDEFINED, State
from scull.jit.convert.run.tree import Tree, mapped, restored, tree_of, value_of
from scull.jit.convert.run.value import (
    fresh,
    graph,
    is_array,
    is_number,
    is_value,
    known_sizes,
    meta_of_number,
    stands_for_number,
    truth,
    variable,
)
from scull.static.nn.loop import While, carry
from scull.tensor import cast, reshape
from scull.tensor.creation import assign, full

Test = Callable[[], Any]
Place = tuple[int, tuple[Any, ...]]  # of a leaf: which value of the state, and where within


def while_loop(
    test: Test, body: Callable[[], Any], names: tuple[str, ...], dead: tuple[str, ...] = ()
) -> None:
    """`while test: body`, which changes what `names` name; a round alone reads what is `dead`."""
    looped(test, ending(body, dead), lambda: State(names, body, test))


def ending(body: Callable[..., Any], dead: tuple[str, ...]) -> Callable[..., Any]:
    """A round that leaves no value to names which nobody reads behind it."""
    if not dead:
        return body
    places = State(dead, body).places

    def round_(*items: Any) -> None:
        body(*items)
        for place in places:
            place.write(UNDEFINED)

    return round_


def looped(test: Test, body: Callable[[], Any], state: Callable[[], State]) -> None:
    """`while test: body`, which changes `state`, asked for where a Tensor decides."""
    while True:
        holds = test()
        condition = graph(holds)
        if condition is not None:
            record_loop(condition, test, body, state())
            return
        if not holds:
            return
        body()


def record_loop(
    first: Variable, test: Callable[[], Any], body: Callable[[], Any], state: State
) -> None:
    """Record a loop whose condition is `first` in the first round; `test` of the others."""
    before = [tree_of(v) for v in state.read()]
    kinds: dict[Place, Kind] = {}
    place = -1
    for _ in range(TRIALS):
        mark = Mark()
        round_ = Round(mark, state, kinds)
        try:
            round_.record(truth(first), test, body)
            return
        except Again as again:
            place = again.place
            mark.drop()
            state.write(restored(before))
            if again.apart:
                record_branch(first, body, None, state)
                record_loop(tested(test()), test, body, state)
                return
            if again.kind is not None:
                kinds[again.place, again.path] = again.kind
            else:
                widened(state, again)
                before = [tree_of(v) for v in state.read()]
    name = f"`{state.names[place]}`" if place >= 0 else "what the loop changes"
    raise refused(f"{name} never settles on a shape and an element type from round to round")


class Round:
    """One trial of recording a loop: `kinds` are of values that proved to change otherwise."""

    def __init__(self, mark: Mark, state: State, kinds: dict[Place, Kind]) -> None:
        self.mark, self.state, self.kinds = mark, state, kinds
        self.carriers: dict[Place, Variable] = {}  # what is read in the place of a value
        self.changed: list[tuple[Any, Any, Variable]] = []  # at first, after a round, its variable
        self.rewritten: dict[Variable, None] = {}  # variables that a round changes in place
        self.lists: list[tuple[Variable, Variable]] = []  # those of tensors that others replace
        self.block: Block | None = None  # what a round records

    def record(self, first: Variable, test: Callable[[], Any], body: Callable[[], Any]) -> None:
        """Record the loop, or raise Again."""
        before = [tree_of(v) for v in self.state.read()]
        condition = fresh(first.meta)
        block = self.block = self.mark.inner()
        self.state.write(restored(self.each(before, self.carried)))
        with self.mark.program.inside(block):
            with watched() as written:
                body()
                after = truth(tested(test()))
            if more := unknown(self.state, written):
                raise Again(written=more)
            found = [tree_of(v) for v in self.state.read()]
        self.rewritten = changed(block)
        final = self.joined(before, found)
        instead = self.unchanged(before, block)
        self.changed = [(a, instead.get(id(b), b), v) for a, b, v in self.changed]
        after = instead.get(id(after), after)
        self.begun(first, condition)
        with self.mark.program.inside(block):
            carry([fitted(b, v) for _, b, v in self.changed], [v for *_, v in self.changed])
            for new, old in self.lists:
                assign(new, old)
            assign(after, condition)
        While(condition).complete(block)
        self.state.write(restored(final))

    def each(self, trees: list[Any], function: Callable[[Place, Any], Any]) -> list[Any]:
        """`trees` with what `function` gives for each leaf."""
        return [
            mapped(lambda v, path, i=i: function((i, path), v), tree)  # type: ignore[misc]
            for i, tree in enumerate(trees)
        ]

    def carried(self, place: Place, value: Any) -> Any:
        """What stands for a value during the round."""
        kind = self.kinds.get(place)
        if is_array(value) or not is_value(value):
            return value
        if kind is None and not isinstance(value, Variable):
            if place[1] or not is_number(value):
                return value  # what a container holds, until it proves to change
            kind = kind_of(value)
        made = self.carriers[place] = fresh((kind or kind_of(value)).meta)
        made.number, made.stop_gradient = (kind or kind_of(value))[1:]
        return made

    def joined(self, before: list[Any], found: list[Any]) -> list[Any]:
        """The trees of the state behind the loop."""
        pairs = enumerate(zip(before, found, strict=True))
        return [self.one((i, ()), a, b) for i, (a, b) in pairs]

    def one(self, place: Place, a: Any, b: Any) -> Any:
        """One value of the state behind the loop, from before it and after a round."""
        at, path = place
        if isinstance(a, Tree) and isinstance(b, Tree) and a.is_dict and b.is_dict:
            a = a.beside(b)  # what a round adds has no value before
        if a is None and holds_value(b) and is_lenient():
            raise Again(apart=True)
        if isinstance(b, Tree) and (a is UNDEFINED or b.alike(a)):
            olds = [UNDEFINED if a is UNDEFINED else a.child(k) for k in b.keys]
            triples = zip(b.keys, olds, b.children, strict=True)
            children = [self.one((at, (*path, k)), x, y) for k, x, y in triples]
            return Tree(b.origin, b.keys, children)
        carrier = self.carriers.get(place)
        if b is carrier and carrier is not None:
            if carrier not in self.rewritten:
                return a
            self.changed.append((a, b, carrier))
            return carrier
        if a is b or (isinstance(a, PLAIN) and type(a) is type(b) and a == b and carrier is None):
            return b
        if isinstance(a, Tree) and isinstance(a.origin, list) and grows(b):
            raise Again(at, path)
        if is_array(a) and isinstance(b, Tree) and isinstance(b.origin, list):
            with self.mark.program.inside(self.block):
                b = array_of(value_of(b))
        if is_array(a) and is_array(b):
            self.lists.append((b, a))
            return a
        if not is_value(b) or is_array(b) or is_array(a):
            if a is UNDEFINED:
                return b
            raise changing(self.state.names[at], path, a, b)
        return self.leaf(place, a, b)

    def leaf(self, place: Place, a: Any, b: Any) -> Any:
        """The variable that carries a value from round to round."""
        if a is UNDEFINED:
            if is_number(b):
                return b
            carrier = fresh(b.meta)
            carrier.number, carrier.stop_gradient = kind_of(b)[1:]
        elif not is_value(a):
            raise changing(self.state.names[place[0]], place[1], a, b)
        else:
            known = self.carriers.get(place)
            assumed, found = kind_of(a if known is None else known), kind_of(b)
            wanted = both(assumed, found)
            if known is None or wanted != assumed:
                raise Again(*place, wanted)
            carrier = known
        self.changed.append((a, b, carrier))
        return carrier

    def unchanged(self, before: list[Any], block: Block) -> dict[int, Variable]:
        """Let values that the round leaves be read where they are; these, by what stood there."""
        kept = {id(v) for *_, v in self.changed}
        instead: dict[int, Variable] = {}

        def collect(place: Place, value: Any) -> Any:
            carrier = self.carriers.get(place)
            if carrier is not None and id(carrier) not in kept:
                instead[id(carrier)] = variable(value, carrier.meta)

        self.each(before, collect)
        for inner in self.mark.program.blocks[block.idx :]:
            for operator in inner.ops:
                operator.inputs = tuple([replaced(s, instead) for s in operator.inputs])
        return instead

    def begun(self, first: Variable, condition: Variable) -> None:
        """Give all that goes from round to round its first value."""
        assign(first, condition)
        for a, _, carrier in self.changed:
            stops = carrier.stop_gradient
            assign(fitted(0 if a is UNDEFINED else a, carrier), carrier)
            carrier.stop_gradient = stops


def tested(holds: Any) -> Variable:
    """What the condition is after a round, as a variable."""
    found = graph(holds)
    return found if found is not None else full([], bool(holds), "bool")


def grows(found: Any) -> bool:
    """Whether a list that became this has another length."""
    return is_array(found) or isinstance(found, Tree)


def kind_of(value: Any) -> Kind:
    """What a value is as one of a Program."""
    if is_number(value):
        return Kind(meta_of_number(value), True, True)
    if isinstance(value, Variable | Tensor):
        return Kind(value.meta, stands_for_number(value), value.stop_gradient)
    return Kind(meta_of(value), False, True)


def both(assumed: Kind, found: Kind) -> Kind:
    """What fits the value before a round and the one after it."""
    (known, number, stops), (new, also, also_stops) = assumed, found
    if number == also:
        fractions = number and {known.dtype.is_float, new.dtype.is_float} == {True, False}
        dtype = float64 if fractions else new.dtype
    else:
        dtype = new.dtype if number else known.dtype
    shape = known.shape if also and not number else new.shape
    if len(known.shape) == len(new.shape):
        pairs = zip(known.shape, new.shape, strict=True)
        shape = tuple([a if a == b else -1 for a, b in pairs])
    return Kind(Meta(shape, dtype), number and also, stops and also_stops)


def fitted(value: Any, carrier: Variable) -> Variable:
    """`value` as a variable that `carrier` takes over."""
    if is_number(value):
        return variable(value, carrier.meta)
    found: Variable = value if isinstance(value, Variable) else variable(value)
    if found.dtype is not carrier.dtype:
        found = cast(found, carrier.dtype)
    if len(found.shape) != len(carrier.shape):
        found = reshape(found, known_sizes(carrier.meta))
    return found


def replaced(slot: Any, instead: dict[int, Variable]) -> Any:
    """An entry of an operator with other variables in it."""
    if isinstance(slot, list):
        return [instead.get(id(v), v) for v in slot]
    return instead.get(id(slot), slot)
