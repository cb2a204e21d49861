"""Lists of tensors that grow while a loop runs; in eager mode they are Python's lists."""

from typing import Any

from scull.core import session
from scull.core.dtype import int64
from scull.core.meta import Kind
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.array import array_length as length
from scull.tensor.creation import to_tensor
from scull.tensor.join import concat, joined, stack
from scull.tensor.size import is_static


def create_array(dtype: Any, initialized_list: Any = None) -> Any:
    """A list of tensors; in a Program a variable that holds one.

    Args:
        dtype (str): the element type of what will be written.
        initialized_list (list[Tensor], optional): what it holds at first.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.create_array("float32")
        []
    """
    held = [] if initialized_list is None else initialized_list
    if not isinstance(held, list | tuple):
        raise ArgumentTypeError(
            f"Require type(initialized_list) should be list/tuple, but received {type(held)}"
        )
    for x in held:
        if not isinstance(x, Tensor | Variable):
            raise ArgumentTypeError(
                f"All values in `initialized_list` should be Tensor, but received {type(x)}."
            )
    if not is_static():
        return list(held)
    array = array_variable("array", dtype)
    for x in held:
        array_write(x, array_length(array), array)
    return array


def array_write(x: Any, i: Any, array: Any = None) -> Any:
    """A list with `x` written at place `i`, which may be the one behind its last.

    A Program may leave gaps in a list.

    Args:
        x (Tensor | Variable): what is written.
        i (Tensor | Variable): the place, one integer.
        array (list[Tensor] | Variable, optional): the list; a new one when None.

    Examples:
        >>> import scull as paddle
        >>> len(paddle.tensor.array_write(paddle.ones([2]), paddle.to_tensor([0])))
        1
    """
    if isinstance(x, Variable) or isinstance(i, Variable):
        return recorded_write(x, i, array)
    place = place_of(i)
    array = [] if array is None else array
    if place > len(array):
        raise ArgumentError(f"place {place} lies beyond the end of a list of {len(array)} tensors")
    if place < len(array):
        array[place] = x
    else:
        array.append(x)
    return array


def recorded_write(x: Any, i: Any, array: Any) -> Variable:
    """The same in a Program."""
    of_int64(i, "array_write")
    if not isinstance(x, Variable):
        raise ArgumentTypeError(
            f"The type of 'x' in array_write must be Variable, but received {type(x)}."
        )
    name = session.unique_name("array_write")
    array = array_variable(name, x.dtype, numbered=False) if array is None else array
    of_tensors(array)
    block = main_program().current_block()
    block.append_op("write_to_array", {"X": x, "I": i}, {"Out": array})
    if not x.stop_gradient:
        array.stop_gradient = False
    return array  # type: ignore[no-any-return]


def array_read(array: Any, i: Any) -> Any:
    """The tensor at place `i` of a list.

    Args:
        array (list[Tensor] | Variable): the list.
        i (Tensor | Variable): the place, one integer.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.array_read([paddle.ones([1])], paddle.to_tensor([0])).tolist()
        [1.0]
    """
    if not isinstance(array, Variable) and not is_static():
        return array[place_of(i)]
    of_int64(i, "array_read")
    name = session.unique_name(session.unique_name("array_read") + ".tmp")
    block = main_program().current_block()
    found = block.create_var(name, dtype=of_tensors(array).dtype)
    block.append_op("read_from_array", {"X": array, "I": i}, {"Out": found})
    return found


def array_length(array: Any) -> Any:
    """How many tensors a list holds; in a Program a variable of shape [1].

    Args:
        array (list[Tensor] | Variable): the list.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensor.array_length([paddle.ones([1])])
        1
    """
    if isinstance(array, Variable) or is_static():
        return length(of_tensors(array))
    if not isinstance(array, list):
        raise ArgumentTypeError(f"the array is a list of tensors, not {type(array).__name__}")
    return len(array)


def tensor_array_to_tensor(
    input: Any, axis: int = 1, use_stack: bool = False, name: str | None = None
) -> Any:
    """The tensors of a list as one, and how many elements of its axis are of each.

    Args:
        input (list[Tensor] | Variable): the list.
        axis (int): along which they stand side by side.
        use_stack (bool): whether that is a new axis.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        tuple[Tensor | Variable, Tensor | Variable]: the tensor, and a 1-D one of int32.

    Examples:
        >>> import scull as paddle
        >>> both = [paddle.ones([2, 1]), paddle.zeros([2, 2])]
        >>> joined, sizes = paddle.tensor.manipulation.tensor_array_to_tensor(both)
        >>> joined.shape, sizes.tolist()
        ([2, 3], [1, 2])
    """
    if isinstance(input, Variable):
        return joined(of_tensors(input), axis, use_stack, "tensor_array_to_tensor", name)
    if not isinstance(input, list):
        raise ArgumentTypeError(f"the array is a list of tensors, not {type(input).__name__}")
    found = (stack if use_stack else concat)(input, axis=axis)
    sizes = [1 if use_stack else x.shape[axis] for x in input]
    return found, to_tensor(sizes, dtype="int32")


def array_variable(name: str, dtype: Any, *, numbered: bool = True) -> Variable:
    """A variable that holds a list of tensors."""
    name = session.unique_name(name) if numbered else name
    block = main_program().current_block()
    made: Variable = block.create_var(f"{name}.out", dtype=dtype, type=Kind.ARRAY)
    return made


def of_tensors(array: Any) -> Variable:
    """`array`, which is a variable that holds a list of tensors."""
    if not isinstance(array, Variable) or array.kind is not Kind.ARRAY:
        raise ArgumentTypeError("array should be tensor array variable")
    return array


def of_int64(i: Any, where: str) -> None:
    """Refuse what is no place in a list of a Program."""
    if not isinstance(i, Variable):
        raise ArgumentTypeError(
            f"The type of 'i' in {where} must be Variable, but received {type(i)}."
        )
    if i.dtype is not int64:
        raise DtypeError(f"The data type of 'i' in {where} must be int64, but it is {i.dtype.name}")


def place_of(i: Any) -> int:
    """The place that a Tensor of one element holds."""
    if not isinstance(i, Tensor) or list(i.shape) != [1]:
        raise ArgumentError("the place in a list of tensors is a Tensor of shape [1]")
    return int(i.array.item())
