"""Where a list or a dictionary is held that a call has changed."""

from collections import deque
from collections.abc import Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.jit.convert.convertible import is_library
from scull.jit.convert.run.state import UNDEFINED, Attribute, Global, Local, State
from scull.jit.convert.run.tree import CONTAINERS

MOST = 10_000  # values that are looked at
ENGINE = frozenset(
    ("core", "ir", "runtime", "ops", "autograd", "compiler", "passes", "executor", "jit", "static")
)
Found = tuple[Any, str]  # a place, and what errors call it


class Owner:
    """A place that always holds one object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def read(self) -> Any:
        return self.value


def place_of(state: State, container: Any) -> Found | None:
    """The variable or attribute that holds a container, perhaps in another one.

    It is sought from the variables around a construct: in attributes of what they hold, and in
    the variables around functions.
    """
    waiting: deque[Found] = deque((Local(c), n) for n, c in state.cells.items())
    seen: set[int] = set()
    while waiting and len(seen) < MOST:
        place, name = waiting.popleft()
        for value in within(place.read()):
            if value is container:
                return place, name
            if id(value) not in seen:
                seen.add(id(value))
                waiting.extend(places_in(value, name))
    return None


def reached(roots: Iterable[Any]) -> dict[int, Any]:
    """What `roots` lead to, by the ids; the cells of functions too."""
    waiting: deque[Found] = deque((Owner(r), "") for r in roots)
    seen: dict[int, Any] = {}
    while waiting and len(seen) < MOST:
        place, _ = waiting.popleft()
        if isinstance(place, Local):
            seen[id(place.cell)] = place.cell
        for value in within(place.read()):
            if id(value) not in seen:
                seen[id(value)] = value
                waiting.extend(places_in(value, ""))
    return seen


def within(value: Any) -> Iterator[Any]:
    """A value, and what it holds when it is a container."""
    yield value
    if type(value) in CONTAINERS or isinstance(value, tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from within(part)


def places_in(value: Any, name: str) -> Iterator[Found]:
    """The places in an object, or around a function."""
    if isinstance(value, Tensor | Variable | ModuleType | type) or value is UNDEFINED:
        return
    if isinstance(value, MethodType):
        yield Owner(value.__self__), name
        value = value.__func__
    if isinstance(value, FunctionType):
        pairs = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        yield from ((Local(cell), word) for word, cell in pairs)
        names = () if is_library(value.__globals__.get("__name__")) else value.__code__.co_names
        for word in names:
            if word in value.__globals__:
                yield Global(value.__globals__, word), word
        return
    words: Iterable[str] = getattr(value, "__dict__", ())
    if is_engine(type(value)):
        words = {"__wrapped__"}.intersection(words)
    for word in words:
        yield Attribute(Owner(value), word), f"{name}.{word}"


def is_engine(kind: type) -> bool:
    """Whether objects of a class hold nothing of users but the functions they wrap.

    A Program kept with a static function would lead to all operators there are.
    """
    library, _, rest = str(kind.__module__).partition(".")
    return library == "scull" and rest.partition(".")[0] in ENGINE
