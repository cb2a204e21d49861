"""A recorded Program as something that is called, under an older name."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError
from scull.jit.concrete import ConcreteProgram


class PartialProgramLayer:
    """Runs a recorded Program.

    Args:
        concrete_program (ConcreteProgram): what was recorded.
    """

    def __init__(self, concrete_program: ConcreteProgram) -> None:
        self.concrete = concrete_program
        self.piece = concrete_program.piece("partial_program", True)

    def __call__(self, inputs: list[Tensor]) -> Any:
        """What the function returned, computed of `inputs`."""
        return self.concrete.returned(self.piece(list(inputs)))


def partial_program_from(concrete_program: Any, from_method: bool = False) -> PartialProgramLayer:
    """What runs a recorded Program.

    Args:
        concrete_program (ConcreteProgram): what was recorded.
        from_method (bool): not used.

    Raises:
        ArgumentTypeError: its parameters are no list of Parameters.
    """
    parameters = concrete_program.parameters
    if not isinstance(parameters, list | tuple):
        raise ArgumentTypeError(
            f"Type of self._params should be list or tuple, but received {type(parameters)}."
        )
    for i, parameter in enumerate(parameters):
        if not isinstance(parameter, Tensor):
            raise ArgumentTypeError(
                f"Type of self._params[{i}] should be framework.EagerParamBase, but received "
                f"{type(parameter)}."
            )
    return PartialProgramLayer(concrete_program)
