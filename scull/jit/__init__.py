"""From eager code to Programs: the names exist, so that files with them can be imported."""

from typing import Any

from scull.core.absent import Absent, absent

REASON = "functions are not turned into Programs"


def to_static(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """What it decorates can be defined and refuses to be called."""
    if function is None:
        return to_static
    return Absent("paddle.jit.to_static", REASON)


def not_to_static(func: Any = None) -> Any:
    """`func` itself: nothing is turned into Programs."""
    return not_to_static if func is None else func


__getattr__ = absent(
    __name__,
    {
        REASON: "TracedLayer TranslatedLayer api dy2static dygraph_to_static_func enable_to_static"
        " ignore_module set_code_level set_verbosity translated_layer",
        "models are saved by paddle.static.save_inference_model": "load save",
    },
)

__all__ = ["not_to_static", "to_static"]
