"""Dropout, by its name in models for GPUs."""

from typing import Any

from scull.nn.functional.omission import check
from scull.nn.layer.dropout import Dropout


class FusedDropout(Dropout):
    """`x` with some elements made 0 by chance, in training only.

    Args:
        p (float): the chance of each.
        axis (int | list[int], optional): elements along all other axes are dropped together.
        mode (str): "upscale_in_train" or "downscale_in_infer".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.incubate.nn.FusedDropout(1.0)(paddle.ones([2])).tolist()
        [0.0, 0.0]
    """

    def __init__(
        self,
        p: float = 0.5,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        check(p, mode)
        super().__init__(p, axis, mode, name)
