"""The Executor users call: finds the plan of a Program, fills a frame, runs it, fetches."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from scull.core.place import CPU
from scull.core.tensor import Rows
from scull.errors import ArgumentTypeError
from scull.executor.binding import Bound, bind, fetched, filled, refuse_beyond
from scull.executor.pool import run_spread
from scull.executor.run import Ledger, run, run_checked
from scull.flags import changes
from scull.ir.operator import Operator
from scull.ir.program import Program, main_program
from scull.ir.variable import Variable
from scull.runtime.scope import Scope, global_scope

MOST_PLANS = 64
OPTIMIZE = 2  # the role of operators that update


class Executor:
    """Runs Programs on a place.

    Args:
        place: where; the CPU when None.

    `max_memory` is how many bytes the temporaries of a run may take; a run that may take more is
    refused before it allocates anything. At 0 there is no limit.

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
        self.max_memory = 0

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
            return_numpy (bool): arrays, else LoDTensors.
            use_prune (bool): run only what `fetch_list` and the updates need; so is it when
                updates, as `minimize` returns them, stand in `fetch_list`: then only those run.

        Returns:
            list: a value an entry of `fetch_list`.
        """
        if self.closed:
            raise RuntimeError("Attempted to use a closed Executor")
        program = main_program() if program is None else program
        if not isinstance(program, Program):
            program = unwrapped(program)
        scope = global_scope() if scope is None else scope
        if type(feed) is not dict:
            feed = checked_feed(feed)
        fetches = tuple(fetch_list) if type(fetch_list) is list else listed(fetch_list)
        key = (program.version, scope, tuple(feed), fetches, use_prune, changes[0])
        try:
            bound = program.plans.get(key)
        except TypeError:  # lists within the list cannot be looked up
            key = (*key[:3], tuple(flattened(fetches)), *key[4:])
            bound = program.plans.get(key)
        if bound is None:
            bound = kept(self, program, key)
        if program.lr_scheduler is not None:
            rate = np.array(program.lr_scheduler(), program.lr_var.dtype.array)
            scope.var(program.lr_var.name).value = rate
        frame = filled(bound, feed)
        limit = self.max_memory or bound.limit
        if limit:
            refuse_beyond(bound, frame, limit)
        if bound.checked:
            self.ledger = Ledger()
            run_checked(bound.plan, frame, self.ledger)
        elif bound.threads > 1 and bound.spreads():
            run_spread(bound.plan, bound.spread, frame, bound.threads)
        else:
            run(bound.plan, bound.steps, frame)
        for cell, slot in bound.stores:
            value = frame[slot]
            cell.value = value if isinstance(value, np.ndarray | Rows) else np.asarray(value)
        return fetched(bound, frame, return_numpy)

    def _prune_program(self, program: Program, feed: Any, fetch: Any, optimize_ops: Any) -> Program:
        """What values and updates need of `program`; every update is one when none is asked for."""
        updates = optimize_ops or [o for b in program.blocks for o in b.ops if o.role & OPTIMIZE]
        return program._prune_with_input(list(feed), [*fetch, *updates])


def unwrapped(program: Any) -> Program:
    """The Program of an older door to it."""
    inner = getattr(program, "_program", None)
    if not isinstance(inner, Program):
        raise ArgumentTypeError(
            "Executor requires Program as its Parameter. But you passed in " + str(type(program))
        )
    return inner


def checked_feed(feed: Any) -> dict[str, Any]:
    """What is fed, as a dictionary."""
    if feed is None:
        return {}
    if isinstance(feed, list | tuple) and len(feed) == 1:
        feed = feed[0]
    if not isinstance(feed, dict):
        raise ArgumentTypeError(
            f"feed requires dict as its Parameter. But you passed in {type(feed)}"
        )
    return feed


def listed(fetch_list: Any) -> tuple[Any, ...]:
    """What is to be fetched, as a tuple."""
    if fetch_list is None:
        return ()
    if isinstance(fetch_list, str | Variable | Operator):
        return (fetch_list,)
    if not isinstance(fetch_list, Iterable):
        raise ArgumentTypeError(
            f"fetch_list takes variables or names, not {type(fetch_list).__name__}"
        )
    return tuple(fetch_list)


def flattened(entries: Any) -> list[Any]:
    """`entries` with those of lists within in line; of what `minimize` returned, the operators."""
    found: list[Any] = []
    for v in entries:
        minimized = isinstance(v, tuple) and v and isinstance(v[0], list)
        found.extend(flattened(v[:1] if minimized else v) if isinstance(v, list | tuple) else [v])
    return found


def fetch_name(entry: Any) -> str:
    """The name one entry of a fetch list means."""
    name = entry if isinstance(entry, str) else getattr(entry, "name", None)
    if not isinstance(name, str):
        raise ArgumentTypeError(
            "The item in fetch_list should be str, variable or optimize_op, but received "
            f"{type(entry)}."
        )
    return name


def kept(executor: Executor, program: Program, key: Any) -> Bound:
    """A new plan, kept with the Program as long as that does not change."""
    version, scope, feeds, fetches, prune, _ = key
    entries = flattened(fetches)
    updates = [v for v in entries if isinstance(v, Operator) and v.role & OPTIMIZE]
    rest = [v for v in entries if not (isinstance(v, Operator) and v.role & OPTIMIZE)]
    names = tuple(map(fetch_name, rest))
    program.plans = {k: b for k, b in program.plans.items() if k[0] == version}
    if len(program.plans) >= MOST_PLANS:
        program.plans.clear()
    source = (
        executor._prune_program(program, feeds, names, updates) if prune or updates else program
    )
    bound = bind(source, scope, feeds, names)
    program.plans[key] = bound
    return bound
