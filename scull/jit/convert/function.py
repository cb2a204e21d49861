"""The converted form of a function, made once a code object."""

import ast
import functools
import threading
import warnings
import weakref
from types import CellType, CodeType, FunctionType
from typing import Any

from scull.deferred import load
from scull.errors import UnsupportedError
from scull.jit.convert.convertible import is_convertible, is_left
from scull.jit.convert.logging import shown
from scull.jit.convert.syntax import MEANING

known: dict[int, tuple[Any, CodeType | None]] = {}  # by the id of a code that is alive
lock = threading.RLock()


def converted(function: Any) -> Any:
    """`function` in a form that runs as Python, and is recorded where Variables decide.

    It shares the variables around it, its defaults and its name; what needs no conversion, or may
    not be converted, is returned as it is.
    """
    if type(function) is not FunctionType or MEANING in function.__code__.co_freevars:
        return function
    if not is_convertible(function):
        return rewrapped(function)
    code = code_for(function)
    return function if code is None else load("scull.jit.convert.build", "instance")(code, function)


def rewrapped(function: FunctionType) -> FunctionType:
    """What a library put around a user's function, such as `no_grad`, around its converted form."""
    inner = vars(function).get("__wrapped__")
    made = None if is_left(function) or inner is None else converted(inner)
    cells = function.__closure__ or ()
    if made is None or made is inner or not any(held(c) is inner for c in cells):
        return function
    closure = tuple([CellType(made) if held(c) is inner else c for c in cells])
    new = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(new, made)  # type: ignore[return-value]


def held(cell: CellType) -> Any:
    """What a cell holds; None when it holds nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def code_for(function: FunctionType) -> CodeType | None:
    """The converted code of `function`, None where it stays as it is."""
    code = function.__code__
    found = known.get(id(code))
    if found is None:
        with lock:
            found = known.get(id(code)) or remembered(function)
    return found[1]


def remembered(function: FunctionType) -> tuple[Any, CodeType | None]:
    """Convert, and keep the result as long as the code is alive."""
    code, key = function.__code__, id(function.__code__)
    try:
        make = load("scull.jit.convert.build", "converted_code")
        made = make(code, function.__globals__)
        shown(function, text)
    except UnsupportedError as reason:
        made = None
        warnings.warn(f"`{code.co_qualname}` runs as it is: {reason}", stacklevel=2)
    found = known[key] = (weakref.ref(code, functools.partial(forget, known, key)), made)
    return found


def forget(made: dict[int, tuple[Any, CodeType | None]], key: int, _: object) -> None:
    """Drop what was made of a code that ends; `made` is given, for modules are emptied at exit."""
    made.pop(key, None)


def text(function: Any) -> str:
    """The source of the converted form of `function`."""
    function = getattr(function, "__func__", function)
    make = load("scull.jit.convert.build", "converted_tree")
    tree, *_ = make(function.__code__, function.__globals__)
    return ast.unparse(tree)
