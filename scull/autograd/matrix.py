"""Jacobian and Hessian matrices of what was computed, in rows evaluated when asked for."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from scull.autograd.interface import grad
from scull.autograd.program import gradients
from scull.core.op import op_of
from scull.errors import ArgumentError, RangeError
from scull.ir.variable import Variable

WHOLE = slice(None)


def derivative(ys: Any, xs: list[Any], v: Any = None) -> list[Any]:
    """The gradients of `ys` by each of `xs`, which can be differentiated again; zeros for none."""
    if isinstance(xs[0], Variable):
        found: Any = gradients(list(ys), xs, v)
    else:
        found = grad(list(ys), xs, v, create_graph=True, allow_unused=True)
    return [zeros_like(x) if g is None else g for x, g in zip(xs, found, strict=True)]


def zeros_like(x: Any) -> Any:
    """Zeros of the shape and element type of `x`, which want a gradient where it does."""
    made = op_of("fill_any_like").call(x, value=0.0, dtype=x.dtype)
    made.stop_gradient = x.stop_gradient
    return made


def flat(tensors: Sequence[Any], batched: bool) -> Any:
    """All elements of `tensors` in line, or in a line an entry of the batch."""
    lines = [t.reshape([0, -1] if batched else [-1]) for t in tensors]
    return lines[0] if len(lines) == 1 else op_of("concat").call(lines, axis=int(batched))


def part(x: Any, index: list[Any]) -> Any:
    """`x[index]`, and `x` itself where all of it is meant."""
    return x if all(i == WHOLE for i in index) else x[tuple(index)]


class Matrix:
    """The derivatives of `ys` by `xs`: [rows, columns], or [batch, rows, columns].

    The axes `dropped` have one element and are not shown.
    """

    def __init__(
        self, ys: list[Any], xs: list[Any], batched: bool = False, dropped: Sequence[int] = ()
    ) -> None:
        self.ys, self.xs, self.batched, self.dropped = flat(ys, batched), xs, batched, dropped
        columns = sum(math.prod(x.shape[int(batched) :]) for x in xs)
        self.full = [*self.ys.shape, columns]
        self.rows: dict[int, Any] = {}

    @property
    def shape(self) -> list[int]:
        """The sizes of the matrix."""
        return [n for i, n in enumerate(self.full) if i not in self.dropped]

    def row(self, i: int) -> Any:
        """One row: the derivatives of one element of `ys`, or of one in each entry of a batch."""
        count = self.full[int(self.batched)]
        if not -count <= i < count:
            raise RangeError(f"row {i} is outside [0, {count})")
        i %= count
        if i not in self.rows:
            y = self.ys[:, i] if self.batched else self.ys[i]
            self.rows[i] = flat(derivative([y], self.xs), self.batched)
        return self.rows[i]

    def __getitem__(self, index: Any) -> Any:
        given = list(index) if isinstance(index, tuple | list) else [index]
        if any(i is Ellipsis for i in given):
            raise RangeError("Ellipsis index currently is not supported")
        if len(given) > len(self.shape):
            raise RangeError(f"{len(given)} indices for a matrix of shape {self.shape}")
        given += [WHOLE] * (len(self.shape) - len(given))
        for axis in sorted(self.dropped):
            given.insert(axis, 0)
        return self.taken(given)

    def taken(self, index: list[Any]) -> Any:
        """What stands at `index`, which has an entry for every axis."""
        axis = int(self.batched)
        chosen = index[axis]
        if isinstance(chosen, int):
            return part(self.row(chosen), index[:axis] + index[axis + 1 :])
        rows = [self.row(i) for i in range(*chosen.indices(self.full[axis]))]
        return part(
            op_of("stack").call(rows, axis=axis), [*index[:axis], WHOLE, *index[axis + 1 :]]
        )

    def whole(self) -> Any:
        """The matrix as one tensor."""
        index: list[Any] = [WHOLE] * len(self.full)
        for axis in self.dropped:
            index[axis] = 0
        return self.taken(index)


def matrix_operator(operation: Callable[[Any, Any], Any]) -> Any:
    """`operation` on whole matrices."""

    def apply(self: Any, other: Any) -> Any:
        return operation(self.whole(), other.whole() if isinstance(other, Matrix) else other)

    return apply


class Jacobian(Matrix):
    """The derivatives of `ys` by `xs`; an index evaluates the rows it names, each of them once.

    Everything else a tensor has is that of the whole matrix.

    Args:
        ys (Tensor): one axis at most, and that of the batch.
        xs (Tensor): one axis at most, and that of the batch.
        is_batched (bool): whether the first axis is that of a batch.
    """

    def __init__(self, ys: Any, xs: Any, is_batched: bool = False) -> None:
        least = int(is_batched)
        for name, t in (("xs", xs), ("ys", ys)):
            if not least <= len(t.shape) <= least + 1:
                raise ArgumentError(
                    f"{name}.ndim should be {least} or {least + 1} when is_batched={is_batched}, "
                    f"but got {len(t.shape)}"
                )
        dropped = [least + i for i, t in enumerate((ys, xs)) if len(t.shape) == least]
        super().__init__([ys], [xs], is_batched, dropped)

    def __getitem__(self, index: Any) -> Any:
        if not self.shape:
            raise RangeError("0-D tensor can not be indexed.")
        return super().__getitem__(index)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("full", "rows"):
            raise AttributeError(name)
        return getattr(self.whole(), name)

    __hash__ = object.__hash__
    __add__ = matrix_operator(operator.add)
    __sub__ = matrix_operator(operator.sub)
    __mul__ = matrix_operator(operator.mul)
    __truediv__ = __div__ = matrix_operator(operator.truediv)
    __floordiv__ = matrix_operator(operator.floordiv)
    __mod__ = matrix_operator(operator.mod)
    __pow__ = matrix_operator(operator.pow)
    __matmul__ = matrix_operator(operator.matmul)
    __eq__ = matrix_operator(operator.eq)
    __ne__ = matrix_operator(operator.ne)
    __lt__ = matrix_operator(operator.lt)
    __le__ = matrix_operator(operator.le)
    __gt__ = matrix_operator(operator.gt)
    __ge__ = matrix_operator(operator.ge)


class Hessian(Jacobian):
    """The second derivatives of one element: the Jacobian of its gradient."""


def batch(axis: Any) -> bool:
    """Whether the first axis is that of a batch."""
    if axis is not None and (type(axis) is not int or axis != 0):
        raise ArgumentError(f"batch_axis should be None or 0, but got {axis!r}.")
    return axis is not None


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The Jacobian of `ys`, computed from `xs`; nested tuples of them for sequences.

    Args:
        ys (Tensor | tuple[Tensor]): of shape [M] or [], with a batch [B, M] or [B].
        xs (Tensor | tuple[Tensor]): of shape [N] or [], with a batch [B, N] or [B].
        batch_axis (int, optional): 0 where the first axis is that of a batch.

    Returns:
        Jacobian: of shape [M, N] or [B, M, N], evaluated row by row when indexed.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    batched = batch(batch_axis)
    if isinstance(ys, list | tuple):
        return tuple(jacobian(y, xs, batch_axis) for y in ys)
    if isinstance(xs, list | tuple):
        return tuple(jacobian(ys, x, batch_axis) for x in xs)
    return Jacobian(ys, xs, batched)


def hessian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The second derivatives of `ys`, one element an entry of the batch, by `xs`.

    Args:
        ys (Tensor): one element, with a batch one an entry.
        xs (Tensor | tuple[Tensor]): of shape [N] or [], with a batch [B, N] or [B].
        batch_axis (int, optional): 0 where the first axis is that of a batch.

    Returns:
        Hessian: of shape [N, N] or [B, N, N]; nested tuples of them for several `xs`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    batched = batch(batch_axis)
    if batched and not len(ys.shape):
        raise RangeError("ys has no axis for the batch")
    if math.prod(ys.shape[int(batched) :]) > 1:
        raise ArgumentError(f"only one element can have a Hessian, and ys has shape {ys.shape}")
    ys = ys.reshape([-1] if batched else [])
    several = isinstance(xs, list | tuple)
    first = [Jacobian(ys, x, batched).whole() for x in (xs if several else [xs])]
    found = tuple(
        tuple(Hessian(row, x, batched) for x in (xs if several else [xs])) for row in first
    )
    return found if several else found[0][0]
