"""Settings of the process: the default dtype, flags, seeds, limits of element types."""

from typing import Any

import ml_dtypes
import numpy as np

from scull.core import session
from scull.core.dtype import dtype_of
from scull.deferred import load
from scull.errors import ArgumentError, ArgumentTypeError
from scull.flags import PADDLE, PRIVATE, changes
from scull.ir.mode import in_dynamic_mode


def set_default_dtype(d: Any) -> None:
    """The element type of new floating-point tensors and parameters.

    Args:
        d (str | dtype): float16, bfloat16, float32 or float64.
    """
    dtype = dtype_of(d)
    if dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        raise ArgumentTypeError(
            "set_default_dtype only supports [float16, float32, float64, bfloat16] , "
            f"but received {dtype.name}"
        )
    session.put("dtype", dtype)


def get_default_dtype() -> str:
    """The name of the element type of new floating-point tensors."""
    return session.default_dtype().name


def set_flags(flags: dict[str, Any]) -> None:
    """Set Paddle's flags.

    Args:
        flags (dict): values by name, `FLAGS_...`.
    """
    if not isinstance(flags, dict):
        raise ArgumentTypeError("flags in set_flags should be a dict")
    for name, value in flags.items():
        truth = isinstance(PADDLE[known_flag(name, "set")], bool)
        PADDLE[name] = bool(value) if truth else value
    changes[0] += 1
    if "FLAGS_check_nan_inf" in flags:
        load("scull.core.check", "follow")()


def get_flags(flags: Any) -> dict[str, Any]:
    """The values of Paddle's flags.

    Args:
        flags (str | list): one name or several.
    """
    if not isinstance(flags, str | list | tuple):
        raise ArgumentTypeError("Flags in get_flags should be a list, tuple or string.")
    names = [flags] if isinstance(flags, str) else list(flags)
    return {name: PADDLE[known_flag(name, "get")] for name in names}


def known_flag(name: str, verb: str) -> str:
    """`name` when there is such a flag; `verb` is what was tried."""
    if name not in PADDLE or name in PRIVATE:
        raise ArgumentError(
            f"Flag {name} cannot {verb} its value through this function; known are "
            f"{', '.join(PADDLE)}"
        )
    return name


def finfo(dtype: Any) -> Any:
    """The limits of a floating-point element type: min, max, eps, tiny, bits, ...

    Args:
        dtype (str | dtype): a floating-point type.
    """
    found = dtype_of(dtype)
    if found.is_float or found.is_complex:
        return FloatLimits(found)
    raise ArgumentError(f"finfo takes a floating-point dtype, not {found.name}")


def iinfo(dtype: Any) -> Any:
    """The limits of an integer element type: min, max, bits.

    Args:
        dtype (str | dtype): an integer type.
    """
    found = dtype_of(dtype)
    if not found.is_integer:
        raise ArgumentError(f"iinfo takes an integer dtype, not {found.name}")
    return IntegerLimits(found)


class FloatLimits:
    """The limits of a floating-point element type."""

    def __init__(self, dtype: Any) -> None:
        limits = np.finfo(dtype.array) if dtype.native else ml_dtypes.finfo(dtype.array)
        self.min, self.max = float(limits.min), float(limits.max)
        self.eps, self.tiny = float(limits.eps), float(limits.tiny)
        self.smallest_normal, self.resolution = float(limits.tiny), 10.0**-limits.precision
        self.bits, self.dtype = int(limits.bits), dtype.name

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"resolution={self.resolution:g}, smallest_normal={self.smallest_normal:g}, "
            f"tiny={self.tiny:g}, bits={self.bits}, dtype={self.dtype})"
        )


class IntegerLimits:
    """The limits of an integer element type."""

    def __init__(self, dtype: Any) -> None:
        limits = np.iinfo(dtype.array)
        self.min, self.max = int(limits.min), int(limits.max)
        self.bits, self.dtype = int(limits.bits), dtype.name

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


def in_pir_mode() -> bool:
    """Whether code is told, by `paddle.pir_utils.IrGuard`, that Programs are of Paddle's other IR.

    There is one IR in scull: the Programs are its own.
    """
    return bool(session.get("pir")) and not in_dynamic_mode()


def in_dynamic_or_pir_mode() -> bool:
    """Whether operators compute at once, or `in_pir_mode()`."""
    return in_dynamic_mode() or in_pir_mode()


use_pir_api = in_pir_mode


def disable_signal_handler() -> None:
    """Take back the handlers of signals: none was installed."""
