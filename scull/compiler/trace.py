"""Operators as statements of the loop language: composites and gradients by what they are made of.

Every array of a region has a name of its own; a statement says what every element of one is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from scull import lang
from scull.core.interpreter import Interpreter, interpreting
from scull.core.meta import Meta
from scull.core.op import Op, as_outputs
from scull.core.operand import is_number, padded, strengthened, weak_meta
from scull.core.tensor import Value
from scull.errors import ScullError, UnsupportedError
from scull.lang.body import Body, Map
from scull.lang.dtype import ELEMENTS
from scull.lang.expression import Array, Expression, constant

OUTSIDE = frozenset({"python", "communicates", "blocks"})  # effects that are no loops


@dataclass(frozen=True, eq=False)
class Strip:
    """Statements that run one after another for each position of their first `depth` axes."""

    depth: int


@dataclass(frozen=True)
class Statement:
    """What the elements of `out` are; `origin` is the operator of the Program it comes from.

    Those of one `strip` are one kernel.
    """

    out: Array
    body: Body
    origin: str
    strip: Strip | None = None


class Traced(Value):
    """A value of a region: its meta, and the array that holds it."""

    __slots__ = ("array",)

    def __init__(self, meta: Meta, array: Array) -> None:
        super().__init__(meta)
        self.array = array


class Tracer(Interpreter):
    """Calls of operators write statements."""

    def __init__(self) -> None:
        self.statements: list[Any] = []  # loops and branches among them
        self.origin = ""
        self.draw: tuple[Expression, Expression] | None = None  # the key of the random words
        self._numbers = count()

    def array(self, meta: Meta) -> Array:
        """A new array of this region."""
        if -1 in meta.shape:
            raise UnsupportedError(f"a size of {meta} is not known")
        if meta.dtype.name not in ELEMENTS:
            raise UnsupportedError(f"the loop language has no {meta.dtype.name}")
        return Array(f"t{next(self._numbers)}", tuple(meta.shape), meta.dtype.name)

    def given(self, meta: Meta) -> Traced:
        """A value that comes from outside."""
        return Traced(meta, self.array(meta))

    def operator(
        self,
        op: Op,
        inputs: Sequence[Any],
        attrs: dict[str, Any],
        draw: tuple[Expression, Expression] | None = None,
    ) -> tuple[Any, ...]:
        """The results of one operator of a Program, whose random words are those of a `draw`."""
        self.origin, self.draw = op.type, draw
        with interpreting(self):
            return as_outputs(op, self.apply(op, tuple(inputs), dict(attrs)))

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """The results of a call; UnsupportedError where it is no loop over elements."""
        attrs.pop("name", None)
        operands = padded(op, inputs)
        if op.steps is not None:
            return self._opened(op, op.steps, operands, attrs)
        if op.effects & OUTSIDE:
            raise UnsupportedError(f"`{op.name}` does more than compute elements")
        if op.lowering is None:
            if "random" in op.effects or not (op.composite or op.forward):
                raise UnsupportedError(f"`{op.name}`: {op.missing.get('lower', 'no lowering')}")
            return self._opened(op, op.body, operands, attrs)
        metas = strengthened(tuple(map(weak_meta, operands)))
        outs = without_reserve(op, op.infer(metas, op.attrs | attrs))
        values = [
            self.constant(x, m) if is_number(x) else x for x, m in zip(operands, metas, strict=True)
        ]
        found = self._lowered(op, values, outs, op.attrs | attrs)
        return tuple(found) if len(op.outputs) != 1 else found[0]

    def _opened(self, op: Op, body: Any, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """The results of a body in other operators; gradients that are 0 by structure are zeros."""
        attrs = {**op.attrs, **attrs}
        if not op.takes_wanted:
            attrs.pop("wanted", None)
        found = as_outputs(op, body(*operands, **attrs))
        known = dict(zip(op.inputs, operands, strict=False))
        results = tuple(
            self.constant(0, known[n[1:]].meta)
            if x is None and n in attrs.get("wanted", ()) and known.get(n[1:]) is not None
            else x
            for n, x in zip(op.outputs, found, strict=True)
        )
        return results if len(op.outputs) != 1 else results[0]

    def constant(self, number: Any, meta: Meta) -> Traced:
        """A value with one number in every place."""
        value = self.given(meta)
        out = value.array
        kind = float if meta.dtype.is_float else bool if out.dtype == "bool" else int
        body = Map(tuple(lang.axis(n) for n in out.shape), constant(kind(number), out.dtype))
        self.statements.append(Statement(out, body, self.origin))
        return value

    def _lowered(self, op: Op, values: list[Any], outs: Any, attrs: dict[str, Any]) -> list[Any]:
        flat = [m for out in outs for m in (out if type(out) is list else [out])]
        made = [m and Traced(m, self.array(m)) for m in flat]
        given = own(op, attrs)
        if "random" in op.effects:
            if self.draw is None:
                raise UnsupportedError(f"`{op.name}`: nobody knows the number of its draw")
            given["draw"] = self.draw
        try:
            kernel = lang.trace(op.lowering, [_arrays(x) for x in values], flat, given, op.name)
        except ScullError as error:
            raise UnsupportedError(f"`{op.name}`: {error}") from error
        bodies = iter(kernel.bodies)
        for value in made:
            if value is not None:
                self.statements.append(Statement(value.array, next(bodies), self.origin))
        rest = iter(made)
        return [[next(rest) for _ in out] if type(out) is list else next(rest) for out in outs]


def without_reserve(op: Op, outs: Sequence[Any]) -> tuple[Any, ...]:
    """The metas of results; hidden ones of unknown size, room for other devices, are empty."""
    return tuple(
        m.with_shape(tuple(0 if n == -1 else n for n in m.shape))
        if name in op.hidden and isinstance(m, Meta) and -1 in m.shape
        else m
        for name, m in zip(op.outputs, outs, strict=True)
    )


def own(op: Op, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes that a lowering is given."""
    return {n: v for n, v in attrs.items() if n in op.kinds}


def _arrays(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [_arrays(v) for v in x]
    return None if x is None else x.array
