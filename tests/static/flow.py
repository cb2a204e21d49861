"""Random programs with branches, loops and lists: the same Python code in eager and static mode."""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import scull as paddle

NAMES = ("x", "w", "a", "b")  # variables, vectors of three numbers
KINDS = ("set", "if", "loop", "write", "list", "count")
SIZE = 3


@dataclass(frozen=True)
class Step:
    """One statement: what it is, what it sets, what it reads, and the statements within."""

    kind: str
    target: str
    reads: tuple[str, ...]
    number: float
    inner: tuple[tuple["Step", ...], ...] = ()


@dataclass
class Writer:
    """Writes a random program with at most `depth` levels of blocks."""

    chance: random.Random
    used: set[str] = field(default_factory=set)

    def block(self, depth: int, most: int) -> tuple[Step, ...]:
        return tuple(self.step(depth) for _ in range(self.chance.randint(1, most)))

    def step(self, depth: int) -> Step:
        kind = self.chance.choice(KINDS if depth else ("set",))
        self.used.add(kind)
        inner: tuple[tuple[Step, ...], ...] = ()
        if kind in ("if", "write"):
            inner = (self.block(depth - 1, 2), self.block(depth - 1, 2))
        elif kind in ("loop", "list", "count"):
            inner = (self.block(depth - 1, 2),)
        reads = tuple(self.chance.choice(NAMES) for _ in range(2))
        number = self.chance.choice((-1.0, -0.5, 0.5, 1.0))
        return Step(kind, self.chance.choice(NAMES), reads, number, inner)


def written(steps: tuple[Step, ...]) -> list[str]:
    """The variables that `steps` set, in order."""
    names = {s.target: None for s in steps}
    for s in steps:
        for block in s.inner:
            names.update(dict.fromkeys(written(block)))
    return list(names)


Values = dict[str, Any]


def run(steps: tuple[Step, ...], values: Values) -> Values:
    """The variables after `steps`; `values` stay as they are."""
    values = dict(values)
    for step in steps:
        RUN[step.kind](step, values)
    return values


def formula(step: Step, values: Values) -> Any:
    """A number of every size from two variables."""
    p, q = (values[n] for n in step.reads)
    return paddle.tanh(p * q) + p * step.number


def predicate(step: Step, values: Values) -> Any:
    return paddle.sum(values[step.reads[0]]) > step.number


def run_set(step: Step, values: Values) -> None:
    values[step.target] = formula(step, values)


def run_if(step: Step, values: Values) -> None:
    names = [step.target, *(n for b in step.inner for n in written(b) if n != step.target)]
    names = list(dict.fromkeys(names))

    def branch(block: tuple[Step, ...]) -> Any:
        def called() -> Any:
            after = run(block, values)
            after[step.target] = formula(step, after)
            return [after[n] for n in names]

        return called

    found = paddle.static.nn.cond(predicate(step, values), *map(branch, step.inner))
    values.update(zip(names, found, strict=True))


def run_write(step: Step, values: Values) -> None:
    """A branch that writes a variable around it."""
    kept = values[step.target] * 1.0
    values[step.target] = kept

    def branch() -> None:
        after = run(step.inner[0], values)
        paddle.assign(formula(step, after), kept)

    paddle.static.nn.cond(predicate(step, values), branch, None)


def counter(value: int) -> Any:
    return paddle.full([1], value, "int64")


def run_loop(step: Step, values: Values) -> None:
    names = list(dict.fromkeys([step.target, *written(step.inner[0])]))
    rest = dict(values)

    def body(i: Any, *carried: Any) -> list[Any]:
        after = run(step.inner[0], rest | dict(zip(names, carried, strict=True)))
        after[step.target] = formula(step, after)
        return [i + 1, *(after[n] for n in names)]

    start = [counter(0), *(values[n] * 1.0 for n in names)]  # a loop overwrites them
    most = 3 if step.number > 0 else 0 if step.number < -0.5 else 2
    limit = counter(most)
    found = paddle.static.nn.while_loop(lambda i, *_: i < limit, body, start)
    values.update(zip(names, found[1:], strict=True))


def run_count(step: Step, values: Values) -> None:
    """A loop until a sum is large, whose counter is increased in place."""
    i, limit = counter(0), counter(3)
    total = values[step.target] * 1.0
    if isinstance(i, paddle.Tensor):
        while bool(i < limit):
            paddle.assign(body_of_count(step, values, total), total)
            paddle.increment(i)
    else:
        holds = paddle.less_than(i, limit)
        with paddle.static.nn.control_flow.While(holds).block():
            paddle.assign(body_of_count(step, values, total), total)
            paddle.increment(i)
            paddle.assign(paddle.less_than(i, limit), holds)
    values[step.target] = total


def body_of_count(step: Step, values: Values, total: Any) -> Any:
    after = run(step.inner[0], values | {step.target: total})
    return formula(step, after)


def run_list(step: Step, values: Values) -> None:
    """A list that a loop fills and reads."""
    array = paddle.tensor.create_array("float64")
    array = paddle.tensor.array_write(values[step.target], counter(0), array)
    limit = counter(2)

    def body(i: Any, array: Any) -> list[Any]:
        last = paddle.tensor.array_read(array, i)
        after = run(step.inner[0], values | {step.target: last})
        i = i + 1
        array = paddle.tensor.array_write(formula(step, after), i, array)
        return [i, array]

    i, array = paddle.static.nn.while_loop(lambda i, _: i < limit, body, [counter(0), array])
    first = paddle.tensor.array_read(array, counter(1))
    values[step.target] = paddle.tensor.array_read(array, i) + first * 0.5


RUN = {
    "set": run_set,
    "if": run_if,
    "loop": run_loop,
    "write": run_write,
    "list": run_list,
    "count": run_count,
}


@dataclass
class Flow:
    """A random program: its statements, its operands, and which kinds of statements it has."""

    seed: int

    def __post_init__(self) -> None:
        writer = Writer(random.Random(self.seed))
        self.steps = writer.block(2, 4)
        self.kinds = writer.used
        chance = np.random.default_rng(self.seed)
        self.feed = {n: chance.standard_normal(SIZE) for n in ("x", "w")}

    def loss(self, x: Any, w: Any) -> Any:
        values = {"x": x, "w": w, "a": x * w, "b": x + w}
        values = run(self.steps, values)
        return sum((paddle.sum(values[n]) for n in NAMES[1:]), paddle.sum(values["x"]))

    def eager(self) -> list[Any]:
        """The loss and the gradients of `x` and `w`, computed at once."""
        given = [paddle.to_tensor(v, stop_gradient=False) for v in self.feed.values()]
        loss = self.loss(*[v * 1.0 for v in given])
        loss.backward()
        return [loss.numpy(), *(v.grad.numpy() for v in given)]

    def program(self, *, gradients: bool = True) -> tuple[Any, list[str]]:
        """A Program that computes them, and their names; static mode is on."""
        main = paddle.static.Program()
        with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
            given = [paddle.static.data(n, [SIZE], "float64") for n in self.feed]
            for v in given:
                v.stop_gradient = False
            loss = self.loss(*[v * 1.0 for v in given])
            if not gradients:
                return main, [loss.name]
            paddle.static.append_backward(loss, parameter_list=list(self.feed))
        return main, [loss.name, "x@GRAD", "w@GRAD"]
