"""Places of a sequence as angles by which pairs of numbers are turned."""

from typing import Any

from scull.errors import ArgumentError
from scull.incubate.nn.functional.place import places
from scull.ops.promotion import cast_to
from scull.tensor.creation import arange
from scull.tensor.join import concat, gather, split, stack
from scull.tensor.manipulation import reshape, unsqueeze
from scull.tensor.size import needs_tensor
from scull.tensor.trigonometry import cos as cosine
from scull.tensor.trigonometry import sin as sine


def fused_rotary_position_embedding(
    q: Any,
    k: Any = None,
    v: Any = None,
    sin: Any = None,
    cos: Any = None,
    position_ids: Any = None,
    use_neox_rotary_style: bool = True,
) -> tuple[Any, Any, Any]:
    """Queries, keys and values, of each of which pairs of numbers are turned by their place.

    Args:
        q (Tensor): of shape ``[batch, places, heads, numbers]``, an even count of numbers.
        k (Tensor, optional): of the same places and numbers.
        v (Tensor, optional): of the same places and numbers.
        sin (Tensor, optional): the sines of the angles, ``[places, numbers]`` or
            ``[1, places, 1, numbers]``; made from the places where it is not given.
        cos (Tensor, optional): the cosines.
        position_ids (Tensor, optional): the rows of `sin` and `cos` to take, ``[batch, places]``.
        use_neox_rotary_style (bool): whether neighbours are pairs; else a number of the first half
            and that of the second half.

    Returns:
        tuple: `q`, `k` and `v` turned; None for what is not given.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_rotary_position_embedding
        >>> q = paddle.to_tensor([[[[1.0, 2.0]]]])
        >>> sin, cos = paddle.to_tensor([[1.0, 1.0]]), paddle.to_tensor([[0.0, 0.0]])
        >>> fused_rotary_position_embedding(q, sin=sin, cos=cos)[0].tolist()
        [[[[-2.0, 1.0]]]]
    """
    needs_tensor(q, "fused_rotary_position_embedding", "q")
    if (sin is None) != (cos is None) or (position_ids is not None and sin is None):
        raise ArgumentError("sin and cos are given together, and where there are position_ids")
    numbers = q.shape[-1]
    if numbers % 2:
        raise ArgumentError(f"q has {numbers} numbers in a head, an even count is needed")
    if sin is None:
        angles = angles_of(places(q, 1, "float32"), numbers)
        sin, cos = sine(angles), cosine(angles)
    sin, cos = (cast_to(placed(x, position_ids, numbers), q.dtype) for x in (sin, cos))
    partner = next_one if use_neox_rotary_style else other_half
    out_q, out_k, out_v = (None if x is None else x * cos + partner(x) * sin for x in (q, k, v))
    return out_q, out_k, out_v


def angles_of(where: Any, numbers: int) -> Any:
    """The angle of each place and number; neighbours have the same."""
    steps = arange(0, numbers, 2, dtype="float32") / numbers
    each = unsqueeze(where, 1) * 10000.0**-steps
    return reshape(stack([each, each], -1), [-1, numbers])


def placed(x: Any, position_ids: Any, numbers: int) -> Any:
    """Sines or cosines, shaped to stand beside ``[batch, places, heads, numbers]``."""
    rows = reshape(x, [-1, numbers])
    if position_ids is None:
        return unsqueeze(rows, [0, 2])
    found = gather(rows, reshape(position_ids, [-1]))
    return reshape(found, [*position_ids.shape, 1, numbers])


def next_one(x: Any) -> Any:
    """The other one of each two neighbours, the second of which turns its sign."""
    pairs = reshape(x, [0, 0, 0, -1, 2])
    first, second = split(pairs, 2, -1)
    return reshape(concat([-second, first], -1), [0, 0, 0, -1])


def other_half(x: Any) -> Any:
    """The halves of the last axis in turn, the second of which turns its sign."""
    first, second = split(x, 2, -1)
    return concat([-second, first], -1)
