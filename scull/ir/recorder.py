"""Recording: every call of an operator becomes an Operator of the current block."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scull.core import session
from scull.core.attribute import normalised, rounded
from scull.core.dtype import float32
from scull.core.interpreter import Interpreter
from scull.core.meta import Meta
from scull.core.op import Op, op_of
from scull.core.operand import padded, refuse_strangers, strengthened, weak_meta
from scull.core.refusal import explained
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError
from scull.ir.admission import refuse_unrecorded
from scull.ir.block import Block, stamp
from scull.ir.operator import Operator, each, program_outputs
from scull.ir.program import main_program
from scull.ir.told import stand_in, told_apart
from scull.ir.variable import Variable

SCALAR = frozenset(("scale", "pow", "abs", "logical_not"))  # beside what broadcasts: arithmetic


class Recorder(Interpreter):
    """Appends operators to a block, by default the main Program's, instead of running them."""

    def __init__(self, block: Block | None = None) -> None:
        self.given = block
        self.prefix: str | None = None
        self.results: tuple[Any, ...] | None = None

    @property
    def block(self) -> Block:
        if self.given is None:
            found: Block = main_program().current_block()
            return found
        return self.given

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        name = attrs.pop("name", None)
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(f"`name` is a text, not {type(name).__name__} {name!r}")
        if op.inline:
            parts = name or (session.unique_name(op.prefix) if op.prefix else None)
            with self.naming(parts):
                try:
                    return op.body(*inputs, **attrs)
                except Exception as error:
                    raise explained(error, op, inputs, attrs) from None
        try:
            refuse_strangers(op, inputs)
            inputs = padded(op, inputs)
            if op.broadcasts and len(op.inputs) == 2 and op.align:
                inputs = tuple([self.capture(x) if isinstance(x, Tensor) else x for x in inputs])
                inputs = UNIFY[0](op, inputs) if UNIFY else inputs
            lifted = tuple([self.lift(op, x, inputs) for x in inputs])
            if self.given is None:  # it is a user who records
                refuse_unrecorded(op, lifted)
            known, told = told_apart(op, attrs)
            normal = {n: normalised(op.kinds[n], n, v) for n, v in known.items() if n in op.kinds}
            normal |= {n: stand_in(op, n, v) for n, v in told.items()}
            metas = op.noted(op.infer(strengthened(tuple(map(weak_meta, lifted))), normal))
        except Exception as error:
            raise explained(error, op, inputs, told_apart(op, attrs)[0]) from None
        outs = self.outputs(op, lifted, metas, name)
        self.append(op, lifted, outs, normal).told = told
        outs = outs[: len(op.outputs)]
        return outs if len(op.outputs) != 1 else outs[0]

    def outputs(
        self, op: Op, inputs: tuple[Any, ...], metas: tuple[Any, ...], name: str | None
    ) -> tuple[Any, ...]:
        """The variables that take the results: those of `into`, else new ones."""
        if op.xshape:
            source = inputs[op.inputs.index(op.xshape)].meta
            metas = (*metas, Meta((0, *source.shape), source.dtype))
        if self.results is not None:
            given = self.results
            return (*given, *[None] * (len(metas) - len(given)))
        reads = [v for s in inputs for v in each(s)]
        stop = "grad" in op.missing or op.gradient is None or all(v.stop_gradient for v in reads)
        names = self.namer(op, name)

        arithmetic = op.broadcasts or op.type in SCALAR
        number = arithmetic and bool(reads) and all(v.number for v in reads)

        def fresh(meta: Any, hidden: bool) -> Any:
            if meta:
                meta = self.block.variable(names(), meta, stop_gradient=stop or hidden)
                meta.number = number
            return meta

        outs: list[Any] = []
        for n, m in zip(program_outputs(op), metas, strict=True):
            aliased = op.in_place.get(n)
            if aliased is not None and m is not None:
                outs.append(inputs[op.inputs.index(aliased)])
            else:
                hidden = n in op.hidden
                many = type(m) is list
                outs.append([fresh(v, hidden) for v in m] if many else fresh(m, hidden))
        return tuple(outs)

    def append(
        self, op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> Operator:
        """Append one operator with these entries."""
        slots = tuple(list(s) if isinstance(s, tuple) else s for s in padded(op, inputs))
        outputs = (*outputs, *[None] * (len(program_outputs(op)) - len(outputs)))
        operator = Operator(self.block, op, slots, outputs, {**op.attrs, **attrs})
        called = self.results is None and self.prefix != "tmp"  # not for a number or a filled twin
        operator.says_inputs = called or bool(op.required) or any(each(s) for s in slots)
        stamp(operator, self.block.program)
        return self.block.append(operator)

    def lift(self, op: Op, x: Any, others: tuple[Any, ...]) -> Any:
        """`x` as a variable: a number becomes a fill_constant, a Tensor that of its name."""
        if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and not x.ndim):
            x = x.item()
        if isinstance(x, bool | int | float):
            beside = [v.dtype for v in others if isinstance(v, Variable)]
            numbers = [d for d in beside if d.name != "bool"]  # not those of a condition
            dtype = (numbers or beside or [session.default_dtype()])[0]
            attrs = {"shape": (), "value": float(x), "dtype": dtype}
            if rounded(x) != x and dtype.itemsize > 2 and dtype is not float32:
                attrs["str_value"] = str(x)  # the other attribute has 32 bits
            with self.naming("tmp"):
                made = op_of("fill_constant").call(**attrs)
            made.number = True
            return made
        if isinstance(x, Tensor):
            return self.capture(x)
        if isinstance(x, Variable) and x.block.program is not self.block.program:
            return self.block.find(x.name) or x  # of the Program that this one is a copy of
        if type(x) in (list, tuple):
            return [self.lift(op, v, others) for v in x]
        if isinstance(x, np.ndarray):
            raise ArgumentTypeError(
                f"`{op.name}` was given a NumPy array in static mode; "
                "make a variable of it by `assign`"
            )
        return x

    def capture(self, tensor: Tensor) -> Any:
        """The variable that stands for a Tensor of eager mode; `capturing` recorders know how."""
        raise ArgumentTypeError(
            "a Tensor of eager mode was given to an operator in static mode; "
            "feed it, or call paddle.disable_static()"
        )

    def namer(self, op: Op, name: str | None) -> Any:
        """A function that gives the next name of a result."""
        if self.prefix == "tmp":
            return lambda: session.unique_name("tmp")
        if op.bare and self.prefix is None:
            only = name or session.unique_name(op.prefix)
            return lambda: only
        prefix = name or self.prefix or session.unique_name(op.prefix)
        return lambda: session.unique_name(prefix + ".tmp")

    @contextmanager
    def naming(self, prefix: str | None) -> Iterator[None]:
        """Results made within are called after `prefix`."""
        before, self.prefix = self.prefix, prefix
        try:
            yield
        finally:
            self.prefix = before

    @contextmanager
    def into(self, *results: Any) -> Iterator[None]:
        """The next operator writes these variables."""
        self.results = results
        try:
            yield
        finally:
            self.results = None


# How operands of differing kinds are unified in a Program: the operator set puts a function here.
UNIFY: list[Any] = []
STATIC = Recorder()
