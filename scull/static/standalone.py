"""Several Programs that run one after the other in one scope, as Paddle's core has them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError
from scull.executor.executor import Executor
from scull.ir.program import Program
from scull.runtime.scope import Scope
from scull.static.door import CompiledProgram


class Job:
    """One run of a Program among those of a `Plan`, which knows the Program by the job's type.

    Examples:
        >>> from scull.framework import core
        >>> job = core.Job("forward")
        >>> job.set_micro_batch_id(2)
        >>> job.type(), job.micro_batch_id()
        ('forward', 2)
    """

    def __init__(self, type: str) -> None:
        self._type, self._micro_batch, self._staying = type, 0, frozenset[str]()

    def type(self) -> str:
        """The name of its Program in the plan."""
        return self._type

    def micro_batch_id(self) -> int:
        """Of which part of the batch it is."""
        return self._micro_batch

    def set_micro_batch_id(self, number: int) -> None:
        """Note of which part of the batch it is."""
        self._micro_batch = number

    def set_skip_gc_vars(self, names: set[str]) -> None:
        """Note which temporaries are left in the scope, for the jobs after it."""
        self._staying = frozenset(names)


class Plan:
    """Jobs in their order, and the Program of each type of them.

    Args:
        job_list (list): the jobs.
        type_to_program (dict): Programs, or what `program.desc` shows of them.
    """

    def __init__(self, job_list: Sequence[Job], type_to_program: Mapping[str, Any]) -> None:
        missing = sorted({j.type() for j in job_list} - set(type_to_program))
        if missing:
            raise ArgumentError(f"the plan has no Program for jobs of type `{missing[0]}`")
        self._jobs, self._programs = list(job_list), dict(type_to_program)

    def job_list(self) -> list[Job]:
        """The jobs."""
        return list(self._jobs)

    def job_types(self) -> list[str]:
        """The types for which there are Programs."""
        return list(self._programs)

    def program(self, type: str) -> Any:
        """The Program of a type, as it was given."""
        if type not in self._programs:
            raise ArgumentError(f"the plan has no Program for jobs of type `{type}`")
        return self._programs[type]

    def micro_batch_num(self) -> int:
        """How many parts of a batch its jobs are of."""
        return 1 + max((j.micro_batch_id() for j in self._jobs), default=0)


class StandaloneExecutor:
    """Runs the jobs of a plan in one scope.

    Args:
        place (Place): where they run.
        plan (Plan): which they are.
        scope (Scope): where they find their values and leave them.
    """

    def __init__(self, place: Any, plan: Plan, scope: Scope) -> None:
        if not isinstance(plan, Plan):
            raise ArgumentTypeError(f"plan takes a Plan, not {type(plan).__name__}")
        self._executor, self._plan, self._scope = Executor(place), plan, scope
        self._programs = [compiled(j, plan.program(j.type())) for j in plan.job_list()]

    def run(self, feed_names: Sequence[str], enable_job_schedule_profiler: bool = False) -> Any:
        """What the fetch operators of the Programs fetch, by columns, of all parts of the batch.

        Args:
            feed_names (list): the inputs, whose values `set_feed_variable` put into the scope in
                this order, or which are variables of it.
            enable_job_schedule_profiler (bool): kept for Paddle's signature.

        Returns:
            list: LoDTensors.
        """
        parts: list[list[Any]] = []
        for program in self._programs:
            feed = self._feed(program._program, feed_names)
            found = self._executor.run(program, feed=feed, scope=self._scope, return_numpy=False)
            parts.append(found)
        columns = max(map(len, parts), default=0)
        return [row[i] for i in range(columns) for row in parts if i < len(row)]

    def _feed(self, program: Program, names: Sequence[str]) -> dict[str, Any]:
        """The values in the scope of those inputs that a Program has."""
        held = self._scope.find_var("feed")
        given = held.value if held is not None and isinstance(held.value, list) else []
        feed = {}
        for i, name in enumerate(names):
            cell = self._scope.find_var(name)
            value = given[i] if i < len(given) else cell and cell.value
            if value is not None and program.global_block().has_var(name):
                feed[name] = value
        return feed


def compiled(job: Job, program: Any) -> CompiledProgram:
    """The Program of a job, which leaves in the scope what the job says."""
    found = CompiledProgram(program if isinstance(program, Program) else program.program)
    if job._staying:
        found._graph.set("skip_gc_vars", job._staying)
    return found


def set_feed_variable(scope: Scope, value: Any, name: str, index: int) -> None:
    """Put the value of input number `index` into the variable `name` of a scope."""
    cell = scope.var(name)
    held = cell.value if isinstance(cell.value, list) else []
    held.extend([None] * (index + 1 - len(held)))
    held[index] = np.asarray(value)
    cell.value = held
