"""How plain eager mode runs gradient rules: what a node keeps, and how its gradients are pulled.

The rules are the operators' own source run on plain arrays: `dout * y` is then NumPy, and a call of
an operator is its kernel. Nothing is traced or generated; the rules are only called with the right
arguments.
"""

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any

from scull.core.op import Op, as_outputs
from scull.core.parameter import EMPTY, parameters
from scull.core.tensor import stub


@cache
def parameters_of(rule: Callable[..., Any]) -> dict[str, Any]:
    """What a rule asks for, each with its default; `...` where it has none."""
    return {p.name: ... if p.default is EMPTY else p.default for p in parameters(rule)}


@cache
def names_of(rule: Callable[..., Any]) -> tuple[str, ...]:
    """The names a rule asks for. They are its save list."""
    return tuple(parameters_of(rule))


def optional_gradients(op: Op) -> frozenset[str]:
    """Results whose gradient a rule can do without: it says `dmean=None`."""
    rules = [parameters_of(rule) for rule in op.rules.values()]
    return frozenset(n for n in op.outputs for asked in rules if asked.get("d" + n, ...) is None)


def defer_rules(op: Op) -> None:
    """Let `op` compile its rules when the tape first keeps something for them."""

    def keep(values: Any) -> Any:
        compile_rules(op)
        return op.keep(values)

    op.keep = keep


def compile_rules(op: Op) -> None:
    """Give `op` its `keep(values)` and its `pull(node, dout)`: an array or None for each edge."""
    interface = op.inputs + op.outputs
    uses = {n for rule in op.rules.values() for n in names_of(rule)}
    op.optional = optional_gradients(op)
    if op.gradient_kernel and op.gradient:
        uses |= set(op.gradient.inputs) - op.gradient.shape_only
        uses |= {n + "_meta" for n in op.gradient.shape_only}
    op.kept = tuple(n for n in interface if n in uses or n + "_meta" in uses)
    op.pull = pull_by_kernel(op) if op.gradient_kernel else pull_short(op) or pull_any(op)
    # last: another thread whose node is kept by it may pull at once
    op.keep = keeper([interface.index(n) for n in op.kept], [n not in uses for n in op.kept])


def pull_short(op: Op) -> Any:
    """`pull` in as few steps as Python allows, for one result and no attributes; else None."""
    last = "d" + op.outputs[0]
    rules = [(wrt, rule, names_of(rule)) for wrt, rule in op.rules.items()]
    if (
        len(op.outputs) > 1
        or op.has_lists
        or not all(names[-1:] == (last,) for _, _, names in rules)
    ):
        return None
    if op.attrs.keys() & {n for _, _, names in rules for n in names}:
        return None
    place = {n: i for i, n in enumerate(op.kept)} | {n + "_meta": i for i, n in enumerate(op.kept)}
    made = [adapter(rule, tuple(place[n] for n in names[:-1])) for _, rule, names in rules]
    if [wrt for wrt, _, _ in rules] == [(n,) for n in op.inputs] and len(op.inputs) == 2:
        fx, fy = made

        def pull_two(node: Any, dout: Any) -> Any:
            nx, ny = node.edges
            return nx and fx(node.saved, dout), ny and fy(node.saved, dout)

        return pull_two
    if len(made) == 1 and rules[0][0] == op.inputs:
        f = made[0]
        if len(op.inputs) > 1:
            return lambda node, dout: f(node.saved, dout)
        return lambda node, dout: (f(node.saved, dout),)
    return None


def pull_any(op: Op) -> Callable[[Any, Any], Any]:
    """`pull` for any operator: the gradients of the inputs that have an edge, as the edges lie."""
    place = {n: i for i, n in enumerate(op.kept)} | {n + "_meta": i for i, n in enumerate(op.kept)}
    place |= {"d" + n: len(op.kept) + i for i, n in enumerate(op.outputs)}
    start = len(op.kept) + len(op.outputs)
    place |= {n: start + i for i, n in enumerate(op.kinds)}
    rules = [
        (tuple(map(op.inputs.index, wrt)), rule, [place[n] for n in names_of(rule)])
        for wrt, rule in op.rules.items()
    ]
    names, defaults = tuple(op.kinds), op.attrs
    several = len(op.outputs) > 1 or bool(op.output_lists)

    def pull(node: Any, dout: Any) -> Any:
        attrs = node.attrs or defaults
        values = (*node.saved, *(dout if several else (dout,)), *[attrs[n] for n in names])
        edges = node.edges
        grads: list[Any] = [None] * len(op.inputs)
        for wrt, rule, places in rules:
            if op.has_lists or any([edges[i] is not None for i in wrt]):
                found = rule(*[values[i] for i in places])
                for i, g in zip(wrt, found if len(wrt) > 1 else (found,), strict=True):
                    grads[i] = g
        return flattened(op, grads, node.shapes) if op.lists else grads

    return pull


def flattened(op: Op, grads: list[Any], counts: Any) -> list[Any]:
    """`grads` with those of lists in line, as the edges are; `counts` are the lengths."""
    flat: list[Any] = []
    for n, g, count in zip(op.inputs, grads, counts[0], strict=True):
        if n in op.lists:
            flat.extend(g if g is not None else [None] * count)
        else:
            flat.append(g)
    return flat


def pull_by_kernel(op: Op) -> Callable[[Any, Any], Any]:
    """`pull` where the gradient operator has a kernel of its own."""
    g = op.gradient
    assert g is not None
    order = {n: i for i, n in enumerate(g.inputs)}
    kept = [(i, order[n]) for i, n in enumerate(op.kept) if n in order]
    douts = [(i, order["d" + n]) for i, n in enumerate(op.outputs) if "d" + n in order]
    names, several = ["d" + n for n in op.inputs], len(op.outputs) > 1
    defaults = op.attrs

    def pull(node: Any, dout: Any) -> Any:
        values: list[Any] = [None] * len(order)
        saved, grads = node.saved, dout if several else (dout,)
        for i, j in kept:
            values[j] = saved[i]
        for i, j in douts:
            values[j] = grads[i]
        wanted = tuple([n for n, e in zip(names, node.edges, strict=True) if e is not None])
        attrs = node.attrs or defaults
        found = as_outputs(g, g.eager(*values, **attrs, wanted=wanted))
        by_name = dict(zip(g.outputs, found, strict=True))
        return [by_name.get(n) for n in names]

    return pull


def keeper(places: list[int], stubs: list[bool]) -> Callable[[Any], Any]:
    """A function that picks `places` of a tuple; of those in `stubs` the shape and dtype only."""
    if any(stubs):
        pairs = list(zip(places, stubs, strict=True))
        return lambda values: tuple([stub(values[i]) if s else values[i] for i, s in pairs])
    if len(places) == 1:
        (i,) = places
        return lambda values: (values[i],)
    return itemgetter(*places) if places else lambda values: ()


def adapter(rule: Callable[..., Any], places: tuple[int, ...]) -> Callable[[Any, Any], Any]:
    """`rule` as a function of (saved, dout); `places` says where its other arguments lie."""
    match places:
        case ():
            return lambda saved, dout: rule(dout)
        case (i,):
            return lambda saved, dout: rule(saved[i], dout)
        case (i, j):
            return lambda saved, dout: rule(saved[i], saved[j], dout)
    return lambda saved, dout: rule(*[saved[i] for i in places], dout)
