"""The meaning of a kernel: what every element of every output is, computed with NumPy.

All the elements of an output are computed at once, as far as memory allows; `arithmetic.py` has the
steps. A value is computed where it varies least, so that what does not vary with a reduced axis is
computed once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from scull.lang.arithmetic import (
    Values,
    beats,
    compute,
    first_position,
    fold,
    numpy_dtype,
    of_nothing,
)
from scull.lang.body import Map, Scatter, cleared
from scull.lang.dtype import element
from scull.lang.expand import expanded
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.kernel import Kernel
from scull.lang.walk import eager_operands, ordered

BLOCK = 1 << 18  # elements computed at once

Arrays = dict[Array, np.ndarray[Any, Any]]


def run(kernel: Kernel, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
    """The outputs of a kernel for these inputs."""
    inputs: Arrays = {}
    for array, given in zip(kernel.inputs, arrays, strict=True):
        if given.shape != array.shape:
            raise ShapeError(f"`{array.name}` is {list(array.shape)}, given {list(given.shape)}")
        if given.dtype != numpy_dtype(array.dtype):
            raise DtypeError(f"`{array.name}` is {array.dtype}, given {given.dtype}")
        inputs[array] = given
    basic = expanded(kernel)
    outputs = tuple(np.zeros(x.shape, numpy_dtype(x.dtype)) for x in kernel.outputs)
    with np.errstate(all="ignore"):
        for axes in dict.fromkeys(x.axes for x in basic.bodies if isinstance(x, Map)):
            pairs = list(zip(outputs, basic.bodies, strict=True))
            _run_maps(axes, [(o, b) for o, b in pairs if isinstance(b, Map)], inputs)
        for out, body in zip(outputs, basic.bodies, strict=True):
            if isinstance(body, Scatter):
                _run_scatter(out, body, inputs)
    return outputs


class Scope:
    """Axes bound to positions; values known there. Within a guard, `mask` says where it chose."""

    def __init__(
        self,
        arrays: Arrays,
        parent: "Scope | None" = None,
        bound: Mapping[Axis, Values] | None = None,
        mask: Values = None,
    ) -> None:
        self.arrays = arrays
        self.parent = parent
        self.bound = bound or {}
        self.mask = mask
        self.guards = mask is not None
        if parent is not None:
            self.mask = parent.mask if mask is None else mask
        self.values: dict[Expression, Values] = dict(self.bound.items())

    def find(self, node: Expression) -> Values:
        """The value of a node, or None if it is not known here or around."""
        scope: Scope | None = self
        while scope is not None:
            if node in scope.values:
                return scope.values[node]
            if not node.free.isdisjoint(scope.bound):
                return None  # further out, its axis stands elsewhere
            scope = scope.parent
        return None

    def home(self, node: Expression) -> "Scope":
        """The outermost scope that binds the axes of a node, but not out of a guard."""
        scope = self
        while scope.parent is not None and not scope.guards and node.free.isdisjoint(scope.bound):
            scope = scope.parent
        return scope

    def evaluate(self, root: Expression) -> Values:
        """The value of an expression, which broadcasts over the positions bound here."""
        for node in ordered([root], eager_operands, lambda x: self.find(x) is not None):
            home = self.home(node)
            home.values[node] = home.made(node)
        return self.find(root)

    def made(self, node: Expression) -> Values:
        """The value of a node whose operands have theirs."""
        match node:
            case Constant(value=value):
                return np.asarray(value, numpy_dtype(node.dtype))
            case Load(array=array):
                return self.loaded(self.arrays[array], node)
            case Apply(operation="within"):
                return self.within(*(self.find(x) for x in node.operands))
            case Apply(operation=operation):
                return compute(operation, [self.find(x) for x in node.operands], node.dtype)
            case Reduce():
                return _reduced(node, self)
            case Guard():
                return self.chosen(node)
        raise AssertionError(f"{node!r} is bound by no body")

    def loaded(self, array: np.ndarray[Any, Any], node: Load) -> Values:
        """Elements of an array; where the mask is false none is read."""
        index = [self.find(x) for x in node.operands]
        if self.mask is not None:
            index = [np.where(self.mask, x, 0) for x in index]
            if not np.any(self.mask):
                return np.zeros(self.mask.shape, array.dtype)
        for number, (place, size) in enumerate(zip(index, array.shape, strict=True)):
            if np.any((place < 0) | (place >= size)):
                raise RangeError(
                    f"index {number} of `{node.array.name}` leaves its {size} elements"
                )
        return np.asarray(array[tuple(index)])

    def within(self, place: Values, size: Values) -> Values:
        """Places that lie in [0, size), or an error."""
        outside = (place < 0) | (place >= size)
        if np.any(outside if self.mask is None else outside & self.mask):
            raise RangeError(f"an index is outside [0, {size})")
        return compute("within", [place, size], "int64")

    def chosen(self, node: Guard) -> Values:
        """The two sides of a guard, each computed for its positions only."""
        condition, value, otherwise = node.operands
        chosen = self.find(condition)
        sides = []
        for side, mask in ((value, chosen), (otherwise, ~chosen)):
            within = mask if self.mask is None else mask & self.mask
            sides.append(Scope(self.arrays, self, mask=within).evaluate(side))
        return compute("select", [chosen, *sides], node.dtype)


def _reduced(node: Reduce, scope: Scope) -> Values:
    """A reduction for every position of the scope around it."""
    shape = np.broadcast_shapes(*(v.shape for v in _bindings(scope)), np.shape(scope.mask))
    (term,) = node.operands
    total: Values | None = None
    where: Values | None = None
    for start, bound in _blocks(node.axes, prod(shape), len(shape)):
        terms = np.asarray(Scope(scope.arrays, scope, bound).evaluate(term))
        count = next(iter(bound.values())).shape[0] if bound else 1
        terms = np.broadcast_to(terms, (count, *shape))
        if node.operation not in ("argmax", "argmin"):
            total = fold(node.operation, total, terms, node.dtype)
            continue
        place, best = first_position(node.operation, terms)
        if total is None:
            total, where = best, place
        later = beats(node.operation, best, total)
        total, where = np.where(later, best, total), np.where(later, place + start, where)
    if where is not None:
        return where
    if total is None:
        return np.full(shape, of_nothing(node.operation, node.dtype), numpy_dtype(node.dtype))
    if node.operation in ("max", "min") and element(node.dtype).kind == "float":
        total = compute("add", [total, np.zeros((), total.dtype)], node.dtype)  # makes +0 of -0
    return total


def _bindings(scope: Scope | None) -> Iterator[Values]:
    while scope is not None:
        yield from scope.bound.values()
        scope = scope.parent


def _blocks(
    axes: Sequence[Axis], width: int, depth: int
) -> Iterator[tuple[int, dict[Axis, Values]]]:
    """The positions of some axes in order, along a new first dimension, block by block."""
    sizes = tuple(axis.size for axis in axes)
    count = prod(sizes)
    step = max(1, BLOCK // max(1, width))
    for start in range(0, count, step):
        positions = np.arange(start, min(start + step, count), dtype=np.int64)
        places = np.unravel_index(positions, sizes) if sizes else ()
        shape = (-1, *(1,) * depth)
        yield (
            start,
            {
                axis: place.astype(np.int64).reshape(shape)
                for axis, place in zip(axes, places, strict=True)
            },
        )


def _run_maps(
    axes: tuple[Axis, ...], outputs: list[tuple[np.ndarray[Any, Any], Map]], arrays: Arrays
) -> None:
    """Fill the outputs that have these axes, some rows of the first axis at a time."""
    first = axes[0].size if axes else 1
    step = max(1, BLOCK // max(1, prod(axis.size for axis in axes[1:])))
    for start in range(0, first, step):
        stop = min(start + step, first)
        bound: dict[Axis, Values] = {}
        for number, axis in enumerate(axes):
            places = np.arange(start, stop) if number == 0 else np.arange(axis.size)
            bound[axis] = places.reshape(-1, *(1,) * (len(axes) - number - 1))
        scope = Scope(arrays, bound=bound)
        for out, body in outputs:
            if body.axes is axes or body.axes == axes:
                part = out[start:stop] if axes else out
                part[...] = scope.evaluate(body.value)


def _run_scatter(out: np.ndarray[Any, Any], body: Scatter, arrays: Arrays) -> None:
    if body.base is not None:
        out[...] = arrays[body.base]
    total = out.astype(numpy_dtype(body.value.dtype), copy=False)
    if body.anew:
        _run_scatter(total, replace(cleared(body), base=None), arrays)
    for _, bound in _blocks(body.over, 1, 0):
        scope = Scope(arrays, bound=bound)
        shape = np.broadcast_shapes(*(v.shape for v in bound.values()))
        index = [np.broadcast_to(scope.evaluate(x), shape) for x in body.index]
        inside = np.ones(shape, bool)
        for place, size in zip(index, body.shape, strict=True):
            inside &= (place >= 0) & (place < size)
        wanted = Scope(arrays, scope, mask=inside)
        values = np.broadcast_to(wanted.evaluate(body.value), shape)
        flat = total.reshape(-1)
        places = np.zeros(shape, np.int64)
        for place, size in zip(index, body.shape, strict=True):
            places = places * size + place
        if body.sets:
            flat[places[inside]] = values[inside]
        else:
            np.add.at(flat, places[inside], values[inside])
    if total is not out:
        out[...] = compute("cast", [total], body.dtype)
