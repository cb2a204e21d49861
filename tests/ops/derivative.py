"""Gradients by the tape, by small steps, by the derived operator, and by a body's parts."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.autograd.tape import backward
from scull.core import session
from scull.core.dtype import of_array
from scull.core.op import Op, as_outputs
from scull.core.rule import names_of
from scull.core.tensor import Tensor
from tests.ops.case import SEED, Case, flat, has_rows
from tests.ops.closeness import NUMERIC, check_close

STEP = 1e-6  # of numeric differences, relative to numbers of about 1
DIRECTIONS = 3  # in which each gradient is compared with them


def differentiable(case: Case) -> bool:
    """Whether the call has a gradient to be looked at."""
    op, sample = case.op, case.sample
    has_rule = bool(op.rules or op.composite) and "grad" not in op.missing
    return (
        has_rule
        and not (sample.error or sample.grad is False or has_rows(sample.inputs))
        and bool(wanted(case))
    )


def twice_differentiable(case: Case) -> bool:
    """Whether the gradient has a gradient; an operator says where it has none."""
    return differentiable(case) and "second" not in case.op.missing


def wanted(case: Case) -> tuple[str, ...]:
    """The inputs whose gradients are compared."""
    op, asked = case.op, case.sample.grad
    ruled = {n for names in op.rules for n in names} or set(op.inputs) - op.shape_only
    names = ruled if isinstance(asked, bool) else set(asked)
    given = zip(op.inputs, case.in_double().inputs(), strict=True)
    return tuple(n for n, x in given if n in names and any(v.dtype.kind in "fc" for v in flat([x])))


@dataclass(frozen=True, eq=False)
class Slope:
    """A function of the inputs whose value is a number: weighted results, added up.

    `leaves` are the arrays it is differentiated by; `compute` gives results from Tensors of them.
    """

    leaves: list[Any]
    compute: Callable[[list[Tensor]], list[Any]]
    weights: list[Any]  # None for a result that has no gradient

    def tape(self, leaves: list[Tensor], *, graph: bool = False, weights: Any = None) -> list[Any]:
        """The gradients of the leaves by the tape; None for one that nothing depends on."""
        pairs = [
            (out.node, weight)
            for out, weight in zip(self.compute(leaves), weights or self.weights, strict=True)
            if weight is not None and out is not None and out.node is not None
        ]
        nodes = [leaf.node for leaf in leaves]
        found = backward([n for n, _ in pairs], [w for _, w in pairs], graph=graph, inputs=nodes)
        return [found[n] for n in nodes]

    def gradients(self) -> list[Any]:
        """The gradients at the leaves' own values, as arrays."""
        made = self.tape([Tensor(x, stop_gradient=False) for x in self.leaves])
        return [zero_for(g, x) for g, x in zip(made, self.leaves, strict=True)]

    def value(self, leaves: list[Any]) -> float:
        """The number at other values of the leaves."""
        outs = self.compute([Tensor(x) for x in leaves])
        pairs = zip(outs, self.weights, strict=True)
        return sum(product(w, o.array) for o, w in pairs if w is not None and o is not None)

    def check(self, found: list[Any], what: str) -> None:
        """Assert that `found` are the gradients that small steps along random directions show."""
        random = np.random.default_rng(zlib.crc32(what.encode()))
        for i, (x, g) in enumerate(zip(self.leaves, found, strict=True)):
            for _ in range(DIRECTIONS if x.size else 0):
                direction = draw_like(random, x)
                step = STEP * max(1.0, float(np.abs(x).max()))
                around = [
                    self.value([*self.leaves[:i], x + s * direction, *self.leaves[i + 1 :]])
                    for s in (step, -step)
                ]
                numeric = (around[0] - around[1]) / (2 * step)
                scale = float(np.sum(np.abs(g)))
                np.testing.assert_allclose(
                    product(g, direction),
                    numeric,
                    rtol=NUMERIC[0],
                    atol=NUMERIC[1] * (1 + scale),
                    err_msg=f"{what}: leaf {i} of shape {list(x.shape)}",
                )


def zero_for(gradient: Any, x: Any) -> Any:
    """A gradient as an array: zeros where there is none."""
    if gradient is None:
        return np.zeros_like(x)
    (array,) = flat([gradient])
    assert array.shape == x.shape, f"a gradient of shape {array.shape} for {x.shape}"
    assert array.dtype == x.dtype, f"a gradient of {array.dtype} for {x.dtype}"
    return array


def product(x: Any, y: Any) -> float:
    """The real inner product of two arrays."""
    return float(np.real(np.vdot(x, y)))


def draw_like(random: np.random.Generator, x: Any) -> Any:
    """Random numbers in the shape of `x`, complex where it is."""
    made = random.uniform(0.5, 1.5, x.shape) * random.choice([-1.0, 1.0], x.shape)
    return (made + 1j * random.uniform(-1, 1, x.shape)) if x.dtype.kind == "c" else made


def weighed(op: Op, name: str, x: Any) -> bool:
    """Whether gradients are sent back from result `name` of `op`, whose value is `x`."""
    ruled = {n for rule in op.rules.values() for n in names_of(rule)}
    return of_array(x.dtype).is_float | (x.dtype.kind == "c") and (
        not op.rules or "d" + name in ruled
    )


def slope_of(case: Case, body: Any = None) -> Slope:
    """The call in float64 as a function of inputs with a gradient; `body` computes it otherwise."""
    case = case.in_double()
    op, names, inputs = case.op, wanted(case), case.inputs()
    leaves = list(flat([x for n, x in zip(op.inputs, inputs, strict=True) if n in names]))

    def compute(given: list[Tensor]) -> list[Any]:
        left = iter(given)
        operands = []
        for n, x in zip(op.inputs, inputs, strict=True):
            if isinstance(x, list):
                operands.append([next(left) if n in names else Tensor(v) for v in x])
            else:
                operands.append(x if x is None else next(left) if n in names else Tensor(x))
        session.generator().manual_seed(SEED)
        found = (body or op.call)(*operands, **case.attrs)
        names_of_results[:] = [
            (n, v)
            for n, o in zip(op.outputs, as_outputs(op, found), strict=True)
            for v in (o if isinstance(o, list) else [o])
        ]
        return [v for _, v in names_of_results]

    names_of_results: list[tuple[str, Any]] = []
    compute([Tensor(x) for x in leaves])
    random = np.random.default_rng(zlib.crc32(str(case).encode()))
    weights: list[Any] = []
    for name, v in names_of_results:
        known = v is not None and weighed(op, name, v.array)
        weights.append(draw_like(random, v.array) if known else None)
    return Slope(leaves, compute, weights)


def check_gradient(case: Case) -> None:
    """The tape's gradients are those that small steps show, in float64."""
    slope = slope_of(case)
    slope.check(slope.gradients(), "the gradient")


def second_slope(slope: Slope) -> Slope:
    """The gradients of a slope as results: a function of its leaves and its weights."""
    places = [i for i, w in enumerate(slope.weights) if w is not None]
    count = len(slope.leaves)

    def compute(given: list[Tensor]) -> list[Any]:
        graph = any(t.node is not None for t in given)
        weights: list[Any] = [None] * len(slope.weights)
        for i, t in zip(places, given[count:], strict=True):
            weights[i] = t if graph else t.array
        leaves = given[:count]
        if not graph:
            leaves = [Tensor(t.array, stop_gradient=False) for t in leaves]
        found = slope.tape(leaves, graph=graph, weights=weights)
        return [g if g is None or isinstance(g, Tensor) else Tensor(g) for g in found]

    random = np.random.default_rng(SEED)
    leaves = [*slope.leaves, *[slope.weights[i] for i in places]]
    return Slope(leaves, compute, [draw_like(random, x) for x in slope.leaves])


def check_second_order(case: Case) -> None:
    """The gradients of gradients (by create_graph) are those small steps of the first ones show."""
    slope = second_slope(slope_of(case))
    slope.check(slope.gradients(), "the second gradient")


def has_rule_beside_body(case: Case) -> bool:
    """Whether a gradient rule stands in for the gradients of a body's operators."""
    return differentiable(case) and case.op.composite and bool(case.op.rules)


def check_rule_beside_body(case: Case) -> None:
    """The rule of a composite gives what the tape of its body gives, in first and second order."""
    slope = slope_of(case)
    parts = Slope(slope.leaves, slope_of(case, case.op.body).compute, slope.weights)
    check_close(slope.gradients(), parts.gradients(), "the rule beside the body")
    second = second_slope(slope), second_slope(parts)
    check_close(second[0].gradients(), second[1].gradients(), "the rule beside the body, twice")


def check_gradient_operator(case: Case) -> None:
    """The derived operator, run on plain arrays, gives what the tape gives."""
    slope, case = slope_of(case), case.in_double()
    op, g = case.op, case.op.gradient
    assert g is not None
    values = dict(zip(op.inputs, case.inputs(), strict=True)) | dict(
        zip(op.outputs, case.results, strict=True)
    )
    weights = iter(slope.weights)
    sent = {
        "d" + n: [next(weights) for _ in r] if isinstance(r, list) else next(weights)
        for n, r in zip(op.outputs, case.results, strict=True)
    }
    known = {op.up[n]: x for n, x in values.items()} | {
        "d" + op.up[n[1:]]: d for n, d in sent.items()
    }
    names = tuple("d" + op.up[n] for n in wanted(case))
    found = g.compute(*map(known.get, g.inputs), **case.attrs, wanted=names)
    by_name = dict(zip(g.outputs, as_outputs(g, found), strict=True))
    results = [
        v for n in names for v in (by_name[n] if isinstance(by_name[n], list) else [by_name[n]])
    ]
    arrays = [zero_for(v, x) for v, x in zip(results, slope.leaves, strict=True)]
    check_close(arrays, slope.gradients(), "the gradient operator")
