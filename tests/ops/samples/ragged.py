"""Samples of operators over sequences of several lengths; references go sequence by sequence."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError, UnsupportedError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, bf16, call, f32, f64, fails, i64, samples

LEVELS = packed([[0, 2, 2, 5, 6]])
OTHER = packed([[0, 1, 3, 3, 4]])
FULL = packed([[0, 2, 5, 6]])
NONE = packed([])
NO_LEVELS = "an operand has no levels of detail"


def parts(x: Any, levels: Any) -> list[Any]:
    """The sequences in `x`."""
    return [x[a:b] for a, b in pairwise(unpacked(levels)[-1])]


POOLINGS = {
    "AVERAGE": lambda v: v.mean(0),
    "SUM": lambda v: v.sum(0),
    "SQRT": lambda v: v.sum(0) / len(v) ** 0.5,
    "MAX": lambda v: v.max(0),
    "LAST": lambda v: v[-1],
    "FIRST": lambda v: v[0],
}


def pooled(x: Any, levels: Any, *, pooltype: str = "AVERAGE", pad_value: float = 0.0) -> Any:
    empty = np.full(x.shape[1:], pad_value)
    return (np.array([POOLINGS[pooltype](v) if len(v) else empty for v in parts(x, levels)]),)


@samples("sequence_pool", reference=pooled)
def sequence_pool_samples():
    for pooltype in POOLINGS:
        yield call(f32(6, 3), LEVELS, pooltype=pooltype, pad_value=0.5)
        yield call(f64(6), FULL, pooltype=pooltype)
    yield call(f64(6, 2, 2), LEVELS, pooltype="MAX")
    yield call(bf16(6, 2), LEVELS, pooltype="SUM", grad=False)
    yield call(i64(6, 2), LEVELS, pooltype="MAX")
    yield call(f32(6, 0), LEVELS)
    yield fails(
        ArgumentError, "pooltype is 'MIDDLE', not AVERAGE, ", f32(6, 3), LEVELS, pooltype="MIDDLE"
    )
    yield fails(ShapeError, "a 0-D tensor has no rows", f32(), LEVELS)
    yield fails(ArgumentError, NO_LEVELS, f32(6, 3), by_value=True)
    yield fails(
        ShapeError,
        "x has 5 rows and its levels of detail tell of 6",
        f32(5, 3),
        LEVELS,
        by_value=True,
    )


def softened(x: Any, levels: Any) -> Any:
    return np.concatenate([np.exp(v) / np.exp(v).sum() for v in parts(x, levels)])


@samples("sequence_softmax", reference=softened)
def sequence_softmax_samples():
    yield call(f32(6, 1), LEVELS)
    yield call(f64(6), FULL)
    yield call(bf16(6, 1), LEVELS, grad=False)
    yield fails(ShapeError, "sequences have one column", f32(6, 2), LEVELS)
    yield fails(DtypeError, "int64", i64(6, 1), LEVELS)
    yield fails(
        ShapeError,
        "x has 5 rows and its levels of detail tell of 6",
        f32(5, 1),
        LEVELS,
        by_value=True,
    )


@samples(
    "sequence_reverse", reference=lambda x, lv: np.concatenate([v[::-1] for v in parts(x, lv)])
)
def sequence_reverse_samples():
    yield call(f32(6, 3), LEVELS)
    yield call(f64(6), FULL)
    yield call(i64(6, 2), LEVELS)
    yield fails(ArgumentError, NO_LEVELS, f32(6, 3), NONE, by_value=True)
    yield fails(RangeError, "is outside [-1, 5)", f32(5, 3), LEVELS, by_value=True)


def expanded(x: Any, y: Any, xl: Any, yl: Any, *, ref_level: int = -1) -> Any:
    own = parts(x, xl) if unpacked(xl) else list(x[:, None])
    counts = np.diff(unpacked(yl)[ref_level])
    return np.concatenate([v for v, n in zip(own, counts, strict=True) for _ in range(n)])


@samples("sequence_expand", reference=expanded)
def sequence_expand_samples():
    yield call(f32(4, 3), f32(6, 1), NONE, LEVELS)
    yield call(f64(6, 3), f32(4, 1), LEVELS, OTHER)
    yield call(f32(2, 3), f32(6, 1), NONE, packed([[0, 2, 3], [0, 1, 4, 6]]), ref_level=0)
    law = "x has 3 sequences and y says of 4 how often they come"
    yield fails(ShapeError, law, f32(6, 3), f32(6, 1), FULL, LEVELS, by_value=True)
    yield fails(
        RangeError,
        "level 1 is outside [0, 1)",
        f32(4, 3),
        f32(6),
        NONE,
        LEVELS,
        ref_level=1,
        by_value=True,
    )


@samples(
    "sequence_expand_as",
    reference=lambda x, y, levels: np.repeat(x, np.diff(unpacked(levels)[0]), 0),
)
def sequence_expand_as_samples():
    yield call(f32(4, 3), f32(6, 1), LEVELS)
    yield call(f64(3), f32(6, 1), FULL)
    yield fails(ArgumentError, NO_LEVELS, f32(4, 3), f32(6), NONE, by_value=True)


def joined(x: Any, levels: Any) -> Any:
    columns = [parts(v, own) for v, own in zip(x, levels, strict=True)]
    return np.concatenate([v for row in zip(*columns, strict=True) for v in row])


@samples("sequence_concat", reference=joined)
def sequence_concat_samples():
    yield call([f32(6, 3), f32(4, 3)], [LEVELS, OTHER])
    yield call([f64(6), f64(4), f64(6)], [LEVELS, OTHER, LEVELS])
    law = "one operand has 4 sequences and another 3"
    yield fails(ShapeError, law, [f32(6, 3), f32(6, 3)], [LEVELS, FULL], by_value=True)


def cut(x: Any, offset: Any, length: Any, levels: Any) -> Any:
    places = zip(parts(x, levels), offset.reshape(-1), length.reshape(-1), strict=True)
    return np.concatenate([v[a : a + n] for v, a, n in places])


@samples("sequence_slice", reference=cut)
def sequence_slice_samples():
    begin, count = array([[1], [0], [0]], "int64"), array([[1], [2], [1]], "int64")
    yield call(f32(6, 3), begin, count, FULL)
    yield call(f64(6), begin.astype("int32"), count.astype("int32"), FULL)
    yield fails(
        RangeError, "is not within its sequence", f32(6, 3), begin, count + 2, FULL, by_value=True
    )


@samples("sequence_reshape", reference=lambda x, *, new_dim: x.reshape(-1, new_dim))
def sequence_reshape_samples():
    yield call(f32(6, 4), new_dim=8)
    yield call(f64(6, 4), new_dim=2)
    yield call(f32(0, 4), new_dim=2)
    yield fails(ShapeError, "cannot be divided into rows of 5 elements", f32(6, 4), new_dim=5)


def added(x: Any, ids: Any, updates: Any, levels: Any) -> Any:
    found = np.array(x).reshape(len(x), -1)
    rows = zip(parts(ids.reshape(-1), levels), parts(updates.reshape(-1), levels), strict=True)
    for i, (columns, values) in enumerate(rows):
        np.add.at(found[i], columns, values)
    return found.reshape(x.shape)


@samples("sequence_scatter", reference=added)
def sequence_scatter_samples():
    ids = array([[0], [1], [2], [4], [2], [3]], "int64")
    yield call(f32(3, 5), ids, f32(6, 1), FULL)
    yield call(f64(4, 5), ids.astype("int32"), f64(6, 1), LEVELS)
    yield call(f32(3, 2, 3), ids, f32(6, 1), FULL)
    law = "sequences have 6 rows and ids 5"
    yield fails(ShapeError, law, f32(3, 5), ids[:5], f32(5, 1), FULL, by_value=True)


def around(x: Any, filter: Any, padding: Any, levels: Any, **attrs: Any) -> Any:
    size, start = attrs["context_length"], attrs["context_start"]
    before, after = max(-start, 0), max(start + size - 1, 0)
    if not attrs["padding_trainable"]:
        padding = np.zeros((before + after, x.shape[1]))
    found = []
    for v in parts(x, levels):
        wide = np.concatenate([padding[:before], v, padding[before:]])
        first = before + start
        found += [wide[first + i : first + i + size].reshape(-1) @ filter for i in range(len(v))]
    return np.array(found)


@samples("sequence_conv", reference=around)
def sequence_conv_samples():
    yield call(f32(6, 3), f32(9, 2), None, LEVELS, context_length=3, context_start=-1)
    yield call(f64(6, 3), f64(6, 2), None, FULL, context_length=2, context_start=1)
    options = {"context_length": 4, "context_start": -2, "padding_trainable": True}
    yield call(f32(6, 3), f32(12, 2), f32(3, 3), LEVELS, **options)
    law = "filter has 8 rows, and windows 9 elements"
    yield fails(ShapeError, law, f32(6, 3), f32(8, 2), None, LEVELS, context_length=3)
    law = "padding_data has 2 rows, and 3 may lie outside"
    yield fails(ShapeError, law, f32(6, 3), f32(12, 2), f32(2, 3), LEVELS, **options)
    law = "with a stride of 2, which is to be 1"
    yield fails(
        ArgumentError, law, f32(6, 3), f32(9, 2), None, LEVELS, context_length=3, context_stride=2
    )
    yield fails(
        ShapeError, "x has 1 axes, 2 are needed", f32(6), f32(9, 2), None, LEVELS, context_length=3
    )


def listed(x: Any, levels: Any, *, win_size: int, pad_value: int = 0) -> Any:
    rest = [pad_value] * win_size
    return np.array(
        [
            [*v[i : i + win_size], *rest][:win_size]
            for v in parts(x.reshape(-1), levels)
            for i in range(len(v))
        ]
    )


@samples("sequence_enumerate", reference=listed)
def sequence_enumerate_samples():
    yield call(i64(6, 1), LEVELS, win_size=2, pad_value=7)
    yield call(i64(6, 1), FULL, win_size=4)
    yield fails(DtypeError, "x is float32, not of integers", f32(6, 1), LEVELS, win_size=2)
    yield fails(ArgumentError, "win_size is 0, not above 0", i64(6, 1), LEVELS, win_size=0)


@samples(
    "sequence_erase", reference=lambda x, levels, *, tokens: x[~np.isin(x.reshape(-1), tokens)]
)
def sequence_erase_samples():
    yield call(array([[3], [1], [4], [1], [5], [9]], "int64"), LEVELS, tokens=(1, 9))
    yield call(array([3, 1, 4, 1, 5, 9], "int32"), LEVELS, tokens=())
    yield fails(DtypeError, "x is float32, not of integers", f32(6, 1), LEVELS)


def padded(x: Any, value: Any, levels: Any, *, padded_length: int = -1) -> Any:
    found = parts(x, levels)
    lengths = np.array([len(v) for v in found])
    size = max(lengths) if padded_length < 0 else padded_length
    out = np.zeros((len(found), size, *x.shape[1:])) + value
    for row, v in zip(out, found, strict=True):
        row[: len(v)] = v
    return out, lengths


@samples("sequence_pad", reference=padded)
def sequence_pad_samples():
    yield call(f32(6, 3), f32(1), LEVELS, grad=("x",))
    yield call(f64(6, 3), f64(3), LEVELS, padded_length=5, grad=("x",))
    yield call(f32(6), f32(1), FULL, grad=("x",))
    yield fails(DtypeError, "x is float32 and y is float64; cast one", f32(6, 3), f64(1), LEVELS)
    law = "sequences are padded to 2 rows, and one has 3"
    yield fails(RangeError, law, f32(6, 3), f32(1), LEVELS, padded_length=2, by_value=True)


@samples(
    "sequence_unpad",
    reference=lambda x, n: np.concatenate([v[:k] for v, k in zip(x, n.reshape(-1), strict=True)]),
)
def sequence_unpad_samples():
    yield call(f32(3, 4, 2), array([2, 0, 4], "int64"))
    yield call(f64(3, 4), array([2, 1, 4], "int64"))
    yield fails(
        RangeError, "less than no elements", f32(3, 4), array([2, -1, 4], "int64"), by_value=True
    )


def cut_images(x: Any, *, kernel_sizes: Any, strides: Any, paddings: Any) -> Any:
    up, left, down, right = paddings
    wide = np.pad(x, ((0, 0), (0, 0), (up, down), (left, right)))
    (m, n), (a, b) = kernel_sizes, strides
    return np.array(
        [
            image[:, i : i + m, j : j + n].reshape(-1)
            for image in wide
            for i in range(0, wide.shape[2] - m + 1, a)
            for j in range(0, wide.shape[3] - n + 1, b)
        ]
    )


@samples("im2sequence", reference=cut_images)
def im2sequence_samples():
    yield call(f32(2, 2, 4, 5), kernel_sizes=(2, 3), strides=(2, 1), paddings=(0, 1, 1, 0))
    yield call(f64(1, 1, 3, 3), kernel_sizes=(3, 2), strides=(1, 1), paddings=(0, 0, 0, 0))
    law = "images of several sizes in one tensor"
    yield fails(UnsupportedError, law, f32(1, 1, 3, 3), f32(1, 2), kernel_sizes=(3, 2))


def aligned(x: Any, _: Any, levels: Any, *, blank: int = 0, merge_repeated: bool = True) -> Any:
    found = []
    for v in parts(x.reshape(-1), levels):
        for i, n in enumerate(v):
            if n != blank and not (merge_repeated and i and v[i - 1] == n):
                found.append([n])
    return (np.array(found),)


@samples("ctc_align", reference=aligned)
def ctc_align_samples():
    ids = array([[0], [1], [1], [1], [4], [4]], "int32")
    yield call(ids, None, LEVELS)
    yield call(ids, None, LEVELS, blank=4, merge_repeated=False)
    yield fails(UnsupportedError, "not padded ones", ids, array([[6]], "int64"))
