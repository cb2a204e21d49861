"""`for`: rounds of Python where the items are known, else a loop of the Program."""

from collections.abc import Callable, Iterator
from typing import Any

from scull.jit.convert.run.branch import record_branch
from scull.jit.convert.run.indexed import Listed, indexed, is_unknown
from scull.jit.convert.run.logic import and_, not_
from scull.jit.convert.run.loop import ending, record_loop
from scull.jit.convert.run.state import State
from scull.jit.convert.run.value import graph, variable
from scull.tensor.logic import less_than

UNROLLED = 100  # rounds of a range that stand in branches, each with its number known
Body = Callable[[Any], Any]
Stop = Callable[[], Any] | None


def for_loop(
    items: Any, body: Body, names: tuple[str, ...], stop: Stop, dead: tuple[str, ...] = ()
) -> None:
    """`for item in items: body(item)` until `stop()`, which changes what `names` name.

    A round alone reads what is `dead`.
    """
    if is_unknown(items):
        record_walk(indexed(items), 0, ending(body, dead), State(names, body, stop), stop)
        return
    rest, done = iter(items), 0
    for item in rest:
        body(item)
        done += 1
        if stop is None:
            continue
        stopped = graph(stop())
        if stopped is not None:
            go_on(items, rest, done, ending(body, dead), State(names, body, stop), stop)
            return
        if stop():
            return


def go_on(items: Any, rest: Iterator[Any], done: int, body: Body, state: State, stop: Any) -> None:
    """The rounds from number `done` on, when a Tensor tells whether there are any."""
    if isinstance(items, range) and len(items) - done > UNROLLED:
        record_walk(Listed(items), done, body, state, stop)
        return
    for item in rest:
        again = graph(not_(stop()))
        assert again is not None
        record_branch(again, lambda item=item: body(item), None, state)  # type: ignore[misc]


def record_walk(items: Any, at: Any, body: Body, state: State, stop: Stop) -> None:
    """Record the rounds from number `at` on."""
    length = items.length

    def test() -> Any:
        there = less_than(variable(at), variable(length))
        return there if stop is None else and_(not_(stop()), lambda: there)

    def round_() -> None:
        nonlocal at
        item = items.item(at)
        body(item)
        at = at + 1

    cells = dict(zip(round_.__code__.co_freevars, round_.__closure__ or (), strict=True))
    state.add("the number of the round", cells["at"])
    record_loop(test(), test, round_, state)
