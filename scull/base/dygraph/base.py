"""Eager mode under its older names."""
# ruff: noqa: F401  what a door shows, it imports

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scull.autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from scull.base import framework
from scull.base.data_feeder import check_type, convert_dtype
from scull.core.eager import EAGER
from scull.core.interpreter import current, interpreting
from scull.core.tensor import Tensor
from scull.ir.mode import disable_static, enable_static, in_dynamic_mode, in_to_static_mode
from scull.ir.program import Program, program_guard
from scull.ir.program import main_program as program_now
from scull.ir.recorder import STATIC
from scull.ir.variable import Variable
from scull.jit.capture import Capture, Captured
from scull.runtime.scope import ScopeTensor
from scull.tensor.creation import to_tensor
from scull.utils import unique_name

enabled = in_dynamic_mode
no_grad_ = no_grad


def enable_dygraph(place: Any = None) -> None:
    """From here on operators compute at once.

    Args:
        place (Place, optional): where new tensors live.
    """
    disable_static()
    if place is not None:
        framework._set_expected_place(place)


def disable_dygraph() -> None:
    """From here on operators are recorded into the default main Program."""
    enable_static()


@contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Eager mode within the block, with names and default Programs of its own.

    Args:
        place (Place, optional): where new tensors live.
    """
    place = framework._current_expected_place() if place is None else place
    with (
        program_guard(Program(), Program()),
        unique_name.guard(),
        interpreting(EAGER),
        framework._dygraph_place_guard(place),
    ):
        yield


def to_variable(
    value: Any, name: str | None = None, zero_copy: Any = None, dtype: Any = None
) -> Any:
    """A Tensor of an array or of nested lists; a Tensor or a Variable as it is.

    Args:
        value (ndarray | list | tuple | Tensor | Variable): the elements.
        name (str, optional): what the Tensor is called.
        zero_copy (bool, optional): the elements are copied whatever it says.
        dtype (str, optional): the element type, when it is another.

    Examples:
        >>> import scull as paddle
        >>> paddle.base.dygraph.to_variable([1, 2]).tolist()
        [1, 2]
    """
    kinds = (list, tuple, np.ndarray, Tensor, Variable, ScopeTensor)
    check_type(value, "value", kinds, "base.dygraph.to_variable")
    if isinstance(value, Tensor | Variable):
        return value
    if zero_copy:
        warnings.warn(
            "Currently, zero_copy is not supported, and it will be discarded.", stacklevel=2
        )
    made = to_tensor(np.asarray(value) if isinstance(value, ScopeTensor) else value, dtype)
    if name is not None:
        made.name = name
    return made


def switch_to_static_graph(func: Any) -> Any:
    """`func` in static mode, whatever the mode it is called in.

    Args:
        func: any function.
    """

    @functools.wraps(func)
    def call(*arguments: Any, **options: Any) -> Any:
        with interpreting(STATIC):
            return func(*arguments, **options)

    return call


_switch_to_static_graph_ = switch_to_static_graph


@contextmanager
def _to_static_mode_guard_(is_to_static: bool = True) -> Iterator[None]:
    """Record into the default main Program, as to_static does: Tensors stand for their variables.

    Args:
        is_to_static (bool): whether it does; otherwise the block changes nothing.
    """
    program = program_now()
    mode = Capture(program, Captured(program), lenient=True) if is_to_static else current()
    with interpreting(mode):
        yield


class GlobalVar:
    """Settings that code written for Paddle puts back; nothing here depends on them."""

    _in_to_static_mode_ = False


global_var = GlobalVar()
in_declarative_mode = in_to_static_mode
