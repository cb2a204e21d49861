"""Samples of rows combined by groups."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, bf16, call, f32, f64, fails, i64, samples

IDS = array([0, 1, 1, 3], "int64")
PLACES = {"SUM": np.sum, "MEAN": np.mean, "MAX": np.max, "MIN": np.min}


def combined(x: Any, groups: Any, rows: int, reduction: str) -> tuple[Any, Any]:
    out, groups = np.zeros((rows, *x.shape[1:])), groups.reshape(-1)
    for row in set(groups.tolist()):
        out[row] = PLACES[reduction](x[groups == row], axis=0)
    return out, np.bincount(groups, minlength=rows)


def pooled(x: Any, ids: Any, *, pooltype: str = "SUM") -> Any:
    out, counts = combined(x, ids, int(ids.max()) + 1, pooltype)
    return out, counts.reshape(-1, 1)


@samples("segment_pool", reference=pooled)
def segment_pool_samples():
    for pooltype in PLACES:
        yield call(f32(4, 3), IDS, pooltype=pooltype)
    yield call(f64(4), IDS[:, None], pooltype="MEAN")
    yield call(f64(4, 2, 2), IDS.astype("int32"), pooltype="MAX")
    yield call(bf16(4, 2), IDS, pooltype="MEAN", grad=False)
    yield call(i64(4, 2), IDS)
    yield call(f32(4, 0), IDS)
    falling = array([1, 0], "int64")
    law = "segment_ids do not rise from 0 on"
    yield fails(RangeError, law, f32(2, 3), falling, by_value=True)
    yield fails(ShapeError, "there is no segment", f32(0, 3), i64(0), by_value=True)
    yield fails(ShapeError, "x has 4 rows and segment_ids 3", f32(4, 3), i64(3))
    yield fails(ArgumentError, "pooltype is 'PROD', not SUM, ", f32(4, 3), IDS, pooltype="PROD")
    yield fails(DtypeError, "not of integers", f32(4, 3), f32(4))


SRC, DST = array([0, 1, 2, 0], "int64"), array([1, 2, 2, 0], "int64")


def rows_of(x: Any, tensor: Any, out_size: Any) -> int:
    number = int(tensor.item()) if tensor is not None else out_size[0]
    return number if number > 0 else len(x)


def sent(x, src, dst, tensor=None, *, reduce_op="SUM", out_size=(0,)):
    return combined(x[src.reshape(-1)], dst, rows_of(x, tensor, out_size), reduce_op)


@samples("send_u_recv", reference=sent)
def send_u_recv_samples():
    for reduce_op in PLACES:
        yield call(f32(4, 3), SRC, DST, reduce_op=reduce_op)
    yield call(f64(4), SRC[:, None], DST[:, None], out_size=(6,))
    yield call(f32(4, 3), SRC, DST, array([3], "int32"), unknown_sizes=False, grad=("x",))
    yield call(f32(4, 3), i64(0), i64(0))
    law = "index 2 is outside [0, 2)"
    yield fails(RangeError, law, f32(4, 3), SRC, DST, out_size=(2,), by_value=True)
    yield fails(RangeError, "index 2 is outside [0, 2)", f32(2, 3), SRC, DST, by_value=True)
    law = "src_index has 4 edges and dst_index 3"
    yield fails(ShapeError, law, f32(4, 3), SRC, i64(3))
    yield fails(ArgumentError, "reduce_op is 'PROD'", f32(4, 3), SRC, DST, reduce_op="PROD")
    yield fails(ShapeError, "out_size is one number", f32(4, 3), SRC, DST, out_size=(1, 2))


def message(x, y, message_op):
    ndim = max(x.ndim, y.ndim)
    x, y = (v.reshape(len(v), *(1,) * (ndim - v.ndim), *v.shape[1:]) for v in (x, y))
    return x + y if message_op == "ADD" else x * y


def joined(x, y, src, dst, tensor=None, *, message_op="ADD", reduce_op="SUM", out_size=(0,)):
    rows = rows_of(x, tensor, out_size)
    return combined(message(x[src], y, message_op), dst, rows, reduce_op)


@samples("send_ue_recv", reference=joined)
def send_ue_recv_samples():
    for reduce_op in PLACES:
        how = {"message_op": "MUL", "reduce_op": reduce_op}
        yield call(f32(4, 3), f32(4, 1), SRC, DST, **how)
        yield call(f64(4, 1), f64(4, 2, 3), SRC, DST, reduce_op=reduce_op, out_size=(3,))
    yield call(f32(4, 3), f32(4), SRC, DST)
    law = "y has 3 rows and there are 4 edges"
    yield fails(ShapeError, law, f32(4, 3), f32(3, 3), SRC, DST)
    law = "message_op is 'SUB', not ADD, MUL"
    yield fails(ArgumentError, law, f32(4, 3), f32(4, 3), SRC, DST, message_op="SUB")
    yield fails(ShapeError, "do not broadcast", f32(4, 3), f32(4, 2), SRC, DST)


@samples(
    "send_uv",
    reference=lambda x, y, src, dst, *, message_op="ADD": message(x[src], y[dst], message_op),
)
def send_uv_samples():
    yield call(f32(4, 3), f32(3, 3), SRC, DST)
    yield call(f64(4, 1), f64(3, 2), SRC, DST, message_op="MUL")
    yield call(f32(4), f32(3, 2), SRC, DST, message_op="MUL")
    yield fails(ArgumentError, "message_op is 'SUB'", f32(4), f32(4), SRC, DST, message_op="SUB")
    yield fails(ShapeError, "src_index has 4 edges", f32(4), f32(4), SRC, i64(2))
