"""Programs, modes and places under their older names."""
# ruff: noqa: F401  what a door shows, it imports

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scull.autograd import is_grad_enabled
from scull.base import core
from scull.base.wrapped_decorator import signature_safe_contextmanager, wrap_decorator
from scull.core import session
from scull.core.absent import absent
from scull.core.dtype import DType, dtype_of
from scull.core.eager import EAGER, SILENT
from scull.core.interpreter import interpreting, pop, push
from scull.core.place import Place
from scull.core.tensor import Parameter as EagerParamBase
from scull.core.tensor import Tensor
from scull.deferred import load
from scull.device import (
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_distribute,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    place_of,
)
from scull.errors import ArgumentTypeError, UnsupportedError
from scull.flags import PADDLE
from scull.framework.op_proto import OpProtoHolder, get_all_op_protos
from scull.framework.setting import (
    disable_signal_handler,
    get_flags,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    set_flags,
    use_pir_api,
)
from scull.ir.block import Block
from scull.ir.mode import in_dynamic_mode
from scull.ir.operator import EMPTY, Operator
from scull.ir.program import Program, program_guard
from scull.ir.program import main_program as default_main_program
from scull.ir.program import startup_program as default_startup_program
from scull.ir.recorder import STATIC
from scull.passes.graph import IrGraph
from scull.passes.node import IrNode, IrOpNode, IrVarNode
from scull.static.kind import Parameter, Variable
from scull.static.scope import cpu_places, cuda_places, device_guard, name_scope
from scull.utils import unique_name
from scull.utils.deprecation import require_version

EMPTY_VAR_NAME, GRAD_VAR_SUFFIX, ZERO_VAR_SUFFIX, TEMP_VAR_NAME = EMPTY, "@GRAD", "@ZERO", "@TEMP@"
CONTROL_DEP_VAR_PREFIX = "@DEPENDENCY"

in_dygraph_mode = in_dynamic_mode


def grad_var_name(var_name: str) -> str:
    """What the gradient of a variable is called."""
    return var_name + GRAD_VAR_SUFFIX


def convert_np_dtype_to_dtype_(np_dtype: Any) -> DType:
    """The element type of a NumPy dtype or a name; uint16 carries bfloat16.

    Args:
        np_dtype: a NumPy dtype, its name, or "bfloat16".
    """
    if np_dtype is float:
        return dtype_of("float64")
    try:
        name = np.dtype(np_dtype).name
    except TypeError:
        name = np_dtype
    if not isinstance(name, str):
        return dtype_of(np_dtype)
    return dtype_of("bfloat16" if name == "uint16" else name)


def dtype_is_floating(dtype: Any) -> bool:
    """Whether an element type has fractions."""
    return dtype_of(dtype).is_float


_current_expected_place = _current_expected_place_ = session.place


def _set_expected_place(place: Any) -> None:
    session.put("place", place_of(place))


_get_paddle_place = place_of


def _global_flags() -> dict[str, Any]:
    return PADDLE


def _get_var(name: str, program: Any = None) -> Variable:
    found: Variable = (program or default_main_program()).global_block().var(name)
    return found


def switch_main_program(program: Program) -> Program:
    """Record into `program` from here on; the result is what was recorded into until now."""
    before: Program = default_main_program()
    session.put("main", program)
    return before


def switch_startup_program(program: Program) -> Program:
    """Record initialisers into `program` from here on; the result is the one before."""
    before: Program = default_startup_program()
    session.put("startup", program)
    return before


class Tracer:
    """Stands for eager mode where old code asks whether there is a tracer."""

    def __init__(self) -> None:
        self.silenced = False

    @property
    def _has_grad(self) -> bool:
        return is_grad_enabled()

    @_has_grad.setter
    def _has_grad(self, value: bool) -> None:
        if value == is_grad_enabled():
            return
        if value and not self.silenced:
            raise UnsupportedError("gradients are recorded again where the no_grad block ends")
        (pop if value else push)(SILENT)
        self.silenced = not value


_tracer = Tracer()


def _dygraph_tracer() -> Tracer | None:
    return _tracer if in_dynamic_mode() else None


@contextmanager
def _dygraph_guard(tracer: Any) -> Iterator[None]:
    """Eager mode within the block; static mode when `tracer` is None."""
    with interpreting(STATIC if tracer is None else EAGER):
        yield


@contextmanager
def _stride_in_no_check_dy2st_diff() -> Iterator[None]:
    """The block as it is: views are as Paddle has them with and without this."""
    yield


@contextmanager
def _dygraph_place_guard(place: Any) -> Iterator[None]:
    """New tensors live on `place` within the block."""
    with session.guarded(place=place_of(place)):
        yield


def _static_only_(func: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        assert not in_dynamic_mode(), (
            "In PaddlePaddle 2.x, we turn on dynamic graph mode by default, and "
            f"'{func.__name__}()' is only supported in static graph mode. So if you want to use "
            "this api, please call 'paddle.enable_static()' before this api to enter static graph "
            "mode."
        )
        return func(*arguments, **options)

    return call


def _dygraph_only_(func: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        assert in_dynamic_mode(), (
            f"We only support '{func.__name__}()' in dynamic graph mode, please call "
            "'paddle.disable_static()' to enter dynamic graph mode."
        )
        return func(*arguments, **options)

    return call


def _dygraph_not_support_(func: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        assert not in_dynamic_mode(), f"We don't support {func.__name__} in dynamic graph mode"
        return func(*arguments, **options)

    return call


static_only = wrap_decorator(_static_only_)
dygraph_only = non_static_only = wrap_decorator(_dygraph_only_)
dygraph_not_support = wrap_decorator(_dygraph_not_support_)


def _create_tensor(
    type: Any = None,
    name: str | None = None,
    shape: Any = None,
    dtype: Any = None,
    persistable: bool | None = None,
    **options: Any,
) -> Tensor:
    """A Tensor to be filled."""
    kind = dtype_of(dtype) if dtype is not None else session.default_dtype()
    made: Any = Tensor(np.zeros(tuple(shape or (0,)), kind.array))
    made.name = name or unique_name.generate("_generated_tensor")
    made.persistable = bool(persistable)
    return made


def extract_plain_list(array: Any) -> list[Any]:
    """The numbers of scalars: attributes are numbers already."""
    return list(array)


def wrap_as_scalar(number: Any) -> Any:
    """A number as an attribute of any kind: the number."""
    if not isinstance(number, int | float | complex | np.generic):
        raise ArgumentTypeError(f"a {type(number).__name__} is no number")
    return number


def wrap_as_scalars(array: Any) -> list[Any]:
    """Numbers as an attribute: a list of them."""
    return [wrap_as_scalar(v) for v in np.asarray(array).tolist()]


def _apply_pass(
    main_program: Program,
    startup_program: Program,
    pass_name: Any,
    pass_attrs: Any = None,
    pass_attr_types: Any = None,
) -> dict[str, Any]:
    """Take `main_program` through a pass, or several; return their settings."""
    apply = load("scull.framework.ir", "_apply_pass")
    return apply(main_program, startup_program, pass_name, pass_attrs, pass_attr_types)


__getattr__ = absent(
    __name__,
    {
        "scull runs on the CPU": (
            "cuda_pinned_places xpu_places ipu_shard_guard set_ipu_shard _cuda_graph_guard"
            " _switch_cuda_graph_mode"
        ),
    },
)
