"""The Executor users call: finds the plan of a Program, fills a frame, runs it, fetches."""

import warnings
import weakref
from collections import Counter
from threading import RLock, get_ident
from typing import Any

import numpy as np

from scull.core.memory import owner
from scull.core.place import CPU, place_of
from scull.core.tensor import Rows
from scull.core.timeline import active, spanned
from scull.deferred import load
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    ResourceError,
    RunError,
    UnsupportedError,
    located,
)
from scull.executor.binding import PLAIN, Bound, Settings, bind, fetched, filled, planned
from scull.executor.crew import run_crew
from scull.executor.feed import as_dictionary, cell_of
from scull.executor.fetch import OPTIMIZE, delivered, fetched_by, flattened, listed, targets
from scull.executor.plan import Plan
from scull.executor.recorded import recorded
from scull.executor.run import Ledger, run, run_checked
from scull.executor.work import HostWork
from scull.flags import PADDLE, changes, flag
from scull.ir.program import Program, main_program
from scull.runtime.device import MAKERS, device_of
from scull.runtime.line import at_line
from scull.runtime.resident import Resident
from scull.runtime.scope import Scope, global_scope

LEVEL = "scull.executor.level"
MOST_PLANS = 64
PLANNING = RLock()  # two plans of one run would have their turns apart
KINDS = (np.ndarray, list, Rows, Resident)  # of what stands in a scope


class Executor:
    """Runs Programs on a place.

    Args:
        place: where; the CPU when None.

    `max_memory` is how many bytes the temporaries of a run may take, and on a device its copies of
    what is fed and fetched, too; a run that may take more is refused before it allocates anything.
    At 0 there is no limit.

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
        self.place = CPU if place is None else place_of(place)
        self.device = None if self.place.is_cpu_place() else device_at(self.place)
        self.ledger = Ledger()
        self.closed = False
        self.max_memory = 0

    def close(self) -> None:
        """Refuse further runs."""
        self.closed = True

    def flush(self) -> None:
        """Wait for what writes gradients to servers: nothing to do."""

    def plan(self, program: Any = None, feed: Any = (), fetch_list: Any = None) -> Plan:
        """The plan of a run: `print` shows it, `peak` tells its bytes, `to_dot()` draws it.

        Args:
            program (Program | CompiledProgram): the default main Program when None.
            feed (dict | list): the names of the inputs.
            fetch_list (list): variables or names.

        Returns:
            Plan: what is decided before a run; on a device its copies, streams and events, too.

        Examples:
            >>> import scull as paddle
            >>> paddle.enable_static()
            >>> main = paddle.static.Program()
            >>> with paddle.static.program_guard(main):
            ...     y = paddle.tanh(paddle.static.data("x", [2, 3]))
            >>> str(paddle.static.Executor().plan(main, ["x"], [y]).peak)
            '24 bytes'
            >>> paddle.disable_static()
        """
        program, asked = default_program() if program is None else program, PLAIN
        if not isinstance(program, Program):
            program, asked = program_of(program), asked_of(program)
        feeds, fetches = tuple(feed), tuple(listed(fetch_list))
        source, names = prepared(self, program, feeds, fetches, False, asked)
        return planned(source, feeds, names, asked).on(self.place)

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
        use_prune: bool = False,
    ) -> Any:
        """Run `program` once with `feed`; return the values of `fetch_list`.

        Args:
            program (Program | CompiledProgram): the default main Program when None.
            feed (dict): by the name of the input an array, a tensor, a list or a number; a list of
                one such dictionary too. Trailing sizes of an array may be left out.
            fetch_list (list): variables or names, also one twice, and lists of them; what a loaded
                model fetches when it is empty.
            feed_var_name, fetch_var_name (str): kept for Paddle's signature.
            scope (Scope): where persistable values live; the global one when None.
            return_numpy (bool): arrays, else LoDTensors; None for what has no value.
            use_program_cache (bool): kept for Paddle's signature: a plan is always kept.
            use_prune (bool): run only what `fetch_list` and the updates need; so is it when
                updates, as `minimize` returns them, stand in `fetch_list`: then only those run.

        Returns:
            list: a value an entry of `fetch_list`.
        """
        if self.closed:
            raise RunError("Attempted to use a closed Executor")
        program = default_program() if program is None else program
        scope = global_scope() if scope is None else scope
        settings: Any = changes[0]
        if not isinstance(program, Program):
            asked = compiled(program, scope, self.place)
            program, settings = program._program, (settings, asked)
        if type(feed) is not dict:
            feed = as_dictionary(feed)
        fetches = tuple(fetch_list) if type(fetch_list) is list else listed(fetch_list)
        if not isinstance(scope, Scope):
            raise ArgumentTypeError(f"scope takes a Scope, not {type(scope).__name__}")
        key = (program.version, scope.era, tuple(feed), fetches, use_prune, settings, self.device)
        try:
            bound = program.plans.get(key)
        except TypeError:  # lists within the list cannot be looked up
            key = (*key[:3], tuple(flattened(fetches)), *key[4:])
            bound = program.plans.get(key)
        if bound is None:
            bound = kept(self, program, scope, key)
        if program.lr_scheduler is not None:
            put_rate(program, scope)
        if active:
            bound = recorded(bound)
        try:
            turn = bound.turn
            if turn is None:
                return ran(self, bound, feed, return_numpy)
            if not turn.lock.acquire(False):
                turn.wait()
            turn.holder = get_ident()
            try:
                return ran(self, bound, feed, return_numpy)
            finally:
                turn.lock.release()
        except MemoryError as error:
            raise as_resource(error) from None

    def train_from_dataset(
        self,
        program: Any = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Any = None,
        fetch_info: Any = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """Run `program` for each batch of a data set, one after the other.

        Args:
            program (Program | CompiledProgram): the default main Program when None.
            dataset (QueueDataset | InMemoryDataset): files of samples.
            scope (Scope): where persistable values live; the global one when None.
            thread (int): of no effect: kernels share the CPUs, as in `run`.
            debug (bool): of no effect: `explain` shows how long operators take.
            fetch_list (list): variables whose values are printed.
            fetch_info (list[str]): what they are called there; their names when None.
            print_period (int): how many batches lie between two lines.
            fetch_handler (FetchHandler, optional): what is called with values now and then.
        """
        run_all = load("scull.executor.pass_over", "pass_over")
        run_all(self, program, dataset, scope, fetch_list, fetch_info, print_period, fetch_handler)

    infer_from_dataset = train_from_dataset  # the name for Programs that train nothing

    def explain(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        path: Any = "explain.html",
        scope: Scope | None = None,
        machine_code: bool | None = None,
    ) -> str:
        """Write a page that shows how `program` is run; return its path.

        It holds the Program, the plan's dependencies, streams and buffers, and the times of a run
        on copies: `scope` and the random numbers stay as they are. What others see of it, as they
        do of `Print` and `py_func`, happens once. It needs no network.

        Args:
            program (Program): the default main Program when None.
            feed (dict): arrays by the name of the input.
            fetch_list (list): variables or names.
            path (str): of the file of HTML.
            scope (Scope): where persistable values live; the global one when None.
            machine_code (bool): show what the compiler makes of it; as COMPILE says when None.

        Returns:
            str: `path`.

        Examples:
            >>> import tempfile
            >>> import scull as paddle
            >>> main = paddle.static.Program()
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     page = paddle.static.Executor().explain(main, path=f"{folder}/page.html")
            >>> page.endswith("page.html")
            True
        """
        explain = load("scull.profiler.explain", "explain")
        return str(explain(self, program, feed, fetch_list, path, scope, machine_code=machine_code))

    def _prune_program(self, program: Program, feed: Any, fetch: Any, optimize_ops: Any) -> Program:
        """What values and updates need of `program`; every update is one when none is asked for."""
        updates = optimize_ops or [o for b in program.blocks for o in b.ops if o.role & OPTIMIZE]
        return program._prune_with_input(list(feed), [*fetch, *updates])


def put_rate(program: Program, scope: Scope) -> None:
    """Let the variable of the learning rate have what the scheduler says."""
    rate = np.array(program.lr_scheduler(), program.lr_var.dtype.array)
    cell = cell_of(scope, program.lr_var.name)
    old = cell.value
    same = type(old) is np.ndarray and old.dtype == rate.dtype and old.shape == rate.shape
    if not same or old != rate:  # runs that hold what cells have need not look again
        cell.value = rate


def ran(executor: Executor, bound: Any, feed: Any, return_numpy: bool) -> list[Any]:
    """The values that one run of a bound plan fetches."""
    limit = executor.max_memory or bound.limit
    if type(limit) is not int or limit < 0:
        raise ArgumentError(f"max_memory is {limit!r}, not a number of bytes")
    if bound.straight is not None and return_numpy and not limit:
        found: list[Any] | None = bound.straight(feed)
        if found is not None:
            return found
    if bound.sequences:
        feed = load(LEVEL, "with_levels")(bound, feed)
    frame = filled(bound, feed, limit)
    executed(executor, bound, frame, limit)
    values = fetched(bound, frame, return_numpy)
    if bound.sequences:
        values = load(LEVEL, "levelled")(bound, values, return_numpy)
    return values


def executed(executor: Executor, bound: Bound, frame: list[Any], limit: int = 0) -> None:
    """Run a bound plan over a frame that holds what it begins with; put into the scope what is new.

    What a run on a device may take besides is bounded where there is a `limit`.
    """
    if bound.device is not None:
        load("scull.executor.launch", "run_device")(bound, frame, limit > 0)
    elif bound.checked and not bound.waits:
        executor.ledger = Ledger()
        if flag("DEBUG") >= 3 and bound.tier is not None:  # what would be machine code is shown
            bound.tier.steps(frame)
        run_checked(bound.plan, frame, executor.ledger)
    elif ((bound.threads > 1 and not limit and bound.tier is None) or bound.waits) and (
        schedule := bound.parallel()
    ):
        looks, plan = PADDLE["FLAGS_check_nan_inf"], bound.plan
        known = frozenset[int]() if looks else plan.known
        work = HostWork(plan, schedule, frame, looks=looks, known=known)
        run_crew(schedule, work, bound.threads)
    else:
        plain = bound.tier is None or limit  # the memory of machine code is not bounded
        steps = bound.steps if plain else bound.tier.steps(frame)
        run(bound.plan, steps, frame)
        bound.straight = None if plain else bound.tier.straight(bound, steps)
    if any(cell.value is None for cell, _ in bound.stores):
        settle(bound, frame)
    for cell, slot in bound.stores:
        value = frame[slot]
        if cell.value is not value:
            cell.value = value if isinstance(value, KINDS) else np.asarray(value)
    for cell, slot, copy in bound.left:
        cell.value = delivered(frame[slot], copy, True)


def settle(bound: Bound, frame: list[Any]) -> None:
    """Move first values of cells, which will stay and be written over, to lines of caches.

    Those that others share memory with stay where they are.
    """
    held = Counter(id(owner(value)) for value in frame if isinstance(value, np.ndarray))
    for cell, slot in bound.stores:
        value = frame[slot]
        if cell.value is None and type(value) is np.ndarray and held[id(value)] == 1:
            frame[slot] = at_line(value)


def as_resource(error: MemoryError) -> ResourceError:
    """`error` as one of ours, with its notes."""
    if isinstance(error, ResourceError):
        return error
    found = ResourceError(f"there is not enough memory: {error}")
    for note in getattr(error, "__notes__", ()):
        located(found, note)
    return found


def device_at(place: Any) -> Any:
    """The device of a place; UnsupportedError where there is none."""
    if place.kind not in MAKERS:
        known = ", ".join(f"`{name}`" for name in sorted(MAKERS))
        raise UnsupportedError(
            f"there is no device {place.name}: Programs run on the CPU, and on {known} for tests"
        )
    return device_of(place)


def default_program() -> Program:
    """The default main Program, with a warning when nothing is in it."""
    program: Program = main_program()
    if not program.global_block().ops:
        warnings.warn(
            "Now you are using default_main_program, but there are no operators in the program to "
            "be executed. Please ensure you create model correctly or you can pass the Program or "
            "the CompiledProgram manually.",
            stacklevel=3,
        )
    return program


def compiled(program: Any, scope: Scope, place: Any) -> Settings:
    """What the strategies of a CompiledProgram ask of its runs, in this scope alone."""
    program_of(program)
    program._compile(scope, place)
    return asked_of(program)


def program_of(program: Any) -> Program:
    """The Program of a CompiledProgram."""
    found = getattr(program, "_program", None)
    if not isinstance(found, Program):
        raise ArgumentTypeError(
            f"Executor requires Program as its Parameter. But you passed in {type(program)}"
        )
    return found


def asked_of(program: Any) -> Settings:
    """What the strategies of a CompiledProgram ask of its runs."""
    return Settings(*program._settings())


def prepared(
    executor: Executor, program: Program, feeds: Any, fetches: Any, prune: bool, asked: Settings
) -> tuple[Program, Any]:
    """What is planned of a Program, and the names that are fetched."""
    names, updates = targets(fetches)
    if prune or updates:
        source = executor._prune_program(program, feeds, names, updates)
    else:
        source = program
    names = names or fetched_by(program)
    if asked.passes:
        passed = load("scull.passes.pipeline", "passed")
        source = passed(source, feeds, (*names, *asked.staying), asked.passes)
    return source, names


@spanned("make plan")
def kept(executor: Executor, program: Program, scope: Scope, key: Any) -> Bound:
    """A new plan, kept with the Program as long as that does not change and the scope lives."""
    version, _, feeds, fetches, prune, settings, device = key
    plans = program.plans
    with PLANNING:
        found: Bound | None = plans.get(key)  # of a thread that began at the same time
        if found is not None:
            return found
        for old in [k for k in list(plans) if k[0] != version]:  # scopes may go meanwhile
            plans.pop(old, None)
        if len(plans) >= MOST_PLANS:
            plans.clear()
        asked = settings[1] if isinstance(settings, tuple) else PLAIN
        source, names = prepared(executor, program, feeds, fetches, prune, asked)
        bound = bind(source, scope, feeds, names, asked)
        bound.device = device
        if device is not None and not bound.waits:
            bound.turn = device.turn
        bound.scope = weakref.ref(scope, lambda _: plans.pop(key, None))
        plans[key] = bound
        return bound
