"""Calls from converted code, and what of them stays as it is."""

from types import ModuleType

from scull.jit.convert import ignore_module
from scull.jit.convert.convertible import IGNORED as BUILTIN_LIKELY_MODULES
from scull.jit.convert.convertible import LEFT as CONVERSION_OPTIONS
from scull.jit.convert.convertible import ConversionOptions
from scull.jit.convert.meanings import call as convert_call
from scull.jit.dy2static.logging_utils import TranslatorLogger

translator_logger = TranslatorLogger()


def add_ignore_module(modules: list[ModuleType]) -> None:
    """Call the functions of `modules` as they are.

    Args:
        modules (list[module]): the modules.
    """
    ignore_module(modules)


__all__ = [
    "BUILTIN_LIKELY_MODULES",
    "CONVERSION_OPTIONS",
    "ConversionOptions",
    "add_ignore_module",
    "convert_call",
    "translator_logger",
]
