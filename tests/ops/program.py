"""The call recorded into a Program and run by the Executor, beside the same call in eager mode."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.autograd.interface import grad
from scull.autograd.program import gradients
from scull.autograd.tape import backward
from scull.core import session
from scull.core.interpreter import interpreting
from scull.core.op import as_outputs, meta_of
from scull.core.tensor import Tensor
from scull.executor.executor import Executor
from scull.ir.program import Program
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable
from scull.runtime.scope import Scope, ScopeTensor
from tests.ops.case import SEED, Case, flat, has_rows, mapped
from tests.ops.closeness import check_close, check_same
from tests.ops.derivative import differentiable, draw_like, twice_differentiable, wanted, weighed
from tests.ops.value import expect, refused_by_type

NOT_RECORDED = {"feed", "fetch", "fetch_v2"}  # the Executor does by itself what they say


@dataclass(eq=False)
class Recording:
    """A Program with one call in it: its inputs and results as variables, and what is fed."""

    program: Program
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    feed: dict[str, Any]

    def run(self, fetches: list[Variable]) -> list[Any]:
        """The values of some variables."""
        session.generator().manual_seed(SEED)
        options = {"scope": Scope(), "return_numpy": False}  # arrays cannot have levels of detail
        found = Executor().run(self.program, self.feed, list(fetches), **options)
        return list(mapped_tensors(found))


def mapped_tensors(found: list[Any]) -> Iterator[Any]:
    """Fetched tensors as arrays, also those in lists."""
    for v in found:
        whole = list(mapped_tensors(v)) if isinstance(v, list) else v
        yield v.cell.value if isinstance(v, ScopeTensor) else whole


def declared(case: Case) -> Recording:
    """A Program with the inputs of the call only."""
    program, feed = Program(), {}
    block = program.global_block()

    def variable(x: Any, name: str) -> Any:
        if isinstance(x, list):
            return [variable(v, f"{name}{i}") for i, v in enumerate(x)]
        if not isinstance(x, np.ndarray):
            return x
        feed[name] = x
        options = {"stop_gradient": x.dtype.kind in "iub", "is_data": True}
        return block.variable(name, meta_of(x), **options)

    made = tuple(map(variable, case.inputs(), case.op.inputs))
    return Recording(program, made, (), feed)


def recorded(case: Case) -> Recording:
    """A Program with the call."""
    recording = declared(case)
    with interpreting(Recorder(recording.program.global_block())):
        found = case.op.call(*recording.inputs, **case.attrs)
    recording.outputs = as_outputs(case.op, found)
    return recording


def recordable(case: Case) -> bool:
    """Whether a Program can be fed what the call takes."""
    if case.sample.error or case.op.name in NOT_RECORDED:
        return False
    return not has_rows(case.sample.inputs)


def variables(slots: Any) -> list[Variable]:
    """The variables in some slots, those of lists in line."""
    return [v for s in slots for v in (s if isinstance(s, list) else [s]) if v is not None]


def check_program(case: Case) -> None:
    """The Executor gives the bits that eager mode gives."""
    recording = recorded(case)
    found = recording.run(variables(recording.outputs))
    expected = case.eager(tuple(mapped(Tensor, x) for x in case.inputs()))
    check_same(found, list(flat(expected)), "the Program")


def has_program_gradient(case: Case) -> bool:
    """Whether gradients can be appended to the Program of the call."""
    return recordable(case) and differentiable(case)


def has_second_program_gradient(case: Case) -> bool:
    """Whether gradients of those can be appended, too."""
    return recordable(case) and twice_differentiable(case)


def check_program_gradient(case: Case) -> None:
    """Gradients appended to a Program have the bits that the tape gives."""
    recording, op = recorded(case), case.op
    targets, seeds, weights = aims(case, recording)
    names = wanted(case)
    made = gradients(targets, sources_of(case, recording), seeds)
    found = recording.run([v for v in made if v is not None])
    expected = taped(case, names, weights)
    kept = [g for g, v in zip(expected, made, strict=True) if v is not None]
    assert all(g is None for g, v in zip(expected, made, strict=True) if v is None)
    what = "the gradient in the Program"
    if op.inline:  # its parts, where eager mode has one rule
        check_close(found, kept, what)
    else:
        check_same(found, kept, what)


def fed(recording: Recording, name: str, value: Any) -> Variable:
    """A variable of the Program that is fed `value`."""
    recording.feed[name] = value
    return recording.program.global_block().variable(name, meta_of(value), is_data=True)


def aims(case: Case, recording: Recording) -> tuple[list[Variable], list[Variable], list[Any]]:
    """The results gradients are sent from, these gradients as variables, and as arrays."""
    random, op = np.random.default_rng(SEED), case.op
    targets, seeds, weights = [], [], []
    for name, slot, result in zip(op.outputs, recording.outputs, case.results, strict=True):
        for v, x in zip(variables([slot]), flat([result]), strict=True):
            if weighed(op, name, x):
                targets.append(v)
                weights.append(np.asarray(draw_like(random, x)).astype(x.dtype))
                seeds.append(fed(recording, v.name + "_weight", weights[-1]))
    return targets, seeds, weights


def sources_of(case: Case, recording: Recording) -> list[Variable]:
    """The variables gradients are wanted for."""
    names = wanted(case)
    return variables(
        [v for n, v in zip(case.op.inputs, recording.inputs, strict=True) if n in names]
    )


def check_program_second_order(case: Case) -> None:
    """Gradients of gradients appended to a Program are those of the tape."""
    recording = recorded(case)
    targets, seeds, weights = aims(case, recording)
    sources = sources_of(case, recording)
    first = gradients(targets, sources, seeds) if targets else []
    results, leaves = on_tape(case, wanted(case))
    weights = [Tensor(w, stop_gradient=False) for w in weights]
    taped_first = grad(results, leaves, weights, create_graph=True, allow_unused=True)
    pairs = [(v, g) for v, g in zip(first, taped_first, strict=True) if v is not None]
    if not pairs:
        return
    random = np.random.default_rng(SEED)
    again = [np.asarray(draw_like(random, g.array)).astype(g.array.dtype) for _, g in pairs]
    given = [fed(recording, f"second_{i}", w) for i, w in enumerate(again)]
    second = gradients([v for v, _ in pairs], sources + seeds, given)
    found = iter(recording.run([v for v in second if v is not None]))
    expected = grad(
        [g for _, g in pairs], leaves + weights, list(map(Tensor, again)), allow_unused=True
    )
    for v, g, leaf in zip(second, expected, leaves + weights, strict=True):
        zeros = np.zeros_like(leaf.array)
        pair = zeros if v is None else next(found), zeros if g is None else g.array
        check_close([pair[0]], [pair[1]], "the second gradient in the Program")


def on_tape(case: Case, names: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    """The results gradients are sent from and the inputs `names`, as Tensors on the tape."""
    operands = tuple(
        mapped(lambda x, n=n: Tensor(x, stop_gradient=n not in names), x)
        for n, x in zip(case.op.inputs, case.inputs(), strict=True)
    )
    outs = case.eager(operands)
    each = [
        o
        for n, s in zip(case.op.outputs, outs, strict=True)
        for o in (s if isinstance(s, list) else [s])
        if o is not None and weighed(case.op, n, o.array)
    ]
    leaves = variables([t for n, t in zip(case.op.inputs, operands, strict=True) if n in names])
    return each, leaves


def taped(case: Case, names: tuple[str, ...], weights: list[Any]) -> list[Any]:
    """The gradients of the inputs `names` by the tape, for these gradients of the results."""
    each, leaves = on_tape(case, names)
    pairs = [(o.node, w) for o, w in zip(each, weights, strict=True) if o.node is not None]
    found = backward([n for n, _ in pairs], [w for _, w in pairs], inputs=[t.node for t in leaves])
    return [found[t.node] for t in leaves]


def refused_when_recorded(case: Case) -> bool:
    """Whether recording the call must be refused."""
    return refused_by_type(case) and not has_rows(case.sample.inputs)


def check_refused_when_recorded(case: Case) -> None:
    """Recording the call into a Program is refused with the law that it breaks."""
    expect(case, lambda: recorded(case))
