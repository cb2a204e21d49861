"""Programs and parameters in 16 bits, and the blocks of code that ask for them."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from scull.core.dtype import DType, float32
from scull.errors import ArgumentTypeError
from scull.flags import flag, put
from scull.ir.program import Program
from scull.runtime.scope import Scope, global_scope
from scull.static.amp.casting import Casting
from scull.static.amp.fp16_lists import AutoMixedPrecisionLists, black_list, half_of
from scull.static.scope import name_scope

GUARD = "__use_fp16__"


@dataclass
class AmpOptions:
    """What a block of operators asks for."""

    enable: bool
    custom_white_list: list[str] | None
    custom_black_list: list[str] | None
    level: str
    dtype: str
    use_promote: bool


DEFAULT_AMP_OPTIONS = AmpOptions(True, None, None, "O1", "float16", True)


def fp16_guard() -> AbstractContextManager[None]:
    """Where pure 16 bits are asked for with a guard: operators made within get them, no others.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> program = paddle.static.Program()
        >>> with paddle.static.program_guard(program):
        ...     x = paddle.static.data("x", [2, 3])
        ...     with paddle.static.amp.fp16_guard():
        ...         y = paddle.tanh(x)
        >>> program.global_block().ops[0].attr("op_namescope")
        '/__use_fp16__/'
        >>> paddle.disable_static()
    """
    return name_scope(prefix=GUARD)


def _keep_layer_norm_scale_bias_to_fp32(*args: bool) -> bool:
    """Whether `layer_norm` of 16 bits keeps scale and bias in float32; what was, when that is set.

    Args:
        args (bool): what is from now on; nothing to ask only.

    Raises:
        ArgumentTypeError: it is no bool, or there are several.

    Examples:
        >>> _keep_layer_norm_scale_bias_to_fp32(False), _keep_layer_norm_scale_bias_to_fp32(True)
        (True, False)
    """
    before: bool = flag("WIDE_LAYER_NORM")
    if args:
        if len(args) > 1 or not isinstance(args[0], bool):
            raise ArgumentTypeError(f"one bool says whether they are kept, not {args}")
        put(WIDE_LAYER_NORM=args[0])
    return before


def program_of(given: Any) -> Program:
    """`given`, refused when it is no Program."""
    if not isinstance(given, Program):
        raise ArgumentTypeError(f"a Program is rewritten, not {type(given).__name__}")
    return given


def cast_model_to_fp16(
    program: Program,
    amp_lists: Any = None,
    use_fp16_guard: bool = True,
    dest_type: Any = "float16",
    level: str = "O2",
    use_promote: bool = False,
) -> set[str]:
    """Let operators of a Program without gradients compute in 16 bits, with casts where need be.

    Args:
        program (Program): rewritten in place.
        amp_lists (AutoMixedPrecisionLists, optional): which operators.
        use_fp16_guard (bool): whether only those made within `fp16_guard`.
        dest_type (str | DType): float16 or bfloat16.
        level (str): "O1", "O2" (parameters too), or "OD".
        use_promote (bool): whether operators of no list compute in float32 where an operand is.

    Returns:
        set[str]: the names of what operators read in 16 bits, parameters among them.

    Raises:
        ArgumentError: dest_type is another.
    """
    dtype = half_of(dest_type)
    lists = amp_lists or AutoMixedPrecisionLists(dtype=dtype.name)
    guard = GUARD if use_fp16_guard else ""
    casting = Casting(program_of(program), lists, dtype, level, guard, use_promote)
    if level == "O2":
        casting.black = lists.black_list - black_list
    elif level == "OD":
        casting.lists = AutoMixedPrecisionLists(dtype=dtype.name)
        casting.black = casting.lists.all_list - casting.lists.white_list
    return casting()


def parameters_named(program: Program, names: Iterable[str]) -> Iterator[str]:
    """The names of parameters among `names`."""
    wanted = set(names)
    for block in program.blocks:
        yield from (v.name for v in block.all_parameters() if v.name in wanted)


def cast_parameters_to_fp16(
    place: Any,
    program: Program,
    scope: Scope | None = None,
    to_fp16_var_names: Iterable[str] | None = None,
    dest_type: Any = "float16",
    rewrite_master_weight: bool = False,
    master_weights: Any = None,
) -> None:
    """Round the values of parameters in a scope to 16 bits.

    Args:
        place: kept for Paddle's signature.
        program (Program): whose parameters.
        scope (Scope, optional): the global one when None.
        to_fp16_var_names (set[str]): what `cast_model_to_fp16` returned.
        dest_type (str | DType): float16 or bfloat16.
        rewrite_master_weight (bool): whether their float32 copies are rounded, too.
        master_weights (dict[str, Variable], optional): these copies, by the names of parameters.
    """
    dtype: DType = half_of(dest_type)
    scope = scope or global_scope()
    masters = master_weights or {}
    for name in parameters_named(program_of(program), to_fp16_var_names or ()):
        cell = scope.find_var(name)
        if cell is None or cell.value is None:
            continue
        cell.value = cell.value.astype(dtype.array)
        if rewrite_master_weight and name in masters:
            scope.find_var(masters[name].name).value = cell.value.astype(float32.array)


def prepare_op_amp_options(program: Program, amp_records: Any, global_amp_options: Any) -> None:
    """Note for each operator what was asked for where it was made, as `amp_options`.

    Args:
        program (Program): whose operators.
        amp_records (dict[int, list]): by the number of a block: options, and from where to where.
        global_amp_options (AmpOptions): of all others.
    """
    known: dict[Any, Any] = {}
    for block in program.blocks:
        around = next((o for b in program.blocks for o in b.ops if block in o.blocks()), None)
        for i, o in enumerate(block.ops):
            records = amp_records.get(block.idx, ())
            own = (options for options, start, end in records if start <= i < end)
            known[o] = next(own, known.get(around, global_amp_options))
    for o, options in known.items():
        vars(o)["amp_options"] = options
