"""Transformations made of others."""

from collections.abc import Sequence
from typing import Any

from scull.distribution import variable
from scull.distribution.mapping import Transform, applied, log_det
from scull.distribution.parameter import needs, rightmost_sum
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.tensor.join import stack, unbind
from scull.tensor.size import integer


class ChainTransform(Transform):
    """Transformations one after the other.

    Args:
        transforms (Sequence[Transform]): the first is applied first.

    Raises:
        ArgumentTypeError: they are no sequence, or one of them is no transformation.

    Examples:
        >>> import scull as paddle
        >>> chain = paddle.distribution.ChainTransform([
        ...     paddle.distribution.ExpTransform(),
        ...     paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0))])
        >>> chain.forward(paddle.to_tensor([0.0])).tolist()
        [3.0]
        >>> chain.inverse(paddle.to_tensor([3.0])).tolist()
        [0.0]
    """

    def __init__(self, transforms: Any) -> None:
        self.transforms = listed(transforms)

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(one._is_injective() for one in self.transforms)

    @property
    def _domain(self) -> Any:
        if not self.transforms:
            return variable.real
        ends = self.transforms[-1]._codomain.event_rank
        rank = ends
        for one in reversed(self.transforms):
            rank = max(
                rank + one._domain.event_rank - one._codomain.event_rank, one._domain.event_rank
            )
        own = self.transforms[0]._domain
        return variable.Independent(own, rank - own.event_rank)

    @property
    def _codomain(self) -> Any:
        if not self.transforms:
            return variable.real
        rank = self.transforms[0]._domain.event_rank
        for one in self.transforms:
            rank = max(
                rank + one._codomain.event_rank - one._domain.event_rank, one._codomain.event_rank
            )
        own = self.transforms[-1]._codomain
        return variable.Independent(own, rank - own.event_rank)

    def _forward(self, x: Any) -> Any:
        for one in self.transforms:
            x = one.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for one in reversed(self.transforms):
            y = one.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        rank, total = self._domain.event_rank, 0.0
        for one in self.transforms:
            more = rank - one._domain.event_rank
            total = total + self._sum_rightmost(log_det(one, x), more)
            x = one.forward(x)
            rank += one._codomain.event_rank - one._domain.event_rank
        return total

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        for one in self.transforms:
            shape = one.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        for one in reversed(self.transforms):
            shape = one.inverse_shape(shape)
        return shape

    def _sum_rightmost(self, value: Any, n: int) -> Any:
        """The sums over the last `n` axes."""
        return rightmost_sum(value, n)


@applied.register
def followed(input: Transform, transform: Transform) -> ChainTransform:
    """Both transformations, `input` after `transform`."""
    return ChainTransform([transform, input])


class IndependentTransform(Transform):
    """A transformation whose last axes of the batch are axes of the event.

    Args:
        base (Transform): the transformation of each.
        reinterpreted_batch_rank (int): how many axes, 1 or more.

    Raises:
        ArgumentError: there is no such number of axes.
        ArgumentTypeError: `base` is no transformation.

    Examples:
        >>> import scull as paddle
        >>> exp = paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1)
        >>> exp.forward_log_det_jacobian(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [3.0, 7.0]
    """

    def __init__(self, base: Any, reinterpreted_batch_rank: int) -> None:
        needs((Transform,), "a Transform", base=base)
        rank = integer(reinterpreted_batch_rank, "reinterpreted_batch_rank")
        if rank <= 0:
            raise ArgumentError(f"`reinterpreted_batch_rank` is {rank}, not above 0")
        self._base, self._reinterpreted_batch_rank = base, rank

    def _is_injective(self) -> bool:  # type: ignore[override]
        return bool(self._base._is_injective())

    @property
    def _domain(self) -> Any:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> Any:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return rightmost_sum(log_det(self._base, x), self._reinterpreted_batch_rank)

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self._base.inverse_shape(shape)


class StackTransform(Transform):
    """Transformations side by side, one for each place of an axis.

    Args:
        transforms (Sequence[Transform]): one for each place.
        axis (int): the axis.

    Raises:
        ArgumentTypeError: they are no sequence, there is none, or one of them is no transformation.

    Examples:
        >>> import scull as paddle
        >>> both = paddle.distribution.StackTransform(
        ...     [paddle.distribution.ExpTransform(), paddle.distribution.TanhTransform()], 1)
        >>> both.forward(paddle.to_tensor([[0.0, 0.0], [0.0, 0.0]])).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, transforms: Any, axis: int = 0) -> None:
        needs((int,), "an integer", axis=axis)
        if not listed(transforms):
            raise ArgumentTypeError("`transforms` holds one for each place, and is empty")
        self._transforms, self._axis = transforms, axis

    @property
    def transforms(self) -> Any:
        """The transformations."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The axis."""
        return self._axis

    def _is_injective(self) -> bool:  # type: ignore[override]
        return all(one._is_injective() for one in self._transforms)

    @property
    def _domain(self) -> Any:
        return variable.Stack([one._domain for one in self._transforms], self._axis)

    @property
    def _codomain(self) -> Any:
        return variable.Stack([one._codomain for one in self._transforms], self._axis)

    def _forward(self, x: Any) -> Any:
        return self.places(x, lambda one, part: one.forward(part))

    def _inverse(self, y: Any) -> Any:
        return self.places(y, lambda one, part: one.inverse(part))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self.places(x, log_det)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self.places(y, lambda one, part: log_det(one, one.inverse(part)))

    def places(self, x: Any, made: Any) -> Any:
        """What `made` gives for each place, side by side."""
        axis = self.axis_of(x.shape)
        if x.shape[axis] != len(self._transforms):
            raise ShapeError(
                f"axis {axis} of {list(x.shape)} is not of size {len(self._transforms)},"
                " the number of transforms"
            )
        parts = unbind(x, axis)
        found = [made(one, p) for one, p in zip(self._transforms, parts, strict=True)]
        return stack(found, min(axis, len(found[0].shape)))

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        return self.shape_of_places(shape, "forward_shape")

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self.shape_of_places(shape, "inverse_shape")

    def axis_of(self, shape: Any) -> int:
        """The axis of a shape, from 0 on."""
        if not -len(shape) <= self._axis < len(shape):
            raise ShapeError(f"{list(shape)} has {len(shape)} axes, and this is axis {self._axis}")
        return self._axis % len(shape)

    def shape_of_places(self, shape: tuple[int, ...], way: str) -> tuple[int, ...]:
        """The shape after each place went its way."""
        axis = self.axis_of(shape)
        one = getattr(self._transforms[0], way)(shape[:axis] + shape[axis + 1 :])
        return (*one[:axis], shape[axis], *one[axis:])


def listed(transforms: Any) -> list[Transform]:
    """Some transformations, refused where they are none."""
    needs((Sequence,), "a sequence of Transforms", transforms=transforms)
    found = list(transforms)
    needs((Transform,), "a Transform", **{f"transforms[{i}]": t for i, t in enumerate(found)})
    return found
