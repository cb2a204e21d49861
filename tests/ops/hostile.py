"""Calls of operators with wild operands and attributes, tried where a crash can be seen.

Every call is a sample with one thing changed. It must give results or one of scull's own errors,
soon and in little memory: in eager mode with its gradients, recorded into a Program and run, and
as an operator that is appended to one.
"""

import random
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from scull.core import session
from scull.core.attribute import normalised
from scull.core.interpreter import interpreting
from scull.core.memory import memory, size
from scull.core.op import Op, as_outputs
from scull.core.operand import meta_or_none
from scull.core.tensor import Rows, Tensor
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable
from tests.ops.case import SEED, Case, cases, flat, mapped
from tests.ops.program import NOT_RECORDED, declared, variables

RESULT = 2**26  # bytes: a call whose results are larger, yet fit the machine, is left out
SOME = 30  # so many calls of an operator are tried in a short run

INTEGERS = (-(2**31), 2**31 - 1, -(2**63), 2**63 - 1, -(10**9), 10**9, -1, 0, 1)
NUMBERS = (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 0.0)
TEXTS = ("", "nonsense")
STRANGERS = (None, "nonsense", (), [None])  # where something else is asked for
DTYPES = tuple(
    np.dtype(t)
    for t in (
        *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", ml_dtypes.bfloat16),
        *("float32", "float64", "complex64", "complex128", ml_dtypes.float8_e4m3fn),
    )
)


@dataclass(frozen=True, eq=False)
class Attempt:
    """One call: a case with one input or attribute replaced, and what was replaced by what."""

    case: Case
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    change: str

    def __str__(self) -> str:
        return f"{self.case} {self.case.sample}: {self.change}"

    def ways(self) -> list[str]:
        """The ways in which the call can be made; none where that would only take memory."""
        op = self.case.op
        parts = [v for x in self.inputs for v in (x if isinstance(x, list) else [x])]
        if too_large(self):
            return []
        if op.name in NOT_RECORDED or any(isinstance(v, Rows) for v in parts):
            return ["eager"]
        inline = op.inline or any(isinstance(v, str) for v in parts)
        return ["eager", "recorded"] if inline else list(WAYS)

    def make(self, way: str) -> None:
        """Make the call in one of its ways."""
        WAYS[way](self)


def attempts(op: Op, sweep: bool) -> list[Attempt]:
    """The calls of `op` that are tried: all, or some that are the same in every run."""
    calls = [a for c in cases(op, False) if not c.sample.error for a in changed(c)]
    if sweep or len(calls) <= SOME:
        return calls
    return random.Random(zlib.crc32(op.name.encode())).sample(calls, SOME)


def changed(case: Case) -> Iterator[Attempt]:
    """Every change of one case."""
    inputs, attrs = case.inputs(), case.attrs
    for name, kind in case.op.kinds.items():
        for value in wild_values(kind.wire, attrs.get(name)):
            yield Attempt(case, inputs, {**attrs, name: value}, f"{name}={value!r}")
    if "python" in case.op.effects:
        return  # a user's function raises what it likes
    for place, (name, x) in enumerate(zip(case.op.inputs, inputs, strict=True)):
        for what, value in wild_inputs(x):
            others = (*inputs[:place], value, *inputs[place + 1 :])
            yield Attempt(case, others, attrs, f"{name} {what}")


def wild_values(wire: str, value: Any) -> Iterator[Any]:
    """Values of an attribute of kind `wire`, which is `value` in the sample."""
    whole, real = wire.startswith(("INT", "LONG")), wire.startswith(("FLOAT", "SCALAR"))
    wild = (*INTEGERS, *[d.name for d in DTYPES]) if whole else NUMBERS if real else TEXTS
    yield from STRANGERS
    yield from wild
    if wire == "BOOLEAN":
        yield not value
    if isinstance(value, tuple):
        yield from (value + value, value[:-1], value[:1] * len(value), value[:1] * 40)
        for i in range(len(value)):
            yield from ((*value[:i], v, *value[i + 1 :]) for v in wild)


def wild_inputs(x: Any) -> Iterator[tuple[str, Any]]:
    """An input of another kind, absent where it is given, given where it is absent."""
    yield "is a text", "nonsense"
    if x is None:
        yield "is given", np.zeros((2, 3), "float32")
        yield "is given as a list", [np.ones(1, "int64")]
        return
    yield "is absent", None
    if isinstance(x, Rows):
        yield "is dense", x.dense()
    elif isinstance(x, np.ndarray):
        yield "is a list", [x]
        yield from wild_arrays(x)
    elif isinstance(x, list | tuple):
        yield from wild_lists(list(x))


def wild_lists(x: list[Any]) -> Iterator[tuple[str, Any]]:
    """A list of inputs with others, too few, too many."""
    yield "is empty", []
    yield "is doubled", x + x
    yield "has a gap", [*x, None]
    yield "is a lone tensor", x[0] if x else np.zeros(2, "float32")
    yield "lies in a list", [x]
    for i, v in enumerate(x[:2]):
        if isinstance(v, np.ndarray):
            for what, value in wild_arrays(v):
                yield f"[{i}] {what}", [*x[:i], value, *x[i + 1 :]]


def wild_arrays(x: np.ndarray) -> Iterator[tuple[str, Any]]:
    """An array of other sizes, axes, elements, element type and order in memory."""
    yield "is empty", np.zeros((0,) * x.ndim, x.dtype)
    for axis in range(x.ndim):
        before = (slice(None),) * axis
        yield f"is empty along {axis}", x[(*before, slice(0, 0))]
        yield f"is longer along {axis}", np.concatenate([x, x[(*before, slice(0, 1))]], axis)
    yield "is 0-D", np.zeros((), x.dtype)
    yield "is flat", x.reshape(-1)
    yield "has an axis more", x[None]
    yield "has an axis more behind", x[..., None]
    yield "has many axes", x.reshape((1,) * 12 + x.shape)
    if x.ndim and x.shape[0]:
        yield "has an axis fewer", np.asarray(x[0])
        yield "is backwards", x[::-1]
    yield "is transposed", x.T
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # complex numbers lose their imaginary part
        others = [(f"is of {d}", x.astype(d)) for d in DTYPES if d != x.dtype]
    yield from others
    yield from ((f"is full of {v}", np.full(x.shape, v, x.dtype)) for v in wild_elements(x))


def wild_elements(x: np.ndarray) -> tuple[Any, ...]:
    """Elements for an array of the type of `x`."""
    if x.dtype.kind in "iu":
        low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
        return tuple(v for v in (*INTEGERS, x.size, high) if low <= v <= high)
    return (False, True) if x.dtype.kind == "b" else (np.nan, np.inf, -np.inf, -1, 0)


# The ways in which a call is made.


def in_eager_mode(attempt: Attempt) -> None:
    """The call with Tensors, then the gradients of all its results."""
    op = attempt.case.op
    session.generator().manual_seed(SEED)
    operands = [mapped(leaf, x) for x in attempt.inputs]
    for result in tensors(as_outputs(op, op.call(*operands, **attempt.attrs))):
        if result.node is not None and isinstance(result.array, np.ndarray):
            result.backward(retain_graph=True)


def leaf(x: Any) -> Tensor:
    """An array as a Tensor that needs a gradient, if it can have one."""
    return Tensor(x, stop_gradient=x.dtype.kind in "iub")


def tensors(found: Any) -> Iterator[Tensor]:
    """The Tensors among results."""
    for x in found:
        if isinstance(x, list | tuple):
            yield from tensors(x)
        elif isinstance(x, Tensor):
            yield x


def recorded(attempt: Attempt) -> None:
    """The call recorded into a Program, then run."""
    recording, op = declared(with_inputs(attempt)), attempt.case.op
    with interpreting(Recorder(recording.program.global_block())):
        found = op.call(*recording.inputs, **attempt.attrs)
    recording.run([v for v in variables(as_outputs(op, found)) if isinstance(v, Variable)])


def appended(attempt: Attempt) -> None:
    """The call as an operator that a Program's author appends, then run."""
    recording, op = declared(with_inputs(attempt)), attempt.case.op
    block = recording.program.global_block()
    ins = {op.slot(n): v for n, v in zip(op.inputs, recording.inputs, strict=True) if v is not None}
    outs = {op.slot(n): [block.create_var()] for n in op.outputs if n not in op.in_place}
    outs |= {op.slot(n): ins[op.slot(x)] for n, x in op.in_place.items() if op.slot(x) in ins}
    attrs = {op.attribute(n): v for n, v in attempt.attrs.items()}
    recording.run(block.append_op(op.type, ins, outs, attrs).results())


def with_inputs(attempt: Attempt) -> Case:
    """The case with the inputs of the call."""
    return replace(attempt.case, sample=replace(attempt.case.sample, inputs=attempt.inputs))


WAYS = {"eager": in_eager_mode, "recorded": recorded, "appended": appended}


def too_large(attempt: Attempt) -> bool:
    """Whether results could be made, but are larger than a test should ask for."""
    op = attempt.case.op
    try:
        attrs = {n: normalised(op.kinds[n], n, v) for n, v in attempt.attrs.items()}
        metas = op.infer(tuple(map(meta_or_none, attempt.inputs)), attrs)
        largest = max(size(m) for m in flat(metas))
    except Exception:
        return False
    return RESULT < largest <= memory()
