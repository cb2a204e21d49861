"""The Executor users call: finds the plan of a Program, fills a frame, runs it, fetches."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from scull.core import session
from scull.core.place import CPU
from scull.core.tensor import Rows, Tensor
from scull.errors import ArgumentTypeError, FeedError, FetchError, UninitializedError
from scull.executor.plan import Plan, make_plan
from scull.executor.run import Ledger, run, run_checked
from scull.flags import flag
from scull.ir.program import Program, main_program
from scull.ir.variable import Variable
from scull.runtime.scope import Cell, Scope, global_scope


class Bound:
    """A plan bound to the cells of one scope."""

    __slots__ = ("cells", "feeds", "plan", "scope", "steps", "stores")

    def __init__(self, plan: Plan, scope: Scope) -> None:
        self.plan, self.scope = plan, scope
        self.steps = tuple((s.call, s.get, s.put, s.frees) for s in plan.steps)
        self.cells = tuple((found(scope, name), slot) for name, slot in plan.loads)
        self.stores = tuple(
            (scope.find_var(name) or scope.var(name), slot) for name, slot in plan.stores
        )
        self.feeds = tuple(
            (v.name, slot, over, v.meta.dtype.array, declared(v), v) for v, slot, over in plan.feeds
        )


def found(scope: Scope, name: str) -> Cell:
    """The cell a plan reads; made empty when the scope has none, so that a later value is seen."""
    return scope.find_var(name) or scope.var(name)


def declared(v: Variable) -> tuple[int, ...] | None:
    """The shape a fed value must have; None where nothing is checked."""
    return v.shape if v.is_data or v.need_check_feed else None


class Executor:
    """Runs Programs on a place.

    Args:
        place: where; the CPU when None.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2])
        ...     y = x + 1.0
        >>> exe = paddle.static.Executor()
        >>> exe.run(main, feed={"x": np.zeros(2, "float32")}, fetch_list=[y])[0].tolist()
        [1.0, 1.0]
        >>> paddle.disable_static()
    """

    def __init__(self, place: Any = None) -> None:
        self.place = place or CPU
        self.ledger = Ledger()
        self.closed = False

    def close(self) -> None:
        """Refuse further runs."""
        self.closed = True

    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        return_merged: bool = True,
        use_prune: bool = False,
    ) -> Any:
        """Run `program` once with `feed`; return the values of `fetch_list`.

        Args:
            program (Program): the default main Program when None.
            feed (dict): arrays by the name of the input.
            fetch_list (list): variables or names.
            scope (Scope): where persistable values live; the global one when None.
            return_numpy (bool): arrays, else Tensors.
            use_prune (bool): run only what `fetch_list` needs.

        Returns:
            list: a value an entry of `fetch_list`.
        """
        if self.closed:
            raise RuntimeError("Attempted to use a closed Executor")
        program = main_program() if program is None else program
        if not isinstance(program, Program):
            program = unwrapped(program)
        scope = global_scope() if scope is None else scope
        names = fetch_names(fetch_list)
        bound = bound_plan(program, scope, checked_feed(feed), names, use_prune)
        if program.lr_scheduler is not None:
            rate = np.array(program.lr_scheduler(), program.lr_var.dtype.array)
            scope.var(program.lr_var.name).value = rate
        frame = filled(bound, feed or {})
        self.execute(bound, frame)
        return fetched(bound, frame, return_numpy) if names else []

    def execute(self, bound: Bound, frame: list[Any]) -> None:
        """Run a filled frame, plainly or checked, and put persistable results into the scope."""
        if flag("LEDGER") or flag("POISON"):
            self.ledger = Ledger()
            run_checked(bound.plan, frame, self.ledger)
        else:
            run(bound.plan, bound.steps, frame)
        for cell, slot in bound.stores:
            value = frame[slot]
            cell.value = value if isinstance(value, np.ndarray | Rows) else np.asarray(value)


def unwrapped(program: Any) -> Program:
    """The Program of an older door to it."""
    inner = getattr(program, "_program", None)
    if not isinstance(inner, Program):
        raise ArgumentTypeError(
            "Executor requires Program as its Parameter. But you passed in " + str(type(program))
        )
    return inner


def checked_feed(feed: Any) -> tuple[str, ...]:
    """The fed names."""
    if feed is None:
        return ()
    if isinstance(feed, list) and len(feed) == 1:
        feed = feed[0]
    if not isinstance(feed, dict):
        raise ArgumentTypeError(
            f"feed requires dict as its Parameter. But you passed in {type(feed)}"
        )
    return tuple(feed)


def fetch_names(fetch_list: Any) -> tuple[str, ...]:
    """The names to fetch."""
    if fetch_list is None:
        return ()
    if isinstance(fetch_list, str | Variable):
        fetch_list = [fetch_list]
    if not isinstance(fetch_list, list | tuple | Iterable):
        raise ArgumentTypeError(
            f"fetch_list takes variables or names, not {type(fetch_list).__name__}"
        )
    return tuple([v.name if isinstance(v, Variable) else fetch_name(v) for v in fetch_list])


def fetch_name(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    name = getattr(entry, "name", None)
    if not isinstance(name, str):
        raise FetchError(f"fetch_list takes variables or names, not {type(entry).__name__}")
    return name


def bound_plan(program: Program, scope: Scope, feeds: Any, fetches: Any, prune: bool) -> Bound:
    """The plan of this run, kept with the Program, bound to `scope`."""
    seed = flag("SCHEDULE_SEED")
    key = (program.version, id(scope), feeds, fetches, prune, seed)
    bound: Bound | None = program.plans.get(key)
    if bound is None or bound.scope is not scope:
        if len(program.plans) >= 64:
            program.plans.clear()
        plan = make_plan(program.global_block(), feeds, fetches, prune=prune, seed=seed)
        bound = program.plans[key] = Bound(plan, scope)
    return bound


def filled(bound: Bound, feed: Any) -> list[Any]:
    """A frame with what is fed and what the scope holds."""
    if isinstance(feed, list):
        feed = feed[0]
    plan = bound.plan
    frame: list[Any] = [None] * plan.size
    if plan.draws:
        frame[1] = session.generator().reserve(plan.draws)
    for name, slot, over, dtype, shape, variable in bound.feeds:
        value = feed[name]
        array = value if type(value) is np.ndarray else as_array(value)
        if shape is not None and (array.dtype is not dtype or array.shape != shape):
            array = fitting(array, variable)
        frame[slot] = array.copy() if over else array
    for cell, slot in bound.cells:
        frame[slot] = cell.value
        if cell.value is None:
            raise uninitialized(bound, cell)
    return frame


def as_array(value: Any) -> Any:
    """A fed value as an array."""
    if isinstance(value, Tensor):
        return value.array
    return np.asarray(value)


def fitting(array: Any, v: Variable) -> Any:
    """`array` when it has the declared shape and element type; FeedError otherwise."""
    if array.dtype != v.meta.dtype.array:
        raise FeedError(
            f"the input `{v.name}` is declared {v.meta}, the fed value is {array.dtype}; "
            f"feed value.astype('{v.meta.dtype.name}')"
        )
    shape = v.shape
    if len(array.shape) != len(shape) or any(
        n not in (-1, m) for n, m in zip(shape, array.shape, strict=True)
    ):
        raise FeedError(
            f"the input `{v.name}` is declared {v.meta}, the fed value has shape {list(array.shape)}"
        )
    return array


def uninitialized(bound: Bound, cell: Cell) -> Exception:
    """What to say of a value the scope does not have."""
    slot = next(s for n, s in bound.plan.loads if n == cell.name)
    reader = next((s.operator for s in bound.plan.steps if slot in s.reads), None)
    by = f"; `{reader.type}` at {reader.line} reads it" if reader else ""
    return UninitializedError(
        f"`{cell.name}` has no value in this scope{by}. Run the startup Program first: "
        "exe.run(paddle.static.default_startup_program())"
    )


def fetched(bound: Bound, frame: list[Any], return_numpy: bool) -> list[Any]:
    """The fetched values; never an array somebody else writes to."""
    results: list[Any] = []
    for slot, copy in bound.plan.fetches:
        value = frame[slot]
        if isinstance(value, Rows):
            results.append(value)
            continue
        array = np.array(value) if copy or type(value) is not np.ndarray else value
        results.append(array if return_numpy else Tensor(array))
    return results
