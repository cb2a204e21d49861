"""What a function leaves behind: every run writes it anew where the recording wrote variables.

An attribute or a name gets its value again, a list or a dictionary what was put into it.
"""

from collections.abc import Callable, Iterable, Iterator
from types import CellType
from typing import Any, NamedTuple

from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.jit.convert.run.journal import Written, key_of, restore
from scull.jit.convert.run.merge import PLAIN
from scull.jit.convert.run.place import reached
from scull.jit.convert.run.reads import Key, reads
from scull.jit.convert.run.refusal import refused
from scull.jit.convert.run.state import UNDEFINED, Attribute
from scull.jit.convert.run.tree import CONTAINERS, leaves, mapped, tree_of, value_of
from scull.jit.convert.run.value import is_number
from scull.jit.exits import Held, Number
from scull.jit.signature import CONTAINERS as GIVEN
from scull.jit.signature import Given
from scull.nn.layer.layers import Layer

Filled = Callable[[Any], Any]  # what takes the place of a variable


class Set(NamedTuple):
    """An attribute or a name, and the tree of what it holds."""

    place: Any
    tree: Any

    def variables(self) -> list[Variable]:
        """Those in it, in order."""
        return variables_in(self.tree)

    def through(self, change: Filled) -> "Set":
        """The same with other variables."""
        return self._replace(tree=changed(self.tree, change))

    def write(self, filled: Filled, given: Given | None) -> None:
        """Give the place its value; a buffer of a layer is replaced without a word of it."""
        value = value_of(mapped(lambda v, _: filled(v), self.tree))
        buffers = self.buffers
        if buffers is not None and self.place.name in buffers and isinstance(value, Tensor):
            buffers[self.place.name] = value
        else:
            self.place.write(value)

    @property
    def buffers(self) -> Any:
        """The buffers of the layer it is an attribute of; None when it is of none."""
        owner = self.place.owner.read() if isinstance(self.place, Attribute) else None
        return vars(owner)["_buffers"] if isinstance(owner, Layer) else None

    @property
    def key(self) -> Key:
        """The place as others know it."""
        return key_of(self.place)


class Put(NamedTuple):
    """A container, what goes out of it, all of it or some keys, and what comes in then."""

    container: Any  # or where it is among the arguments
    anew: bool
    gone: list[Any]
    tree: Any

    def variables(self) -> list[Variable]:
        """Those that come in, in order."""
        return variables_in(self.tree)

    def through(self, change: Filled) -> "Put":
        """The same with other variables."""
        return self._replace(tree=changed(self.tree, change))

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes out and nothing comes in."""
        return not (self.anew or self.gone or list(leaves(self.tree)))

    def write(self, filled: Filled, given: Given | None) -> None:
        """Change the container."""
        held: Any = self.container
        if isinstance(held, Path):
            held = held.found(given)
        if self.anew:
            held.clear()
        for key in self.gone:
            held.pop(key, None)
        values = value_of(mapped(lambda v, _: filled(v), self.tree))
        (held.extend if hasattr(held, "extend") else held.update)(values)


class Called(NamedTuple):
    """What is called behind every run, and the tree of its arguments."""

    function: Callable[..., Any]
    tree: Any

    def variables(self) -> list[Variable]:
        """Those among the arguments, in order."""
        return variables_in(self.tree)

    def through(self, change: Filled) -> "Called":
        """The same with other variables."""
        return self._replace(tree=changed(self.tree, change))

    def write(self, filled: Filled, given: Given | None) -> None:
        """Call it."""
        args, named = value_of(mapped(lambda v, _: filled(v), self.tree))
        self.function(*args, **named)


class Path(NamedTuple):
    """Where a container is among the arguments."""

    keys: tuple[Any, ...]

    def found(self, given: Given | None) -> Any:
        """The one of a call."""
        value: Any = given
        for key in self.keys:
            value = value[key]
        return value


def changed(tree: Any, change: Filled) -> Any:
    """A tree with other variables; what stands for a number is one after each run."""

    def leaf(value: Any, _: Any) -> Any:
        if not isinstance(value, Variable):
            return value
        return Number(change(value)) if value.number else change(value)

    return mapped(leaf, tree)


def variables_in(tree: Any) -> list[Variable]:
    """The variables in a tree, in order."""
    found = [v.variable if isinstance(v, Held) else v for v in leaves(tree)]
    return [v for v in found if isinstance(v, Variable)]


def restored(written: Iterable[Written]) -> None:
    """Undo what was written."""
    for entry in written:
        if entry.name is None:
            restore(entry.owner, entry.before)
        else:
            entry.place.write(entry.before)


def left_behind(
    written: list[Written], roots: list[Any], given: Given, whole: bool
) -> tuple[list[Any], list[Written]]:
    """What every run has to write, and what of `written` is to be undone for it.

    Objects are meant that `roots` lead to, and containers among the arguments `given`. What Python
    counts on is refused, unless the function has to be one Program as a `whole`.
    """
    if not written:
        return [], []
    paths = {id(c): Path(path) for path, c in containers(given, ())}
    known = reached(roots)
    left: list[Any] = []
    undone: list[Written] = []
    inner: set[int] = set()  # containers that stand in what is written anew
    for entry in written:
        outside = isinstance(entry.owner, dict) or id(entry.owner) in known
        if entry.name is None or not outside or variables_in(tree_of(entry.before)):
            continue
        value = entry.place.read()
        if variables_in(tree_of(value)):
            left.append(Set(entry.place, tree_of(value)))
            undone.append(entry)
            inner.update(id(c) for _, c in containers(value, ()))
        elif not is_same(value, entry.before):
            if not counts_on(entry, value):
                left.append(Set(entry.place, value))
            elif not whole:
                raise refused(
                    f"`{entry.label}` goes on from what it was, {entry.before!r:.40}, to "
                    f"{value!r:.40}, and a Program would do so once"
                )
    for entry in written:
        path = paths.get(id(entry.owner))
        if entry.name is not None or id(entry.owner) in inner:
            continue
        if path is not None or id(entry.owner) in known:
            change = put_into(path or entry.owner, entry.before, entry.owner)
            if path is not None or not change.is_empty:
                left.append(change)
                undone.append(entry)
    return left, undone


def is_same(value: Any, before: Any) -> bool:
    """Whether a value of Python is what it was."""
    return value is before or (
        type(value) is type(before) and type(value) in PLAIN and (value == before)
    )


def counts_on(entry: Written, value: Any) -> bool:
    """Whether Python made a value of the one before; of a name this is taken for granted."""
    if isinstance(entry.owner, CellType | dict):
        return is_number(value) and is_number(entry.before)
    return (id(entry.owner), entry.name) in reads.first


def put_into(target: Any, before: Any, after: Any) -> Put:
    """What makes of a container as it was `before` what it is `after`."""
    if isinstance(after, dict):
        new = {k: v for k, v in after.items() if before.get(k, UNDEFINED) is not v}
        return Put(target, False, [k for k in before if k not in after], tree_of(new))
    kept = len(before) <= len(after) and all(a is b for a, b in zip(before, after, strict=False))
    if isinstance(after, list) and kept:
        return Put(target, False, [], tree_of(after[len(before) :]))
    return Put(target, True, [], tree_of(after if isinstance(after, set) else list(after)))


def containers(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The containers in nested ones, with where they are."""
    if isinstance(value, GIVEN) or type(value) in CONTAINERS:
        if not isinstance(value, tuple):
            yield path, value
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from containers(part, (*path, key))
