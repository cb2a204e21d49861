"""A sum, of which one part is dropped by chance."""

from typing import Any

from scull.nn.functional.omission import dropout


def fused_dropout_add(
    x: Any,
    y: Any,
    p: Any = 0.5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """``dropout(x) + y``.

    Args:
        x (Tensor): of floating-point numbers.
        y (Tensor): of the same shape and dtype.
        p (float | Tensor): the chance of an element of `x` to be made 0.
        training (bool): False drops none.
        mode (str): "upscale_in_train" or "downscale_in_infer", as for `dropout`.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_dropout_add
        >>> fused_dropout_add(paddle.ones([2]), paddle.ones([2]), training=False).tolist()
        [2.0, 2.0]
    """
    return dropout(x, p, training=training, mode=mode) + y
