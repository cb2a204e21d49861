"""Programs of a few operators that share memory in every way, beside what they mean in NumPy."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

import scull as paddle
from scull.executor.binding import Bound, fetched, filled
from scull.executor.plan import Plan, make_plan
from scull.executor.run import Ledger, run, run_checked
from scull.flags import flags

KINDS = (
    "tanh",
    "add",
    "view",
    "turn",
    "update",
    "assign",
    "random",
    "like",
    "flat",
    "part",
    "python",
)
RATE = np.float32(0.5)
FED = np.array([[0.25, -1.0], [2.0, 0.5]], np.float32)
START = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

actions = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 40), st.integers(0, 40)),
    min_size=2,
    max_size=14,
)


@dataclass
class Example:
    """A Program of one input and one parameter, and the values it should give."""

    main: Any = field(default_factory=paddle.static.Program)
    variables: list[Any] = field(default_factory=list)
    values: dict[Any, Any] = field(default_factory=dict)  # several may be one memory
    parts: list[Any] = field(default_factory=list)
    drawn: set[Any] = field(default_factory=set)  # of values that nobody can tell ahead
    read: set[Any] = field(default_factory=set)
    calls: list[int] = field(default_factory=list)  # of Python functions, in a run

    def keep(self, variable: Any, value: Any) -> Any:
        """Note a variable and its value."""
        if variable not in set(self.variables):
            self.variables.append(variable)
        self.values[variable] = value
        return variable

    def leaves(self) -> list[Any]:
        """What nobody has read as it is at the end, and the parameter."""
        return [v for v in self.variables if v not in self.read or v.persistable]

    def plan(self, seed: int = -1, fetches: Iterable[Any] | None = None) -> Plan:
        """A plan of it."""
        names = tuple(v.name for v in (self.leaves() if fetches is None else fetches))
        return make_plan(self.main.global_block(), ("x",), names, seed=seed)

    def run(self, plan: Plan, poison: bool = True) -> list[Any]:
        """What a run fetches, freed memory poisoned, its calls, and the parameter after it."""
        self.calls.clear()
        paddle.seed(7)
        scope = paddle.static.Scope()
        scope.var("w").value = START.copy()
        bound = Bound(plan, scope)
        fed = FED.copy()
        frame = filled(bound, {"x": fed})
        with flags(POISON=poison):
            if poison:
                run_checked(plan, frame, Ledger())
            else:
                run(plan, bound.steps, frame)
        assert np.array_equal(fed, FED), "what is fed was written"
        for cell, slot in bound.stores:
            cell.value = frame[slot]
        return [*fetched(bound, frame, True), np.array(self.calls), scope.var("w").value]


def build(choices: list[tuple[str, int, int]]) -> Example:
    """The Program of these choices, each with two variables made before."""
    example = Example()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(example.main):
        block = example.main.global_block()
        example.keep(paddle.static.data("x", [2, 2]), FED.copy())
        w = block.create_var("w", shape=[2, 2], dtype="float32", persistable=True)
        example.keep(w, START.copy())
        for kind, i, j in choices:
            a, b = (example.variables[n % len(example.variables)] for n in (i, j))
            MAKERS[kind](example, block, a, b)
    return example


def pure(make: Any, compute: Any) -> Any:
    """A maker of one operator that reads `a` and `b`."""

    def maker(example: Example, block: Any, a: Any, b: Any) -> None:
        example.read |= {a, b}
        found = make(a, b)
        value = compute(example.values[a], example.values[b])
        example.keep(found, value)
        if {a, b} & example.drawn:
            example.drawn.add(found)

    return maker


def update(example: Example, block: Any, a: Any, b: Any) -> None:
    """Write over `a`."""
    if a is b:
        return
    rate = paddle.full([1], float(RATE))
    inputs = {"Param": [a], "Grad": [b], "LearningRate": [rate]}
    block.append_op("sgd", inputs, {"ParamOut": [a]}, {})
    example.read.add(b)
    example.read -= shares(example, a)
    example.values[a] -= RATE * example.values[b]
    if b in example.drawn:
        example.drawn |= shares(example, a)


def shares(example: Example, a: Any) -> set[Any]:
    """The variables that mean the memory of `a`, too."""
    return {v for v, x in example.values.items() if np.shares_memory(x, example.values[a])}


def assign(example: Example, block: Any, a: Any, b: Any) -> None:
    """Give `b` a new value."""
    if a is b or b.is_data or b.persistable:
        return
    paddle.assign(paddle.scale(a, 1.0, 1.0), output=b)
    example.read.add(a)
    example.read.discard(b)
    example.values[b] = example.values[a] + np.float32(1)
    example.drawn.discard(b)
    if a in example.drawn:
        example.drawn.add(b)


def draw(example: Example, block: Any, a: Any, b: Any) -> None:
    """Draw numbers."""
    found = example.keep(paddle.uniform([2, 2]), np.zeros((2, 2), np.float32))
    example.drawn.add(found)


def like(example: Example, block: Any, a: Any, b: Any) -> None:
    """Read the shape of `a` alone."""
    example.read.add(a)
    example.keep(paddle.full_like(a, 3.0), np.full((2, 2), 3.0, np.float32))


def flat(example: Example, block: Any, a: Any, b: Any) -> None:
    """Lay `a` and `b` into one buffer."""
    if a is b:
        return
    name = f"whole{len(example.variables)}"
    whole = block.create_var(name, shape=[8], dtype="float32")
    parts = [block.create_var(f"{name}_{i}", shape=[2, 2], dtype="float32") for i in (0, 1)]
    attrs = {"dtype": 5, "copy_data": True, "use_align": False}
    outputs = {"Output": parts, "FusedOutput": whole}
    block.append_op("coalesce_tensor", {"Input": [a, b]}, outputs, attrs)
    memory = np.concatenate([example.values[v].ravel() for v in (a, b)])
    for i, v in enumerate(parts):
        example.keep(v, memory[4 * i : 4 * i + 4].reshape(2, 2))
    example.parts.append((whole, memory, parts))
    if {a, b} & example.drawn:
        example.drawn |= set(parts)
    example.read |= {a, b}


def part(example: Example, block: Any, a: Any, b: Any) -> None:
    """Write over a whole buffer, or do nothing while there is none."""
    if not example.parts:
        return
    whole, memory, parts = example.parts[-1]
    gradient, rate = paddle.ones([8]), paddle.full([1], float(RATE))
    inputs = {"Param": [whole], "Grad": [gradient], "LearningRate": [rate]}
    block.append_op("sgd", inputs, {"ParamOut": [whole]}, {})
    memory -= RATE
    example.read -= {v for v in parts if np.shares_memory(example.values[v], memory)}


def python(example: Example, block: Any, a: Any, b: Any) -> None:
    """Call a Python function."""
    name = f"made{len(example.variables)}"
    made = block.create_var(name, shape=[2, 2], dtype="float32")
    number = len(example.variables)

    def call(x: Any) -> Any:
        example.calls.append(number)
        return np.asarray(x) + np.float32(2)

    paddle.static.py_func(call, a, made)
    example.read.add(a)
    example.keep(made, example.values[a] + np.float32(2))
    if a in example.drawn:
        example.drawn.add(made)


MAKERS = {
    "tanh": pure(lambda a, b: paddle.tanh(a), lambda a, b: np.tanh(a)),
    "add": pure(lambda a, b: a + b, lambda a, b: a + b),
    "view": pure(lambda a, b: paddle.reshape(a, [2, 2]), lambda a, b: a.copy()),
    "turn": pure(lambda a, b: paddle.transpose(a, [1, 0]), lambda a, b: a.T.copy()),
    "update": update,
    "assign": assign,
    "random": draw,
    "like": like,
    "flat": flat,
    "part": part,
    "python": python,
}
