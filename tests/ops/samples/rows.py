"""Samples of what is done to row-sparse matrices."""

from scull.errors import ArgumentTypeError
from tests.ops.sample import call, f32, fails, rows, samples


@samples("merge_selected_rows", reference=lambda x: x.merged())
def merge_selected_rows_samples():
    yield call(rows(20, [0, 5, 5, 4, 19], 3))
    yield call(rows(4, [2], 1))
    yield call(rows(4, [], 2))
    yield fails(ArgumentTypeError, "which is not row-sparse", f32(2, 3))


@samples("get_tensor_from_selected_rows", reference=lambda x: x.values)
def get_tensor_from_selected_rows_samples():
    yield call(rows(20, [0, 5, 5, 4, 19], 3))
    yield call(rows(4, [2], 1))
    yield call(rows(4, [], 2))
    yield fails(ArgumentTypeError, "which is not row-sparse", f32(2, 3))
