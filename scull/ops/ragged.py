"""Operators over sequences of several lengths, whose rows stand one behind the other in a tensor.

Where they begin say levels of detail (`scull/ops/level.py`): operands that no file names and no
user gives, which a Program gets before it runs (`scull/passes/levels.py`).
"""

from typing import Any

from scull.core.attribute import Ints
from scull.core.dtype import int32, int64
from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta, agree, count, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from scull.ops.compare import equal, where
from scull.ops.create import cast
from scull.ops.index import gather_nd, scatter_nd_add
from scull.ops.join import concat
from scull.ops.level import BY_VALUES, inner, rows_at, rows_into, segments, sequence_rows
from scull.ops.like import full_like, reshape_like
from scull.ops.linear import matmul
from scull.ops.math import sqrt
from scull.ops.move import flat_at, flatten, reshape, transpose
from scull.ops.reduce import reduce_sum
from scull.ops.segment import combined, one_of
from scull.ops.unfold import unfold

POOLINGS = ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")
OF_X: dict[str, Any] = {"slots": {"levels": "X@LOD"}, "unsaid": ("X@LOD",)}
SUM = {"SUM": "SUM", "AVERAGE": "MEAN", "SQRT": "SUM", "MAX": "MAX"}


def picked(of: str, *operands: Any, numbers: Any = ()) -> Any:
    """The rows that a rule picks; levels that nobody gave yet are left out."""
    given = [v for v in operands if v is not None]
    return sequence_rows(given or None, of=of, numbers=numbers)


# ---- one row of each sequence ----


@primitive(
    outputs=("out", "max_index"),
    hidden=("max_index",),
    fixed={"is_test": False},
    infer_first=True,
    **OF_X,
)
def sequence_pool(
    x: Meta, levels: Meta = None, *, pooltype: str = "AVERAGE", pad_value: float = 0.0
) -> tuple[Meta, Meta]:
    """One row for each sequence, `pad_value` for one without rows; and where greatest ones were."""
    one_of(pooltype, POOLINGS, "pooltype")
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no rows")
    shape = (UNKNOWN, *x.shape[1:])
    return x.with_shape(shape), Meta(shape, int32)


@sequence_pool.kernel
def sequence_pool_kernel(
    xp: Any, x: Any, levels: Any = None, *, out: Any = None, pooltype: str, pad_value: float
) -> Any:
    offsets = inner([] if levels is None else [levels])
    owner, number = segments(offsets), len(offsets) - 1
    agree(len(x), len(owner), "x has {} rows and its levels of detail tell of {}")
    places = xp.zeros((number, *x.shape[1:]), "int32")
    lengths = xp.diff(offsets)
    if pooltype in SUM:
        found, _ = combined(xp, x, owner, number, SUM[pooltype])
        if pooltype == "SQRT":
            found = (found / root(xp, lengths, x)).astype(x.dtype)
        if pooltype == "MAX":
            rows = xp.arange(len(x)).reshape(-1, *(1,) * (x.ndim - 1))
            there = xp.where(x == found[owner], rows, len(x))
            xp.minimum.at(places := xp.full(places.shape, len(x)), owner, there)
            places = xp.where(places < len(x), places, -1).astype("int32")
    else:
        ends = offsets[1:] - 1 if pooltype == "LAST" else offsets[:-1]
        found = xp.zeros((number, *x.shape[1:]), x.dtype)
        found[lengths > 0] = x[ends[lengths > 0]]
    found[lengths == 0] = pad_value
    return found, places


def root(xp: Any, lengths: Any, x: Any) -> Any:
    """The square roots of lengths, for a division of rows."""
    column = xp.sqrt(xp.maximum(lengths, 1)).reshape(-1, *(1,) * (x.ndim - 1))
    return column if x.dtype == "float64" else column.astype("float32")


@sequence_pool.grad("x")
def sequence_pool_grad(
    x_meta: Any, levels: Any, max_index: Any, dout: Any, pooltype: str, dmax_index: Any = None
) -> Any:
    if pooltype in ("LAST", "FIRST"):
        ends = picked("edge", levels, numbers=(int(pooltype == "LAST"),))
        return rows_into(dout, ends, x_meta)
    owner = picked("segment", levels)
    each, column = rows_at(dout, owner), (-1,) + (1,) * (len(dout.shape) - 1)
    if pooltype == "MAX":
        row = reshape(cast(picked("row", levels), out_dtype=int32), shape=column)
        return where(equal(rows_at(max_index, owner), row), each, 0.0)
    if pooltype == "SUM":
        return each
    lengths = cast(picked("length", levels), out_dtype=meta_of(dout).dtype)
    lengths = reshape(lengths, shape=column)
    return each / (lengths if pooltype == "AVERAGE" else sqrt(lengths))


sequence_pool.no_lowering(BY_VALUES)


@primitive(fixed={"use_cudnn": False}, infer_first=True, **OF_X)
def sequence_softmax(x: Meta, levels: Meta = None) -> Meta:
    """e to the elements of each sequence, divided by their sum; `x` has one column."""
    floating(x)
    if x.ndim not in (1, 2) or x.shape[1:] not in ((), (1,), (UNKNOWN,)):
        raise ShapeError(f"x is {x}; sequences have one column")
    return x


@sequence_softmax.kernel
def sequence_softmax_kernel(xp: Any, x: Any, levels: Any = None, *, out: Any = None) -> Any:
    offsets = inner([] if levels is None else [levels])
    owner, number = segments(offsets), len(offsets) - 1
    agree(len(x), len(owner), "x has {} rows and its levels of detail tell of {}")
    wide = x if x.dtype == "float64" else x.astype("float32")
    e = xp.exp(wide - combined(xp, wide, owner, number, "MAX")[0][owner])
    e /= combined(xp, e, owner, number, "SUM")[0][owner]
    return e.astype(x.dtype, copy=False)


@sequence_softmax.grad("x")
def sequence_softmax_grad(x_meta: Any, levels: Any, out: Any, dout: Any) -> Any:
    product = out * dout
    total = rows_at(sequence_pool(product, levels, pooltype="SUM")[0], picked("segment", levels))
    return product - out * total


sequence_softmax.no_lowering(BY_VALUES)


# ---- rows picked ----


@composite(outputs=("y",), inline_gradient=True, **OF_X)
def sequence_reverse(x, levels=None):
    """The rows of each sequence from its end."""
    return rows_at(x, picked("reverse", levels))


@sequence_reverse.grad("x")
def sequence_reverse_grad(levels: Any, dy: Any) -> Any:
    return sequence_reverse(dy, levels)


OF_BOTH: dict[str, Any] = {
    "slots": {"x_levels": "X@LOD", "y_levels": "Y@LOD"},
    "unsaid": ("X@LOD", "Y@LOD"),
}


@composite(**OF_BOTH)
def sequence_expand(x, y_meta, x_levels=None, y_levels=None, *, ref_level: int = -1):
    """Each sequence of `x`, or row where it has none, as often as `y` has rows in its place."""
    return rows_at(x, picked("expand", x_levels, y_levels, numbers=(ref_level,)))


@sequence_expand.grad("x")
def sequence_expand_grad(
    x_meta: Any, y_meta: Any, x_levels: Any, y_levels: Any, dout: Any, ref_level: int
) -> Any:
    rows = picked("expand", x_levels, y_levels, numbers=(ref_level,))
    return rows_into(dout, rows, x_meta)


@composite(slots={"levels": "Y@LOD"}, unsaid=("Y@LOD",))
def sequence_expand_as(x, y_meta, levels=None):
    """Each row of `x` as often as the sequence of `y` in its place has rows."""
    return rows_at(x, picked("expand_as", levels))


@sequence_expand_as.grad("x")
def sequence_expand_as_grad(x_meta: Any, y_meta: Any, levels: Any, dout: Any) -> Any:
    return rows_into(dout, picked("expand_as", levels), x_meta)


@composite(**OF_X)
def sequence_concat(x: list[Meta], levels: list[Meta] | None = None):
    """The first sequences of all operands joined, then the second ones, and so on."""
    return rows_at(concat(x, axis=0), picked("concat", *(levels or ())))


@sequence_concat.grad("x")
def sequence_concat_grad(x_meta: Any, levels: Any, dout: Any) -> Any:
    given = levels or ()
    return [rows_at(dout, picked("part", *given, numbers=(i,))) for i in range(len(x_meta))]


@composite(**OF_X)
def sequence_slice(x, offset, length, levels=None):
    """Of each sequence as many rows as `length` says, from `offset` on."""
    return rows_at(x, picked("slice", levels, offset, length))


@sequence_slice.grad("x")
def sequence_slice_grad(x_meta: Any, offset: Any, length: Any, levels: Any, dout: Any) -> Any:
    return rows_into(dout, picked("slice", levels, offset, length), x_meta)


@primitive(views={"out": "x"})
def sequence_reshape(x: Meta, *, new_dim: int) -> Meta:
    """The elements in rows of `new_dim` columns."""
    total = count(x.shape)
    if new_dim < 1 or (total != -1 and total % new_dim):
        raise ShapeError(f"{x} cannot be divided into rows of {new_dim} elements")
    return x.with_shape((UNKNOWN if total == -1 else total // new_dim, new_dim))


sequence_reshape.kernel(lambda xp, x, *, out=None, new_dim: x.reshape(-1, new_dim))
sequence_reshape.grad("x")(lambda x_meta, dout: reshape_like(dout, x_meta))
sequence_reshape.lower(flat_at)


@composite(slots={"levels": "Ids@LOD"}, unsaid=("Ids@LOD",))
def sequence_scatter(x, ids, updates, levels=None):
    """`x` with the rows of `updates` added: that of a sequence into its row, where `ids` says."""
    places, changes = picked("scatter", levels, ids), reshape(updates, shape=(-1,))
    if len(x.shape) == 2:
        return scatter_nd_add(x, places, changes)
    return reshape_like(scatter_nd_add(reshape(x, shape=(0, -1)), places, changes), x)


@sequence_scatter.grad("x", "updates")
def sequence_scatter_grad(ids: Any, updates_meta: Any, levels: Any, dout: Any) -> Any:
    rows = dout if len(dout.shape) == 2 else reshape(dout, shape=(0, -1))
    found = gather_nd(rows, picked("scatter", levels, ids))
    return dout * 1.0, reshape_like(found, updates_meta)


# ---- rows around each row ----


@composite(
    attrs={
        "padding_trainable": "paddingTrainable",
        "context_length": "contextLength",
        "context_start": "contextStart",
        "context_stride": "contextStride",
    },
    **OF_X,
)
def sequence_conv(
    x,
    filter,
    padding_data=None,
    levels=None,
    *,
    padding_trainable: bool = False,
    context_length: int,
    context_start: int = 0,
    context_stride: int = 1,
):
    """The rows around each row side by side, times `filter`.

    What lies outside of the sequence is of `padding_data`, or zero.
    """
    check_windows(x, filter, padding_data, context_length, context_start, context_stride)
    around = context_length, context_start
    side = rows_at(x, picked("window", levels, numbers=around))
    if padding_trainable and padding_data is not None:
        side = side + rows_at(padding_data, picked("padding", levels, numbers=around))
    return matmul(reshape(side, shape=(0, -1)), filter)


@sequence_conv.grad("x", "filter", "padding_data")
def sequence_conv_grad(
    x: Any,
    filter: Any,
    padding_data: Any,
    levels: Any,
    dout: Any,
    padding_trainable: bool,
    context_length: int,
    context_start: int,
) -> Any:
    around = context_length, context_start
    rows = picked("window", levels, numbers=around)
    side, padded = rows_at(x, rows), padding_trainable and padding_data is not None
    outside = picked("padding", levels, numbers=around) if padded else None
    if padded:
        side = side + rows_at(padding_data, outside)
    dside = reshape_like(matmul(dout, filter, transpose_y=True), side)
    dfilter = matmul(reshape(side, shape=(0, -1)), dout, transpose_x=True)
    dpadding = rows_into(dside, outside, padding_data) if padded else None
    return rows_into(dside, rows, x), dfilter, dpadding


def check_windows(x: Any, filter: Any, padding: Any, length: int, start: int, stride: int) -> None:
    """Refuse operands of a convolution that do not go together."""
    if stride != 1 or length < 1:
        raise ArgumentError(f"windows of {length} rows with a stride of {stride}, which is to be 1")
    given = {"x": x, "filter": filter, "padding_data": padding}
    for name, v in given.items():
        if v is not None and len(v.shape) != 2:
            raise ShapeError(f"{name} has {len(v.shape)} axes, 2 are needed")
    if x.shape[1] != -1:
        agree(filter.shape[0], length * x.shape[1], "filter has {} rows, and windows {} elements")
    if padding is not None:
        outside = max(-start, 0) + max(start + length - 1, 0)
        agree(padding.shape[0], outside, "padding_data has {} rows, and {} may lie outside")


@composite(
    fixed={"@ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@": True},
    **OF_X,
)
def sequence_enumerate(x, levels=None, *, win_size: int, pad_value: int = 0):
    """Each number with those behind it in its sequence, `pad_value` where there are none."""
    if not meta_of(x).dtype.is_integer:
        raise DtypeError(f"x is {meta_of(x).dtype.name}, not of integers")
    if win_size < 1:
        raise ArgumentError(f"win_size is {win_size}, not above 0")
    rows = picked("window", levels, numbers=(win_size, 0))
    found = reshape(rows_at(x, rows), shape=(0, -1))
    return where(rows < 0, found * 0 + pad_value, found)


@composite(**OF_X)
def sequence_erase(x, levels=None, *, tokens: Ints = ()):
    """The numbers that are none of `tokens`."""
    if not meta_of(x).dtype.is_integer:
        raise DtypeError(f"x is {meta_of(x).dtype.name}, not of integers")
    return rows_at(x, picked("erase", levels, x, numbers=tokens))


# ---- padding ----


@composite(outputs=("out", "length"), infer_first=True, **OF_X)
def sequence_pad(x, pad_value, levels=None, *, padded_length: int = -1):
    """The sequences one above the other, filled up with `pad_value`; and how long they are."""
    rows = picked("pad", levels, numbers=(padded_length,))
    there = reshape(rows >= 0, shape=(0, 0) + (1,) * (len(x.shape) - 1))
    lengths = reduce_sum(cast(rows >= 0, out_dtype=int64), axis=(1,))
    return where(there, rows_at(x, rows), pad_value), lengths


@sequence_pad.grad("x")
def sequence_pad_grad(
    x_meta: Any, levels: Any, dout: Any, padded_length: int, dlength: Any = None
) -> Any:
    return rows_into(dout, picked("pad", levels, numbers=(padded_length,)), x_meta)


@composite(slots={"levels": "Out@LOD"}, unsaid=("Out@LOD",))
def sequence_unpad(x, length, levels=None):
    """The rows of all sequences one behind the other, without what lies behind their `length`."""
    return gather_nd(x, picked("unpad", length))


@sequence_unpad.grad("x")
def sequence_unpad_grad(x_meta: Any, length: Any, levels: Any, dout: Any) -> Any:
    """The reference's Programs tell lengths by the levels of the result alone."""
    places = picked("steps", levels) if length is None else picked("unpad", length)
    return scatter_nd_add(full_like(x_meta), places, dout)


@composite(slots={"sizes": "Y"}, attrs={"kernel_sizes": "kernels"})
def im2sequence(
    x,
    sizes=None,
    *,
    kernel_sizes: Ints,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0, 0, 0),
    out_stride: Ints = (1, 1),
):
    """A row for each window of each image, image by image."""
    if sizes is not None:
        raise UnsupportedError("images of several sizes in one tensor are not cut into windows")
    attrs = {"kernel_sizes": kernel_sizes, "strides": strides, "paddings": paddings}
    columns = transpose(unfold(x, dilations=(1, 1), **attrs), perm=(0, 2, 1))
    return flatten(columns, start_axis=0, stop_axis=1)


@composite(
    outputs=("output", "output_length"),
    hidden=("output_length",),
    slots={"levels": "Input@LOD"},
    unsaid=("Input@LOD", "OutputLength"),
)
def ctc_align(
    input,
    input_length=None,
    levels=None,
    *,
    blank: int = 0,
    merge_repeated: bool = True,
    padding_value: int = 0,
):
    """The numbers of each sequence without `blank`s, and without those like the one before."""
    if input_length is not None:
        raise UnsupportedError("ctc_align takes sequences by levels of detail, not padded ones")
    return rows_at(input, picked("align", levels, input, numbers=(blank, merge_repeated))), None


for operator in (sequence_enumerate, sequence_erase, ctc_align):
    operator.no_grad("numbers carry none")
