"""The operator: its interface, its meaning and every rule; declared once, used by every mode."""

import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, get_args, get_origin

import numpy

from scull.core.attribute import AttributeKind, kind_of
from scull.core.dtype import of_array
from scull.core.meta import Meta, ones_behind
from scull.core.parameter import EMPTY, parameters
from scull.errors import SlotError, UnknownOpError

REGISTRY: dict[str, "Op"] = {}  # by our name
BY_TYPE: dict[str, "Op"] = {}  # by the type a Program shows

ORDERS = 9  # of gradients: their rules grow with each, and so many nobody needs
MARK = "@LOD"  # behind a slot or a variable: where the sequences in what stands there begin
_deriving = threading.RLock()  # one thread makes a gradient operator
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_deriving.acquire,
        after_in_parent=_deriving.release,
        after_in_child=_deriving.release,
    )
EFFECTS = frozenset({"random", "reads", "writes", "python", "communicates", "blocks"})


class Op:
    """One operator. The parameters of its body are its schema; everything else hangs off it."""

    derive: ClassVar[Callable[["Op"], "Op | None"]]  # makes `<name>_grad`; put here by autograd
    expand: ClassVar[Callable[..., Any]]  # runs a composite body on metas; put here by dispatch
    declare_all: ClassVar[Callable[[], None]]  # declares every operator there is; put here by ops
    # By name what lets eager mode run machine code in place of a kernel; put here by eager.
    preferred: ClassVar[dict[str, Callable[["Op"], None]]] = {}

    def __init__(
        self,
        body: Callable[..., Any],
        *,
        composite: bool,
        outputs: tuple[str, ...] = ("out",),
        type: str | None = None,
        slots: dict[str, str] | None = None,
        attrs: dict[str, str] | None = None,
        fixed: dict[str, Any] | None = None,
        prefix: str | None = None,
        broadcasts: bool = False,
        inline: bool = False,
        inline_gradient: bool = False,
        views: dict[str, str] | None = None,
        in_place: dict[str, str] | None = None,
        hidden: tuple[str, ...] = (),
        xshape: str | None = None,
        effects: Iterable[str] = (),
        infer_first: bool = False,
        enlarges: tuple[str, ...] = (),
        unsaid: tuple[str, ...] = (),
        bare: bool = False,
        printed: tuple[str, ...] = (),
        recorded: dict[str, Any] | None = None,
        unprinted: tuple[str, ...] = (),
        images: tuple[str, ...] = (),
    ) -> None:
        self.name, self.type, self.body = body.__name__, type or body.__name__, body
        self.composite, self.broadcasts, self.inline = composite, broadcasts, inline
        self.inline_gradient, self.prefix = inline_gradient, self.type if prefix is None else prefix
        self.views, self.in_place, self.hidden = views or {}, in_place or {}, hidden
        self.xshape, self.effects, self.infer_first = xshape, frozenset(effects), infer_first
        self.enlarges = enlarges  # attributes that make results larger than operands
        shape = {"XShape"} if xshape else set()
        self.unsaid = frozenset(unsaid) | shape  # slots not written when empty
        self.bare = bare  # its results are named without .tmp
        self.images = frozenset(images)  # what data_format orders; kernels take channels first
        # attributes, as spelt, that a Program's text leaves out: constant ones unless `printed`
        self.unprinted = frozenset(unprinted) | (set(fixed or ()) - set(printed))
        assert self.effects <= EFFECTS, self.effects
        self.spelling, self.spelt_attrs, self.fixed = slots or {}, attrs or {}, fixed or {}
        self.recorded = recorded or {}  # element types that Programs note for these outputs
        self.read_schema(body, outputs)
        self.start()

    def start(self) -> None:
        """No rule is attached yet."""
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.rows_kernel: Callable[..., Any] | None = None
        self.planned: Callable[..., Any] | None = None  # of a gradient operator: for plans
        self.widens = False  # whether the kernel computes in float32 with half precision
        self.over: Callable[..., Any] | None = None  # a kernel whose `out` may be an operand
        self.direct: Callable[..., Any] | None = None  # tells NumPy's own call, where there is one
        self.rules: dict[tuple[str, ...], Callable[..., Any]] = {}
        self.lowering: Callable[..., Any] | None = None
        self.steps: Callable[..., Any] | None = None  # a body of other operators, in scans
        self.by_rows: ByRows | None = None  # what it means for row-sparse operands
        self.missing: dict[str, str] = {}  # the rules it lacks, each with the reason
        self.forward: Op | None = None  # of a gradient operator: whose gradient
        self.up: dict[str, str] = {}  # the names of its interface in rules about it
        self.back: dict[str, str] = {}  # of a gradient operator: the same, the other way
        self.shape_record: str | None = None  # its input that Programs give as an XShape
        self.douts: tuple[str, ...] = ()  # of a gradient operator: its inputs that are gradients
        self.commutes = False  # whether its two operands may change places, to the bit
        self.align: Any = None  # operands with `axis` taken into account, of elementwise operators
        self.cpu: Any = None  # the kernel on NumPy
        self.eager: Any = None  # what eager mode calls: that, or one that prefers machine code
        self.ufunc: Any = None  # NumPy's own function of operands alone, if there is one
        self.short: Any = None  # what eager mode calls without attributes: that, if there is one
        self.least = sys.maxsize  # elements of one operand alone, from where on it is `eager`
        self.keep: Any = None  # what a node of the tape keeps of inputs and results
        self.pull: Any = None  # from a node and its results' gradients to those of its inputs
        self.kept: tuple[str, ...] = ()
        self.optional: frozenset[str] = frozenset()  # results whose gradient a rule can do without
        self.gradient_kernel = False
        self.admitted: set[Any] = set()  # element types of operands whose results have another
        self.call: Any = None
        self._gradient: Op | None = None
        self._expansions: dict[Any, Any] = {}
        REGISTRY[self.name] = self
        BY_TYPE.setdefault(self.type, self)

    def read_schema(self, body: Callable[..., Any], outputs: tuple[str, ...]) -> None:
        """Inputs, attributes and outputs as the parameters of the body say."""
        asked = parameters(body)
        inputs = [p for p in asked if not p.keyword_only]
        attributes = [p for p in asked if p.keyword_only and p.name != "wanted"]
        self.inputs = tuple([p.name.removesuffix("_meta") for p in inputs])
        pairs = list(zip(self.inputs, inputs, strict=True))
        self.shape_only = frozenset([n for n, p in pairs if p.name != n])
        self.lists = frozenset([n for n, p in pairs if takes_list(p.annotation)])
        self.required = tuple([n for n, p in pairs if p.default is EMPTY])
        absent = [n for n, p in pairs if may_be_absent(p.annotation)]
        self.needed = frozenset(self.required) - set(absent)
        self.defaults = tuple([p.default for p in inputs if p.default is not EMPTY])
        self.attrs = {p.name: p.default for p in attributes if p.default is not EMPTY}
        self.kinds: dict[str, AttributeKind] = {
            p.name: kind_of(p.annotation, p.default) for p in attributes
        }
        self.rounds = tuple([n for n, k in self.kinds.items() if k.wire == "FLOAT"])
        self.takes_wanted = len(attributes) + len(inputs) < len(asked)
        self.output_lists = frozenset(n.removesuffix("[]") for n in outputs if n.endswith("[]"))
        self.outputs = tuple(n.removesuffix("[]") for n in outputs)
        spelt = {n: self.spelling.get(n, "") for n in (*self.inputs, *self.outputs)}
        self.levels = tuple([n for n in self.inputs if spelt[n].endswith(MARK)])
        self.tells = tuple([n for n in self.outputs if spelt[n].endswith(MARK)])
        self.has_lists = bool(self.lists or self.output_lists)
        self.has_blocks = any(kind.wire in ("BLOCK", "BLOCKS") for kind in self.kinds.values())

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the body: all that can be given."""
        return inspect.signature(self.body)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def slot(self, name: str) -> str:
        """How a Program spells `name`: x is X, learning_rate is LearningRate, dout is Out@GRAD."""
        return self.spelling.get(name) or "".join(w[:1].upper() + w[1:] for w in name.split("_"))

    def attribute(self, name: str) -> str:
        """How attribute `name` is spelt in a Program."""
        return self.spelt_attrs.get(name, name)

    def infer(self, metas: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """The metas of the results: a list where the output is one, None where it is not made."""
        if self.composite:
            return Op.expand(self, metas, attrs)  # type: ignore[no-any-return]
        return as_tuple(self.body(*metas, **attrs))

    def noted(self, metas: tuple[Any, ...]) -> tuple[Any, ...]:
        """The metas of the results as a Program notes them, which for a few differ from what is."""
        if not self.recorded:
            return metas
        pairs = zip(self.outputs, metas, strict=True)
        known = self.recorded
        return tuple(m.with_dtype(known[n]) if n in known and m else m for n, m in pairs)

    @property
    def gradient(self) -> "Op | None":
        """The operator `<name>_grad`, made when first asked for; None if there is no gradient."""
        if self._gradient is None and "grad" not in self.missing and (self.rules or self.composite):
            with _deriving:
                self._gradient = self._gradient or Op.derive(self)
        return self._gradient

    def compute(self, *arrays: Any, **attrs: Any) -> Any:
        """What the kernel gives for plain arrays, or the body, whose operators meet arrays."""
        found = (self.eager or self.body)(*arrays, **attrs)
        if self.forward and attrs.get("wanted"):
            return filled(self, arrays, attrs["wanted"], found)
        return found


@cache
def may_be_absent(annotation: Any) -> bool:
    """Whether None may stand for an input that has no default: `Meta | None`."""
    return type(None) in get_args(annotation)


@cache
def takes_list(annotation: Any) -> bool:
    """Whether an input is a list: `list[Meta]`, or `list[Meta] | None` when it may be absent."""
    return any(get_origin(a) is list for a in (annotation, *get_args(annotation)))


def filled(op: Op, arrays: tuple[Any, ...], wanted: tuple[str, ...], found: Any) -> Any:
    """`found` with zeros for wanted gradients that no rule computes: zero by structure."""
    known = dict(zip(("d" + n for n in op.inputs), arrays, strict=False))
    results = tuple(
        numpy.zeros(known[n].shape, known[n].dtype)
        if x is None and n in wanted and n in known
        else x
        for n, x in zip(op.outputs, as_outputs(op, found), strict=True)
    )
    return results if len(op.outputs) > 1 else results[0]


def as_tuple(x: Any) -> tuple[Any, ...]:
    """`x` as a tuple of results."""
    return x if isinstance(x, tuple) else (x,)


def as_outputs(op: Op, found: Any) -> tuple[Any, ...]:
    """What a kernel, a body or a call of `op` returned, as one entry an output."""
    return tuple(found) if len(op.outputs) != 1 else (found,)


def by_type() -> dict[str, Op]:
    """Every declared operator by the type a Program shows."""
    Op.declare_all()
    return BY_TYPE


def by_name() -> dict[str, Op]:
    """Every declared operator by our name for it."""
    Op.declare_all()
    return REGISTRY


def op_of(type: str) -> Op:
    """The operator of the type a Program shows; a gradient operator is derived."""
    op = BY_TYPE.get(type) or by_type().get(type)
    if op is None and type.endswith("_grad") and not type.endswith("_grad" * ORDERS):
        op = op_of(type.removesuffix("_grad")).gradient
    if op is None:
        raise UnknownOpError(f"no operator of type `{type}` is declared")
    return op


@dataclass(frozen=True)
class ByRows:
    """What an operator does with row-sparse operands, in terms of what it does with arrays.

    Attributes:
        way: `values`: what it does with their values. `merged`: the same of rows that occur once.
            `rows`: what it does with these rows of its other operands, which it writes over.
            `dense`: what it does with the whole matrices. `made`: `parts`, written by calling
            operators, gives the numbers of the rows of the result and their values, or None where
            the result is dense.
        when: the attribute that must hold, or it is `dense`.
    """

    way: str
    parts: Callable[..., Any] | None = None
    when: str = ""


class Declaration:
    """The decorators that attach rules to an operator; they are attributes of its function."""

    def __init__(self, op: Op, attach: Callable[[Op], None]) -> None:
        self.op, self.attach = op, attach

    def kernel(
        self, where: Any = None, *, rows: bool = False, planned: bool = False, over: bool = False
    ) -> Any:
        """Attach a kernel: `@op.kernel` for any namespace, `@op.kernel("cpu")` for one device.

        With `rows=True` it takes row-sparse operands; with `planned=True` it is a gradient's for
        plans alone, and eager mode runs the rule; with `over=True` its `out` may be an operand.
        """
        if callable(where):
            return self.kernel()(where)

        def attach(function: Callable[..., Any]) -> Callable[..., Any]:
            if rows:
                self.op.rows_kernel = partial(function, numpy)
                return function
            if planned:
                self.op.planned = partial(function, numpy)
                return function
            self.op.kernels[where or "any"] = function
            self.op.widens = getattr(function, "widens", False)
            if over:
                self.op.over = partial(function, numpy)
            if where in (None, "cpu"):
                self.op.cpu = self.op.short = partial(function, numpy)
                self.op.ufunc = None
                self.chosen()
                self.bound()
            return function

        return attach

    def ufunc(self, name: str) -> None:
        """The kernel is the array namespace's function `name`.

        `axis` says where the second operand begins.
        """

        def kernel(xp: Any, *arrays: Any, out: Any = None, axis: int = -1) -> Any:
            if axis != -1:
                x, y = arrays
                arrays = (x, y.reshape(y.shape + ones_behind(x.ndim, y.ndim, axis)))
            return getattr(xp, name)(*arrays, out=out)

        self.kernel()(kernel)
        self.op.ufunc = self.op.short = self.op.over = getattr(numpy, name)
        if not self.op.kinds:
            self.op.cpu = self.op.short
        self.chosen()

    def chosen(self) -> None:
        """Let eager mode call the kernel, or what prefers machine code to it."""
        op = self.op
        prefer = Op.preferred.get(op.name)
        if prefer:
            prefer(op)
        else:
            op.eager = op.cpu

    def direct(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Attach what tells, of a NumPy dtype and attributes, what the kernel comes to.

        That is None, or a function of NumPy with the operands that follow those of the operator.
        """
        self.op.direct = rule
        return rule

    def bound(self) -> None:
        if self.op.forward:
            self.op.forward.gradient_kernel = True
            self.attach(self.op.forward)

    def grad(self, *wrt: Any) -> Any:
        """Attach a gradient rule for the inputs named, as by `@op.grad("x")`, or for all."""
        if wrt and callable(wrt[0]):
            return self.grad(*[n for n in self.op.inputs if n not in self.op.shape_only])(wrt[0])

        def attach(rule: Callable[..., Any]) -> Callable[..., Any]:
            self.op.rules[wrt] = rule
            self.attach(self.op)
            return rule

        return attach

    def lower(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Attach the lowering: what one element of each result is."""
        self.op.lowering = rule
        return rule

    def lower_by_steps(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Attach a body of other operators and scans, which compilers take for the kernel."""
        self.op.steps = rule
        return rule

    def lower_rows(
        self, way: str, parts: Callable[..., Any] | None = None, *, when: str = ""
    ) -> None:
        """Say how machine code computes it of row-sparse operands: a way that ByRows tells."""
        self.op.by_rows = ByRows(way, parts, when)

    def no_grad(self, reason: str) -> None:
        """Say why there is no gradient."""
        self.op.missing["grad"] = reason

    def no_lowering(self, reason: str) -> None:
        """Say why there is no lowering."""
        self.op.missing["lower"] = reason


def arguments(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """`inputs` and `attrs` with inputs given by keyword put in their place."""
    given = {n: attrs.pop(n) for n in op.inputs if n in attrs}
    if given:
        optional = dict(zip(op.inputs[len(op.required) :], op.defaults, strict=True))
        places = dict(zip(op.inputs, inputs, strict=False)) | given
        missing = [n for n in op.required if n not in places]
        if missing:
            raise SlotError(f"`{op.name}` needs {', '.join(missing)}")
        inputs = tuple(places.get(n, optional.get(n)) for n in op.inputs)
    unknown = attrs.keys() - op.kinds.keys() - {"wanted"}
    if unknown:
        known = ", ".join(op.kinds) or "none"
        raise SlotError(
            f"`{op.name}` has no attribute {', '.join(sorted(unknown))}; it has {known}"
        )
    return inputs, attrs


def meta_of(x: Any) -> Meta:
    """The meta of an array or of anything that carries one."""
    if isinstance(x, numpy.ndarray | numpy.generic):
        return Meta(x.shape, of_array(x.dtype))
    found: Meta = x.meta
    return found
