"""Lists of tensors that grow while a loop runs; in eager mode they are Python's lists."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.tensor.size import is_static


def create_array(dtype: Any, initialized_list: Any = None) -> list[Any]:
    """A list of tensors.

    Args:
        dtype (str): the element type of what will be written.
        initialized_list (list[Tensor], optional): what it holds at first.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.create_array("float32")
        []
    """
    refuse_program()
    if initialized_list is None:
        return []
    if not isinstance(initialized_list, list | tuple):
        raise ArgumentTypeError(
            f"Require type(initialized_list) should be list/tuple, but received "
            f"{type(initialized_list)}"
        )
    for x in initialized_list:
        if not isinstance(x, Tensor):
            raise ArgumentTypeError(
                f"All values in `initialized_list` should be Tensor, but received {type(x)}."
            )
    return list(initialized_list)


def array_write(x: Any, i: Any, array: Any = None) -> list[Any]:
    """A list with `x` written at place `i`, which may be the one behind its last.

    Args:
        x (Tensor): what is written.
        i (Tensor): the place, one integer.
        array (list[Tensor], optional): the list; a new one when None.

    Examples:
        >>> import scull as paddle
        >>> len(paddle.tensor.array_write(paddle.ones([2]), paddle.to_tensor([0])))
        1
    """
    refuse_program()
    place = place_of(i)
    array = [] if array is None else array
    if place > len(array):
        raise ArgumentError(f"place {place} lies beyond the end of a list of {len(array)} tensors")
    if place < len(array):
        array[place] = x
    else:
        array.append(x)
    return array


def array_read(array: list[Any], i: Any) -> Any:
    """The tensor at place `i` of a list.

    Args:
        array (list[Tensor]): the list.
        i (Tensor): the place, one integer.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.array_read([paddle.ones([1])], paddle.to_tensor([0])).tolist()
        [1.0]
    """
    refuse_program()
    return array[place_of(i)]


def array_length(array: list[Any]) -> int:
    """How many tensors a list holds.

    Args:
        array (list[Tensor]): the list.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.array_length([paddle.ones([1])])
        1
    """
    refuse_program()
    if not isinstance(array, list):
        raise ArgumentTypeError(f"the array is a list of tensors, not {type(array).__name__}")
    return len(array)


def refuse_program() -> None:
    """Refuse to record: a Program has no lists of tensors yet."""
    if is_static():
        raise UnsupportedError(
            "lists of tensors work in eager mode only: Programs have no loops yet"
        )


def place_of(i: Any) -> int:
    """The place that a Tensor of one element holds."""
    if not isinstance(i, Tensor) or list(i.shape) != [1]:
        raise ArgumentError("the place in a list of tensors is a Tensor of shape [1]")
    return int(i.array.item())
