"""What a functional call says: inputs, and attributes, which may come as Tensors or Variables."""

from typing import Any

import numpy as np

from scull.core.attribute import normalised
from scull.core.op import Op
from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.tensor.size import held_number

SOURCES = ("fill_constant", "assign_value")
SINGLE = {"INT", "LONG", "FLOAT", "FLOAT64", "BOOLEAN", "SCALAR", "STRING"}


def said(op: Op, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The inputs of an operator, in order, and its attributes, by our names.

    A Variable whose value the Program does not tell goes where the operator reads one.
    """
    inputs, attrs = {n: given.get(n) for n in op.inputs}, {}
    for name, value in given.items():
        if name not in op.kinds or value is None:
            continue
        number = plain(value, op.kinds[name].wire in SINGLE)
        if isinstance(number, Variable) and f"{name}_tensor" in inputs:
            inputs[f"{name}_tensor"] = number
        elif holds_variables(number) and f"{name}_tensor_list" in inputs:
            inputs[f"{name}_tensor_list"] = [
                n if isinstance(n, Variable) else held_number(n, "int32") for n in number
            ]
            attrs[name] = [-1 if isinstance(n, Variable) else n for n in number]
        else:
            attrs[name] = normalised(op.kinds[name], name, number)
    return list(inputs.values()), attrs


def plain(value: Any, single: bool) -> Any:
    """An attribute given as a Tensor, or in one of a list, as a number or a list of numbers."""
    if isinstance(value, Variable):
        value = known(value)
    array = value.array if isinstance(value, Tensor) else value
    if isinstance(array, np.ndarray):
        return array.item() if single and array.size == 1 else array.tolist()
    return [plain(v, True) for v in value] if isinstance(value, list | tuple) else value


def known(variable: Variable) -> Any:
    """What the Program says the elements of a Variable are, if it does; else the Variable."""
    operator = variable.op
    if operator is None or operator.type not in SOURCES or operator.operands():
        return variable
    return operator.op.cpu(**operator.attrs)


def holds_variables(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(v, Variable) for v in value)
