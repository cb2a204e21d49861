"""Distributions of transformed draws."""

from collections.abc import Callable
from typing import Any

from scull.distribution.distribution import Distribution
from scull.distribution.independent import Independent
from scull.distribution.mapping import Transform, applied, log_det
from scull.distribution.parameter import needs, rightmost_sum, sample_shape
from scull.distribution.transform import ChainTransform
from scull.errors import ArgumentTypeError, ShapeError, UnsupportedError
from scull.ops.like import squeeze
from scull.ops.move import transpose
from scull.tensor.function import exp


class TransformedDistribution(Distribution):
    """The distribution of what transformations make of draws from another.

    Args:
        base (Distribution): what is drawn first.
        transforms (Sequence[Transform] | ChainTransform): the first is applied first.

    Raises:
        ArgumentTypeError: one of them is of another type.
        ShapeError: an event of the transformations has more axes than a draw.

    Examples:
        >>> import scull as paddle
        >>> exp = paddle.distribution.ExpTransform()
        >>> normal = paddle.distribution.Normal([0.0, 1.0], 1.0)
        >>> wages = paddle.distribution.TransformedDistribution(normal, [exp])
        >>> wages.sample([3]).shape
        [3, 2]
        >>> [round(p, 4) for p in wages.log_prob(paddle.to_tensor(1.0)).tolist()]
        [-0.9189, -1.4189]
    """

    def __init__(self, base: Any, transforms: Any) -> None:
        needs((Distribution,), "a Distribution", base=base)
        if isinstance(transforms, Transform):
            if not isinstance(transforms, ChainTransform):
                raise ArgumentTypeError("`transforms` is a sequence of them or a ChainTransform")
            transforms = transforms.transforms
        chain = ChainTransform(transforms)
        rank, most = chain._domain.event_rank, base.batch_shape + base.event_shape
        if len(most) < rank:
            raise ShapeError(f"an event of `transforms` has {rank} axes, a draw of `base` {most}")
        more = max(rank - len(base.event_shape), 0)
        self._base = Independent(base, more) if more else base
        self._transforms = chain.transforms
        shape = chain.forward_shape(most)
        self._stretched = chain.inverse_shape(shape)  # what a draw of the base is for that
        events = len(self._base.event_shape) - rank + chain._codomain.event_rank
        super().__init__(shape[: len(shape) - events], shape[len(shape) - events :])

    def sample(self, shape: Any = ()) -> Any:
        """Draws from the base, transformed.

        Args:
            shape (Sequence[int], optional): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape + event_shape``.
        """
        return self.transformed(self.drawn(shape, self._base.sample))

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters of the base.

        Args:
            shape (Sequence[int], optional): how many.
        """
        return self.transformed(self.drawn(shape, self._base.rsample))

    def transformed(self, x: Any) -> Any:
        """What the transformations make of draws."""
        for one in self._transforms:
            x = one.forward(x)
        return x

    def drawn(self, shape: Any, draw: Callable[[Any], Any]) -> Any:
        """Draws from the base, of their own where parameters of transformations stretch it."""
        sizes, base = sample_shape(shape), self._base.batch_shape
        batch = self._stretched[: len(self._stretched) - len(self._base.event_shape)]
        own = (1,) * (len(batch) - len(base)) + base
        places = [i for i in range(len(batch)) if own[i] == 1 != batch[i]]
        if not places:
            return draw(sizes)
        found = draw([*sizes, *(batch[i] for i in places)])
        first = len(sizes) + len(places) - (len(batch) - len(base))  # of the padded batch
        order, hidden = list(range(len(sizes))), []
        for i in range(len(batch)):
            if i in places:
                order.append(len(sizes) + places.index(i))
                hidden += [first + i] if i >= len(batch) - len(base) else []
            else:
                order.append(first + i)
        events = list(range(len(found.shape) - len(self._base.event_shape), len(found.shape)))
        found = transpose(found, perm=(*order, *events, *hidden))
        return squeeze(found, axes=tuple(range(-len(hidden), 0))) if hidden else found

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (Tensor): where.

        Raises:
            UnsupportedError: a transformation is not injective.
        """
        rank, total = len(self._event_shape), 0.0
        for one in reversed(self._transforms):
            if not one._is_injective():
                raise UnsupportedError(f"{type(one).__name__} takes two values to the same")
            x = one.inverse(value)
            rank += one._domain.event_rank - one._codomain.event_rank
            total = total - rightmost_sum(log_det(one, x), rank - one._domain.event_rank)
            value = x
        own = self._base.log_prob(value)
        return rightmost_sum(own, rank - len(self._base.event_shape)) + total

    def prob(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (Tensor): where.
        """
        return exp(self.log_prob(value))


@applied.register
def distributed(input: Distribution, transform: Transform) -> TransformedDistribution:
    """The distribution of what `transform` makes of draws."""
    return TransformedDistribution(input, [transform])
