"""What conversion tells while it works."""

import logging
from typing import Any

from scull.errors import ArgumentTypeError
from scull.jit.convert.logging import level_of, put, set_code_level, set_verbosity, settings

VERBOSITY_ENV_NAME = "TRANSLATOR_VERBOSITY"
CODE_LEVEL_ENV_NAME = "TRANSLATOR_CODE_LEVEL"
LOG_AllTransformer = 100


def setting(name: str, document: str) -> Any:
    """A property that shows a setting of conversion, and changes it."""
    base = name.removesuffix("_stdout")

    def read(self: Any) -> Any:
        return bool(settings[name]) if name != base else level_of(base)

    def write(self: Any, value: Any) -> None:
        level, printed = settings[base], settings[f"{base}_stdout"]
        put(base, *((level, value) if name != base else (value, printed)))

    return property(read, write, doc=document)


class TranslatorLogger:
    """The settings of what conversion tells, and a way to write beside it. There is one."""

    _instance: Any = None
    logger_name = "Dynamic-to-Static"
    logger = logging.getLogger(logger_name)
    verbosity_level = setting("verbosity", "How much conversion tells.")
    transformed_code_level = setting("code_level", "Whether the code it makes is printed.")
    need_to_echo_log_to_stdout = setting("verbosity_stdout", "Whether the first is printed too.")
    need_to_echo_code_to_stdout = setting("code_level_stdout", "Whether the second is, too.")

    def __new__(cls) -> "TranslatorLogger":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance  # type: ignore[no-any-return]

    def check_level(self, level: Any) -> Any:
        """`level`, refused when it is no integer.

        Args:
            level (int): the level.
        """
        if not isinstance(level, int | None):
            raise ArgumentTypeError(f"Level is not an integer: {level}")
        return level

    def has_verbosity(self, level: int) -> bool:
        """Whether what belongs to `level` is told.

        Args:
            level (int): the level.
        """
        return bool(self.verbosity_level >= self.check_level(level))

    def has_code_level(self, level: int) -> bool:
        """Whether the code of `level` is told.

        Args:
            level (int): the level.
        """
        return bool(self.check_level(level) == self.transformed_code_level)

    def error(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Write an error."""
        self.logger.error(msg, *args, **kwargs)
        self.printed("ERROR: " + msg, *args)

    def warn(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Write a warning."""
        if self.verbosity_level != -1:
            self.logger.warning(msg, *args, **kwargs)
            self.printed("WARNING: " + msg, *args)

    def log(self, level: int, msg: str, *args: Any, **kwargs: Any) -> None:
        """Write what belongs to a level."""
        if self.has_verbosity(level):
            told = f"(Level {level}) {msg}"
            self.logger.info(told, *args, **kwargs)
            self.printed("INFO: " + told, *args)

    def printed(self, msg: str, *args: Any) -> None:
        """Print to the standard output when that was asked for."""
        if self.need_to_echo_log_to_stdout:
            print(f"{self.logger_name} {msg}" % args)


def get_verbosity() -> int:
    """How much conversion tells."""
    return level_of("verbosity")


def get_code_level() -> int:
    """Whether the code that conversion makes is printed."""
    return level_of("code_level")


_TRANSLATOR_LOGGER = TranslatorLogger()
error, warn, log = _TRANSLATOR_LOGGER.error, _TRANSLATOR_LOGGER.warn, _TRANSLATOR_LOGGER.log
__all__ = ["TranslatorLogger", "get_code_level", "get_verbosity", "set_code_level", "set_verbosity"]
