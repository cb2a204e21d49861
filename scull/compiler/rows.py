"""Row-sparse values of a region: the numbers of rows and their values, two arrays.

Rows that are not there have the number -1. What an operator does with such values its declaration
says (`lower_rows`); where it says nothing, the operator is no part of a region.
"""

from collections.abc import Sequence
from typing import Any

from scull import lang
from scull.compiler.sparse import Merged, merging
from scull.compiler.trace import Statement, Traced, Tracer, own
from scull.core.dtype import int64
from scull.core.meta import Kind, Meta
from scull.core.op import Op
from scull.core.operand import is_number, padded, strengthened, weak_meta
from scull.core.tensor import Value
from scull.errors import UnsupportedError
from scull.lang.body import Map
from scull.lang.expression import Array, Axis, Expression


class TracedRows(Value):
    """Some rows of a matrix of `meta`; `once` says that none occurs twice."""

    __slots__ = ("once", "rows", "values")

    def __init__(self, meta: Meta, rows: Traced, values: Traced, once: bool = False) -> None:
        super().__init__(meta.with_kind(Kind.ROWS))
        self.rows, self.values, self.once = rows, values, once


class View:
    """An array of rows at the place of one of them, as a lowering reads an operand."""

    def __init__(self, array: Array, shape: tuple[int, ...], place: Axis) -> None:
        self.array, self.shape, self.place = array, shape, place
        self.dtype, self.ndim = array.dtype, len(shape)

    def __getitem__(self, index: tuple[Any, ...]) -> Expression:
        return self.array[(self.place, *index[1:])]


class RowsTracer(Tracer):
    """A tracer of operators some of whose operands are row-sparse."""

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """The results of a call; UnsupportedError where it is no loop over elements."""
        by = op.by_rows
        if by is not None and by.way == "made":
            attrs.pop("name", None)
            assert by.parts is not None
            parts = by.parts(*padded(op, inputs), **op.attrs | attrs)
            if parts is not None:
                return self._made(op, inputs, parts, attrs)
        if not any(isinstance(x, TracedRows) for x in flat(inputs)):
            return super().apply(op, inputs, attrs)
        if by is None:
            raise UnsupportedError(f"`{op.name}` is not lowered for row-sparse operands")
        if by.way in ("dense", "made") or (by.when and not attrs.get(by.when)):
            return super().apply(op, tuple(map(self._dense, inputs)), attrs)
        (x,) = (x for x in flat(inputs) if isinstance(x, TracedRows))
        x = x if by.way == "values" or x.once else self._once(x)
        if by.way == "rows":
            return self._changed(op, padded(op, inputs), x, attrs)
        given = tuple(x.values if isinstance(v, TracedRows) else v for v in inputs)
        found = super().apply(op, given, attrs)
        same = isinstance(found, Traced) and found.meta.shape == x.values.meta.shape
        return TracedRows(self._meta(x, found), x.rows, found, x.once) if same else found

    @staticmethod
    def _meta(x: TracedRows, found: Any) -> Meta:
        meta: Meta = x.meta.with_dtype(found.meta.dtype)
        return meta

    def _made(
        self, op: Op, inputs: tuple[Any, ...], parts: tuple[Any, Any], attrs: dict[str, Any]
    ) -> TracedRows:
        rows, values = parts
        metas = strengthened(tuple(map(weak_meta, padded(op, inputs))))
        (meta,) = op.infer(metas, op.attrs | attrs)
        return TracedRows(meta, rows, values)

    def _merging(self, x: TracedRows) -> Merged:
        rows, values = x.rows.array, x.values.array
        made = merging(
            lambda place: lang.cast(rows[place], "int64"),
            lambda place, within: values[(place, *within)],
            rows.shape[0],
            x.meta.shape,
            self.origin,
        )
        self.statements += made.statements
        return made

    def _once(self, x: TracedRows) -> TracedRows:
        """The same with each row at the last place that names it, and -1 at the others."""
        made = self._merging(x)
        place = lang.axis(made.rows.shape[0])
        number = lang.select(made.stands(place), made.rows[place], -1)
        rows = self.given(Meta(made.rows.shape, int64))
        self.statements.append(Statement(rows.array, Map((place,), number), self.origin))
        return TracedRows(x.meta, rows, Traced(x.values.meta, made.sums), True)

    def _dense(self, x: Any) -> Any:
        """A value as a whole matrix, those of a list too."""
        if isinstance(x, list | tuple):
            return [self._dense(v) for v in x]
        if not isinstance(x, TracedRows):
            return x
        rows, values = x.rows.array, x.values.array
        value = self.given(x.meta.with_kind(Kind.DENSE))
        place, *within = over = tuple(lang.axis(n) for n in values.shape)
        row = lang.cast(rows[place], "int64")
        body = lang.scatter_add(value.array.shape, (row, *within), values[over], over)
        self.statements.append(Statement(value.array, body, self.origin))
        return value

    def _changed(
        self, op: Op, operands: tuple[Any, ...], x: TracedRows, attrs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The results of an operator that writes over rows of its operands."""
        metas = strengthened(tuple(map(weak_meta, operands)))
        attrs = op.attrs | attrs
        outs, shape = op.infer(metas, attrs), tuple(x.meta.shape)
        place, *within = over = tuple(lang.axis(n) for n in x.values.meta.shape)
        spot = (x.rows.array[place], *within)
        index = [
            spot if m and m.shape == shape else tuple(lang.axis(n) for n in (m.shape if m else ()))
            for m in outs
        ]
        assert op.lowering is not None
        found = op.lowering(index, *self._given(operands, metas, x, place), **own(op, attrs))
        known = dict(zip(op.inputs, operands, strict=False))
        results: list[Traced | None] = []
        for name, meta, at, value in zip(op.outputs, outs, index, found, strict=True):
            if meta is None or value is None:
                results.append(None)
                continue
            body: Any = Map(at, value)
            if at is spot:
                body = lang.scatter_set(known[op.in_place[name]].array, spot, value, over)
            made = Traced(meta, self.array(meta))
            self.statements.append(Statement(made.array, body, self.origin))
            results.append(made)
        return tuple(results)

    def _given(
        self, operands: Sequence[Any], metas: Sequence[Any], x: TracedRows, place: Axis
    ) -> list[Any]:
        """What a lowering is given: arrays, and the rows at their place."""
        found: list[Any] = []
        for operand, meta in zip(operands, metas, strict=True):
            if isinstance(operand, TracedRows):
                found.append(View(x.values.array, tuple(x.meta.shape), place))
            elif operand is None:
                found.append(None)
            else:
                value = self.constant(operand, meta) if is_number(operand) else operand
                found.append(value.array)
        return found


def flat(values: Sequence[Any]) -> list[Any]:
    """Values, those of lists in line."""
    return [v for x in values for v in (x if isinstance(x, list | tuple) else [x])]
