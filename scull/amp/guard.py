"""`auto_cast`: blocks whose operators compute in fewer digits."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from scull.amp.amp_lists import black_list, white_list
from scull.amp.autocast import Autocast, Setting
from scull.core import session
from scull.core.dtype import DType, dtype_of
from scull.core.interpreter import current, pop, push
from scull.core.place import Place, place_of
from scull.errors import ArgumentError, ArgumentTypeError
from scull.framework import core

LEVELS = ("O0", "OD", "O1", "O2")
HALVES = ("float16", "bfloat16")


def word(value: Any, name: str) -> str:
    """An argument that is a text, or the name of an element type."""
    if isinstance(value, DType):
        return value.name
    if not isinstance(value, str):
        raise ArgumentTypeError(f"`{name}` is a text, not {type(value).__name__}")
    return value


def lists(white: Any, black: Any, level: str, dtype: str) -> tuple[frozenset[str], frozenset[str]]:
    """The operators of both lists, after the user's own."""
    for name, given in (("white", white), ("black", black)):
        if given is not None and not isinstance(given, Iterable):
            kind = type(given).__name__
            raise ArgumentTypeError(f"custom_{name}_list is a set of operators, not {kind}")
    more, fewer = frozenset(white or ()), frozenset(black or ())
    if more & fewer:
        raise ArgumentError(
            "Custom white list overlap custom black list: " + ", ".join(sorted(more & fewer))
        )
    whites, blacks = white_list()[dtype][level], black_list()[dtype][level]
    return frozenset((whites | more) - fewer), frozenset((blacks - more) | fewer)


def supports(dtype: str, place: Any) -> bool:
    """Whether a place computes in `dtype`."""
    return (core.is_float16_supported if dtype == "float16" else core.is_bfloat16_supported)(place)


@contextmanager
def amp_guard(
    enable: bool = True,
    custom_white_list: Any = None,
    custom_black_list: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> Iterator[None]:
    """Operators within compute with fewer digits where that is safe; in any mode.

    Each takes its operands of float32, float16 and bfloat16 in one of these: those of the white
    list in `dtype`, those of the black list in float32, the others in `dtype` when no operand is
    float32. What writes in place takes them as they are. The result is the same in eager mode, in
    functions made static (called within, or with the block in them) and in Programs.

    Args:
        enable (bool): False ends what a block around it does.
        custom_white_list (set[str], optional): more operators that compute in `dtype`, by the names
            they have in Programs.
        custom_black_list (set[str], optional): more that compute in float32.
        level (str): "O1" as said; "O2" with a short black list, for a network that
            `amp.decorate` cast; "OD" has the white list in `dtype` and all others in float32; "O0"
            casts nothing.
        dtype (str): "bfloat16", or "float16", which the CPU does not support: a warning says so,
            and nothing is cast.
        use_promote (bool): for level O2: False lets all compute in `dtype` but the black list.

    Raises:
        ArgumentError: level or dtype is none of these, or an operator is in both lists.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([2, 2])
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     y = paddle.matmul(x, x)
        ...     z = paddle.nn.functional.softmax(y)
        >>> y.dtype, z.dtype
        (paddle.bfloat16, paddle.float32)
    """
    mode = interpreter(
        enable, custom_white_list, custom_black_list, level, dtype, bool(use_promote)
    )
    if mode is current():
        yield
        return
    push(mode)
    try:
        yield
    finally:
        pop(mode)


def interpreter(
    enable: bool, white: Any, black: Any, level: str, dtype: str, promotes: bool
) -> Any:
    """The current interpreter with these casts, or without any."""
    level, dtype = word(level, "level").upper(), word(dtype, "dtype").lower()
    if level not in LEVELS:
        raise ArgumentError(f"level should be O0, OD, O1 or O2, not {level}")
    if enable and dtype not in HALVES:
        raise ArgumentError(
            f"If enable amp, dtype should be 'float16' or 'bfloat16', not {dtype!r}"
        )
    below = current().below
    if not enable or level == "O0":
        return below
    if not supports(dtype, session.place()):
        warnings.warn(
            f"amp_guard computes in bfloat16 here: {session.place()} does not support {dtype}, so "
            "it makes no effect.",
            stacklevel=4,
        )
        return below
    chosen = lists(white, black, level, dtype)
    setting = Setting(dtype_of(dtype), level, *chosen, promotes or level != "O2")
    return Autocast(below, setting)


auto_cast = amp_guard


def amp_state() -> dict[str, Any] | None:
    """What the block of `auto_cast` around this casts, None outside of one."""
    if not isinstance(current(), Autocast):
        return None
    setting = current().setting
    return {
        "enable": True,
        "level": setting.level,
        "dtype": setting.dtype.name,
        "use_promote": setting.promotes,
    }


def placed(device: Any) -> Place:
    """The place a user means."""
    return session.place() if device is None else place_of(device)


def is_float16_supported(device: str | None = None) -> bool:
    """Whether a device computes in float16.

    Args:
        device (str, optional): "cpu"; the current one when None.

    Examples:
        >>> import scull as paddle
        >>> paddle.amp.is_float16_supported()
        False
    """
    return supports("float16", placed(device))


def is_bfloat16_supported(device: str | None = None) -> bool:
    """Whether a device computes in bfloat16.

    Args:
        device (str, optional): "cpu"; the current one when None.

    Examples:
        >>> import scull as paddle
        >>> paddle.amp.is_bfloat16_supported()
        True
    """
    return supports("bfloat16", placed(device))
