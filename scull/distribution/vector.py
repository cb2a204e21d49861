"""Transformations of whole events."""

import math
from typing import Any

from scull.distribution import constraint, variable
from scull.distribution.mapping import Transform, Type, zeros_of_events
from scull.distribution.parameter import needs
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.activation import softmax
from scull.ops.shrink import logsigmoid
from scull.tensor.attribute import shape as shape_of
from scull.tensor.creation import ones_like, zeros_like
from scull.tensor.function import exp, log
from scull.tensor.join import concat
from scull.tensor.manipulation import flip, reshape
from scull.tensor.reduction import cumsum
from scull.tensor.reduction import sum as summed
from scull.tensor.size import integers


def event(shape: tuple[int, ...], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape without that of its events, and this."""
    if len(shape) < rank:
        raise ShapeError(f"an event has {rank} axes, and {list(shape)} has {len(shape)}")
    cut = len(shape) - rank
    return shape[:cut], shape[cut:]


class ReshapeTransform(Transform):
    """Events in another shape.

    Args:
        in_event_shape (Sequence[int]): the shape of an event of x.
        out_event_shape (Sequence[int]): the shape of an event of y.

    Raises:
        ArgumentError: they do not hold equally many elements.
        ArgumentTypeError: one of them is no list and no tuple.

    Examples:
        >>> import scull as paddle
        >>> flat = paddle.distribution.ReshapeTransform((2, 3), (6,))
        >>> flat.forward(paddle.ones([4, 2, 3])).shape
        [4, 6]
        >>> flat.inverse_shape((4, 6))
        (4, 2, 3)
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Any, out_event_shape: Any) -> None:
        shapes = {"in_event_shape": in_event_shape, "out_event_shape": out_event_shape}
        needs((list, tuple), "a list or a tuple", **shapes)
        old, new = (integers(shape, name) for name, shape in shapes.items())
        if math.prod(old) != math.prod(new):
            counts = f"{math.prod(old)} elements, one of {new} {math.prod(new)}"
            raise ArgumentError(f"an event of {old} holds {counts}")
        self._in_event_shape, self._out_event_shape = old, new

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of an event of x."""
        return self._in_event_shape

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape of an event of y."""
        return self._out_event_shape

    @property
    def _domain(self) -> Any:
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self) -> Any:
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x: Any) -> Any:
        return self.turned(x, len(self._in_event_shape), self._out_event_shape)

    def _inverse(self, y: Any) -> Any:
        return self.turned(y, len(self._out_event_shape), self._in_event_shape)

    def turned(self, x: Any, rank: int, new: tuple[int, ...]) -> Any:
        """Events of `x`, which have so many axes, in another shape."""
        batch, _ = event(tuple(x.shape), rank)
        sizes = [n if n != -1 else shape_of(x)[i] for i, n in enumerate(batch)]
        return reshape(x, [*sizes, *new])

    def told(self, shape: tuple[int, ...], expected: tuple[int, ...]) -> Any:
        """A shape in two parts, refused where its events are of another than expected."""
        batch, found = event(shape, len(expected))
        if any(n not in (-1, m) for n, m in zip(found, expected, strict=True)):
            raise ShapeError(f"an event of {list(shape)} is of shape {found}, not {expected}")
        return batch, found

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_of_events(x, len(self._in_event_shape))

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        return self.told(shape, self._in_event_shape)[0] + self._out_event_shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self.told(shape, self._out_event_shape)[0] + self._in_event_shape


class SoftmaxTransform(Transform):
    """Shares of a whole, ``y = exp(x) / sum(exp(x))``: not injective.

    `inverse` gives the logarithms, one of the values that y comes from.

    Examples:
        >>> import scull as paddle
        >>> softmax = paddle.distribution.SoftmaxTransform()
        >>> softmax.forward(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
    """

    _type = Type.OTHER

    @property
    def _domain(self) -> Any:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> Any:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Any) -> Any:
        return softmax(x, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        event(shape, 1)
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self._forward_shape(shape)


class StickBreakingTransform(Transform):
    """Shares of a whole, one more than numbers: each breaks off a part of what is left.

    All numbers 0 give equal shares.

    Examples:
        >>> import scull as paddle
        >>> sticks = paddle.distribution.StickBreakingTransform()
        >>> [round(share, 4) for share in sticks.forward(paddle.zeros([3])).tolist()]
        [0.25, 0.25, 0.25, 0.25]
        >>> sticks.forward_shape((5, 3))
        (5, 4)
    """

    _type = Type.BIJECTION

    @property
    def _domain(self) -> Any:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> Any:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Any) -> Any:
        odds, _ = self.odds_of(x)
        left = cumsum(logsigmoid(-odds), -1)  # the logarithm of what each break leaves
        none = zeros_like(x[..., :1])
        broken = concat([logsigmoid(odds), none], -1)
        return exp(broken + concat([none, left], -1))

    def _inverse(self, y: Any) -> Any:
        share, rest = y[..., :-1], flip(cumsum(flip(y, -1), -1), -1)[..., 1:]
        return log(share) - log(rest) + log(self.pieces(share))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        odds, pieces = self.odds_of(x)
        return summed(logsigmoid(odds) + pieces * logsigmoid(-odds), -1)

    def odds_of(self, x: Any) -> tuple[Any, Any]:
        """The logarithms of the odds of parts that are broken off, and the pieces after each."""
        pieces = self.pieces(x)
        return x - log(pieces), pieces

    def pieces(self, x: Any) -> Any:
        """How many pieces there are to be after each break."""
        return flip(cumsum(ones_like(x), -1), -1)

    def _forward_shape(self, shape: tuple[int, ...]) -> Any:
        batch, (count,) = event(shape, 1)
        return (*batch, count + 1)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Any:
        batch, (count,) = event(shape, 1)
        return (*batch, count - 1)
