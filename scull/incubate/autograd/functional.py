"""Derivatives of functions of tensors, in eager mode and in Programs."""

from collections.abc import Callable
from typing import Any

from scull.autograd.matrix import Matrix, derivative, zeros_like
from scull.core.op import op_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, TapeError
from scull.incubate.autograd.utils import as_tensors
from scull.ir.variable import Variable


def separated(value: Any, name: str) -> list[Any]:
    """Copies of `value` on which nothing else depends, as a list; they want gradients."""
    found = as_tensors(value)
    if not isinstance(found, tuple) or not all(isinstance(x, Tensor | Variable) for x in found):
        raise ArgumentTypeError(f"`{name}` takes a Tensor or a sequence of Tensors")
    copies = [op_of("assign").call(x) for x in found]
    for x in copies:
        x.stop_gradient = False
    return copies


def called(func: Callable, xs: Any) -> tuple[list[Any], Any]:
    """Copies of `xs`, and what `func` makes of them."""
    if not callable(func):
        raise ArgumentTypeError(f"`func` is called, and a {type(func).__name__} cannot be")
    copies = separated(xs, "xs")
    return copies, func(*copies)


def directions(v: Any, refs: tuple) -> list[Any] | None:
    """Copies of the tensors `v`, which have the shapes of `refs`."""
    if v is None:
        return None
    found = separated(v, "v")
    if len(found) != len(refs):
        raise TapeError(f"`v` has {len(found)} tensors, and {len(refs)} are needed")
    for i, (given, ref) in enumerate(zip(found, refs, strict=True)):
        if list(given.shape) != list(ref.shape):
            raise TapeError(
                f"v[{i}] has shape {list(given.shape)}, and {list(ref.shape)} is needed"
            )
    return found


def like(found: list[Any], given: Any) -> Any:
    """One tensor where `given` is one, else a tuple."""
    return tuple(found) if isinstance(given, list | tuple) else found[0]


def forward(ys: list[Any], xs: list[Any], v: list[Any] | None) -> list[Any]:
    """How `ys` change with `xs`: the gradient is linear in that of `ys`, so its gradient is it."""
    dys = [zeros_like(y) for y in ys]
    for dy in dys:
        dy.stop_gradient = False
    return derivative(derivative(ys, xs, dys), dys, v)


def vjp(func: Callable, xs: Any, v: Any = None) -> tuple[Any, Any]:
    """The value of `func`, and the product of `v` with its Jacobian.

    Args:
        func (callable): takes the tensors `xs`, returns a tensor or a sequence of them.
        xs (Tensor | sequence[Tensor]): where the derivative is taken.
        v (Tensor | sequence[Tensor], optional): of the shapes of the results; ones when None.

    Returns:
        tuple: what `func` returned, and a tensor an entry of `xs`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.vjp(lambda x: x * x, x)[1].tolist()
        [2.0, 4.0]
    """
    copies, ys = called(func, xs)
    results = as_tensors(ys)
    return ys, like(derivative(results, copies, directions(v, results)), xs)


def jvp(func: Callable, xs: Any, v: Any = None) -> tuple[Any, Any]:
    """The value of `func`, and the product of its Jacobian with `v`.

    Args:
        func (callable): takes the tensors `xs`, returns a tensor or a sequence of them.
        xs (Tensor | sequence[Tensor]): where the derivative is taken.
        v (Tensor | sequence[Tensor], optional): of the shapes of `xs`; ones when None.

    Returns:
        tuple: what `func` returned, and a tensor a result.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.jvp(lambda x: x.sum(), x)[1].item()
        2.0
    """
    copies, ys = called(func, xs)
    return ys, like(forward(list(as_tensors(ys)), copies, directions(v, tuple(copies))), ys)


class MatrixOfFunction(Matrix):
    """A matrix of derivatives of a function, whose sizes are a tuple."""

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The sizes of the matrix."""
        return tuple(self.full)


class Jacobian(MatrixOfFunction):
    """The Jacobian of `func` at `xs`, with all arguments and all results each in one line.

    Args:
        func (callable): takes the tensors `xs`, returns a tensor or a sequence of them.
        xs (Tensor | sequence[Tensor]): where the derivative is taken.
        is_batched (bool): whether the first axis of all of them is that of a batch.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.Jacobian(lambda x: x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """

    def __init__(self, func: Callable, xs: Any, is_batched: bool = False) -> None:
        copies, ys = called(func, xs)
        super().__init__(list(as_tensors(ys)), copies, is_batched)


class Hessian(MatrixOfFunction):
    """The second derivatives of `func`, which returns one element, at `xs`.

    Args:
        func (callable): takes the tensors `xs`, returns one element, or one an entry of the batch.
        xs (Tensor | sequence[Tensor]): where the derivative is taken.
        is_batched (bool): whether the first axis of all of them is that of a batch.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.Hessian(lambda x: (x * x * x).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(self, func: Callable, xs: Any, is_batched: bool = False) -> None:
        copies, ys = called(func, xs)
        first = Matrix(list(as_tensors(ys)), copies, is_batched)
        if first.full[int(is_batched)] != 1:
            raise TapeError(
                f"`func` returned {first.full[int(is_batched)]} elements; a Hessian is that of one"
            )
        super().__init__([first.row(0)], copies, is_batched)
