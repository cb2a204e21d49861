"""to_static and its switches."""

import os
from collections.abc import Callable
from typing import Any

from scull import deferred
from scull.errors import ArgumentError, ArgumentTypeError
from scull.flags import PADDLE, changes
from scull.jit.convert import ignore_module, leave, set_code_level, set_verbosity
from scull.jit.function import StaticFunction
from scull.jit.signature import verified
from scull.nn import Layer
from scull.static.door import BuildStrategy
from scull.static.input import InputSpec

BACKENDS = (None, "CINN")
FALSE = ("0", "False", "false", "off")
HOOKS = (
    *("_clear_save_pre_hooks", "_register_save_pre_hook", "_remove_save_pre_hook"),
    *("_run_save_pre_hooks", "_save_pre_hooks"),
)
ELSEWHERE = {"load": "loading", **dict.fromkeys(("save", *HOOKS), "saving")}


def __getattr__(name: str) -> Any:
    if name not in ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return deferred.load(f"scull.jit.{ELSEWHERE[name]}", name)


def to_static(
    function: Any = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool | None = None,
    property: bool = False,
    **options: Any,
) -> Any:
    """Let a function, a method or a layer run as a Program, its control flow included.

    What Python decides while the Program is recorded is decided then; conditions on tensors become
    operators with blocks. One Program is made for each description of the arguments: the shapes,
    element types and `stop_gradient` of tensors, and the other values themselves.

    Args:
        function (callable | Layer): what to convert; of a layer, its `forward`. When None the
            result is a decorator.
        input_spec (list | tuple, optional): an InputSpec for each of the first arguments; a size
            that is None there may vary.
        build_strategy (BuildStrategy, optional): kept for Paddle's signature.
        backend (str, optional): "CINN" or None; the same here.
        full_graph (bool, optional): whether what cannot stand in a Program is refused; else the
            function runs as pieces of graph with Python between.
        property (bool): whether the function is saved with its layer as a property.

    Returns:
        StaticFunction | Layer: what is called from now on; a layer is returned itself.

    Raises:
        ArgumentError: `backend` is unknown.
        ArgumentTypeError: `build_strategy` is no BuildStrategy, `input_spec` no list or tuple, or
            `function` cannot be called.

    Examples:
        >>> import scull as paddle
        >>> @paddle.jit.to_static
        ... def positive(x):
        ...     if x.sum() > 0.0:
        ...         return x
        ...     return -x
        >>> positive(paddle.to_tensor([-3.0, 1.0])).tolist()
        [3.0, -1.0]
    """
    if backend not in BACKENDS:
        raise ArgumentError(
            f"The backend of to_static should be 'CINN' or None, but received {backend}."
        )
    verified(input_spec)
    strategy = build_strategy or None
    if not isinstance(strategy, BuildStrategy | None):
        raise ArgumentTypeError(
            "Required type(build_strategy) shall be `paddle.static.BuildStrategy`, but received "
            f"{type(build_strategy).__name__}"
        )
    if options:
        raise ArgumentTypeError(f"to_static has no argument `{next(iter(options))}`")
    whole = os.environ.get("ENABLE_FALL_BACK") in FALSE if full_graph is None else full_graph
    if backend == "CINN" or getattr(strategy, "build_cinn_pass", False):
        whole = bool(full_graph)  # Paddle's compiler takes what it can, too

    def decorated(target: Any) -> Any:
        if isinstance(target, Layer):
            target.forward = static(target.forward)  # type: ignore[method-assign]
            return target
        return static(target)

    def static(target: Callable[..., Any]) -> StaticFunction:
        if isinstance(target, StaticFunction):
            target = target.dygraph_function
        if isinstance(target, staticmethod | classmethod) or not callable(target):
            raise ArgumentTypeError(
                f"to_static takes a function, a method or a layer, not {type(target).__name__}"
            )
        return StaticFunction(
            target,
            input_spec,
            full_graph=whole,
            property=property,
            build_strategy=strategy,
            backend=backend,
        )

    return decorated if function is None else decorated(function)


def dygraph_to_static_func(dygraph_func: Callable[..., Any]) -> StaticFunction:
    """An older name of `to_static` for functions that are called in static mode.

    Args:
        dygraph_func (callable): what to convert.
    """
    return StaticFunction(dygraph_func)


def not_to_static(func: Any = None) -> Any:
    """`func` itself, which stays Python wherever it is called from.

    Args:
        func (callable, optional): when None the result is a decorator.

    Examples:
        >>> import scull as paddle
        >>> @paddle.jit.not_to_static
        ... def sign(x):
        ...     return 1.0 if x > 0.0 else -1.0
        >>> sign(2.0)
        1.0
    """
    return not_to_static if func is None else leave(func)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Say whether functions that were made static run as Programs, or as plain Python.

    Args:
        enable_to_static_bool (bool): False to run them as plain Python.

    Raises:
        ArgumentTypeError: it is no bool.

    Examples:
        >>> import scull as paddle
        >>> paddle.jit.enable_to_static(False)
        >>> paddle.jit.to_static(lambda x: type(x).__name__)(paddle.ones([1]))
        'Tensor'
        >>> paddle.jit.enable_to_static(True)
    """
    if not isinstance(enable_to_static_bool, bool):
        raise ArgumentTypeError(
            "The type of 'enable_to_static_bool' in enable_to_static must be <class 'bool'>, but "
            f"received {type(enable_to_static_bool)}."
        )
    PADDLE["FLAGS_enable_to_static"] = enable_to_static_bool
    changes[0] += 1


__all__ = [
    "InputSpec",
    "StaticFunction",
    "dygraph_to_static_func",
    "enable_to_static",
    "ignore_module",
    "not_to_static",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
