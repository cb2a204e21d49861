"""Checks of arguments as layers make them, and batches of samples made into arrays to feed."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from scull.core.dtype import DType
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.runtime.scope import ScopeTensor

NAMES = (
    "bool, float16, uint16, float32, float64, int8, int16, int32, int64, uint8, complex64, "
    "complex128, bfloat16"
)
KNOWN = frozenset(NAMES.split(", "))


def convert_dtype(dtype: Any) -> str:
    """The name of an element type; that of bfloat16 is uint16, which carries it in arrays.

    Args:
        dtype: a dtype, a NumPy type, or a name.

    Examples:
        >>> import scull as paddle
        >>> paddle.base.data_feeder.convert_dtype(paddle.float32)
        'float32'
    """
    name = dtype
    if isinstance(dtype, DType):
        name = dtype.name
    elif dtype is bool:
        name = "bool"
    elif isinstance(dtype, np.dtype):
        name = dtype.name
    elif isinstance(dtype, type) and issubclass(dtype, np.generic):
        name = np.dtype(dtype).name
    if name not in KNOWN:
        raise ArgumentTypeError(f"dtype must be any of [{NAMES}], but received {dtype}")
    return "uint16" if name == "bfloat16" else str(name)


def check_type(
    input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = ""
) -> None:
    """Refuse an argument of another type; a Tensor goes for a Variable.

    Args:
        input: the argument.
        input_name (str): what the error calls it.
        expected_type (type | tuple): what it must be.
        op_name (str): whose argument it is.
        extra_message (str): what else to say.
    """
    wanted = expected_type if isinstance(expected_type, tuple) else (expected_type,)
    if Variable in wanted:
        wanted = (*wanted, Tensor)
    if not isinstance(input, wanted):
        raise ArgumentTypeError(
            f"The type of '{input_name}' in {op_name} must be {expected_type}, "
            f"but received {type(input)}. {extra_message}"
        )


def check_dtype(
    input_dtype: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Refuse an element type that is not among the names given.

    Args:
        input_dtype: the element type.
        input_name (str): whose, in the error.
        expected_dtype (str | list): names.
        op_name (str): whose argument it is.
        extra_message (str): what else to say.
    """
    wanted = [expected_dtype] if isinstance(expected_dtype, str) else list(expected_dtype)
    if convert_dtype(input_dtype) not in {convert_dtype(d) for d in wanted}:
        raise ArgumentTypeError(
            f"The data type of '{input_name}' in {op_name} must be {expected_dtype}, "
            f"but received {convert_dtype(input_dtype)}. {extra_message}"
        )


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Refuse what is no Variable, and one of another element type.

    Args:
        input: the argument.
        input_name (str): what the error calls it.
        expected_dtype (str | list): names of element types.
        op_name (str): whose argument it is.
        extra_message (str): what else to say.
    """
    check_type(input, input_name, Variable, op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)


def check_shape(
    shape: Any,
    op_name: str,
    expected_shape_type: Any = (list, tuple, Variable),
    expected_element_type: Any = (int, Variable),
    expected_tensor_dtype: Any = ("int32", "int64"),
) -> None:
    """Refuse what is no shape.

    Args:
        shape: a list or tuple of sizes, or a Variable of them.
        op_name (str): whose argument it is.
        expected_shape_type, expected_element_type (tuple): types of the whole and of a size.
        expected_tensor_dtype (tuple): names of element types of Variables.
    """
    check_type(shape, "shape", expected_shape_type, op_name)
    if isinstance(shape, Variable | Tensor):
        check_dtype(shape.dtype, "shape", expected_tensor_dtype, op_name)
        return
    for size in shape:
        check_type(size, "element of shape", expected_element_type, op_name)
        if isinstance(size, Variable | Tensor):
            check_dtype(
                size.dtype,
                "element of shape",
                expected_tensor_dtype,
                op_name,
                f"If element of shape is Tensor, its data type should be {expected_tensor_dtype}",
            )


class DataFeeder:
    """Batches of samples as arrays by the name of the input.

    Args:
        feed_list (list): variables or their names, in the order of the fields of a sample.
        place: where they are fed to.
        program (Program, optional): where names are looked up.
    """

    def __init__(self, feed_list: Any, place: Any, program: Any = None) -> None:
        block = (program or main_program()).global_block()
        found = [block.var(v) if isinstance(v, str) else v for v in feed_list]
        for v in found:
            if not isinstance(v, Variable):
                raise ArgumentTypeError("Feed list should contain a list of variable")
        self.variables, self.place = found, place

    def feed(self, iterable: Iterable[Any]) -> dict[str, ScopeTensor]:
        """The samples of one batch, stacked by field; sequences are put end to end.

        Args:
            iterable: samples, each a tuple or list with one entry a field.

        Returns:
            dict: LoDTensors by the name of the input, as `Executor.run` is fed.
        """
        samples = list(iterable)
        for sample in samples:
            if len(sample) != len(self.variables):
                raise ArgumentError(
                    f"The number of fields in data ({len(sample)}) does not match "
                    f"len(feed_list) ({len(self.variables)})"
                )
        return {
            v.name: batch(v, [sample[i] for sample in samples])
            for i, v in enumerate(self.variables)
        }


def batch(variable: Variable, fields: list[Any]) -> ScopeTensor:
    """One field of all samples as a tensor of the variable's element type and shape."""
    lengths: list[list[int]] = []
    for _ in range(variable.lod_level):
        lengths.append([len(sequence) for sequence in fields])
        fields = [value for sequence in fields for value in sequence]
    array = np.array(fields, variable.dtype.array)
    sizes = variable.shape[1:]
    if all(n >= 0 for n in sizes):
        if array.size != len(fields) * math.prod(sizes):
            raise ArgumentError(
                f"Reshape error. What is defined in data layer is {list(variable.shape)}, but "
                f"received {list(array.shape)}"
            )
        array = array.reshape(len(fields), *sizes)
    made = ScopeTensor()
    made.set(array)
    made.set_recursive_sequence_lengths(lengths)
    return made
