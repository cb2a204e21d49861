"""The parameters of a function and what is said of them, under Paddle's names."""

from collections.abc import Callable
from typing import Any

from scull.errors import ArgumentError
from scull.ir.variable import Variable
from scull.jit.signature import Signature, leaves, mapped, verified
from scull.static.input import InputSpec


class FunctionSpec:
    """The parameters of a function.

    Args:
        function (callable): the function.
        input_spec (list[InputSpec], optional): what is known of the first arguments.
    """

    def __init__(self, function: Callable[..., Any], input_spec: Any = None) -> None:
        self.signature = Signature(function, input_spec, False)
        self._input_spec = verified(input_spec)
        self._dygraph_function = function

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function."""
        return self._dygraph_function

    @property
    def args_name(self) -> list[str]:
        """The names of its parameters."""
        return [p.name for p in self.signature.parameters]

    @property
    def input_spec(self) -> Any:
        """What was said of the arguments."""
        return self._input_spec

    @property
    def flat_input_spec(self) -> list[Any] | None:
        """The same without the containers it stands in."""
        return None if self._input_spec is None else leaves(self._input_spec)

    def unified_args_and_kwargs(
        self, args: Any, kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call by position, with defaults, and those that have only a name.

        Args:
            args (list): by position.
            kwargs (dict): by name.
        """
        if len(self.args_name) < len(args):
            raise ArgumentError(
                f"{self._dygraph_function.__name__}() takes {len(self.args_name)} arguments, but "
                f"{len(args)} were given"
            )
        given, named = self.signature.named(tuple(args), kwargs)
        return tuple(given), named

    def args_to_input_spec(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """The arguments with a description in the place of each tensor.

        Args:
            args (tuple): by position.
            kwargs (dict): by name; with an `input_spec` there are none.
        """
        specs = list(self._input_spec or ())
        if specs and kwargs:
            raise ArgumentError(
                f"{self._dygraph_function.__name__} got unexpected keyword arguments: "
                f"{sorted(kwargs)}. Cannot trace the function when `input_spec` is specified."
            )
        if len(args) < len(specs):
            raise ArgumentError(
                f"Requires len(arguments) >= len(input_spec), but received len(args): {len(args)} "
                f"< len(input_spec): {len(specs)}"
            )
        found = [completed(s, v) for s, v in zip(specs, args, strict=False)]
        return (*found, *mapped(described, list(args[len(specs) :]))), mapped(described, kwargs)


def described(value: Any) -> Any:
    """The InputSpec of a tensor; other values as they are."""
    if isinstance(value, Variable) or hasattr(value, "stop_gradient"):
        return InputSpec.from_tensor(value)
    return value


def completed(spec: Any, value: Any) -> Any:
    """What was said of an argument, with the shape that came where the two do not agree."""
    came = described(value)
    if not isinstance(spec, InputSpec) or not isinstance(came, InputSpec):
        return came
    pairs = zip(spec.shape, came.shape, strict=False)
    if len(spec.shape) == len(came.shape) and all(n in (-1, m) for n, m in pairs):
        return spec
    return InputSpec(list(came.shape), came.dtype, spec.name, spec.stop_gradient)


__all__ = ["FunctionSpec"]
