"""What kernels, type rules and bodies say of the same call."""

import inspect
import itertools
from typing import Any

import numpy as np

from scull.core.meta import UNKNOWN, Meta
from scull.core.op import meta_of
from scull.core.tensor import Rows
from scull.errors import ScullError
from tests.ops.case import Case, as_arrays, as_tensor, flat, mapped
from tests.ops.closeness import check_close, check_same


def succeeds(case: Case) -> bool:
    """Whether the call is one that gives results."""
    return case.sample.error is None


def fails(case: Case) -> bool:
    """Whether the call must be refused."""
    return case.sample.error is not None


def has_reference(case: Case) -> bool:
    """Whether something else than the kernel says what the results are."""
    sample = case.sample
    own = sample.reference or sample.holds or case.op.ufunc
    return succeeds(case) and bool(own)


def check_reference(case: Case) -> None:
    """The results are those of the reference function, or of NumPy's own, in float64."""
    sample = case.sample
    if sample.holds:
        found = case.results if len(case.op.outputs) != 1 else case.results[0]
        assert sample.holds(found) is not False, "`holds` says the results are wrong"
    if sample.reference:
        inputs = case.in_double().sample.inputs
        expected = sample.reference(
            *inputs, **understood(sample.reference, case.attrs, len(inputs))
        )
        expected = (
            expected if isinstance(expected, tuple) and len(case.op.outputs) != 1 else (expected,)
        )
        check_close(case.results[: len(expected)], as_arrays(expected), "the kernel")
    elif case.op.ufunc:
        check_close(case.results, case.in_double().results, "the kernel")


def understood(reference: Any, attrs: dict[str, Any], count: int) -> dict[str, Any]:
    """Those of `attrs` that `reference` has parameters for, behind the first `count`."""
    if isinstance(reference, np.ufunc):
        return {}
    parameters = list(inspect.signature(reference).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return attrs
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    positional = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return {n: attrs[n] for n in (names if positional else names[count:]) if n in attrs}


def check_meta(case: Case) -> None:
    """The type rule infers the shapes and element types of the results."""
    check_metas(case.op.infer(case.metas(), case.attrs), case, "the type rule")


def has_type_rule_without_sizes(case: Case) -> bool:
    """Whether the type rule can do without a size."""
    return succeeds(case) and case.sample.unknown_sizes


def check_unknown_sizes(case: Case) -> None:
    """Whichever size is unknown, what the type rule still infers is so."""
    metas = case.metas()
    for i, m in enumerate(metas):
        each = m if isinstance(m, list) else [m]
        for j, one in enumerate(each):
            for k in range(len(one.shape) if one is not None else 0):
                blurred = one.with_shape(UNKNOWN if a == k else n for a, n in enumerate(one.shape))
                other = [*each[:j], blurred, *each[j + 1 :]] if isinstance(m, list) else blurred
                found = case.op.infer((*metas[:i], other, *metas[i + 1 :]), case.attrs)
                check_metas(found, case, f"the type rule without size {k} of {case.op.inputs[i]}")


def check_metas(inferred: tuple[Any, ...], case: Case, what: str) -> None:
    """Assert that metas are those of the results, as far as sizes are known."""
    pairs = list(zip(case.op.outputs, inferred, case.results, strict=True))
    for name, meta, result in pairs:
        if isinstance(result, list):
            assert isinstance(meta, list) and len(meta) == len(result), f"{what}: {name} is {meta}"
        for m, x in zip(*[v if isinstance(v, list) else [v] for v in (meta, result)], strict=True):
            if m is None or x is None:
                assert m is None and x is None, f"{what} says {name} is {m}, it is {x}"
                continue
            actual = x.meta if isinstance(x, Rows) else meta_of(x)
            says = f"{what} says {name} is {m}, it is {actual}"
            assert isinstance(m, Meta) and len(m.shape) == len(actual.shape), says
            assert all(n in (-1, own) for n, own in zip(m.shape, actual.shape, strict=True)), says
            assert m.dtype is actual.dtype, says


def has_kernel(case: Case) -> bool:
    """Whether the call has a kernel that could be given arrays to write into."""
    return has_own_kernel(case) and not case.op.output_lists


def check_out(case: Case) -> None:
    """With `out` given the results are the same; those that overwrite an input do."""
    op, inputs = case.op, list(case.inputs())
    outs: list[Any] = []
    for name, x in zip(op.outputs, case.results, strict=True):
        place = op.inputs.index(op.in_place[name]) if name in op.in_place else None
        if place is not None and inputs[place] is not None:
            inputs[place] = mapped(np.array, inputs[place])
            outs.append(inputs[place])
        else:
            outs.append(None if x is None or isinstance(x, Rows) else np.full_like(x, 77))
    found = case.kernel(tuple(inputs), tuple(outs))
    check_same(found, case.results, "the kernel with `out`")
    for name, x, o in zip(op.outputs, found, outs, strict=True):
        if name in op.in_place and o is not None:
            assert np.shares_memory(x, o) or not x.size, f"{name} is not {op.in_place[name]}"
            check_same([o], [x], f"what was written to {op.in_place[name]}")


def has_own_kernel(case: Case) -> bool:
    """Whether the results are a kernel's and not those of a body's operators."""
    return succeeds(case) and bool(case.op.kernels)


def check_aliases(case: Case) -> None:
    """A declared view of something contiguous is one; other results have memory of their own."""
    op = case.op
    named = dict(zip(op.inputs, case.inputs(), strict=True))
    for name, result in zip(op.outputs, case.results, strict=True):
        for other, given in named.items():
            viewed = op.views.get(name) == other
            lists = viewed and isinstance(result, list) and isinstance(given, list)
            pairs = zip if lists else itertools.product
            for x, y in pairs(flat([result]), list(flat([given]))):
                shared = bool(x.size) and np.shares_memory(x, y)
                if not viewed:
                    assert not shared, f"{name} lies in the memory of {other}, undeclared"
                elif x.size and y.flags.c_contiguous and y.nbytes == x.nbytes:
                    assert shared, f"{name} is declared a view of {other} and is none"


def has_body_beside_kernel(case: Case) -> bool:
    """Whether a kernel stands in for a body of operators."""
    return succeeds(case) and case.op.composite and bool(case.op.kernels) and not case.op.effects


def check_body(case: Case) -> None:
    """The kernel of a composite computes what its body does."""
    found = case.op.body(*case.inputs(), **case.attrs)
    found = tuple(found) if len(case.op.outputs) > 1 else (found,)
    check_close(case.results, found, "the kernel beside the body")


def check_refused(case: Case) -> None:
    """An eager call is refused with the law that it breaks."""
    expect(case, lambda: case.eager(tuple(mapped(as_tensor, x) for x in case.inputs())))


def check_refused_by_type(case: Case) -> None:
    """The type rule alone refuses the call."""
    expect(case, lambda: case.op.infer(case.metas(), case.attrs))


def refused_by_type(case: Case) -> bool:
    """Whether the operands' shapes and element types are the mistake."""
    return fails(case) and not case.sample.by_value


def expect(case: Case, act: Any) -> None:
    """Assert that `act` raises the error of the sample with its law."""
    error, law = case.sample.error, case.sample.law
    assert error is not None
    try:
        act()
    except ScullError as raised:
        assert isinstance(raised, error), f"{type(raised).__name__}: {raised}, not {error.__name__}"
        assert law in str(raised), f"the message is {str(raised)!r}, without {law!r}"
        return
    raise AssertionError(f"nothing was raised, {error.__name__} was expected")
