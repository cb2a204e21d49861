"""The arguments of a call: which are tensors, and what decides on the Program that serves them."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from scull.core.dtype import of_array
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.static.input import InputSpec

CONTAINERS = (list, tuple, dict)
Given = tuple[list[Any], dict[str, Any]]  # arguments by position and by name


def key_of(value: Any, found: list[Tensor]) -> Any:
    """What a Program depends on in one argument; the tensors in it are added to `found`."""
    if isinstance(value, Tensor):
        found.append(value)
        array = value.array
        return (array.shape, array.dtype.num, value.node is None)
    kind = type(value)
    if kind is list or kind is tuple:
        return (kind, *[key_of(v, found) for v in value])
    if kind is dict:
        return (dict, *[(n, key_of(v, found)) for n, v in value.items()])
    if kind is np.ndarray:
        found.append(Tensor(value.copy()))  # which a function may write over
        return (np.ndarray, value.shape, value.dtype)
    if isinstance(value, CONTAINERS):
        return (kind, *[key_of(v, found) for v in members(value)])
    if kind is float and not value:
        return (float, str(value))  # 0.0 and -0.0 are equal
    try:
        hash(value)
    except TypeError:
        return (kind, Identity(value))
    return (kind, value)


class Identity:
    """A value that cannot be hashed: the same only as itself, and kept while it is a key."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value


def serves(known: Any, other: Any) -> bool:
    """Whether what was made for one argument that is no tensor serves another.

    It does where nobody can tell.
    """
    keys = [key_of(value, []) for value in (known, other)]
    return keys[0] == keys[1] or any(isinstance(leaf, Identity) for leaf in leaves(keys))


def members(value: Any) -> list[Any]:
    """What a container holds, in its own order."""
    return list(value.values()) if isinstance(value, dict) else list(value)


def rebuilt(value: Any, values: list[Any]) -> Any:
    """A container as `value` that holds `values`."""
    if isinstance(value, dict):
        made = dict(zip(value, values, strict=True))
        return made if type(value) is dict else type(value)(made)
    if hasattr(value, "_fields"):
        return type(value)(*values)
    return type(value)(values)


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """`value` with each leaf replaced by what `change` makes of it."""
    if isinstance(value, CONTAINERS):
        return rebuilt(value, [mapped(change, v) for v in members(value)])
    return change(value)


def leaves(value: Any) -> list[Any]:
    """The leaves of nested containers, in order."""
    if isinstance(value, CONTAINERS):
        return [leaf for v in members(value) for leaf in leaves(v)]
    return [value]


class Signature:
    """The parameters of a function, and what was said of them beforehand."""

    def __init__(self, function: Callable[..., Any], specs: Any, bound: bool) -> None:
        self.function = function
        parameters = list(inspect.signature(function).parameters.values())
        self.parameters = parameters[1:] if bound else parameters
        found = verified(specs)
        self.specs = found and [called(s, self.name_of(i)) for i, s in enumerate(found)]
        self.fixed = [p.default for p in self.parameters if isinstance(p.default, Tensor)]

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """The arguments by position as far as the parameters allow, with defaults, and the rest."""
        signature = inspect.Signature(self.parameters)
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            name = getattr(self.function, "__name__", "function")
            raise ArgumentTypeError(f"{name}() {error}") from None
        given.apply_defaults()
        return list(given.args), dict(given.kwargs)

    def described(self, args: list[Any], kwargs: dict[str, Any]) -> Given:
        """The arguments with an InputSpec in the place of each tensor."""
        specs, spec = self.specs, self.spec_of
        if specs is None:
            return mapped(spec, args), mapped(spec, kwargs)
        if len(specs) > len(args):
            raise ArgumentError(
                f"input_spec describes {len(specs)} arguments, and the call has {len(args)}"
            )
        beside = [merged(s, v) for s, v in zip(specs, args, strict=False)]
        return [*beside, *mapped(spec, args[len(specs) :])], mapped(spec, kwargs)

    def spec_of(self, value: Any) -> Any:
        """The InputSpec of what a call brings; a tensor among the defaults is captured instead."""
        return value if any(value is t for t in self.fixed) else spec_of(value)

    def expected(self) -> Given:
        """The arguments as `input_spec` and the defaults describe them, without a call."""
        specs = list(self.specs or ())
        rest = self.parameters[len(specs) :]
        named = {
            p.name: p.default for p in rest if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
        }
        positional = [p for p in rest if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        lacking = [p.name for p in positional if p.default is p.empty]
        if lacking:
            raise ArgumentError(
                f"input_spec describes {len(specs)} arguments; the function needs "
                f"{', '.join(f'`{n}`' for n in lacking)} besides"
            )
        return [*specs, *(p.default for p in positional)], named

    def name_of(self, index: int) -> str:
        """What the parameter at a position is called."""
        if index < len(self.parameters):
            return self.parameters[index].name
        return self.parameters[-1].name if self.parameters else "input"


def verified(specs: Any) -> list[Any] | None:
    """`input_spec` as a list; what is no description of a tensor in it stays as it is."""
    if specs is None:
        return None
    if not isinstance(specs, list | tuple):
        raise ArgumentTypeError(
            "The type(input_spec) should be one of (tuple, list), but received "
            f"{type(specs).__name__}."
        )
    return list(mapped(lambda v: spec_of(v) if isinstance(v, Tensor) else v, list(specs)))


def called(spec: Any, name: str) -> Any:
    """`spec` with descriptions that have no name called after their place."""
    if isinstance(spec, InputSpec) and spec.name is None:
        return InputSpec(list(spec.shape), spec.dtype, name, spec.stop_gradient)
    if isinstance(spec, dict):
        return rebuilt(spec, [called(s, str(key)) for key, s in spec.items()])
    if isinstance(spec, CONTAINERS):
        return rebuilt(spec, [called(s, f"{name}_{i}") for i, s in enumerate(spec)])
    return spec


def spec_of(value: Any) -> Any:
    """The InputSpec of a tensor or an array; other values as they are."""
    if isinstance(value, Tensor):
        return InputSpec(list(value.array.shape), value.dtype, None, value.stop_gradient)
    if isinstance(value, np.ndarray):
        return InputSpec(list(value.shape), of_array(value.dtype), None, True)
    return value


def merged(spec: Any, value: Any) -> Any:
    """What was said of an argument beforehand, completed by what came."""
    if isinstance(spec, InputSpec):
        return fitting(spec, value)
    if isinstance(spec, CONTAINERS) and isinstance(value, CONTAINERS):
        pairs = zip(members(spec), members(value), strict=False)
        beside = [merged(s, v) for s, v in pairs]
        if len(beside) == len(members(value)):
            return rebuilt(value, beside)
    return mapped(spec_of, value)


def fitting(spec: InputSpec, value: Any) -> Any:
    """`spec` for a tensor that it describes; for another, that tensor's own description."""
    if not isinstance(value, Tensor | np.ndarray):
        return mapped(spec_of, value)
    came = spec_of(value)
    agrees = len(came.shape) == len(spec.shape) and all(
        n in (-1, m) for n, m in zip(spec.shape, came.shape, strict=True)
    )
    known = spec if agrees and spec.dtype in (None, came.dtype) else came
    return InputSpec(list(known.shape), came.dtype, spec.name, spec.stop_gradient)
