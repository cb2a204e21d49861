"""Gradient operators bound for a plan: which rule runs on which operands is decided once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from scull.autograd.gradient import summed
from scull.core.op import Op
from scull.core.rule import names_of


def bound_gradient(g: Op, attrs: dict[str, Any]) -> Callable[..., Any] | None:
    """The kernel of a gradient operator that has none of its own, made of the rules it needs.

    It gives what `g.compute` gives for these attributes; None where that has to look at more.
    """
    op = g.forward
    if (
        op is None
        or not op.rules
        or g.cpu is not None
        or (op.align and attrs.get("axis", -1) != -1)
    ):
        return None
    wanted = attrs.get("wanted") or ()
    need = set(wanted or g.outputs)
    own = {n: v for n, v in attrs.items() if n != "wanted"}
    places = {n: i for i, n in enumerate((*g.inputs, *own, None))}
    rows: list[tuple[Any, list[int], list[int | None]]] = []
    for names, rule in op.rules.items():
        made = ["d" + op.up[n] for n in names]
        if need & set(made):
            asked = [places.get(n.removesuffix("_meta"), places[None]) for n in names_of(rule)]
            rows.append((rule, asked, [g.outputs.index(n) if n in need else None for n in made]))
    found = [i for _, _, targets in rows for i in targets if i is not None]
    like = {i: places[g.outputs[i][1:]] for i in found if g.outputs[i][1:] in g.inputs}
    zeros = [
        (i, places[n[1:]]) for i, n in enumerate(g.outputs) if n in wanted and n[1:] in g.inputs
    ]
    return calling(op, len(g.outputs), rows, like if op.broadcasts else {}, zeros, own)


def calling(
    op: Op,
    count: int,
    rows: list[tuple[Any, list[int], list[int | None]]],
    like: dict[int, int],
    zeros: list[tuple[int, int]],
    attrs: dict[str, Any],
) -> Callable[..., Any]:
    """A kernel of so many results that calls rules of `op`: of each the places of what it asks for,
    and those of its results.

    A result is summed to the shape of the operand in its place in `like`; what no rule gave is
    zeros like the operand that `zeros` names.
    """
    constants = (*attrs.values(), None)

    def kernel(*arrays: Any) -> Any:
        values = arrays + constants
        found: list[Any] = [None] * count
        for rule, asked, targets in rows:
            made = rule(*[values[i] for i in asked])
            for target, value in zip(targets, made if len(targets) > 1 else (made,), strict=True):
                if target is not None:
                    found[target] = value
        for target, place in like.items():
            value = found[target]
            if value is not None and value.shape != values[place].shape:
                found[target] = summed(op, value, values[place], attrs)
        for target, place in zeros:
            if found[target] is None and values[place] is not None:
                found[target] = np.zeros(values[place].shape, values[place].dtype)
        return tuple(found) if count > 1 else found[0]

    return kernel
