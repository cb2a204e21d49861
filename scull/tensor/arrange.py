"""Tensors turned, cut into rows or windows, and given more axes."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.ir.variable import Variable
from scull.ops import like, move, sliding
from scull.tensor.creation import to_tensor
from scull.tensor.join import split
from scull.tensor.size import integer, is_static, needs_tensor


def rot90(x: Any, k: int = 1, axes: Any = (0, 1), name: str | None = None) -> Any:
    """`x` turned by `k` quarters in the plane of two axes, from the first towards the second.

    Args:
        x (Tensor): with 2 axes or more.
        k (int): how many quarters; negative ones turn back.
        axes (list | tuple): the two axes.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the dtype of `x`; its two sizes are exchanged where `k` is odd.

    Examples:
        >>> import scull as paddle
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    needs_tensor(x, "rot90")
    ndim = len(x.shape)
    if not isinstance(axes, list | tuple):
        raise ArgumentTypeError(f"`axes` is a list of two axes, not {type(axes).__name__}")
    if len(axes) != 2 or ndim < 2:
        raise ArgumentError(f"two axes of two or more are needed, not {list(axes)} of {x.meta}")
    first, second = (integer(a, "axes") for a in axes)
    for a in (first, second):
        if not -ndim <= a < ndim:
            raise ArgumentError(f"axis {a} is outside [-{ndim}, {ndim}) of {x.meta}")
    if first % ndim == second % ndim:
        raise ArgumentError(f"the axes {first} and {second} are the same of {x.meta}")
    k = integer(k, "k") % 4
    perm = list(range(ndim))
    perm[first], perm[second] = perm[second], perm[first]
    if k == 1:
        return move.transpose(move.flip(x, axis=(second,)), perm=tuple(perm))
    if k == 3:
        return move.flip(move.transpose(x, perm=tuple(perm)), axis=(second,))
    return move.flip(move.flip(x, axis=(first,)), axis=(second,)) if k else x


def with_axes(inputs: tuple[Any, ...], function: str, axes: Any) -> Any:
    """Each of `inputs` with the axes that `axes` says for how many it has; one or a list."""
    found = []
    for x in inputs:
        tensor = x if isinstance(x, Tensor | Variable) else to_tensor(x)
        more = axes(len(tensor.shape))
        found.append(like.unsqueeze(tensor, axes=more) if more else tensor)
    if not found:
        raise ArgumentError(f"{function}() is given no tensor")
    return found if len(found) > 1 else found[0]


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with one axis at least.

    Args:
        inputs (Tensor | number | list): the tensors.
        name (str, optional): of no effect.

    Returns:
        Tensor | list[Tensor]: a list of several.

    Examples:
        >>> import scull as paddle
        >>> paddle.atleast_1d(paddle.to_tensor(3.0)).shape
        [1]
    """
    return with_axes(inputs, "atleast_1d", lambda ndim: () if ndim else (0,))


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with two axes at least; one axis becomes a row.

    Args:
        inputs (Tensor | number | list): the tensors.
        name (str, optional): of no effect.

    Returns:
        Tensor | list[Tensor]: a list of several.

    Examples:
        >>> import scull as paddle
        >>> paddle.atleast_2d(paddle.ones([3])).shape
        [1, 3]
    """
    return with_axes(inputs, "atleast_2d", lambda ndim: (0,) * max(2 - ndim, 0))


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with three axes at least; of one or two they become the first of them.

    Args:
        inputs (Tensor | number | list): the tensors.
        name (str, optional): of no effect.

    Returns:
        Tensor | list[Tensor]: a list of several.

    Examples:
        >>> import scull as paddle
        >>> paddle.atleast_3d(paddle.ones([3])).shape, paddle.atleast_3d(paddle.ones([2, 3])).shape
        ([1, 3, 1], [2, 3, 1])
    """
    more = {0: (0, 0, 0), 1: (0, 2), 2: (2,)}
    return with_axes(inputs, "atleast_3d", lambda ndim: more.get(ndim, ()))


def vsplit(x: Any, num_or_sections: Any, name: str | None = None) -> Any:
    """`x` cut into pieces along its first axis.

    Args:
        x (Tensor): with 2 axes or more.
        num_or_sections (int | list | tuple): how many equal pieces, or their sizes.
        name (str, optional): of no effect.

    Returns:
        list[Tensor]: the pieces.

    Examples:
        >>> import scull as paddle
        >>> [piece.shape for piece in paddle.vsplit(paddle.ones([4, 2]), [1, 3])]
        [[1, 2], [3, 2]]
    """
    needs_tensor(x, "vsplit")
    if len(x.shape) < 2:
        raise ArgumentError(f"{x.meta} has {len(x.shape)} axes, at least 2 are needed")
    return split(x, num_or_sections, 0, name)


def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> Any:
    """The windows of an axis as a view; the elements of each lie in a new last axis.

    Args:
        x (Tensor): the elements.
        axis (int): along which axis the window slides.
        size (int): how many elements it shows.
        step (int): how far it goes each time.
        name (str, optional): of no effect.

    Returns:
        Tensor: `axis` has ``(n - size) // step + 1`` places; as in Paddle in eager mode only.

    Examples:
        >>> import scull as paddle
        >>> paddle.unfold(paddle.arange(5), 0, 2, 2).tolist()
        [[0, 1], [2, 3]]
    """
    needs_tensor(x, "unfold")
    if is_static():
        raise UnsupportedError("windows are views of memory, which a Program does not have")
    whole = {"axis": axis, "size": size, "step": step}
    return sliding.tensor_unfold(x, **{n: integer(v, n) for n, v in whole.items()})
