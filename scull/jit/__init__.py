"""From eager code to Programs: the names exist, so that files with them can be imported."""

import functools
from typing import Any

from scull.core.absent import absent
from scull.errors import ArgumentTypeError, UnsupportedError
from scull.flags import PADDLE

REASON = "functions are not turned into Programs"
PADDLE.setdefault("FLAGS_enable_to_static", True)


def to_static(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """What it decorates refuses to be called, unless `enable_to_static(False)` came before.

    Args:
        function (callable): what should become a Program.
    """
    if function is None:
        return to_static

    def call(*arguments: Any, **options: Any) -> Any:
        if PADDLE["FLAGS_enable_to_static"]:
            raise UnsupportedError(f"`paddle.jit.to_static` is not in scull: {REASON}")
        return function(*arguments, **options)

    return functools.update_wrapper(call, function)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Say whether decorated functions should become Programs, or run as plain Python.

    Args:
        enable_to_static_bool (bool): False to run them as plain Python.
    """
    if not isinstance(enable_to_static_bool, bool):
        raise ArgumentTypeError(
            "The type of 'enable_to_static_bool' in enable_to_static must be <class 'bool'>, but "
            f"received {type(enable_to_static_bool)}."
        )
    PADDLE["FLAGS_enable_to_static"] = enable_to_static_bool


def not_to_static(func: Any = None) -> Any:
    """`func` itself: nothing is turned into Programs."""
    return not_to_static if func is None else func


__getattr__ = absent(
    __name__,
    {
        REASON: "TracedLayer TranslatedLayer api dy2static dygraph_to_static_func"
        " ignore_module set_code_level set_verbosity translated_layer",
        "models are saved by paddle.static.save_inference_model": "load save",
    },
)

__all__ = ["enable_to_static", "not_to_static", "to_static"]
