"""Gradients as users ask for them: `backward`, `grad`, `no_grad`."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from scull.autograd.tape import backward as sweep
from scull.core.eager import EAGER, SILENT
from scull.core.interpreter import current, is_recording, pop, push
from scull.core.op import op_of
from scull.core.tensor import Part, Tensor
from scull.core.timeline import BACKWARD, spanned
from scull.errors import ArgumentError, ShapeError


class Mode:
    """A way of recording, as a context manager and as a decorator."""

    record = False
    pushed: list[Any]

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        made.pushed = []
        return made.wrapped(function) if callable(function) else made

    def __enter__(self) -> None:
        found = current().recording(self.record)
        self.pushed.append(found)
        if found is not None:
            push(found)

    def __exit__(self, *_: object) -> None:
        found = self.pushed.pop()
        if found is not None:
            pop(found)

    def __call__(self, function: Any = None) -> Any:
        return self if function is None else self.wrapped(function)

    def again(self) -> Any:
        """The same mode, for one more block."""
        return type(self)()

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` run in this mode; a generator resumes in it each time."""
        if inspect.isgeneratorfunction(function):
            return self.generating(function)

        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            with self.again():
                return function(*arguments, **options)

        run.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return run

    def generating(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A generator that is in this mode while it runs."""

        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            steps = function(*arguments, **options)
            while True:
                with self.again():
                    try:
                        value = next(steps)
                    except StopIteration as stop:
                        return stop.value
                yield value

        return run


class no_grad(Mode):
    """Nothing is recorded within: results need no gradient. A context manager and a decorator.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> with paddle.no_grad():
        ...     y = x * 2.0
        >>> y.stop_gradient
        True
    """


class enable_grad(Mode):
    """Operators are recorded within, also inside `no_grad`."""

    record = True


class set_grad_enabled(Mode):
    """`no_grad` or `enable_grad`, by `mode`; takes effect at once, a `with` block ends it."""

    def __new__(cls, mode: bool) -> Any:
        return super().__new__(cls)

    def __init__(self, mode: bool) -> None:
        self.interpreter = current().recording(mode) or (EAGER if mode else SILENT)
        self.mode = mode
        self.began = True
        push(self.interpreter)

    def __enter__(self) -> None:
        if self.began:
            self.began = False
        else:
            push(self.interpreter)

    def __exit__(self, *_: object) -> None:
        pop(self.interpreter)

    def again(self) -> Any:
        return type(self)(self.mode)

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.began:
            self.began = False
            pop(self.interpreter)
        return super().wrapped(function)


def is_grad_enabled() -> bool:
    """Whether operators are recorded on the tape now."""
    return is_recording()


def listed(value: Any, name: str) -> list[Any]:
    """One Tensor or several, as a list."""
    values = [value] if isinstance(value, Tensor) else value
    if not isinstance(values, (list, tuple, set)) or not all(isinstance(v, Tensor) for v in values):
        raise AssertionError(f"`{name}` takes a Tensor or a list of Tensors")
    if not values:
        raise AssertionError(f"`{name}` is empty")
    return list(values)


def on_tape(tensor: Any) -> Any:
    """The dense Tensor that stands for a sparse one on the tape; others as they are."""
    return tensor.held if hasattr(type(tensor), "held") else tensor


def seeds_for(outputs: list[Any], given: Any, graph: bool, name: str) -> list[Any]:
    """The gradients to start from: ones where none is given."""
    grads = (
        [None] * len(outputs) if given is None else [given] if isinstance(given, Tensor) else given
    )
    if not isinstance(grads, list | tuple):
        raise AssertionError(f"`{name}` takes Tensors and None, not {type(given).__name__}")
    if len(grads) != len(outputs):
        raise AssertionError(f"`{name}` has {len(grads)} entries for {len(outputs)} tensors")
    seeds = []
    for out, g in zip(outputs, map(on_tape, grads), strict=True):
        if g is None:
            seed: Any = np.ones(out.array.shape, out.array.dtype)
            seeds.append(Tensor(seed) if graph else seed)
            continue
        if not isinstance(g, Tensor):
            raise AssertionError(f"`{name}` takes Tensors and None, not {type(g).__name__}")
        if out.array.ndim == 0 and g.array.shape == (1,):
            g = op_of("reshape2").call(g, shape=())
        if g.array.shape != out.array.shape:
            raise ShapeError(
                f"the gradient given has shape {list(g.array.shape)} and the tensor "
                f"{list(out.array.shape)}"
            )
        seeds.append(g if graph else g.array)
    return seeds


@spanned("Gradient Backward", BACKWARD)
def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """Add the gradients of `tensors` to the `grad` of every leaf they depend on.

    Args:
        tensors (Tensor | list[Tensor]): where to start.
        grad_tensors (Tensor | list[Tensor|None], optional): their gradients; ones when None.
        retain_graph (bool): keep the tape for another pass.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([2.0], stop_gradient=False)
        >>> paddle.autograd.backward([x * x])
        >>> x.grad.tolist()
        [4.0]
    """
    roots = list(map(on_tape, listed(tensors, "tensors")))
    seeds = seeds_for(roots, grad_tensors, False, "grad_tensors")
    pairs = [(t.node, s) for t, s in zip(roots, seeds, strict=True) if t.node is not None]
    sweep([n for n, _ in pairs], [s for _, s in pairs], retain=retain_graph)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Any]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `grad`.

    Args:
        outputs (Tensor | list[Tensor]): what is differentiated.
        inputs (Tensor | list[Tensor]): with respect to what.
        grad_outputs (Tensor | list[Tensor|None], optional): gradients of `outputs`; ones when None.
        retain_graph (bool, optional): of no effect: the tape is kept, as the reference keeps it.
        create_graph (bool): record the computation, so that the result can be differentiated again.
        allow_unused (bool): None for an input that `outputs` do not depend on, instead of an error.
        no_grad_vars (Tensor | list[Tensor], optional): tensors no gradient passes through.

    Returns:
        list[Tensor | None]: a gradient an input.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor(3.0, stop_gradient=False)
        >>> (dx,) = paddle.grad(x * x * x, x, create_graph=True)
        >>> paddle.grad(dx, x)[0].item()
        18.0
    """
    mode: Any = current()
    if mode.captures:
        asked = outputs, inputs, grad_outputs
        return list(mode.gradients.derivative(*asked, create_graph, allow_unused))
    outs, ins = list(map(on_tape, listed(outputs, "outputs"))), listed(inputs, "inputs")
    if not only_inputs:
        raise AssertionError("only_inputs=False is not supported, as in Paddle")
    seeds = seeds_for(outs, grad_outputs, create_graph, "grad_outputs")
    absent = no_grad_vars is None or (isinstance(no_grad_vars, list) and not no_grad_vars)
    blocked = [] if absent else listed(no_grad_vars, "no_grad_vars")
    pairs = [(t.node, s) for t, s in zip(outs, seeds, strict=True) if t.node is not None]
    nodes = [t.node for t in ins if t.node is not None]
    captured = sweep(
        [n for n, _ in pairs],
        [s for _, s in pairs],
        retain=True,
        graph=create_graph,
        inputs=list(dict.fromkeys(nodes)),
        blocked={t.node for t in blocked if t.node is not None},
    )
    return [
        result(t, captured.get(t.node) if t.node is not None else None, create_graph, allow_unused)
        for t in ins
    ]


def result(tensor: Any, g: Any, graph: bool, allow_unused: bool) -> Any:
    """One gradient as a Tensor; None or an error where there is none."""
    if g is None:
        if not allow_unused:
            raise ArgumentError(
                "an input is not on the path to `outputs`, or needs no gradient "
                "(stop_gradient=True); pass allow_unused=True to get None for it"
            )
        return None
    if graph and g.node is None:
        found = Tensor(g.array, stop_gradient=False)
    else:
        found = g if isinstance(g, Tensor) else Tensor(g)
    return tensor.like(found) if on_tape(tensor) is not tensor else found


def tape_text(tensor: Any) -> str:
    """The tape behind `tensor`: every node, how many gradients it waits for, and where its own go.

    A node runs when the count of gradients it waits for has come down to 0: the line order is that
    of `backward`.
    """
    order = reached(tensor.node)
    label = {n: f"{node_name(n)}#{i}" for i, n in enumerate(order)}
    waiting = dict.fromkeys(order, 0)
    for n in order:
        for e in edges_of(n):
            waiting[e] += 1
    lines = []
    for n in order:
        to = ", ".join(label[e] for e in edges_of(n)) or "its gradient"
        lines.append(f"{label[n]:<24} waits for {waiting[n]}   passes on to {to}")
    return "\n".join(lines)


def reached(root: Any) -> list[Any]:
    """The nodes that a gradient of `root` reaches, in the order `backward` runs them."""
    seen: dict[Any, None] = {}
    stack = [whole(root)] if root is not None else []
    while stack:
        n = stack.pop()
        if n not in seen:
            seen[n] = None
            stack.extend(edges_of(n))
    return sorted(seen, key=lambda n: (n.order == 0, n.order))


def whole(node: Any) -> Any:
    """The node a part belongs to."""
    return node.node if isinstance(node, Part) else node


def edges_of(node: Any) -> list[Any]:
    """The nodes `node` passes gradients on to."""
    return [whole(e) for e in getattr(node, "edges", ()) if e is not None]


def node_name(node: Any) -> str:
    """What a node is called: its operator's name, or leaf."""
    return node.op.name if node.order else "leaf"
