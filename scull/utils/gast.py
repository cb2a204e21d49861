"""Trees of Python's source, under the name of the package that Paddle brings with it."""

import ast
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(ast, name)
