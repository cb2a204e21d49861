"""Pieces of graph between which Python runs: operators wait until Python asks for a value.

What waits is then run as one Program, which is kept for the next time the same operators wait on
tensors of the same description.
"""

import weakref
from typing import Any, NamedTuple

import numpy as np

from scull.core import session
from scull.core.attribute import normalised
from scull.core.eager import EAGER, unified
from scull.core.interpreter import Interpreter, interpreting
from scull.core.meta import Kind, Meta
from scull.core.op import Op
from scull.core.operand import padded, refuse_strangers, strengthened, weak_meta
from scull.core.refusal import explained, user_line
from scull.core.tensor import Tensor, new
from scull.ir.program import Program
from scull.jit.capture import Capture, Captured
from scull.jit.piece import Piece

ARRAY, NODE = Tensor.__dict__["array"], Tensor.__dict__["node"]
MOST_PIECES = 256
AT_ONCE = {"python", "host", "io", "communication"}


class LazyTensor(Tensor):
    """A result not computed yet: it becomes a Tensor when its array or node is asked for."""

    __slots__ = ()

    @property
    def array(self) -> Any:  # type: ignore[override]
        self.__dict__["_waits"].settle()
        return ARRAY.__get__(self)

    @array.setter
    def array(self, value: Any) -> None:
        self.__dict__["_waits"].settle()
        ARRAY.__set__(self, value)

    @property
    def node(self) -> Any:  # type: ignore[override]
        self.__dict__["_waits"].settle()
        return NODE.__get__(self)

    @node.setter
    def node(self, value: Any) -> None:
        self.__dict__["_waits"].settle()
        NODE.__set__(self, value)

    @property
    def meta(self) -> Meta:
        found: Meta = self.__dict__["_meta"]
        return found

    @property
    def shape(self) -> list[int]:
        return list(self.meta.shape)

    @property
    def dtype(self) -> Any:
        return self.meta.dtype

    @property
    def ndim(self) -> int:
        return len(self.meta.shape)


class Call(NamedTuple):
    """One operator that waits: its operands by number, numbers of Python as they are."""

    op: Op
    operands: tuple[Any, ...]
    attrs: dict[str, Any]
    record: bool


class Ref(NamedTuple):
    """The number of a value among those of a piece."""

    number: int


class Note(NamedTuple):
    """What a piece was, for the report: where Python asked for a value, and how large it was."""

    line: str
    operators: int
    fresh: bool


class Pieces:
    """The pieces of one function, by the operators in them and what these read."""

    def __init__(self) -> None:
        self.known: dict[Any, Piece] = {}
        self.notes: list[Note] = []

    def report(self) -> str:
        """The pieces of the last call, a line each."""
        rows = [
            f"  {i}: {n.operators} operators, until {n.line}" + (" (new)" if n.fresh else "")
            for i, n in enumerate(self.notes)
        ]
        return "\n".join([f"{len(self.notes)} pieces of graph", *rows])


class Lazy(Interpreter):
    """Eager mode whose operators wait as long as nobody looks at their results."""

    eager = True

    def __init__(self, pieces: Pieces, waiting: "Waiting | None" = None, record: bool = True):
        self.record = record
        self.waiting = Waiting(pieces) if waiting is None else waiting

    def recording(self, record: bool) -> "Lazy":
        return Lazy(self.waiting.pieces, self.waiting, record)

    def settle(self) -> None:
        self.waiting.settle()

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        attrs.pop("name", None)
        if op.broadcasts and len(inputs) == 2 and not alike(inputs, attrs):
            inputs = unified(op, inputs, attrs)
        if not can_wait(op, inputs, attrs):
            self.settle()
            return (EAGER if self.record else EAGER.recording(False)).apply(op, inputs, attrs)
        silent = not self.record or all(is_silent(x) for x in inputs)
        if not op.rules and op.composite and (op.cpu is None or not silent):
            return op.body(*inputs, **attrs)
        try:
            refuse_strangers(op, inputs)
            inputs = padded(op, inputs)
            attrs = {n: normalised(op.kinds[n], n, v) for n, v in attrs.items() if n in op.kinds}
            metas = op.infer(strengthened(tuple(map(weak_meta, inputs))), attrs)
        except Exception as error:
            raise explained(error, op, inputs, attrs) from None
        if not all(known(m) for m in metas):
            self.settle()
            return (EAGER if self.record else EAGER.recording(False)).apply(op, inputs, attrs)
        silent = silent or "grad" in op.missing or op.keep is None
        return self.waiting.add(op, inputs, attrs, metas, self.record, silent)


class Waiting:
    """The operators that wait, in order, and the values they read and make."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.begin()

    def begin(self) -> None:
        """Wait for a new piece."""
        self.calls: list[Call] = []
        self.entries: list[Tensor] = []
        self.numbers: dict[int, int] = {}  # of entries, by the id of the Tensor
        self.results: dict[int, Any] = {}  # weakly, by the number of the value
        self.count = 0

    def add(
        self,
        op: Op,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
        metas: tuple[Any, ...],
        record: bool,
        silent: bool,
    ) -> Any:
        """Let one more operator wait; its results so far."""
        self.calls.append(Call(op, tuple(map(self.operand, inputs)), attrs, record))
        outs = tuple(
            [
                [self.result(m, silent) for m in meta]
                if type(meta) is list
                else meta and self.result(meta, silent)
                for meta in metas
            ]
        )
        return outs if len(op.outputs) != 1 else outs[0]

    def operand(self, x: Any) -> Any:
        """An operand as the number of its value."""
        if type(x) is LazyTensor:
            if x.__dict__["_waits"] is self:
                return Ref(x.__dict__["_number"])
            x.__dict__["_waits"].settle()
        if isinstance(x, Tensor):
            if id(x) not in self.numbers:
                self.numbers[id(x)] = self.count
                self.entries.append(x)
                self.count += 1
                self.calls.append(ENTRY)
            return Ref(self.numbers[id(x)])
        if type(x) in (list, tuple):
            return tuple(map(self.operand, x))
        return (type(x), x)

    def result(self, meta: Meta, silent: bool) -> LazyTensor:
        """A result that nobody looked at yet."""
        made = new(LazyTensor)
        number, self.count = self.count, self.count + 1
        made.__dict__.update(_waits=self, _meta=meta, _silent=silent, _number=number)
        self.results[number] = weakref.ref(made)
        return made  # type: ignore[no-any-return]

    def settle(self, end: str = "") -> None:
        """Run what waits; the results that somebody still has become Tensors."""
        if not self.calls:
            return
        calls, entries, results = self.calls, self.entries, self.results
        alive = {n: t for n, r in results.items() if (t := r()) is not None}
        self.begin()
        if not alive and not any(c.op.effects for c in calls if c is not ENTRY):
            return
        described = tuple([(t.array.shape, t.array.dtype, t.node is None) for t in entries])
        key = (tuple(map(frozen, calls)), described, tuple(alive))
        piece = self.pieces.known.get(key)
        operators = sum(c is not ENTRY for c in calls)
        self.pieces.notes.append(Note(end or user_line(), operators, piece is None))
        with interpreting(EAGER):
            if piece is None:
                piece = built(calls, entries, tuple(alive))
                if len(self.pieces.known) >= MOST_PIECES:
                    self.pieces.known.clear()
                self.pieces.known[key] = piece
            try:
                found = piece(entries)
            except Exception as error:
                for lazy in alive.values():
                    lazy.__dict__["_waits"] = Failed(error)
                raise
        for lazy, made in zip(alive.values(), found, strict=True):
            for word in ("_waits", "_meta", "_silent", "_number"):
                del lazy.__dict__[word]
            lazy.__class__ = Tensor
            lazy.array, lazy.node = made.array, made.node


class Failed(NamedTuple):
    """What a result waits for that came to no value."""

    error: Exception

    def settle(self) -> None:
        """Say why there is none."""
        raise self.error


def alike(inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    """Whether two operands are of one element type and aligned, seen without their values."""
    x, y = inputs
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        return False
    return x.dtype is y.dtype and attrs.get("axis", -1) == -1


def can_wait(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    """Whether an operator may run later than it is called: it writes over nothing."""
    if op.in_place or op.has_blocks or AT_ONCE & set(op.effects):
        return False
    known = all(n in op.kinds and not holds_tensors(v) for n, v in attrs.items())
    return known and any(isinstance(x, Tensor | list | tuple) for x in inputs)


def holds_tensors(value: Any) -> bool:
    """Whether an attribute is a tensor, or some in a list: its value is asked for."""
    if isinstance(value, list | tuple):
        return any(map(holds_tensors, value))
    return isinstance(value, Tensor)


def is_silent(x: Any) -> bool:
    """Whether no gradient is wanted of an operand."""
    if type(x) is LazyTensor:
        return bool(x.__dict__["_silent"])
    if type(x) in (list, tuple):
        return all(map(is_silent, x))
    return not isinstance(x, Tensor) or x.node is None


def known(meta: Any) -> bool:
    """Whether a result's sizes are known, and it is a plain tensor."""
    if type(meta) is list:
        return all(map(known, meta))
    return meta is None or (meta.kind is Kind.DENSE and -1 not in meta.shape)


def frozen(call: Call) -> Any:
    """A call as a key: the operator, its operands and attributes."""
    attrs = tuple([(n, frozen_value(v)) for n, v in call.attrs.items()])
    return (id(call.op), call.operands, attrs, call.record)


def frozen_value(value: Any) -> Any:
    """An attribute as a key: 1, 1.0 and True differ."""
    if isinstance(value, list | tuple):
        return (type(value), *map(frozen_value, value))
    if isinstance(value, np.ndarray):
        return (np.ndarray, value.shape, value.dtype.str, value.tobytes())
    return (type(value), str(value) if type(value) is float else value)


def built(calls: list[Call], entries: list[Tensor], exits: tuple[int, ...]) -> Piece:
    """The Program of what waits."""
    program = Program()
    mode = Capture(program, Captured(program))
    values: list[Any] = []
    given = iter(entries)
    variables = []
    with session.guarded(names=session.Names(), main=program, startup=Program()):
        for call in calls:
            if call is ENTRY:
                tensor = next(given)
                made = program.global_block().variable(
                    session.unique_name("entry"),
                    tensor.meta,
                    is_data=True,
                    stop_gradient=tensor.node is None,
                )
                variables.append(made)
                values.append(made)
                continue
            with interpreting(mode.recording(call.record)):
                found = call.op.call(*[filled(o, values) for o in call.operands], **call.attrs)
            values.extend(each_of(found, len(call.op.outputs)))
    results = [values[n] for n in exits]
    return Piece("piece", program, variables, results, mode.captured_tensors.tensors)


def filled(operand: Any, values: list[Any]) -> Any:
    """An operand with variables in the place of numbers of values."""
    if type(operand) is Ref:
        return values[operand.number]
    if operand and isinstance(operand[0], type):
        return operand[1]
    return [filled(o, values) for o in operand]


def each_of(found: Any, count: int) -> list[Any]:
    """The variables an operator made, those of lists in line, without those it did not make."""
    slots = found if count != 1 else (found,)
    line: list[Any] = []
    for slot in slots:
        line.extend(slot if isinstance(slot, list) else [] if slot is None else [slot])
    return line


ENTRY = Call(None, (), {}, True)  # type: ignore[arg-type]
