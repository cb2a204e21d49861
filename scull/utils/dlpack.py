"""Tensors handed to other libraries and taken from them, without a copy."""

from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError

CPU = 1, 0  # the device type and number of the protocol


class Capsule:
    """A capsule as an object of the protocol."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


class Memory:
    """The memory of an array that NumPy only reads, to be written too: its owner shares it."""

    def __init__(self, array: Any) -> None:
        described = array.__array_interface__
        self.array = array
        self.__array_interface__ = {**described, "data": (described["data"][0], False)}


def to_dlpack(x: Any) -> Any:
    """The memory of `x` for another library.

    Args:
        x (Tensor): any.

    Returns:
        PyCapsule: for one use.

    Examples:
        >>> import scull as paddle
        >>> capsule = paddle.utils.dlpack.to_dlpack(paddle.to_tensor([1.0, 2.0]))
        >>> paddle.utils.dlpack.from_dlpack(capsule).tolist()
        [1.0, 2.0]
    """
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(
            f"The type of 'x' in to_dlpack must be paddle.Tensor, but received {type(x)}."
        )
    return x.array.__dlpack__()


def from_dlpack(dlpack: Any) -> Tensor:
    """A Tensor over the memory of another library.

    Args:
        dlpack (PyCapsule): what that library's `to_dlpack` made, or its tensor.

    Returns:
        Tensor: sharing the memory.
    """
    if type(dlpack).__name__ == "PyCapsule":
        dlpack = Capsule(dlpack)
    elif not hasattr(dlpack, "__dlpack__"):
        raise ArgumentTypeError(
            "The type of 'dlpack' in from_dlpack must be PyCapsule object, "
            f"but received {type(dlpack)}."
        )
    array = np.from_dlpack(dlpack)
    return Tensor(array if array.flags.writeable else np.asarray(Memory(array)))


__all__ = ["from_dlpack", "to_dlpack"]
