"""Sums of products written as an equation of indices."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.ops import einsum as operator
from scull.tensor.size import needs_tensor


def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products that an equation describes, such as ``ij,jk->ik``.

    An index that the result lacks is summed over; one that an operand has twice runs along its
    diagonal. Without ``->`` the result has the indices that stand once, in the order of letters.

    Args:
        equation (str): the letters of the axes of each operand, then those of the result; ``...``
            stands for further axes, which stretch.
        operands (Tensor): the tensors, of one dtype.

    Returns:
        Tensor: of the axes that the equation gives it.

    Raises:
        ArgumentError: the equation has a label that is no letter, another number of terms than
            there are operands, or an index of no operand in its result.
        AssertError: a term does not name the axes of its operand.
        ShapeError: an index has two sizes.
        DtypeError: operands are of different dtypes.

    Examples:
        >>> import scull as paddle
        >>> paddle.einsum("ij,jk->ik", paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0], [3.0]]
    """
    if not isinstance(equation, str):
        raise ArgumentTypeError(f"`equation` is a string, not {type(equation).__name__}")
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not operands:
        raise ArgumentError(f"`{equation}` has no operand")
    for x in operands:
        needs_tensor(x, "einsum", "operands")
    digit = next((c for c in equation if c.isdigit()), None)
    if digit:
        raise ArgumentError(f"`{equation}` has the label {digit!r}, which is no letter")
    return operator.einsum(list(operands), equation=equation)[0]
