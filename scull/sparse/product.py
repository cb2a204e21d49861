"""Products with sparse matrices: sums over the stored elements of each row, and their gradients.

The two layers are each other's gradients, so that there are gradients of any order.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scull.autograd.layer import PyLayer
from scull.core.tensor import Tensor
from scull.ops.half import is_half
from scull.sparse.place import picked

DENSE = 16  # where more than one element in so many is stored, all are computed with
FEW = 64  # rows that are summed one by one
BLOCK = 1 << 14  # pairs of rows that are multiplied at once


@dataclass(frozen=True)
class Pattern:
    """Where matrices, one below another, store elements; the rows rise.

    Rows and columns are counted through all matrices, of which there are `count`.
    """

    rows: Any
    columns: Any
    heights: tuple[int, int]  # of all rows, and of all columns
    count: int

    @cached_property
    def order(self) -> Any:
        """The order in which columns rise."""
        return self.columns.argsort(kind="stable")

    @cached_property
    def turned(self) -> "Pattern":
        """The pattern of the transposed matrices."""
        order = self.order
        return Pattern(self.columns[order], self.rows[order], self.heights[::-1], self.count)

    @property
    def is_dense(self) -> bool:
        """Whether so much is stored that whole matrices take less time."""
        m, n = self.heights
        return m * n <= DENSE * len(self.rows) * max(1, self.count)

    @property
    def width(self) -> int:
        """How many columns one matrix has."""
        return max(1, self.heights[1] // max(1, self.count))

    @cached_property
    def numbers(self) -> Any:
        """Where each element stands among all of the matrices."""
        return self.rows * self.width + self.columns % self.width

    def apart(self, x: Any) -> Any:
        """Rows of all matrices as those of each."""
        return x.reshape(self.count, -1, x.shape[-1])


def wide(x: Tensor) -> Any:
    """The elements of a tensor to compute with: those of half precision as float32."""
    return x.array.astype("float32") if is_half(x.array) else x.array


def narrowed(array: Any, like: Tensor) -> Tensor:
    """What was computed as elements of the type of a tensor."""
    return Tensor(array.astype(like.array.dtype, copy=False))


def summed(pattern: Pattern, values: Any, y: Any) -> Any:
    """The product of the matrices and the rows of `y`."""
    out = np.zeros((pattern.heights[0], y.shape[1]), y.dtype)
    if pattern.is_dense and len(values):
        whole = np.zeros(len(out) * pattern.width, y.dtype)
        np.add.at(whole, pattern.numbers, values)
        whole = whole.reshape(pattern.count, -1, pattern.width)
        return np.matmul(whole, pattern.apart(y)).reshape(out.shape)
    counts = np.bincount(pattern.rows, minlength=len(out))
    order = (-counts).argsort(kind="stable")
    starts, counts = (np.cumsum(counts) - counts)[order], counts[order]
    total, step, active = np.zeros_like(out), 0, np.count_nonzero(counts)
    while active >= FEW:  # the next element of every row that has one
        at = starts[:active] + step
        total[:active] += y[pattern.columns[at]] * values[at, None]
        step += 1
        active = int(np.searchsorted(-counts, -step))
    for row in range(active):
        rest = slice(starts[row] + step, starts[row] + counts[row])
        total[row] += values[rest] @ y[pattern.columns[rest]]
    out[order] = total
    return out


def sampled(pattern: Pattern, x: Any, y: Any) -> Any:
    """The products of rows of `x` and of `y` that meet in the stored elements."""
    if pattern.is_dense and len(pattern.rows):
        whole = pattern.apart(x) @ pattern.apart(y).swapaxes(1, 2)
        return whole.reshape(-1)[pattern.numbers]
    found = np.empty(len(pattern.rows), x.dtype)
    for begin in range(0, len(found), BLOCK):
        part = slice(begin, begin + BLOCK)
        left, right = x[pattern.rows[part]], y[pattern.columns[part]]
        found[part] = np.einsum("ij,ij->i", left, right)
    return found


class Summed(PyLayer):
    """Sparse matrices of `values` times the rows of `y`."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, y: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(values, y)
        ctx.pattern = pattern
        return narrowed(summed(pattern, wide(values), wide(y)), y)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        values, y = ctx.saved_tensor()
        dvalues = None if values.node is None else Sampled.apply(dout, y, ctx.pattern)
        return dvalues, across(ctx.pattern, y, values, dout)


class Sampled(PyLayer):
    """The products of rows of `x` and of `y` where elements are stored."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(x, y)
        ctx.pattern = pattern
        return narrowed(sampled(pattern, wide(x), wide(y)), x)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, y = ctx.saved_tensor()
        dx = None if x.node is None else Summed.apply(dout, y, ctx.pattern)
        return dx, across(ctx.pattern, y, dout, x)


def across(pattern: Pattern, y: Tensor, values: Tensor, dout: Tensor) -> Any:
    """The gradient of `y`, the product with the transposed matrices, if one is wanted."""
    if y.node is None:
        return None
    return Summed.apply(picked(values, pattern.order), dout, pattern.turned)
