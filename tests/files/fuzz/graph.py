"""Programs written at random that are right: calls of every operator, joined, in branches, derived.

What a sample calls is recorded on inputs of its sizes, or on results of these sizes that are there
already; `tests/control` gives whole programs of branches and loops. Then a little may be changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from random import Random
from typing import Any, NamedTuple

import numpy as np

import scull as paddle
from scull.autograd.program import gradients
from scull.core.meta import Kind
from scull.core.op import as_outputs, meta_of
from scull.errors import ScullError
from scull.files import proto
from scull.files.outside import effect_of
from scull.files.program import bytes_of
from scull.ir.program import Program
from tests.control.corpus import smooth
from tests.control.graph import program_of as program_of_tree
from tests.control.source import model_of
from tests.files.fuzz.program import (
    WIDE,
    a_block,
    a_variable,
    an_attribute,
    an_operator,
    copied,
    put,
)
from tests.ops.case import Case, cases, flat, operators
from tests.ops.program import recordable, variables

TREES = 200  # programs of branches and loops
LENGTHS = (1, 2, 2, 3, 4, 6, 9)  # how many calls
NEAR = (-1, 0, 1, 2, 3, 4, 7)
NUMBERS = (0.0, 1.0, -1.0, 0.5, 1e-45, 1e30, float("inf"), float("nan"))
REAL = tuple(range(7)) + (20, 21, 22, 23, 24)  # element types of tensors, as files number them

Change = Callable[[Random, Any], None]


class Made(NamedTuple):
    """A Program in bytes, and what it is fed."""

    program: bytes
    feed: dict[str, Any]


def written(random: Random) -> Made:
    """A Program that is right, or was before a little of it was changed."""
    made = tree(random) if random.random() < 0.15 else graph(random)
    message = proto.ProgramDesc.FromString(made.program)
    for change in random.choices(CHANGES, k=random.choice((0, 1, 1, 1, 2, 3))):
        change(random, message)
    return Made(message.SerializePartialToString(), made.feed)


# ---- Programs that are right ----


@cache
def calls() -> tuple[Case, ...]:
    """The calls of all samples that a Program may hold which was loaded."""
    found = (c for op in operators() for c in cases(op, False) if not effect_of(op.type))
    return tuple(c for c in found if recordable(c) and "python" not in c.op.effects)


@cache
def calls_by_size() -> dict[Any, list[Case]]:
    """These calls by the element type and shape of each of their inputs."""
    found = defaultdict(list)
    for case in calls():
        for sort in {sort_of(x) for x in flat(case.inputs()) if isinstance(x, np.ndarray)}:
            found[sort].append(case)
    return found


def sort_of(x: Any) -> Any:
    meta = meta_of(x) if isinstance(x, np.ndarray) else x.meta
    return meta.dtype, meta.shape


class Writer:
    """A Program while it is written: what it is fed, and the variables it has."""

    def __init__(self, random: Random) -> None:
        self.random, self.program = random, Program()
        self.feed: dict[str, Any] = {}
        self.found: list[Any] = []  # variables of block 0

    def call(self) -> None:
        """Record one call, in a branch at times."""
        case = self.case()
        operands = tuple(map(self.operand, case.inputs()))
        if self.random.random() < 0.1:
            truth = self.fed(np.array([self.random.random() < 0.5]))
            one, other = (lambda: self.results(case, operands) for _ in range(2))
            results = paddle.static.nn.cond(truth, one, other)
        else:
            results = self.results(case, operands)
        made = results if isinstance(results, list | tuple) else [results]
        self.found += [v for v in made if v is not None and v.kind is Kind.DENSE]

    def results(self, case: Case, operands: Any) -> list[Any]:
        """Record a call where the Program is being written."""
        return variables(as_outputs(case.op, case.op.call(*operands, **case.attrs)))

    def case(self) -> Case:
        """A call, often of one of the variables there are."""
        if self.found and self.random.random() < 0.7:
            fitting = calls_by_size().get(sort_of(self.random.choice(self.found)))
            if fitting:
                return self.random.choice(fitting)
        return self.random.choice(calls())

    def operand(self, x: Any) -> Any:
        """A variable for an input: one there is, of its size or at times of any, or a new one."""
        if isinstance(x, list):
            return [self.operand(v) for v in x]
        if not isinstance(x, np.ndarray):
            return x
        alike = [v for v in self.found if sort_of(v) == sort_of(x)]
        if self.random.random() < 0.1:
            alike = [v for v in self.found if v.dtype == meta_of(x).dtype]
        return self.random.choice(alike) if alike and self.random.random() < 0.8 else self.fed(x)

    def fed(self, x: Any) -> Any:
        """An input, whose sizes may be unknown."""
        name, meta = f"x{len(self.feed)}", meta_of(x)
        if x.ndim and self.random.random() < 0.3:
            meta = meta.with_shape((-1, *meta.shape[1:]))
        self.feed[name] = x
        block = self.program.global_block()
        return block.variable(name, meta, is_data=True, need_check_feed=self.random.random() < 0.5)

    def derive(self) -> None:
        """Append the gradients of one variable by the inputs."""
        block = self.program.global_block()
        inputs = [block.vars[n] for n in self.feed if block.vars[n].dtype.is_float]
        results = [v for v in self.found if v.dtype.is_float]
        if inputs and results:
            for v in inputs:
                v.stop_gradient = False
            found = gradients([self.random.choice(results)], inputs)
            self.found += [v for v in found if v is not None and v.kind is Kind.DENSE]


def graph(random: Random) -> Made:
    """Calls of operators."""
    writer = Writer(random)
    with in_static_mode(), paddle.static.program_guard(writer.program, Program()):
        for _ in range(random.choice(LENGTHS)):
            with suppress(ScullError):
                writer.call()
        if random.random() < 0.3:
            with suppress(ScullError):
                writer.derive()
    return Made(bytes_of(writer.program), writer.feed)


def tree(random: Random) -> Made:
    """A program of branches and loops, with its gradients at times."""
    number, derived = random.randrange(TREES), random.random() < 0.4
    rows = np.random.default_rng(number)
    feed = {"x": rows.uniform(-2, 2, 3), "y": rows.uniform(-2, 2, (2, 3))}
    return Made(tree_bytes(number, derived), {**feed, "n": np.array(random.randrange(4))})


@cache
def tree_bytes(number: int, derived: bool) -> bytes:
    with in_static_mode():
        made = program_of_tree(smooth(number), model_of)
        if derived:
            guard = paddle.utils.unique_name.guard("back_")
            with paddle.static.program_guard(made.program), guard:
                paddle.static.gradients(made.results[-1:], made.operands)
        return bytes_of(made.program)


@contextmanager
def in_static_mode() -> Iterator[None]:
    """Names are numbered anew, calls are recorded."""
    paddle.enable_static()
    try:
        with paddle.utils.unique_name.guard():
            yield
    finally:
        paddle.disable_static()


# ---- a little of one changed ----


def another_attribute(random: Random, message: Any) -> None:
    """A number, a truth value or an element of a list among the attributes is another."""
    attribute = an_attribute(random, message)
    for field, _ in attribute.ListFields():
        if field.name in ("i", "l"):
            setattr(attribute, field.name, whole(random, field.name == "l"))
        elif field.name in ("f", "float64"):
            setattr(attribute, field.name, random.choice(NUMBERS))
        elif field.name == "b":
            attribute.b = not attribute.b
        elif field.name in ("ints", "longs"):
            values = getattr(attribute, field.name)
            values[random.randrange(len(values))] = whole(random, field.name == "longs")
        elif field.name in ("floats", "float64s"):
            values = getattr(attribute, field.name)
            values[random.randrange(len(values))] = random.choice(NUMBERS)
        elif field.name == "bools":
            attribute.bools[0] = not attribute.bools[0]


def whole(random: Random, wide: bool) -> int:
    """A number close to zero, or an extreme one."""
    if random.random() < 0.6:
        return random.choice(NEAR)
    bits = 63 if wide else 31
    return max(min(random.choice(WIDE), (1 << bits) - 1), -(1 << bits))


def missing_attribute(random: Random, message: Any) -> None:
    operator = an_operator(random, message)
    if operator.attrs:
        del operator.attrs[random.randrange(len(operator.attrs))]


def longer_list(random: Random, message: Any) -> None:
    """A list among the attributes has an element more or less."""
    attribute = an_attribute(random, message)
    for name in ("ints", "longs", "floats", "bools"):
        values = getattr(attribute, name)
        if values:
            values[:] = [*values, values[0]] if random.random() < 0.5 else values[1:]


def other_sizes(random: Random, message: Any) -> None:
    """A variable says that it has another size, an axis more or less."""
    dims = a_variable(random, message).type.lod_tensor.tensor.dims
    how = random.randrange(4)
    if how == 0 or not dims:
        dims.append(random.choice(NEAR))
    elif how == 1:
        del dims[-1]
    else:
        dims[random.randrange(len(dims))] = random.choice((-1, -1, *NEAR, dims[0] + 1))


def other_elements(random: Random, message: Any) -> None:
    """A variable says that it has elements of another type."""
    a_variable(random, message).type.lod_tensor.tensor.data_type = random.choice(REAL)


def other_operand(random: Random, message: Any) -> None:
    """An operator reads another variable of its block."""
    block = a_block(random, message)
    slots = [s for o in block.ops for s in o.inputs if s.arguments]
    if slots and block.vars:
        names = random.choice(slots).arguments
        names[random.randrange(len(names))] = random.choice(block.vars).name


def other_result(random: Random, message: Any) -> None:
    """An operator writes another variable of its block, over what it holds."""
    block = a_block(random, message)
    slots = [s for o in block.ops for s in o.outputs if s.arguments]
    if slots and block.vars:
        names = random.choice(slots).arguments
        names[random.randrange(len(names))] = random.choice(block.vars).name


def missing_slot(random: Random, message: Any) -> None:
    """An operator lacks an input or a result."""
    operator = an_operator(random, message)
    slots = operator.inputs if random.random() < 0.6 else operator.outputs
    if slots:
        slots[random.randrange(len(slots))].ClearField("arguments")


def moved_operator(random: Random, message: Any) -> None:
    """An operator comes at another place, or at one more."""
    block = a_block(random, message)
    operators = [copied(o) for o in block.ops]
    if operators:
        place = random.randrange(len(operators))
        moved = operators[place] if random.random() < 0.5 else operators.pop(place)
        operators.insert(random.randrange(len(operators) + 1), moved)
        put(block, "ops", operators)


def like_operator(random: Random, message: Any) -> None:
    """An operator is of another type that has the slots it uses."""
    operator = an_operator(random, message)
    slots = {s.parameter for s in (*operator.inputs, *operator.outputs) if s.arguments}
    fitting = [t for t, own in slots_by_type().items() if slots <= own]
    if fitting:
        operator.type = random.choice(fitting)


@cache
def slots_by_type() -> dict[str, frozenset[str]]:
    """The slots of each operator that samples call."""
    ops = {c.op.type: c.op for c in calls()}
    return {t: frozenset(map(op.slot, (*op.inputs, *op.outputs))) for t, op in ops.items()}


CHANGES: tuple[Change, ...] = (
    *(another_attribute, another_attribute, missing_attribute, longer_list),
    *(other_sizes, other_elements, other_operand, other_result),
    *(missing_slot, moved_operator, like_operator),
)
