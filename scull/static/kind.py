"""Variable as users test for it: eagerly a Tensor is one too."""

from typing import Any

from scull.core.tensor import Parameter as EagerParameter
from scull.core.tensor import Tensor
from scull.ir.mode import in_dynamic_mode
from scull.ir.variable import ParameterVariable
from scull.ir.variable import Variable as ProgramVariable


class VariableKind(type):
    """Whose `isinstance` knows the tensors of the mode at hand."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, ProgramVariable) or (
            in_dynamic_mode() and isinstance(value, Tensor)
        )


class ParameterKind(type):
    """Whose `isinstance` knows the parameters of the mode at hand."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, ParameterVariable) or (
            in_dynamic_mode() and isinstance(value, EagerParameter)
        )


class Variable(ProgramVariable, metaclass=VariableKind):
    """A value of a Program; while operators compute at once, a Tensor too."""


class Parameter(ParameterVariable, metaclass=ParameterKind):
    """A parameter of a Program; while operators compute at once, that of a Layer too."""
