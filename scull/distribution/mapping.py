"""What every transformation of random variables has."""

import enum
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from scull.distribution import variable
from scull.distribution.parameter import needs, needs_tensors, rightmost_sum
from scull.errors import ShapeError, UnsupportedError
from scull.tensor.creation import zeros_like
from scull.tensor.size import integers


class Type(enum.Enum):
    """How the values of a transformation answer to those that it takes."""

    BIJECTION = "bijection"  # to each one, and all are reached
    INJECTION = "injection"  # to each one
    SURJECTION = "surjection"  # to several, and all are reached
    OTHER = "other"

    @classmethod
    def is_injective(cls, _type: "Type") -> bool:
        """Whether no two values are taken to the same."""
        return _type in (cls.BIJECTION, cls.INJECTION)


class Transform:
    r"""The base class of transformations of random variables, y = f(x).

    Where x has the density p(x), y has ``p(x) / |det J(x)|`` with the Jacobian J of f. A class of
    transformations says `_forward`, `_inverse`, and `_forward_log_det_jacobian` or
    `_inverse_log_det_jacobian`; where shapes change, `_forward_shape` and `_inverse_shape`; where
    an event has axes, `_domain` and `_codomain`.

    Called with a tensor it is `forward`; with a distribution, that of y; with a transformation,
    both one after the other, this one first.

    Examples:
        >>> import scull as paddle
        >>> class Half(paddle.distribution.Transform):
        ...     def _forward(self, x):
        ...         return x * 0.5
        ...     def _inverse(self, y):
        ...         return y * 2.0
        >>> Half()(paddle.to_tensor([2.0])).tolist()
        [1.0]
        >>> Half()(paddle.distribution.Normal(0.0, 1.0)).sample([3]).shape
        [3]
    """

    _type = Type.INJECTION

    @classmethod
    def _is_injective(cls) -> bool:
        """Whether no two values are taken to the same."""
        return Type.is_injective(cls._type)

    def __call__(self, input: Any) -> Any:
        return applied(input, self)

    @property
    def _domain(self) -> Any:
        """What x is."""
        return variable.real

    @property
    def _codomain(self) -> Any:
        """What y is."""
        return variable.real

    def forward(self, x: Any) -> Any:
        """y, where x is given.

        Args:
            x (Tensor): values of the domain.

        Returns:
            Tensor: values of the codomain.

        Raises:
            ArgumentTypeError: `x` is no tensor.
            ShapeError: it has fewer axes than an event.
        """
        needs_tensors(x=x)
        needs_axes(x, self._domain.event_rank)
        return self._forward(x)

    def inverse(self, y: Any) -> Any:
        """x, where y is given.

        Args:
            y (Tensor): values of the codomain.

        Returns:
            Tensor: values of the domain.

        Raises:
            ArgumentTypeError: `y` is no tensor.
            ShapeError: it has fewer axes than an event.
        """
        needs_tensors(y=y)
        needs_axes(y, self._codomain.event_rank)
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: Any) -> Any:
        """The logarithm of ``|det J(x)|``.

        Args:
            x (Tensor): values of the domain.

        Returns:
            Tensor: a number an event, or fewer where it is the same for all.

        Raises:
            ArgumentTypeError: `x` is no tensor.
            ShapeError: it has fewer axes than an event.
            UnsupportedError: two values are taken to the same, or the class does not say it.
        """
        needs_tensors(x=x)
        needs_axes(x, self._domain.event_rank)
        if not self._is_injective():
            raise UnsupportedError(f"{type(self).__name__} takes two values to the same")
        return self._call_forward_log_det_jacobian(x)

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """The logarithm of the determinant of the inverse at `y`.

        Args:
            y (Tensor): values of the codomain.

        Returns:
            Tensor: a number an event, or fewer where it is the same for all.

        Raises:
            ArgumentTypeError: `y` is no tensor.
            ShapeError: it has fewer axes than an event.
            UnsupportedError: the class does not say it.
        """
        needs_tensors(y=y)
        needs_axes(y, self._codomain.event_rank)
        return self._call_inverse_log_det_jacobian(y)

    def forward_shape(self, shape: Any) -> Any:
        """The shape of y, where that of x is given.

        Args:
            shape (Sequence[int]): the shape of x.

        Raises:
            ArgumentTypeError: `shape` is no sequence.

        Returns:
            tuple | list: as `shape` is.
        """
        needs((Sequence,), "a sequence of integers", shape=shape)
        return type_of(shape)(self._forward_shape(integers(list(shape), "shape")))

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x, where that of y is given.

        Args:
            shape (Sequence[int]): the shape of y.

        Raises:
            ArgumentTypeError: `shape` is no sequence.

        Returns:
            tuple | list: as `shape` is.
        """
        needs((Sequence,), "a sequence of integers", shape=shape)
        return type_of(shape)(self._inverse_shape(integers(list(shape), "shape")))

    def _forward(self, x: Any) -> Any:
        raise UnsupportedError(f"{type(self).__name__} has no `_forward`")

    def _inverse(self, y: Any) -> Any:
        raise UnsupportedError(f"{type(self).__name__} has no `_inverse`")

    def _call_forward_log_det_jacobian(self, x: Any) -> Any:
        """What the class says of the Jacobian, at x."""
        if hasattr(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if hasattr(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self._forward(x))
        raise UnsupportedError(f"{type(self).__name__} does not say its Jacobian")

    def _call_inverse_log_det_jacobian(self, y: Any) -> Any:
        """What the class says of the Jacobian of the inverse, at y."""
        if hasattr(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if hasattr(self, "_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self._inverse(y))
        raise UnsupportedError(f"{type(self).__name__} does not say its Jacobian")

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return shape


def type_of(shape: Any) -> type:
    """What sizes are given in."""
    return list if isinstance(shape, list) else tuple


@singledispatch
def applied(input: Any, transform: Transform) -> Any:
    """What `transform` makes of a tensor; modules add what it makes of other things."""
    return transform.forward(input)


def needs_axes(x: Any, rank: int) -> None:
    """Refuse a tensor with fewer axes than an event."""
    if len(x.shape) < rank:
        raise ShapeError(f"an event has {rank} axes, and {list(x.shape)} has {len(x.shape)}")


def log_det(transform: Transform, x: Any) -> Any:
    """The logarithm of ``|det J(x)|`` with exactly one number an event."""
    found = transform.forward_log_det_jacobian(x)
    batch = len(x.shape) - transform._domain.event_rank
    found = rightmost_sum(found, len(found.shape) - batch)
    if tuple(found.shape) == tuple(x.shape)[:batch]:
        return found
    return found + zeros_of_events(x, len(x.shape) - batch, found.dtype)


def zeros_of_events(x: Any, rank: int, dtype: Any = None) -> Any:
    """A zero for each event of `x`."""
    return rightmost_sum(zeros_like(x, dtype=dtype), rank)
