"""Values as kernels take them: channels first, and float32 for half precision.

Where an operator has them otherwise, `transfer_layout` and `transfer_dtype` stand before and
behind it. A value that several operators take so is converted once, and one that comes from such an
operator goes to the next without a way back.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any

from scull.core.dtype import float32
from scull.core.meta import Kind, Meta
from scull.core.op import op_of
from scull.ir.operator import Operator
from scull.ir.variable import Variable

NUMBERS = {"NHWC": 1, "NCHW": 2, "NCDHW": 3, "NDHWC": 4}
FIRST = {"NHWC": "NCHW", "NDHWC": "NCDHW"}  # for channels last those first
HALF = ("float16", "bfloat16")


def converted(operators: tuple[Operator, ...], wanted: Iterable[Variable]) -> tuple[Operator, ...]:
    """`operators`, with what brings values into the form that kernels take.

    No value goes back that nobody reads: those around the operators read `wanted`.
    """
    if not any(layout_of(o) or is_half(o) for o in operators):
        return operators
    forms = Forms()
    for o in operators:
        forms.add(o)
    read = {*wanted, *(v for o in forms.operators for v in o.operands())}
    return tuple(o for o in forms.operators if o not in forms.inserted or is_read(o, read))


def is_read(o: Operator, read: set[Variable]) -> bool:
    """Whether somebody reads what `o` makes."""
    return any(v in read or v.persistable for v in o.results())


def layout_of(o: Operator) -> str:
    """The layout of the images of an operator whose kernel takes another one."""
    has_images = bool((o.op.forward or o.op).images) if hasattr(o.op, "images") else False
    layout = o.attrs.get("data_format") if has_images else ""
    return layout if layout in FIRST else ""


def is_half(o: Operator) -> bool:
    """Whether the kernel computes in float32 with operands of half precision."""
    values = (*o.operands(), *o.results())
    return getattr(o.op, "widens", False) and any(v.dtype.name in HALF for v in values)


def images_of(o: Operator) -> frozenset[str]:
    """The slots of an operator, or of a gradient operator, that hold images."""
    found: frozenset[str] = (o.op.forward or o.op).images
    return found | {f"d{name}" for name in found}


class Forms:
    """The operators so far, and which values stand for others in another form."""

    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self.inserted: set[Operator] = set()
        self.known: dict[tuple[Variable, str], Variable] = {}  # by form

    def add(self, o: Operator) -> None:
        """Let `o` come next, in the form its kernel takes."""
        behind: list[Operator] = []
        made = o
        layout = layout_of(o)
        if layout:
            made = copy(made)
            made.attrs = made.attrs | {"data_format": FIRST[layout]}
            self.turn(made, layout, behind)
        if is_half(made):
            made = copy(made)
            self.widen(made, behind)
        self.forget(o)
        self.operators += [made, *reversed(behind)]
        self.inserted.update(behind)
        for back in behind:
            if back.type == "transfer_layout":
                (first,), (last,) = back.inputs, back.outputs
                self.known[last, FIRST[layout]] = first

    def forget(self, o: Operator) -> None:
        """What `o` writes has a new value."""
        over = set(o.results())
        self.known = {key: v for key, v in self.known.items() if key[0] not in over}

    def turn(self, o: Operator, layout: str, behind: list[Operator]) -> None:
        """Let the images of `o` have channels first; `behind` it they go back."""
        images, first = images_of(o), FIRST[layout]
        there = {"src_layout": NUMBERS[layout], "dst_layout": NUMBERS[first]}
        back = {"src_layout": NUMBERS[first], "dst_layout": NUMBERS[layout]}

        def taken(v: Variable) -> Variable:
            return self.taken(o, v, first, "transfer_layout", there, turned(v.meta))

        def left(v: Variable) -> Variable:
            made = twin(v, first, turned(v.meta))
            behind.append(transfer(o, "transfer_layout", made, v, back))
            return made

        o.inputs = changed(o.op.inputs, o.inputs, images, taken)
        o.outputs = changed(o.op.outputs, o.outputs, images, left)

    def widen(self, o: Operator, behind: list[Operator]) -> None:
        """Let `o` have float32 in place of half precision; `behind` it results are rounded."""

        def taken(v: Variable) -> Variable:
            attrs = {"in_dtype": v.dtype, "out_dtype": float32}
            return self.taken(o, v, "float32", "transfer_dtype", attrs, v.meta.with_dtype(float32))

        def left(v: Variable) -> Variable:
            made = twin(v, "float32", v.meta.with_dtype(float32))
            attrs = {"in_dtype": float32, "out_dtype": v.dtype}
            behind.append(transfer(o, "transfer_dtype", made, v, attrs))
            return made

        halves = {v for v in (*o.operands(), *o.results()) if v.dtype.name in HALF}
        o.inputs = changed(o.op.inputs, o.inputs, halves, taken)
        o.outputs = changed(o.op.outputs, o.outputs, halves, left)

    def taken(
        self, o: Operator, v: Variable, form: str, type: str, attrs: dict[str, Any], meta: Meta
    ) -> Variable:
        """What stands for `v` in this form, converted for `o` unless it was before."""
        if (v, form) not in self.known:
            self.known[v, form] = twin(v, form, meta)
            self.operators.append(transfer(o, type, v, self.known[v, form], attrs))
        return self.known[v, form]


def changed(names: Any, slots: tuple[Any, ...], chosen: Any, change: Any) -> tuple[Any, ...]:
    """`slots` with the variables in `chosen`, or in slots of these names, changed."""

    def one(name: str, v: Any) -> Any:
        if isinstance(v, list):
            return [one(name, e) for e in v]
        wanted = isinstance(v, Variable) and (name in chosen or v in chosen)
        return change(v) if wanted and v.kind is Kind.DENSE else v

    return tuple(one(name, v) for name, v in zip(names, slots, strict=False)) + slots[len(names) :]


def twin(v: Variable, form: str, meta: Meta) -> Variable:
    """A variable of the plan alone, for the value of `v` in another form."""
    return Variable(f"{v.name}@{form}", meta, v.block, stop_gradient=v.stop_gradient)


def turned(meta: Meta) -> Meta:
    """The meta of images with channels last, with these first; as it is, of what are none."""
    if meta.ndim < 3:
        return meta
    n, *inner, channels = meta.shape
    return meta.with_shape((n, channels, *inner))


def transfer(
    o: Operator, type: str, source: Variable, target: Variable, attrs: dict[str, Any]
) -> Operator:
    """The operator that brings a value into another form, for `o`."""
    made = Operator(o.block, op_of(type), (source,), (target,), dict(attrs))
    made.role, made.device, made.line = o.role, o.device, o.line
    return made
