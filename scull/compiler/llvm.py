"""A kernel as LLVM IR: one function of a table of buffers, one element at a time.

What does not vary with an axis is computed outside the loop over it. Sums keep the order of `lang`,
and so the bits of its emulator.
"""

import sys
import time
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from scull.compiler.assembly import Carried, Function
from scull.compiler.scalar import (
    REMAINDER,
    applied,
    held_type,
    literal,
    loaded,
    stored,
    stored_type,
)
from scull.core.timeline import spanned
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.flags import flag
from scull.lang.arithmetic import STEPS, numpy_dtype, of_nothing
from scull.lang.body import Map, Scatter
from scull.lang.expand import expanded
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.kernel import Kernel
from scull.lang.walk import eager_operands, ordered
from scull.runtime import llvm

ENTRY = "kernel"

NumpyArray = np.ndarray[Any, Any]


class Writer:
    """Writes expressions; what is known in the loops and branches around is used again."""

    def __init__(self, kernel: Kernel) -> None:
        self.function = Function(f"define void @{ENTRY}(ptr %table) nounwind {{")
        self.known: list[dict[Expression, str]] = [{}]
        self.bound: list[frozenset[Axis]] = [frozenset()]
        self.buffers: dict[Array, str] = {}
        for number, array in enumerate((*kernel.inputs, *kernel.outputs)):
            place = self.function.value(f"getelementptr ptr, ptr %table, i64 {number}")
            self.buffers[array] = self.function.value(f"load ptr, ptr {place}")

    def find(self, node: Expression) -> str | None:
        """The name of a value that is known where we are."""
        for values, axes in zip(reversed(self.known), reversed(self.bound), strict=True):
            if node in values:
                return values[node]
            if not node.free.isdisjoint(axes):
                return None  # further out, its axis stands elsewhere
        return None

    def value(self, root: Expression) -> str:
        """The name of the value of an expression, written here if it is not known."""
        for node in ordered([root], eager_operands, lambda x: self.find(x) is not None):
            self.known[-1][node] = self._written(node)
        found = self.find(root)
        assert found is not None
        return found

    def nest(
        self,
        axes: Sequence[Axis],
        roots: Sequence[Expression],
        carried: Carried,
        body: Callable[[list[str]], Sequence[str]],
    ) -> list[str]:
        """Loops over the axes around `body`; what of `roots` does not vary is moved outwards."""
        if not axes:
            return list(body([first for _, first in carried]))
        self._hoist(roots)

        def inside(position: str, values: list[str]) -> list[str]:
            self._enter({axes[0]: position}, frozenset(axes[:1]))
            kinds = [kind for kind, _ in carried]
            results = self.nest(axes[1:], roots, list(zip(kinds, values, strict=True)), body)
            self._leave()
            return results

        return self.function.loop(axes[0].size, carried, inside)

    def place(self, array: Array, index: Sequence[str]) -> str:
        """The address of an element."""
        f = self.function
        terms = []
        for each, stride in zip(index, array.strides, strict=True):
            if each.isdigit():
                terms.append(str(int(each) * stride))
            else:
                terms.append(each if stride == 1 else f.value(f"mul i64 {each}, {stride}"))
        terms = [term for term in terms if term != "0"]
        offset = reduce(lambda x, y: f.value(f"add i64 {x}, {y}"), terms) if terms else "0"
        kind = stored_type(array.dtype)
        return f.value(f"getelementptr {kind}, ptr {self.buffers[array]}, i64 {offset}")

    def store(self, array: Array, index: Sequence[str], value: str) -> None:
        """Write an element."""
        element = stored(self.function, value, array.dtype)
        kind = stored_type(array.dtype)
        self.function.act(f"store {kind} {element}, ptr {self.place(array, index)}")

    def load(self, array: Array, index: Sequence[str]) -> str:
        """Read an element."""
        place = self.place(array, index)
        element = self.function.value(f"load {stored_type(array.dtype)}, ptr {place}")
        return loaded(self.function, element, array.dtype)

    def _enter(self, values: dict[Expression, str], axes: frozenset[Axis]) -> None:
        self.known.append(values)
        self.bound.append(axes)

    def _leave(self) -> None:
        self.known.pop()
        self.bound.pop()

    def _hoist(self, roots: Sequence[Expression]) -> None:
        bound: frozenset[Axis] = frozenset().union(*self.bound)
        pending, seen = list(roots), set(roots)
        while pending:
            node = pending.pop()
            if isinstance(node, (Constant, Axis)):
                continue
            if node.free <= bound:
                self.value(node)
                continue
            inner = node.operands[:1] if isinstance(node, Guard) else node.operands
            pending.extend(x for x in inner if x not in seen)
            seen.update(inner)

    def _written(self, node: Expression) -> str:
        match node:
            case Constant(value=value):
                return literal(value, node.dtype)
            case Load(array=array):
                return self.load(array, [self.value(x) for x in node.operands])
            case Apply(operation=operation):
                operands = [self.value(x) for x in node.operands]
                source = node.operands[-1].dtype
                return applied(self.function, operation, operands, source, node.dtype)
            case Guard():
                return self._guarded(node)
            case Reduce():
                return self._reduced(node)
        raise AssertionError(f"{node!r} is bound by no loop")

    def _guarded(self, node: Guard) -> str:
        condition, value, otherwise = node.operands

        def side(root: Expression) -> Callable[[], str]:
            def write() -> str:
                self._enter({}, frozenset())
                name = self.value(root)
                self._leave()
                return name

            return write

        kind = held_type(node.dtype)
        return self.function.choose(self.value(condition), kind, side(value), side(otherwise))

    def _reduced(self, node: Reduce) -> str:
        if not all(axis.size for axis in node.axes):
            return literal(of_nothing(node.operation, node.dtype), node.dtype)
        if node.operation in ("argmax", "argmin"):
            return self._position(node)
        (term,) = node.operands
        # from -0 on, for -0 + x is x whatever x is
        first = -0.0 if node.operation == "sum" else of_nothing(node.operation, node.dtype)
        step = STEPS[node.operation]

        def body(values: list[str]) -> list[str]:
            operands = [values[0], self.value(term)]
            return [applied(self.function, step, operands, node.dtype, node.dtype)]

        start = (held_type(node.dtype), literal(first, node.dtype))
        return self.nest(node.axes, [term], [start], body)[0]

    def _position(self, node: Reduce) -> str:
        """The position of the greatest or least: a better term or the first NaN takes it."""
        f, (term,) = self.function, node.operands
        kind = held_type(term.dtype)

        def test(operation: str, x: str, y: str) -> str:
            return applied(f, operation, [x, y], term.dtype, "bool")

        def body(values: list[str]) -> list[str]:
            best, where, count = values
            x = self.value(term)
            less, more = (best, x) if node.operation == "argmax" else (x, best)
            beats = test("less", less, more)
            nan = f.value(f"and i1 {test('not_equal', x, x)}, {test('equal', best, best)}")
            first = f.value(f"icmp eq i64 {count}, 0")
            taken = f.value(f"or i1 {first}, {f.value(f'or i1 {beats}, {nan}')}")
            return [
                f.value(f"select i1 {taken}, {kind} {x}, {kind} {best}"),
                f.value(f"select i1 {taken}, i64 {count}, i64 {where}"),
                f.value(f"add i64 {count}, 1"),
            ]

        start = [(kind, literal(0, term.dtype)), ("i64", "0"), ("i64", "0")]
        return self.nest(node.axes, [term], start, body)[1]


def assembly(kernel: Kernel) -> str:
    """A module with the function `kernel`, which takes a table of inputs, then outputs."""
    basic = expanded(kernel)
    writer = Writer(kernel)
    pairs = list(zip(basic.outputs, basic.bodies, strict=True))
    for axes in dict.fromkeys(body.axes for body in basic.bodies if isinstance(body, Map)):
        maps = [(o, b) for o, b in pairs if isinstance(b, Map) and b.axes == axes]
        _write_maps(writer, axes, maps)
    for out, body in pairs:
        if isinstance(body, Scatter):
            _write_scatter(writer, out, body)
    return writer.function.text() + REMAINDER


def _write_maps(writer: Writer, axes: tuple[Axis, ...], maps: list[tuple[Array, Map]]) -> None:
    if not all(axis.size for axis in axes):
        return

    def body(_: list[str]) -> list[str]:
        index = [writer.value(axis) for axis in axes]
        for out, each in maps:
            writer.store(out, index, writer.value(each.value))
        return []

    writer.nest(axes, [each.value for _, each in maps], (), body)


def _write_scatter(writer: Writer, out: Array, body: Scatter) -> None:
    f = writer.function
    zero = literal(0, out.dtype)
    if not out.size:
        return
    flat = Array(out.name, (out.size,), out.dtype)
    writer.buffers[flat] = writer.buffers[out]

    def clear(position: str, _: list[str]) -> list[str]:
        writer.store(flat, [position], zero)
        return []

    f.loop(out.size, (), clear)
    if not all(axis.size for axis in body.over):
        return

    def add(_: list[str]) -> list[str]:
        index = [writer.value(x) for x in body.index]
        value = writer.value(body.value)
        tests = [f.value(f"icmp ult i64 {x}, {n}") for x, n in zip(index, out.shape, strict=True)]

        def accumulate() -> None:
            operands = [writer.load(out, index), value]
            writer.store(out, index, applied(f, "add", operands, out.dtype, out.dtype))

        f.when(reduce(lambda x, y: f.value(f"and i1 {x}, {y}"), tests, "true"), accumulate)
        return []

    writer.nest(body.over, body.roots, (), add)


class Compiled:
    """A kernel as machine code."""

    def __init__(self, kernel: Kernel, library: llvm.Library) -> None:
        self.kernel = kernel
        self.library = library

    def __call__(self, inputs: Sequence[NumpyArray], outputs: Sequence[NumpyArray]) -> None:
        """Compute the outputs, which are contiguous arrays of the kernel's shapes and dtypes."""
        self.bind(inputs, outputs)()

    def bind(
        self, inputs: Sequence[NumpyArray], outputs: Sequence[NumpyArray], *, release: bool = True
    ) -> Callable[[], None]:
        """A builtin that computes from these arrays into these, as often as it is called."""
        kernel = self.kernel
        arrays = (*inputs, *outputs)
        for wanted, given in zip((*kernel.inputs, *kernel.outputs), arrays, strict=True):
            _check(wanted, given)
        table = np.array([llvm.data_pointer(array) for array in arrays], np.uint64)
        return llvm.entry(self.library, ENTRY, table, release=release, keeps=arrays)


def _check(wanted: Array, given: NumpyArray) -> None:
    if given.shape != wanted.shape:
        raise ShapeError(f"`{wanted.name}` is {list(wanted.shape)}, given {list(given.shape)}")
    if given.dtype != numpy_dtype(wanted.dtype):
        raise DtypeError(f"`{wanted.name}` is {wanted.dtype}, given {given.dtype}")
    if not given.flags.c_contiguous or not given.flags.aligned:
        raise ArgumentError(f"`{wanted.name}` is not contiguous in memory: copy it first")


@spanned("compile")
def compile(kernel: Kernel) -> Compiled:
    """The kernel as machine code for this CPU."""
    text = assembly(kernel)
    if flag("DEBUG") >= 4:
        print(f"{kernel}\n{text}", file=sys.stderr)
    start = time.perf_counter()
    code = llvm.compile_text(text, (ENTRY,))
    if flag("DEBUG") >= 1:
        took = (time.perf_counter() - start) * 1e3
        print(f"compiled {kernel.name} in {took:.1f} ms", file=sys.stderr)
    return Compiled(kernel, code)
