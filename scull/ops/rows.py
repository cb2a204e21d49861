"""Row-sparse matrices: their rows merged, and taken as a matrix of their own."""

from typing import Any

from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Kind, Meta
from scull.core.op import meta_of
from scull.core.tensor import Rows
from scull.errors import ArgumentTypeError


def row_sparse(x: Meta) -> None:
    """Refuse a tensor that is not row-sparse."""
    if x.kind is not Kind.ROWS:
        raise ArgumentTypeError(f"x is {x}, which is not row-sparse")


@primitive
def merge_selected_rows(x: Meta) -> Meta:
    """The same matrix with each row at most once, in rising order."""
    row_sparse(x)
    return x


@primitive
def get_tensor_from_selected_rows(x: Meta) -> Meta:
    """The rows that are stored, in their order."""
    row_sparse(x)
    return Meta((UNKNOWN, *x.shape[1:]) if x.shape else (), x.dtype)


@merge_selected_rows.kernel(rows=True)
def merge_rows(xp: Any, x: Rows, *, out: Any = None) -> Rows:
    return x.merged()


@get_tensor_from_selected_rows.kernel(rows=True)
def stored_rows(xp: Any, x: Rows, *, out: Any = None) -> Any:
    return x.values.copy()


def dense_refused(xp: Any, x: Any, *, out: Any = None) -> None:
    """Every row of a dense matrix is stored, once."""
    row_sparse(meta_of(x))


for declared in (merge_selected_rows, get_tensor_from_selected_rows):
    declared.kernel(dense_refused)
    declared.no_grad("it is applied to gradients")
    declared.no_lowering("how many rows are stored is known only when run")
