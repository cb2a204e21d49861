"""Plain eager mode: compute at once and write the tape. The functions users call are made here."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from scull.core import session
from scull.core.attribute import normalised, rounded
from scull.core.interpreter import Interpreter, _stack, current, interpreting, modes, set_base
from scull.core.memory import refuse_larger
from scull.core.meta import Meta
from scull.core.op import Declaration, Op, arguments, as_outputs
from scull.core.operand import (
    NUMBER,
    concrete,
    firsts,
    meta_or_none,
    padded,
    refuse_lone_numbers,
    refuse_strangers,
    strengthened,
    weak_meta,
    with_every_row,
)
from scull.core.refusal import explained, noted, user_line
from scull.core.rule import defer_rules
from scull.core.tensor import Leaf, Methods, Node, Part, Rows, Stub, Tensor, Value, new, tick
from scull.errors import ScullError, is_located

warnings.filterwarnings("ignore", category=RuntimeWarning, module="scull")  # log(0) is -inf

ATTACHED = (
    "kernel",
    "ufunc",
    "direct",
    "grad",
    "lower",
    "lower_by_steps",
    "lower_rows",
    "no_grad",
    "no_lowering",
)


def declare(body: Callable[..., Any], composite: bool, **options: Any) -> Any:
    """The function that users call: a plain one, which Python calls fastest; `.op` is the rest."""
    op = Op(body, composite=composite, **options)
    call: Any = call_any(op)
    if op.infer_first:
        pass
    elif op.broadcasts and len(op.inputs) == 2 and set(op.attrs) <= {"axis"} and not composite:
        call = call_two(op)
    elif one_to_one(op):
        call = call_one(op)
    call.__name__ = call.__qualname__ = op.name
    call.__doc__, call.__wrapped__, call.op = body.__doc__, body, op
    attachments = Declaration(op, defer_rules)
    for name in ATTACHED:
        setattr(call, name, getattr(attachments, name))
    op.call = call
    return call


def one_to_one(op: Op) -> bool:
    """Whether a call has one tensor, one result and nothing else to look at."""
    plain = not (op.kinds or op.has_lists or op.effects)
    return plain and len(op.inputs) == 1 and len(op.outputs) == 1


def primitive(body: Any = None, **options: Any) -> Any:
    """Declare an operator whose body is its type rule; its kernel, gradient and lowering follow."""
    return declare(body, False, **options) if body else lambda f: declare(f, False, **options)


def composite(body: Any = None, **options: Any) -> Any:
    """Declare an operator whose body is made of other operators."""
    return declare(body, True, **options) if body else lambda f: declare(f, True, **options)


def gradient(function: Any) -> Any:
    """The function of the derived operator `<name>_grad`."""
    return function.op.gradient.call


def apply(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """The long way: plain arrays compute at once, all else is for the current interpreter."""
    name = attrs.pop("name", None) if "name" in attrs else None
    if attrs and not attrs.keys() <= op.kinds.keys():
        inputs, attrs = arguments(op, inputs, attrs)
    if op.attrs:
        attrs = {**op.attrs, **attrs}
    plain = False
    for x in inputs:
        if isinstance(x, Methods) or (type(x) is list and any([isinstance(v, Methods) for v in x])):
            plain = False
            break
        plain = plain or isinstance(x, ndarray | np.generic | Stub | Meta | Rows) or type(x) is list
    if plain:
        try:
            if op.rows_kernel is not None and kernel_for(op, list(inputs)) is op.rows_kernel:
                return op.rows_kernel(*inputs, **attrs)
            return op.compute(*inputs, **attrs)
        except Exception as error:
            raise explained(error, op, inputs, attrs) from None
    if name is not None:
        attrs["name"] = name
    return current().apply(op, inputs, attrs)


def call_any(op: Op) -> Callable[..., Any]:
    """The function of an operator of any number of operands, attributes and results."""

    def call(*inputs: Any, **attrs: Any) -> Any:
        first = inputs[0] if inputs else None
        if isinstance(first, Tensor):
            mode: Any = current() if modes else None
            if (not mode or mode.plain) and attrs.keys() <= op.kinds.keys():
                return (mode or EAGER).apply(
                    op, inputs, {**op.attrs, **attrs} if op.attrs else attrs
                )
        elif type(first) is ndarray and op.eager and attrs.keys() <= op.kinds.keys():
            for x in inputs:
                if isinstance(x, Methods):
                    break
            else:
                return op.eager(*inputs, **({**op.attrs, **attrs} if op.attrs else attrs))
        return apply(op, inputs, attrs)

    return call


def call_one(op: Op) -> Callable[..., Any]:
    """One tensor, no attribute, one result: the short way."""

    def call(x: Any, name: Any = None) -> Any:
        if not isinstance(x, Tensor) or modes:
            if type(x) is ndarray and op.eager:
                return op.eager(x)
            return apply(op, (x,), {} if name is None else {"name": name})
        a = x.array
        if type(a) is not ndarray or op.short is None:
            return EAGER.apply(op, (x,), {})
        kernel = op.short if a.size < op.least else op.eager
        try:
            o = kernel(a)
        except Exception as error:
            raise explained(error, op, (x,), {}) from None
        if o.dtype is not a.dtype and a.dtype not in op.admitted:
            admit(op, x)
        out = new(Tensor)
        out.array = o if type(o) is ndarray else np.asarray(o)
        if x.node is None or op.keep is None:
            out.node = None
            return out
        out.node = node = new(Node)
        node.op, node.attrs, node.grad, node.hooks, node.order = op, None, None, None, tick()
        node.saved, node.edges, node.shapes = op.keep((a, out.array)), (x.node,), None
        return out

    return call


def admit(op: Op, x: Tensor) -> None:
    """Let `op` change the element type of operands like `x`, when its type rule does."""
    try:
        op.infer((x.meta,), {})
    except Exception as error:
        raise explained(error, op, (x,), {}) from None
    op.admitted.add(x.array.dtype)


def call_two(op: Op) -> Callable[..., Any]:
    """Two tensors, one result: the short way is spelt out, in as few steps as Python allows."""

    def call(x: Any, y: Any, name: Any = None, **attrs: Any) -> Any:
        mode: Any = current() if modes else None
        if not isinstance(x, Tensor) or attrs or (mode and not mode.plain):
            if name is not None:
                attrs["name"] = name
            return apply(op, (x, y), attrs)
        a, nx = x.array, x.node
        if isinstance(y, Tensor):
            b, ny = y.array, y.node
            if a.dtype is not b.dtype:
                return apply(op, (x, y), attrs)
        elif type(y) is float and a.dtype.kind == "f":
            b, ny = np.array(y, a.dtype), None
        else:
            return apply(op, (x, y), attrs)
        try:
            o = op.short(a, b)
        except Exception as error:
            raise explained(error, op, (x, y), {}) from None
        out = new(Tensor)
        out.array = o if type(o) is ndarray else np.asarray(o)
        if (nx is None and ny is None) or (mode and not mode.record) or op.keep is None:
            out.node = None
            return out
        out.node = node = new(Node)
        node.op, node.attrs, node.grad, node.hooks, node.order = op, None, None, None, tick()
        node.saved, node.edges = op.keep((a, b, out.array)), (nx, ny)
        node.shapes = None if a.shape == b.shape else (a.shape, b.shape)
        return out

    return call


class Eager(Interpreter):
    """Computes at once and writes the tape."""

    plain = eager = True

    def __init__(self, record: bool = True) -> None:
        self.record = record

    def recording(self, record: bool) -> Interpreter:
        return EAGER if record else SILENT

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        attrs.pop("name", None)
        try:
            if op.broadcasts and len(inputs) == 2:
                inputs = unified(op, inputs, attrs)
            arrays, edges, record = operands(op, inputs)
            record = record and self.record and "grad" not in op.missing
            if op.rounds:
                for n in op.rounds:
                    attrs[n] = rounded(attrs[n])
            if op.enlarges:
                refuse_larger(op, arrays, attrs)
            if not op.rules and op.composite and (op.cpu is None or record):
                return op.body(*inputs, **attrs)  # the tape gets the parts
            extra = (
                {"draw": session.generator().draw(attrs.get("seed", 0))}
                if "random" in op.effects
                else {}
            )
            if op.infer_first:
                op.infer(tuple(map(meta_or_none, arrays)), attrs)
            found = kernel_for(op, arrays)(*arrays, **attrs, **extra)
            if len(op.outputs) == 1 and not op.output_lists:
                out = new(Tensor)
                out.array = found if type(found) is ndarray else held(found)
                out.node = made(op, arrays, edges, attrs, (out.array,)) if record else None
                return out
            return results(op, arrays, edges, attrs, as_outputs(op, found), record)
        except Exception as error:
            plain = None if is_located(error) else firsts(op, inputs)
            plain = plain or with_every_row(op, inputs)
            normal = regular(op, attrs, error) if plain is None else attrs
            if normal is None:
                raise explained(error, op, inputs, attrs) from None
        return self.apply(op, plain or inputs, normal)


def regular(op: Op, attrs: dict[str, Any], error: Exception) -> dict[str, Any] | None:
    """`attrs` in the form kernels see, when it was their form that made a call fail.

    Kernels take most of what users give as it is, so that calls which succeed need not look.
    """
    if is_located(error):
        return None
    try:
        normal = {
            n: normalised(op.kinds[n], n, v) if n in op.kinds else v for n, v in attrs.items()
        }
    except ScullError:
        return None
    return normal if any(form(v) != form(normal[n]) for n, v in attrs.items()) else None


def form(value: Any) -> Any:
    """The types an attribute's value is made of."""
    return (type(value), *map(type, value)) if isinstance(value, tuple) else type(value)


def operands(op: Op, inputs: tuple[Any, ...]) -> tuple[list[Any], list[Any], bool]:
    """The arrays of `inputs`, the edges to their nodes, and whether any needs a gradient.

    The edges of lists are in line.
    """
    arrays: list[Any] = []
    edges: list[Any] = []
    record = False
    if op.lists:
        refuse_lone(op, inputs)
    for x in inputs:
        if isinstance(x, Tensor):
            arrays.append(x.array)
            edges.append(x.node)
            record = record or x.node is not None
        elif type(x) is list or type(x) is tuple:
            if len(arrays) >= len(op.inputs) or op.inputs[len(arrays)] not in op.lists:
                refuse_strangers(op, inputs)
            arrays.append([v.array if isinstance(v, Tensor) else concrete(v) for v in x])
            edges.extend([v.node if isinstance(v, Tensor) else None for v in x])
            record = record or any([isinstance(v, Tensor) and v.node is not None for v in x])
        else:
            if x is None and op.inputs[len(arrays)] in op.needed:
                refuse_strangers(op, inputs)
            arrays.append(constant(op, x, inputs) if isinstance(x, NUMBER) else concrete(x))
            edges.append(None)
    missing = len(op.inputs) - len(arrays)
    if missing > 0:
        arrays.extend(op.defaults[-missing:] if len(op.defaults) >= missing else [None] * missing)
        edges.extend([None] * missing)
    return arrays, edges, record


def refuse_lone(op: Op, inputs: tuple[Any, ...]) -> None:
    """Refuse a tensor where a list is asked for: a kernel would take its rows."""
    for n, x in zip(op.inputs, inputs, strict=False):
        if isinstance(x, Tensor) and n in op.lists:
            refuse_strangers(op, inputs)


def made(
    op: Op, arrays: list[Any], edges: list[Any], attrs: dict[str, Any], outs: tuple[Any, ...]
) -> Any:
    """The node of the tape for one applied operator; None where it has no gradient."""
    if op.keep is None:
        return None
    node = new(Node)
    node.op, node.attrs, node.edges, node.grad, node.order = op, attrs, edges, None, tick()
    node.hooks, node.shapes = None, [x.shape for x in arrays] if op.broadcasts else None
    if op.has_lists:
        counts = [
            len(x) if n in op.lists and x is not None else 1
            for n, x in zip(op.inputs, arrays, strict=True)
        ]
        node.shapes = (counts,)
    node.saved = op.keep((*arrays, *outs))
    return node


def results(
    op: Op,
    arrays: list[Any],
    edges: list[Any],
    attrs: dict[str, Any],
    found: tuple[Any, ...],
    record: bool,
) -> Any:
    """Tensors for several results, each tied to its part of the node they share."""
    found = tuple([o if o is None or type(o) is list else held(o) for o in found])
    node = made(op, arrays, edges, attrs, found) if record else None
    outs: list[Any] = []
    for i, o in enumerate(found):
        if type(o) is list:
            outs.append([result(v, node, (i, j)) for j, v in enumerate(o)])
        else:
            outs.append(o if o is None else result(o, node, i))
    if node is not None:
        node.grad = None
        shapes = tuple(
            [(v.shape, v.dtype) for v in o]
            if type(o) is list
            else o is not None and (o.shape, o.dtype)
            for o in found
        )
        node.shapes = (node.shapes[0] if op.has_lists else None, shapes)
    return tuple(outs) if len(op.outputs) != 1 else outs[0]


def result(array: Any, node: Any, index: Any) -> Tensor:
    """One of several results; truths have no gradient."""
    out = new(Tensor)
    out.array = array = held(array)
    out.node = Part(node, index) if node is not None and array.dtype.kind != "b" else None
    return out


def held(found: Any) -> Any:
    """What a kernel returned, as something a Tensor may hold."""
    return found if type(found) is ndarray or type(found) is Rows else np.asarray(found)


def kernel_for(op: Op, arrays: list[Any]) -> Any:
    """The kernel of `op` for these operands: that for row-sparse ones where one of them is."""
    if op.rows_kernel is not None:
        for x in arrays:
            if type(x) is Rows or (type(x) is list and any([type(v) is Rows for v in x])):
                return op.rows_kernel
    return op.eager or op.body


def constant(op: Op, number: Any, inputs: tuple[Any, ...]) -> ndarray:
    """A Python number as an array of the element type of the tensors beside it."""
    for x in inputs:
        if isinstance(x, Tensor) and x.array.dtype != bool:
            return np.array(number, x.array.dtype)
    refuse_lone_numbers(op, inputs)
    return np.array(number, session.default_dtype().array)


def unified(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """Both operands of one element type, aligned by `axis`; put in by the operator set."""
    if not UNIFY:
        return inputs
    try:
        found: tuple[Any, ...] = UNIFY[0](op, inputs, attrs)
    except ScullError as error:
        raise noted(error, f"in {op.name}\n  at {user_line()}") from None
    return found


UNIFY: list[
    Any
] = []  # how operands of differing kinds are unified; the operator set puts one function here


class Abstract(Interpreter):
    """Computes metas and nothing else."""

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        attrs.pop("name", None)
        metas = op.infer(strengthened(tuple(map(weak_meta, padded(op, inputs)))), attrs)
        values = [[Value(v) for v in m] if type(m) is list else m and Value(m) for m in metas]
        return tuple(values) if len(op.outputs) != 1 else values[0]


def expand(op: Op, metas: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """The metas a composite's body computes."""
    with interpreting(Abstract()):
        found = as_outputs(
            op, op.body(*[Value(m) if isinstance(m, Meta) else lifted(m) for m in metas], **attrs)
        )
    return tuple([v and v.meta for v in r] if type(r) is list else r and r.meta for r in found)


def lifted(m: Any) -> Any:
    """Abstract values for a list of metas; anything else as it is."""
    return [v and Value(v) for v in m] if type(m) is list else m


Op.expand = staticmethod(expand)


EAGER, SILENT = Eager(), Eager(record=False)
set_base(EAGER)
__all__ = ["EAGER", "SILENT", "Leaf", "_stack", "apply", "composite", "gradient", "primitive"]
