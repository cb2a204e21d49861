"""Complex numbers: their parts, and how they are made of real ones."""

from typing import Any

from scull.ops import compare, conjugate, like, trigonometry
from scull.ops import complex as ops
from scull.tensor.size import needs_tensor


def real(x: Any, name: str | None = None) -> Any:
    """The real parts.

    Args:
        x (Tensor): complex numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.real(paddle.to_tensor([1 + 2j])).tolist()
        [1.0]
    """
    needs_tensor(x, "real")
    return ops.real(x, name=name)


def imag(x: Any, name: str | None = None) -> Any:
    """The imaginary parts.

    Args:
        x (Tensor): complex numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.imag(paddle.to_tensor([1 + 2j])).tolist()
        [2.0]
    """
    needs_tensor(x, "imag")
    return ops.imag(x, name=name)


def conj(x: Any, name: str | None = None) -> Any:
    """Each element with the other sign of its imaginary part.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.conj(paddle.to_tensor([1 + 2j])).tolist()
        [(1-2j)]
    """
    needs_tensor(x, "conj")
    return conjugate.conj(x, name=name)


def angle(x: Any, name: str | None = None) -> Any:
    """The direction of each number from 0; pi for negative ones.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.angle(paddle.to_tensor([2.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "angle")
    return ops.angle(x, name=name)


def as_complex(x: Any, name: str | None = None) -> Any:
    """The pairs along the last axis as complex numbers.

    Args:
        x (Tensor): of size 2 along the last axis.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    needs_tensor(x, "as_complex")
    return ops.as_complex(x, name=name)


def as_real(x: Any, name: str | None = None) -> Any:
    """The parts of complex numbers as pairs along a new last axis.

    Args:
        x (Tensor): complex numbers.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    needs_tensor(x, "as_real")
    return ops.as_real(x, name=name)


def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Complex numbers of their parts.

    Args:
        real (Tensor): the real parts, float32 or float64.
        imag (Tensor): the imaginary ones; both stretch to a common shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [(1+2j)]
    """
    needs_tensor(real, "complex", "real")
    needs_tensor(imag, "complex", "imag")
    return ops.complex(real, imag, name=name)


def sgn(x: Any, name: str | None = None) -> Any:
    """The sign of real numbers; complex ones divided by their size, and 0 where they are 0.

    Args:
        x (Tensor): the operand.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sgn(paddle.to_tensor([-3.0, 0.0])).tolist()
        [-1.0, 0.0]
    """
    needs_tensor(x, "sgn")
    if not x.dtype.is_complex:
        return ops.sign(x, name=name)
    size = like.unsqueeze(ops.abs(x), axes=(-1,))
    parts = ops.as_real(x) / compare.where(
        compare.equal(size, 0.0), like.full_like(size, value=1.0), size
    )
    return ops.as_complex(parts, name=name)


def polar(abs: Any, angle: Any, name: str | None = None) -> Any:
    """Complex numbers of their sizes and angles.

    Args:
        abs (Tensor): the sizes, of float32 or float64.
        angle (Tensor): the angles, of the same type; the shapes stretch to one.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of complex64 or complex128.

    Examples:
        >>> import scull as paddle
        >>> paddle.polar(paddle.to_tensor([2.0]), paddle.to_tensor([0.0])).tolist()
        [(2+0j)]
    """
    needs_tensor(abs, "polar", "abs")
    needs_tensor(angle, "polar", "angle")
    return ops.complex(abs * trigonometry.cos(angle), abs * trigonometry.sin(angle), name=name)
