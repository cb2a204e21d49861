"""Operators of older Programs whose work is done under other types today."""

import math
from typing import Any

from scull.core.attribute import Ints, Long, Longs, Strings
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree
from scull.errors import ArgumentError, RangeError, ShapeError
from scull.ops.create import scale
from scull.ops.index import embedding, embedding_at, embedding_kernel, scatter_rows
from scull.ops.like import reshape_like, squeeze
from scull.ops.move import (
    flat_at,
    flip,
    flip_at,
    flip_kernel,
    inverse,
    reshape,
    reshape_kernel,
    transpose,
    transpose_at,
)

MKLDNN = {"mkldnn_data_type": "float32", "use_mkldnn": False}


@primitive(
    type="reshape",
    fixed={"use_mkldnn": False},
    printed=("use_mkldnn",),
    slots={"shape_tensor": "Shape", "shape_tensor_list": "ShapeTensor"},
    views={"out": "x"},
)
def plain_reshape(
    x: Meta,
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Ints = (),
) -> Meta:
    """`reshape` that leaves no record of the old shape."""
    return reshape.op.body(x, shape_tensor, shape_tensor_list, shape=shape)


plain_reshape.kernel(reshape_kernel)
plain_reshape.lower(flat_at)


@plain_reshape.grad
def plain_reshape_grad(
    x_meta: Any, shape_tensor_meta: Any, shape_tensor_list_meta: Any, out_meta: Any, dout: Any
) -> Any:
    return reshape_like(dout, x_meta), None, None


@primitive(
    type="transpose",
    attrs={"perm": "axis"},
    fixed={"data_format": "AnyLayout", **MKLDNN},
    printed=tuple(MKLDNN),
    views={"out": "x"},
)
def plain_transpose(x: Meta, *, perm: Ints) -> Meta:
    """`transpose` that leaves no record of the old shape."""
    return transpose.op.body(x, perm=perm)


plain_transpose.kernel(lambda xp, x, *, out=None, perm: x.transpose(perm))
plain_transpose.lower(transpose_at)


@plain_transpose.grad
def plain_transpose_grad(x_meta: Any, out_meta: Any, dout: Any, perm: Any) -> Any:
    return plain_transpose(dout, perm=inverse(perm))


@primitive(type="flatten2", fixed=MKLDNN, printed=tuple(MKLDNN), xshape="x", views={"out": "x"})
def as_matrix(x: Meta, *, axis: int = 1) -> Meta:
    """`x` as a matrix: the axes before `axis` make its rows, the others its columns."""
    return x.with_shape(two_sizes(x.shape, axis))


def two_sizes(shape: tuple[int, ...], axis: int) -> tuple[int, int]:
    """The products of the sizes before `axis` and of those from it on."""
    if not 0 <= axis <= len(shape):
        raise RangeError(f"axis {axis} is outside [0, {len(shape)}] of {len(shape)} axes")
    parts = shape[:axis], shape[axis:]
    rows, columns = (UNKNOWN if -1 in sizes else math.prod(sizes) for sizes in parts)
    return rows, columns


as_matrix.kernel(lambda xp, x, *, out=None, axis: x.reshape(two_sizes(x.shape, axis)))
as_matrix.grad(lambda x_meta, dout: reshape_like(dout, x_meta))
as_matrix.lower(flat_at)


@primitive(inline_gradient=True, infer_first=True)
def minus(x: Meta, y: Meta) -> Meta:
    """``x - y`` of tensors of one shape."""
    if x.ndim != y.ndim:
        raise ShapeError(f"x has {x.ndim} axes and y {y.ndim}")
    for i, (n, m) in enumerate(zip(x.shape, y.shape, strict=True)):
        agree(n, m, f"x has {{}} elements along axis {i}, y has {{}}")
    return x


minus.kernel(lambda xp, x, y, *, out=None: xp.subtract(x, y, out=out))
minus.grad("x")(lambda dout: scale(dout))
minus.grad("y")(lambda dout: scale(dout, scale=-1.0))
minus.lower(lambda index, x, y: x[index] - y[index])


@primitive(inline_gradient=True)
def reverse(x: Meta, *, axis: Ints) -> Meta:
    """`x` in reverse order along `axis`."""
    return flip.op.body(x, axis=axis)


reverse.kernel(flip_kernel)
reverse.grad(lambda dout, axis: reverse(dout, axis=axis))
reverse.lower(flip_at)


@primitive(
    fixed={"entry": "none", "entry_config": "", "is_test": False, "table_class": "none"},
    infer_first=True,
)
def lookup_table(
    w: Meta,
    ids: Meta,
    *,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: Long = -1,
    remote_prefetch: bool = False,
    trainer_id: int = 0,
    slot: int = 0,
    grad_inplace: bool = False,
    table_names: Strings = (),
    epmap: Strings = (),
    height_sections: Longs = (),
) -> Meta:
    """The rows of `w` named by `ids`, whose last axis is of size 1; `padding_idx` gives zeros."""
    if not ids.ndim or ids.shape[-1] not in (1, -1):
        raise ShapeError(f"the last axis of ids, {ids}, is not of size 1")
    return embedding.op.body(ids.with_shape(ids.shape[:-1]), w)


@lookup_table.kernel
def lookup_table_kernel(
    xp: Any, w: Any, ids: Any, *, out: Any = None, padding_idx: int, **_: Any
) -> Any:
    return embedding_kernel(xp, ids.reshape(ids.shape[:-1]), w, out=out, padding_idx=padding_idx)


@lookup_table.grad("w")
def lookup_table_grad(w_meta: Any, ids: Any, dout: Any, padding_idx: int, is_sparse: bool) -> Any:
    rows = squeeze(ids, axes=(-1,))
    return scatter_rows(dout, rows, w_meta, padding_idx=padding_idx, is_sparse=is_sparse)


@lookup_table.lower
def lookup_table_at(index: Any, w: Any, ids: Any, padding_idx: int, **_: Any) -> Any:
    return embedding_at((*index[:-1], 0, index[-1]), ids, w, padding_idx)


@primitive(views={"out": "x"}, infer_first=True)
def lod_reset(x: Meta, y: Meta = None, *, target_lod: Ints = (), append: bool = False) -> Meta:
    """`x` as it is: rows have no levels of detail while a Program runs."""
    if y is None and not target_lod:
        raise ArgumentError("neither y nor target_lod says where sequences begin")
    return x


lod_reset.kernel(lambda xp, x, y=None, *, out=None, target_lod, append: x)
lod_reset.grad("x")(lambda x_meta, dout: scale(dout))
lod_reset.lower(lambda index, x, y, target_lod, append: x[index])
