"""What turns functions into Programs, under older names."""

from typing import Any

from scull.flags import PADDLE
from scull.jit.api import enable_to_static
from scull.jit.concrete import ConcreteProgram
from scull.jit.convert import converted as convert_to_static
from scull.jit.dy2static.utils import func_to_source_code, unwrap
from scull.jit.function import StaticFunction
from scull.jit.program_cache import ProgramCache

CONVERSION_OPTIONS = "__jst_not_to_static"
ASTStaticFunction = SymbolicStaticFunction = StaticFunction


class ProgramTranslator:
    """The switch of conversion, as an object of which there is one.

    Examples:
        >>> from scull.jit.dy2static.program_translator import ProgramTranslator
        >>> ProgramTranslator().enable_to_static
        True
    """

    _instance: Any = None

    def __new__(cls) -> "ProgramTranslator":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance  # type: ignore[no-any-return]

    @classmethod
    def get_instance(cls) -> "ProgramTranslator":
        """The only one."""
        return cls()

    @property
    def enable_to_static(self) -> bool:
        """Whether functions run as Programs."""
        return bool(PADDLE["FLAGS_enable_to_static"])

    def enable(self, enable_to_static_bool: bool) -> None:
        """Say whether functions run as Programs.

        Args:
            enable_to_static_bool (bool): False to run them as plain Python.
        """
        enable_to_static(enable_to_static_bool)

    def get_func(self, dygraph_func: Any) -> Any:
        """The converted form of a function.

        Args:
            dygraph_func (callable): the function.
        """
        return convert_to_static(unwrap(dygraph_func))

    def get_code(self, dygraph_func: Any) -> str:
        """The source of the converted form of a function.

        Args:
            dygraph_func (callable): the function.
        """
        return StaticFunction(unwrap(dygraph_func)).code


__all__ = [
    "ASTStaticFunction",
    "ConcreteProgram",
    "ProgramCache",
    "ProgramTranslator",
    "StaticFunction",
    "SymbolicStaticFunction",
    "convert_to_static",
    "enable_to_static",
    "func_to_source_code",
]
