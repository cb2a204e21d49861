"""The tape: gradients sent back from results to leaves.

Nodes are numbered as they are made, so the newest reached node has all its gradients: a heap needs
no counting.
"""

import heapq
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy import ndarray

from scull.autograd.version import check_versions, last_change
from scull.core.around import surrounded, surroundings
from scull.core.dtype import of_array
from scull.core.eager import EAGER, SILENT, regular
from scull.core.interpreter import current, interpreting
from scull.core.meta import Meta
from scull.core.op import Op, as_outputs
from scull.core.refusal import refused
from scull.core.tensor import PART, Leaf, Part, Rows, Tensor, new, unbroadcast
from scull.core.timeline import active, applied, now
from scull.errors import TapeError, is_located, located


def backward(
    roots: list[Any],
    seeds: list[Any],
    *,
    retain: bool = False,
    graph: bool = False,
    inputs: Any = None,
    blocked: Any = (),
) -> dict[Any, Any]:
    """Send `seeds` back from `roots` to the leaves, or return what reaches the nodes `inputs`.

    With `graph` the seeds are Tensors and the rules run on Tensors, and so write the tape in turn.
    Nothing passes the nodes `blocked`.
    """
    sweep = Sweep(retain, graph, inputs, blocked)
    for root, seed in zip(roots, seeds, strict=True):
        sweep.send(root, seed)
    try:
        mode = current()
        if graph and mode.setting is None:
            sweep.run()
        else:
            with interpreting(mode.below if graph else SILENT):
                sweep.run()
    except BaseException:
        sweep.clear()
        raise
    sweep.settle()
    return sweep.captured


class Sweep:
    """One backward pass: the nodes that have a gradient waiting, the newest first."""

    def __init__(self, retain: bool, graph: bool, inputs: Any, blocked: Any) -> None:
        self.heap: list[tuple[int, int, Any]] = []
        self.leaves: list[Leaf] = []
        self.retain, self.graph = retain or graph, graph
        self.targets = inputs
        self.captured: dict[Any, Any] = dict.fromkeys(inputs or ())
        self.useful: Any = None
        self.blocked = blocked

    def send(self, node: Any, g: Any) -> None:
        """Add `g` to the gradient waiting at `node`."""
        if node.grad is not None:
            node.grad = node.grad + g
            return
        node.grad = g
        if node.order:
            heapq.heappush(self.heap, (node.order, id(node), node))
        else:
            self.leaves.append(node)

    def run(self) -> None:
        """Execute the waiting nodes until none is left."""
        heap, graph, retain = self.heap, self.graph, self.retain
        if self.targets is not None:
            self.useful = leading_to(self.targets, [n for _, _, n in heap]) - set(self.blocked)
        pull: Any = pull_tensors if graph else pulled
        if active:
            pull = timed(pull)
        if surroundings:
            pull = surrounded(pull)
        while heap:
            node = heapq.heappop(heap)[2]
            dout = node.grad
            node.grad = None
            if node.hooks is not None:
                dout = hooked(node, dout, graph)
            if self.captured and node in self.captured:
                self.captured[node] = dout
            op = node.op
            if op is PART:
                self.receive(node, dout)
                continue
            if self.useful is not None and node not in self.useful:
                continue
            if node.saved is None:
                raise TapeError(
                    f"the tape behind `{op.name}` was freed by an earlier backward(); pass "
                    "retain_graph=True to the first"
                )
            if last_change[0] < node.order:
                check_versions(node)
            try:
                found = pull(node, dout)
            except Exception as error:
                found = pulled_again(node, dout, graph, error)
            edges = node.edges
            if not retain:
                node.saved = None
            for edge, g in zip(edges, found, strict=False):
                if edge is not None and g is not None:
                    if edge.grad is not None:
                        edge.grad = edge.grad + g
                    elif edge.order:
                        edge.grad = g
                        heapq.heappush(heap, (edge.order, id(edge), edge))
                    else:
                        edge.grad = g
                        self.leaves.append(edge)

    def receive(self, part: Part, g: Any) -> None:
        """Pass the gradient of one result on to the node that made it and others."""
        node, index = part.node, part.index
        if node.grad is None:
            heapq.heappush(self.heap, (node.order, id(node), node))
            shapes = node.shapes[1]
            node.grad = [[None] * len(s) if isinstance(s, list) else None for s in shapes]
        grads = node.grad
        if isinstance(index, tuple):
            grads, index = grads[index[0]], index[1]
        grads[index] = g if grads[index] is None else grads[index] + g

    def settle(self) -> None:
        """Give leaves what reached them: to `inputs` if any, else on top of what they hold."""
        for leaf in self.leaves:
            g, leaf.grad = leaf.grad, None
            if self.targets is not None:  # no hook of a leaf is called, as in Paddle
                if leaf in self.captured:
                    self.captured[leaf] = g
                continue
            if leaf.hooks is not None:
                g = hooked(leaf, g, self.graph)
            own = g if self.graph else Tensor(g.copy() if sys.getrefcount(g) > 2 else g)
            if leaf.total is None:
                leaf.total = own
            elif leaf.cleared and not self.graph:
                leaf.total.array = own.array
            elif self.graph:
                leaf.total = leaf.total + own
            else:
                leaf.total.array = Tensor(leaf.total.array + own.array).array  # 0-D: no scalar
            leaf.cleared = False
            for hook in list(leaf.hooks.values()) if leaf.hooks else ():
                if isinstance(hook, Arrived):
                    hook.call()
        self.leaves.clear()

    def clear(self) -> None:
        """After an error: no node keeps a gradient."""
        for _, _, node in self.heap:
            node.grad = None
        for leaf in self.leaves:
            leaf.grad = None


def timed(pull: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`pull` as spans of the gradient operators."""

    def pulling(node: Any, dout: Any) -> Any:
        found, known = None, [dout, node.saved]
        start = now()
        try:
            found = pull(node, dout)
            return found
        finally:
            applied(f"{node.op.name}_grad", ("dout",), known, node.attrs or {}, found, start)

    return pulling


def pulled_again(node: Any, dout: Any, graph: bool, error: Exception) -> Any:
    """The gradients that failed to come, if it was for the form of the attributes."""
    op = node.op
    if not isinstance(op, Op) or is_located(error):
        raise error
    normal = regular(op, node.attrs or {}, error)
    if normal is not None:
        node.attrs = normal
        try:
            return pull_tensors(node, dout) if graph else pulled(node, dout)
        except Exception as again:
            error = again
    if not is_located(error):
        error = refused(error, op, node.attrs or {})
        located(error, f"in the gradient of {op.name}")
    raise error


def pulled(node: Any, dout: Any) -> Any:
    """The gradients for the edges of `node` as arrays."""
    op = node.op
    if type(dout) is list:
        dout = completed(op, node, dout, np.zeros)
        first = next((g for g in dout if type(g) is ndarray), None)
    else:
        first = dout
    promotes = type(first) is ndarray and first.dtype.num > 23  # NumPy would, from bfloat16
    if promotes and not op.gradient_kernel:
        return [g.array if isinstance(g, Tensor) else g for g in pull_tensors(node, tensors(dout))]
    found = op.pull(node, dout)
    if node.shapes is not None and op.broadcasts:
        found = [
            g if g is None else unbroadcast(g, s) for g, s in zip(found, node.shapes, strict=False)
        ]
    return found


def tensors(grads: Any) -> Any:
    """Arrays as Tensors, lists of them too."""
    if type(grads) is list:
        return [tensors(g) for g in grads]
    return None if grads is None else Tensor(grads)


def completed(op: Any, node: Any, douts: list[Any], zeros: Any) -> list[Any]:
    """`douts` with zeros where a rule insists on a gradient that nobody sent."""
    result = []
    for name, g, shape in zip(op.outputs, douts, node.shapes[1], strict=True):
        if isinstance(shape, list):
            result.append([zeros(*s) if v is None else v for v, s in zip(g, shape, strict=True)])
        elif g is None and shape and name not in op.optional:
            result.append(zeros(*shape))
        else:
            result.append(g)
    return result


def pull_tensors(node: Any, dout: Any) -> list[Any]:
    """The gradients as Tensors: what was saved is tied to the tape again where it was."""
    op = node.op
    own = getattr(op, "pull_tensors", None)
    if own is not None:
        return own(node, dout)  # type: ignore[no-any-return]
    g = op.gradient
    if type(dout) is list:
        dout = completed(op, node, dout, lambda *m: Tensor(np.zeros(*m)))
    values = dict(zip(op.kept, node.saved, strict=True))
    edges, ties = shaped_edges(op, node), ties_of(op, node, values)
    known = {op.up[n]: tied(v, ties.get(n)) for n, v in values.items()}
    known |= {
        "d" + op.up[n]: d
        for n, d in zip(op.outputs, dout if type(dout) is list else (dout,), strict=True)
    }
    if op.broadcasts:
        dtype = of_array(dout.array.dtype)
        shapes = node.shapes or (dout.array.shape,) * len(op.inputs)
        for n, shape in zip(op.inputs, shapes, strict=False):
            if known.get(op.up[n]) is None:
                known[op.up[n]] = Meta(shape, dtype)
    wanted = tuple("d" + op.up[n] for n, e in zip(op.inputs, edges, strict=False) if has_edge(e))
    attrs = node.attrs or op.attrs
    found = as_outputs(g, g.body(*map(known.get, g.inputs), wanted=wanted, **attrs))
    by_name = dict(zip(g.outputs, found, strict=True))
    grads: list[Any] = []
    for n, e in zip(op.inputs, edges, strict=False):
        d = by_name.get("d" + op.up[n])
        grads.extend((d or [None] * len(e)) if type(e) is list else [d])
    return grads


def ties_of(op: Any, node: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The place on the tape of each value that `node` saved, by name."""
    ties = dict(zip(op.inputs, shaped_edges(op, node), strict=False))
    if len(op.outputs) == 1 and not op.output_lists:
        ties[op.outputs[0]] = node
    else:
        ties |= {n: parts_of(node, i, values.get(n)) for i, n in enumerate(op.outputs)}
    return ties


def parts_of(node: Any, place: int, saved: Any) -> Any:
    """The edge to a result of `node`, or one to each of a list."""
    if type(saved) is list:
        return [Part(node, (place, i)) for i in range(len(saved))]
    return Part(node, place)


def has_edge(edge: Any) -> bool:
    """Whether an input, or one of a list, needs a gradient."""
    return any(e is not None for e in edge) if type(edge) is list else edge is not None


def shaped_edges(op: Any, node: Any) -> list[Any]:
    """The edges of `node` with those of list inputs as lists."""
    if not op.lists:
        return list(node.edges)
    flat = iter(node.edges)
    return [
        [next(flat) for _ in range(count)] if n in op.lists else next(flat)
        for n, count in zip(op.inputs, node.shapes[0], strict=True)
    ]


def tied(value: Any, node: Any) -> Any:
    """A saved array as a Tensor on the tape where it was; a stub or None as it is."""
    if type(value) is list:
        nodes = node if type(node) is list else [node] * len(value)
        return [tied(v, n) for v, n in zip(value, nodes, strict=True)]
    if not isinstance(value, ndarray | Rows):
        return value
    t = new(Tensor)
    t.array = value
    t.node = node if value.dtype.kind not in "iub" else None
    return t


class Arrived:
    """A hook called after a leaf has got its gradient, without arguments."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call


def hooked(node: Any, g: Any, graph: bool) -> Any:
    """`g` after the hooks registered on `node`, each called with a Tensor, recording."""
    for hook in [h for h in node.hooks.values() if not isinstance(h, Arrived)]:
        given = g if graph or g is None else Tensor(g)
        with interpreting(EAGER):
            made = hook(given)
        if made is not None:
            g = made if graph else made.array
    return g


def leading_to(targets: Iterable[Any], starts: list[Any]) -> set[Any]:
    """The nodes reachable from `starts` from which one of `targets` can be reached."""
    goal, useful, seen = set(targets), set[Any](), set[Any]()
    stack = [(n, False) for n in starts]
    while stack:
        node, done = stack.pop()
        if done:
            if any(e in useful or e in goal for e in node.edges if e is not None):
                useful.add(node)
        elif node not in seen and node.order:
            seen.add(node)
            stack.append((node, True))
            stack.extend((e, False) for e in node.edges if e is not None)
    return useful
