"""Parameters whose first values wait."""

from typing import Any

from scull.core import session


class LazyGuard:
    """Within the block, parameters of Layers are made without values and take no memory.

    `initialize` of each gives it its first value; until then it reads as NaN.

    Examples:
        >>> import scull as paddle
        >>> with paddle.LazyGuard():
        ...     net = paddle.nn.Linear(2, 3)
        >>> net.bias._is_initialized()
        False
        >>> for parameter in net.parameters():
        ...     parameter.initialize()
        >>> net.bias.tolist()
        [0.0, 0.0, 0.0]
    """

    def __enter__(self) -> None:
        self.before = session.get("lazy")
        session.put("lazy", True)

    def __exit__(self, *error: Any) -> None:
        session.put("lazy", self.before)
