"""Calls of public functions with one wild argument; the calls are those of their own examples."""

import copy
import doctest
import inspect
import io
import random
import zlib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import scull as paddle
from scull.core.tensor import Tensor
from scull.static.input import data

WILD = (
    *(None, "nonsense", 2**70, -(2**63), 2**31, -1, 0, float("nan"), 1e308, True, [], {}, [None]),
    *([[1.0], [2.0, 3.0]], (2**40, -7), ["a"], object(), len, np.float16(1)),
    *("", "float99", [2**70], (0,), [-7], [3] * 11, [[1, 2], [3]]),
)
WILD_ARRAYS = (
    *(np.zeros((0, 3), "float32"), np.array(2.5), np.ones((2, 3), "bool"), np.ones(2, "complex64")),
    *(np.full((1,) * 9, 7, "int8"), np.array([-(2**63), 2**63 - 1]), np.full((2, 2), np.nan)),
)


@dataclass(frozen=True, eq=False)
class PublicCall:
    """A call of `function` by names of its parameters; `wild` has a value nobody expects."""

    function: Any
    arguments: dict[str, Any]
    wild: str

    def __str__(self) -> str:
        value = self.arguments[self.wild]
        text = str(value.meta) if isinstance(value, Tensor) else repr(value)
        return f"{self.function.__name__}({self.wild}={text[:60]})"

    def ways(self) -> list[str]:
        """Modes in which the call can be made."""
        return ["eager", "static"]

    def make(self, way: str) -> None:
        """Call the function, in static mode with variables in the place of Tensors."""
        bound = inspect.signature(self.function).bind_partial()
        if way == "eager":
            bound.arguments.update(copy.deepcopy(self.arguments))
            self.function(*bound.args, **bound.kwargs)
            return
        paddle.enable_static()
        try:
            with paddle.static.program_guard(paddle.static.Program()):
                bound.arguments.update({n: declared(v, n) for n, v in self.arguments.items()})
                self.function(*bound.args, **bound.kwargs)
        finally:
            paddle.disable_static()


def declared(value: Any, name: str) -> Any:
    """`value` with a variable that is fed for each Tensor."""
    if isinstance(value, list | tuple):
        return type(value)([declared(v, f"{name}_{i}") for i, v in enumerate(value)])
    return data(name, value.shape, value.dtype) if isinstance(value, Tensor) else value


# Whose errors are Python's: as in Paddle, and of a function of the user.
OWN = {("celu", "alpha"), ("triplet_margin_with_distance_loss", "distance_function")}
SOME = 40  # so many calls of a function are tried in a short run


def functions(module: ModuleType) -> list[str]:
    """The public functions of `module`."""
    known = paddle.tensor.__all__ if module is paddle else module.__all__
    found = [n for n in known if inspect.isfunction(getattr(module, n))]
    return [n for n in found if exampled(module, n)]


def exampled(module: ModuleType, name: str) -> str | None:
    """The function whose examples show calls of `name`: itself, or the one not in place."""
    for shown in (name, name.removesuffix("_")):
        text = inspect.getdoc(getattr(module, shown, None)) or ""
        if f".{shown}(" in text:
            return shown
    return None


def shown_calls(module: ModuleType, name: str) -> list[dict[str, Any]]:
    """The arguments with which the examples call function `name`, by parameter."""
    function, shown = getattr(module, name), exampled(module, name)
    plain, found = getattr(module, str(shown)), list[dict[str, Any]]()

    def noting(*args: Any, **kwargs: Any) -> Any:
        found.append(dict(inspect.signature(plain).bind(*args, **kwargs).arguments))
        return plain(*args, **kwargs)

    (test,) = doctest.DocTestFinder(recurse=False).find(plain, shown)
    setattr(module, str(shown), noting)
    try:
        with redirect_stdout(io.StringIO()):
            for example in test.examples:
                exec(compile(example.source, test.name, "single"), test.globs)
    finally:
        setattr(module, str(shown), plain)
    known = inspect.signature(function).parameters
    return [c for c in found if c.keys() <= known.keys()]


def wild_calls(module: ModuleType, name: str, sweep: bool) -> list[PublicCall]:
    """The calls that are tried: all, or some that are the same in every run."""
    calls = list(changed(module, name))
    if sweep or len(calls) <= SOME:
        return calls
    return random.Random(zlib.crc32(name.encode())).sample(calls, SOME)


def changed(module: ModuleType, name: str) -> Iterator[PublicCall]:
    """Every call of the examples with each argument replaced by each wild value."""
    function = getattr(module, name)
    known = inspect.signature(function).parameters.values()
    parameters = [p.name for p in known if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for arguments in shown_calls(module, name):
        for parameter in [p for p in parameters if (name, p) not in OWN]:
            for value in (*WILD, *map(Tensor, WILD_ARRAYS)):
                yield PublicCall(function, {**arguments, parameter: value}, parameter)
