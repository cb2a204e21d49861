"""What kernels take beside their results: a few times the operands, told or not, and no more."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import scull as paddle
from scull.core.scratch import watching
from scull.errors import ScullError
from scull.executor.binding import Bound, filled
from scull.executor.plan import make_plan
from tests.ops.case import Case, by_name, cases, flat, mapped, replaced
from tests.ops.program import (
    aims,
    gradients,
    has_program_gradient,
    recordable,
    recorded,
    sources_of,
    variables,
)

LARGE = 1 << 20  # bytes of the operands
PORTION = 3 << 19  # bytes that a kernel may take whatever the size: it works in portions
SINGLE = {"float32", "int32", "int64", "bool", "uint8"}  # others are computed in these
EVERYDAY = (
    *("add", "batch_norm", "concat", "conv2d", "depthwise_conv2d", "digamma", "dropout", "elu"),
    *("embedding", "erfinv", "exp", "gelu", "i0", "kthvalue", "layer_norm", "lgamma", "matmul"),
    *("log_softmax", "multiply", "pool2d", "reduce_max", "relu", "silu", "softmax", "softplus"),
    *("softmax_with_cross_entropy", "sqrt", "swish", "tanh", "topk", "transpose"),
)
MOST = 3.1  # times what it reads or gives, whichever is larger


def arrays(sample):
    return [x for x in flat(sample.inputs) if isinstance(x, np.ndarray)]


def grown(case):
    """The same call with the first operand repeated along an axis, or all of them."""
    size = sum(x.nbytes for x in arrays(case.sample))

    def repeated(axis):
        def repeat(x):
            times = LARGE // size if x.ndim and x.size else 1
            return np.repeat(x, times, axis) if x.ndim else x

        return repeat

    for axis in (0, -1):
        first, *rest = case.sample.inputs
        inputs = (mapped(repeated(axis), first), *rest)
        yield replace(case, sample=replace(case.sample, inputs=inputs))
        yield replace(case, sample=replaced(case.sample, repeated(axis)))


def programs_of(case: Case):
    """The Programs of a call and of its gradient, each with what is fetched."""
    recording = recorded(case)
    yield recording, variables(recording.outputs)
    if has_program_gradient(case):
        recording = recorded(case)
        targets, seeds, _ = aims(case, recording)
        made = gradients(targets, sources_of(case, recording), seeds)
        yield recording, [v for v in made if v is not None]


def beside_results(step, frame):
    """What a step takes beside its results, as tracemalloc sees it, and what it tells of that."""
    told = [0, 0]

    def tell(size):
        told[0] += size
        told[1] = max(told)

    tracemalloc.start()
    with watching(tell):
        frame[step.put] = step.call(*step.get(frame))
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - left, told[1]


def sizes(frame, slots):
    return sum(x.nbytes for x in flat([frame[slot] for slot in slots]) if hasattr(x, "nbytes"))


def measured(case):
    """For every step of a call and its gradient: its type, operands, results, what it takes."""
    for recording, fetches in programs_of(case):
        names = tuple(v.name for v in fetches)
        block = recording.program.global_block()
        plan = make_plan(block, tuple(recording.feed), names, collects=False)
        frame = filled(Bound(plan, paddle.static.Scope()), recording.feed)
        for step in plan.instructions:
            taken, told = beside_results(step, frame)
            read, made = sizes(frame, step.reads), sizes(frame, step.writes)
            yield step.operator.type, max(read, made), taken, told


def first_grown(op):
    """The steps of the first sample that can grow."""
    for case in filter(recordable, cases(op, sweep=False)):
        kinds = {x.dtype.name for x in arrays(case.sample)}
        if not kinds <= SINGLE or sum(x.size for x in arrays(case.sample)) < 4:
            continue
        for large in grown(case):
            try:
                return list(measured(large))
            except ScullError:
                continue
    return None


@pytest.mark.parametrize("name", EVERYDAY)
def test_a_kernel_takes_little_beside_its_results(name):
    found = first_grown(by_name()[name])
    assert found
    for kind, large, taken, told in found:
        assert taken <= max(MOST * large, told) + PORTION, kind
        assert told <= taken + PORTION, kind
