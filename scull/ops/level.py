"""Levels of detail: where the sequences begin whose rows stand one behind the other in a tensor.

While a Program runs the levels of a value are a value beside it, a vector of int64: how many levels
there are, how many offsets each has, then the offsets, those of the outer level first. What an
operator over sequences does follows from such vectors: which rows it picks, which levels come out.
"""

from collections.abc import Callable, Sequence
from inspect import CO_VARARGS
from typing import Any

import numpy as np

from scull.core.attribute import Longs
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.memory import refuse_bytes
from scull.core.meta import UNKNOWN, Meta, agree
from scull.errors import ArgumentError, DtypeError, IndexDtypeError, RangeError, ShapeError
from scull.ops.segment import combined

Levels = list[Any]  # offsets, an array for each level, the outer first
Rule = Callable[..., Any]
BY_VALUES = "where sequences begin is known when run"
INDEX = "an index carries none"


def packed(levels: Sequence[Any]) -> Any:
    """The vector of some levels."""
    parts = [np.asarray(level, "int64") for level in levels]
    return np.concatenate([[len(parts), *map(len, parts)], *parts]).astype("int64", copy=False)


def unpacked(vector: Any) -> Levels:
    """The levels in a vector; ArgumentError where it is none."""
    values = np.asarray(vector)
    count = int(values[0]) if values.ndim == 1 and values.size and values.dtype.kind == "i" else -1
    if not 0 <= count < len(values):
        raise ArgumentError("a tensor that tells levels of detail is no vector of such")
    ends = np.cumsum(values[1 : 1 + count]) + 1 + count
    if (values[1 : 1 + count] < 1).any() or (ends[-1] if count else 1) != len(values):
        raise ArgumentError("a vector of levels of detail ends within one, or behind them")
    levels = np.split(values[1 + count :], ends[:-1] - 1 - count) if count else []
    for level in levels:
        if level[0] != 0 or (level[1:] < level[:-1]).any():
            raise ArgumentError(f"a level of detail does not rise from 0 on: {level[:9].tolist()}")
        room_for(int(level[-1]))
    return levels


def room_for(count: int) -> None:
    """Refuse so many numbers of rows where there is no room for them."""
    refuse_bytes(8 * count, f"{count} numbers of rows")


def inner(operands: Sequence[Any], place: int = 0) -> Any:
    """The offsets of the innermost level of an operand, which must have one."""
    given = operands[place] if place < len(operands) else None
    found = [] if given is None else unpacked(given)
    if not found:
        raise ArgumentError(
            "an operand has no levels of detail, which say where its sequences begin: feed a "
            "LoDTensor, as paddle.base.create_lod_tensor makes it, or pad the sequences"
        )
    return found[-1]


def level_at(operands: Sequence[Any], place: int, number: int) -> Any:
    """The offsets of level `number` of an operand; -1 is the innermost."""
    innermost = inner(operands, place)
    if number == -1:
        return innermost
    levels = unpacked(operands[place])
    if not 0 <= number < len(levels):
        raise RangeError(f"level {number} is outside [0, {len(levels)}) of the levels of detail")
    return levels[number]


def ends_of(operands: Sequence[Any], place: int, number: int = 0) -> Any:
    """Where among the rows of an operand the sequences of a level begin; None without levels."""
    levels = unpacked(operands[place]) if place < len(operands) else []
    if not levels:
        return None
    if not 0 <= number < len(levels):
        raise RangeError(f"level {number} is outside [0, {len(levels)}) of the levels of detail")
    found = levels[number]
    for finer in levels[number + 1 :]:
        found = finer[found]
    return found


def chosen_levels(levels: Levels, chosen: Any) -> Levels:
    """Those of some sequences of the outer level, one behind the other."""
    found = []
    for offsets in levels:
        lengths = np.diff(offsets)[chosen]
        found.append(begun(lengths))
        chosen = runs(offsets[chosen], lengths)
    return found


def begun(lengths: Any) -> Any:
    """Where sequences of some lengths begin, and where the last ends."""
    if (np.asarray(lengths) < 0).any():
        raise RangeError("a sequence has less than no elements")
    room_for(int(np.asarray(lengths, "float64").sum()))
    return np.concatenate([[0], np.cumsum(lengths)]).astype("int64")


def counted(operands: Sequence[Any]) -> Any:
    """How many rows each sequence has; one has all where there are no levels."""
    levels = unpacked(operands[0])
    return np.diff(levels[-1]) if levels else np.array([len(np.asarray(operands[1]))])


def segments(offsets: Any) -> Any:
    """For each row the number of its sequence."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def runs(starts: Any, lengths: Any) -> Any:
    """From each of `starts` on as many numbers as `lengths` says, one behind the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths - starts, lengths)


def vector_of(operand: Any) -> Any:
    """The numbers of an operand in line."""
    values = np.asarray(operand).reshape(-1)
    if values.dtype.kind not in "iu":
        raise DtypeError(f"{values.dtype.name} are no whole numbers")
    return values.astype("int64")


# ---- which rows are picked ----


def edge(operands: Sequence[Any], last: int) -> Any:
    """The first or the last row of each sequence; -1 for one without rows."""
    offsets = inner(operands)
    return np.where(np.diff(offsets) > 0, offsets[1:] - 1 if last else offsets[:-1], -1)


def reversed_rows(operands: Sequence[Any]) -> Any:
    """The rows of each sequence from its end."""
    offsets = inner(operands)
    return np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets)) - np.arange(offsets[-1])


def repeated(operands: Sequence[Any], number: int) -> tuple[Any, Any]:
    """Where each repetition of a sequence begins that `sequence_expand` gives, and its length."""
    by = np.diff(level_at(operands, 1, number))
    levels = unpacked(operands[0])
    offsets = levels[0] if levels else np.arange(len(by) + 1)
    agree(len(offsets) - 1, len(by), "x has {} sequences and y says of {} how often they come")
    room_for(int(np.diff(offsets) @ by))
    return np.repeat(offsets[:-1], by), np.repeat(np.diff(offsets), by)


def lengths_of_all(operands: Sequence[Any]) -> Any:
    """The lengths of the sequences that are joined: a column an operand."""
    found = [np.diff(inner(operands, i)) for i in range(len(operands))]
    for other in found[1:]:
        agree(len(found[0]), len(other), "one operand has {} sequences and another {}")
    return np.stack(found, 1)


def joined_rows(operands: Sequence[Any]) -> Any:
    """The rows of operands put below each other such that sequences are joined one by one."""
    lengths = lengths_of_all(operands)
    starts = begun(lengths.T.reshape(-1))[:-1].reshape(lengths.T.shape).T
    return runs(starts.reshape(-1), lengths.reshape(-1))


def part_rows(operands: Sequence[Any], number: int) -> Any:
    """Where the rows of one operand stand among those that were joined."""
    lengths = lengths_of_all(operands)
    starts = begun(lengths.reshape(-1))[:-1].reshape(lengths.shape)
    return runs(starts[:, number], lengths[:, number])


def cut(operands: Sequence[Any]) -> tuple[Any, Any]:
    """Where the part of each sequence begins that `sequence_slice` takes, and its length."""
    offsets, begin, count = inner(operands), *map(vector_of, operands[1:3])
    for v in (begin, count):
        agree(len(offsets) - 1, len(v), "there are {} sequences and {} places in them")
    if (begin < 0).any() or (count < 0).any() or (begin + count > np.diff(offsets)).any():
        raise RangeError("a part that is asked for is not within its sequence")
    return offsets[:-1] + begin, count


def windows(operands: Sequence[Any], size: int, start: int) -> tuple[Any, Any, Any, Any]:
    """Of the rows around each row: their place in its sequence, in all, its length, who is in."""
    offsets = inner(operands)
    room_for(4 * max(int(offsets[-1]), 1) * max(size, 1))  # a few numbers of each
    rows = np.arange(offsets[-1])[:, None] + np.arange(start, start + size)
    owner = segments(offsets)
    place, length = rows - offsets[owner][:, None], np.diff(offsets)[owner][:, None]
    return place, rows, length, (place >= 0) & (place < length)


def window_rows(operands: Sequence[Any], size: int, start: int) -> Any:
    """The rows around each row that belong to its sequence; -1 for others."""
    _, rows, _, there = windows(operands, size, start)
    return np.where(there, rows, -1)


def window_padding(operands: Sequence[Any], size: int, start: int) -> Any:
    """The rows of the padding around each row; -1 for those of its sequence."""
    place, _, length, there = windows(operands, size, start)
    before = max(-start, 0)
    return np.where(there, -1, before + np.where(place < 0, place, place - length))


def padded_rows(operands: Sequence[Any], size: int) -> Any:
    """The rows of each sequence, then -1 up to `size`, or to the longest where that is -1."""
    offsets = inner(operands)
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    size = longest if size < 0 else size
    if size < longest:
        raise RangeError(f"sequences are padded to {size} rows, and one has {longest}")
    room_for(2 * max(len(lengths), 1) * size)
    places = np.arange(size)
    return np.where(places < lengths[:, None], offsets[:-1, None] + places, -1)


def unpadded(operands: Sequence[Any]) -> Any:
    """The sequence and the step of each row that is no padding."""
    lengths = vector_of(operands[0])
    offsets = begun(lengths)
    return np.stack([segments(offsets), runs(np.zeros_like(lengths), lengths)], 1)


def placed(operands: Sequence[Any]) -> Any:
    """The sequence and the step of each row."""
    offsets = inner(operands)
    lengths = np.diff(offsets)
    return np.stack([segments(offsets), runs(np.zeros_like(lengths), lengths)], 1)


def marked(operands: Sequence[Any]) -> Any:
    """The sequence of each row, and the column that it names."""
    offsets, ids = inner(operands), vector_of(operands[1])
    agree(int(offsets[-1]), len(ids), "sequences have {} rows and ids {}")
    return np.stack([segments(offsets), ids], 1)


def left(operands: Sequence[Any], *tokens: int) -> Any:
    """The rows that hold none of `tokens`."""
    agree(int(inner(operands)[-1]), len(np.asarray(operands[1])), "levels tell of {} rows, not {}")
    return np.isin(vector_of(operands[1]), tokens, invert=True).nonzero()[0]


def aligned(operands: Sequence[Any], blank: int, merge: int) -> Any:
    """The rows that are no blank, nor like the one before in their sequence."""
    offsets, ids = inner(operands), vector_of(operands[1])
    agree(int(offsets[-1]), len(ids), "levels of detail tell of {} rows, not {}")
    owner = segments(offsets)
    again = np.zeros(len(ids), bool)
    again[1:] = (ids[1:] == ids[:-1]) & (owner[1:] == owner[:-1])
    return ((ids != blank) & ~(again & bool(merge))).nonzero()[0]


ROWS: dict[str, Rule] = {
    "row": lambda operands: np.arange(inner(operands)[-1]),
    "segment": lambda operands: segments(inner(operands)),
    "length": lambda operands: np.diff(inner(operands))[segments(inner(operands))],
    "count": counted,
    "edge": edge,
    "reverse": reversed_rows,
    "expand": lambda operands, number: runs(*repeated(operands, number)),
    "expand_as": lambda operands: segments(level_at(operands, 0, 0)),
    "concat": joined_rows,
    "part": part_rows,
    "slice": lambda operands: runs(*cut(operands)),
    "window": window_rows,
    "padding": window_padding,
    "pad": padded_rows,
    "unpad": unpadded,
    "steps": placed,
    "scatter": marked,
    "align": aligned,
    "erase": left,
}
PAIRS = ("unpad", "steps", "scatter")
PICKING = ("erase", "align")  # rules of rows whose levels follow from them
MATRICES = ("window", "padding", "pad")


# ---- which levels come out ----


def expanded(operands: Sequence[Any], number: int) -> Levels:
    """Those of repeated sequences; of repeated rows there are none."""
    return [begun(repeated(operands, number)[1])] if unpacked(operands[0]) else []


def stacked(operands: Sequence[Any]) -> Levels:
    """Those of tensors put below each other; none where they differ in number."""
    parts = [unpacked(v) for v in operands]
    if len(set(map(len, parts))) != 1:
        return []
    return [
        begun(np.concatenate([np.diff(level) for level in levels]))
        for levels in zip(*parts, strict=True)
    ]


def widened(operands: Sequence[Any], size: int) -> Levels:
    """Those of rows that have `size` columns now."""
    offsets, x = inner(operands), np.asarray(operands[1])
    elements = offsets * (x.size // max(len(x), 1))
    if size < 1 or (elements % size).any():
        raise ShapeError(f"a sequence cannot be divided into rows of {size} elements")
    return [elements // size]


def reset(operands: Sequence[Any], append: int, *target: int) -> Levels:
    """Those that a tensor is given: of another one, as its elements, or by an attribute."""
    x, rest = operands[0], operands[1:]
    found: Levels = [np.array(target, "int64")]
    if rest:
        found = unpacked(rest[0]) or [vector_of(rest[1])]
    found = (unpacked(x) if append else []) + found
    return unpacked(packed(found))


def of_pieces(operands: Sequence[Any]) -> Levels:
    """Those of results of which each row of the first operand gave as many."""
    count = len(np.asarray(operands[0]))
    return [np.arange(count + 1) * (len(np.asarray(operands[1])) // max(count, 1))]


def of_those(rows: Rule) -> Rule:
    """Those of sequences of which only the rows stay that a rule picks."""

    def levels(operands: Sequence[Any], *numbers: int) -> Levels:
        offsets = inner(operands)
        owner = segments(offsets)[rows(operands, *numbers)]
        return [begun(np.bincount(owner, minlength=len(offsets) - 1))]

    return levels


LEVELS: dict[str, Rule] = {
    "outer": lambda operands: unpacked(operands[0])[:-1],
    "expand": expanded,
    "concat": lambda operands: [begun(lengths_of_all(operands).sum(1))],
    "slice": lambda operands: [begun(cut(operands)[1])],
    "unpad": lambda operands: [begun(vector_of(operands[0]))],
    "counts": lambda operands: [begun(vector_of(operands[0]))],
    "stack": stacked,
    "reshape": widened,
    "reset": reset,
    "pieces": of_pieces,
    "erase": of_those(left),
    "align": of_those(aligned),
}


def named(rules: dict[str, Rule], of: str, numbers: Sequence[int]) -> Rule:
    """The rule of one name, which takes so many numbers."""
    if of not in rules:
        raise ArgumentError(f"of is {of!r}, not {', '.join(rules)}")
    code = (ROWS[of] if of in PICKING else rules[of]).__code__
    least = code.co_argcount - 1
    if len(numbers) < least or (len(numbers) > least and not code.co_flags & CO_VARARGS):
        raise ArgumentError(f"the rule {of!r} takes {least} numbers, not {len(numbers)}")
    return rules[of]


@primitive(infer_first=True)
def sequence_rows(operands: list[Meta] | None = None, *, of: str, numbers: Longs = ()) -> Meta:
    """The rows that an operator over sequences picks; -1 stands for a row of zeros.

    Of every row these are its number, the number of its sequence and the length of that, too.
    """
    named(ROWS, of, numbers)
    columns = (2,) if of in PAIRS else (UNKNOWN,) if of in MATRICES else ()
    return Meta((UNKNOWN, *columns), int64)


@sequence_rows.kernel
def sequence_rows_kernel(
    xp: Any, operands: list[Any] | None = None, *, out: Any = None, of: str, numbers: Any
) -> Any:
    return named(ROWS, of, numbers)(operands or [], *numbers).astype("int64", copy=False)


@primitive(infer_first=True)
def sequence_levels(operands: list[Meta], *, of: str, numbers: Longs = ()) -> Meta:
    """The levels of what an operator over sequences gives, as a vector."""
    named(LEVELS, of, numbers)
    return Meta((UNKNOWN,), int64)


@sequence_levels.kernel
def sequence_levels_kernel(
    xp: Any, operands: list[Any], *, out: Any = None, of: str, numbers: Any
) -> Any:
    return packed(named(LEVELS, of, numbers)(operands, *numbers))


for operator in (sequence_rows, sequence_levels):
    operator.no_grad(INDEX)
    operator.no_lowering(BY_VALUES)


# ---- rows at places ----


def check_places(x: Meta, index: Meta) -> None:
    """Refuse what has no rows, and places that are no whole numbers."""
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no rows")
    if not index.dtype.is_integer:
        raise IndexDtypeError(f"the index {index} is not of integers")


def refuse_beyond(index: Any, rows: int) -> None:
    """Refuse places of no row; -1 is of none on purpose."""
    if index.size and (index.max() >= rows or index.min() < -1):
        raise RangeError(f"a place from {index.min()} to {index.max()} is outside [-1, {rows})")


@primitive(infer_first=True)
def rows_at(x: Meta, index: Meta) -> Meta:
    """The rows of `x` at the places `index`, and zeros where a place is -1."""
    check_places(x, index)
    return x.with_shape((*index.shape, *x.shape[1:]))


@rows_at.kernel
def rows_at_kernel(xp: Any, x: Any, index: Any, *, out: Any = None) -> Any:
    refuse_beyond(index, len(x))
    refuse_bytes(index.size * (x.nbytes // max(len(x), 1)), "a result")
    found = xp.zeros((*index.shape, *x.shape[1:]), x.dtype) if out is None else out
    there = index >= 0
    if there.all():
        found[...] = x[index]
    else:
        found[...] = 0
        found[there] = x[index[there]]
    return found


@primitive(infer_first=True)
def rows_into(x: Meta, index: Meta, like_meta: Meta) -> Meta:
    """Zeros in the shape of `like` with each row of `x` added at its place; -1 is none."""
    check_places(like_meta, index)
    for n, m in zip(index.shape, x.shape, strict=False):
        agree(n, m, "there are {} places and {} rows")
    for n, m in zip(like_meta.shape[1:], x.shape[index.ndim :], strict=False):
        agree(n, m, "rows of {} elements cannot take rows of {}")
    if x.ndim != index.ndim + like_meta.ndim - 1:
        raise ShapeError(f"x has {x.ndim} axes, not those of {index} and of {like_meta}")
    return x.with_shape(like_meta.shape)


@rows_into.kernel
def rows_into_kernel(xp: Any, x: Any, index: Any, like: Any, *, out: Any = None) -> Any:
    refuse_beyond(index, like.shape[0])
    flat = index.reshape(-1)
    there = flat >= 0
    rows = x.reshape(len(flat), *like.shape[1:])[there]
    return combined(xp, rows, flat[there], like.shape[0], "SUM")[0]


rows_at.grad("x")(lambda x_meta, index, dout: rows_into(dout, index, x_meta))
rows_into.grad("x")(lambda index, dout: rows_at(dout, index))
rows_at.no_lowering(BY_VALUES)
rows_into.no_lowering(BY_VALUES)
