"""Passes over Programs, as older code asks for them."""

from collections.abc import Mapping
from typing import Any

from scull.errors import ArgumentTypeError
from scull.ir.program import Program
from scull.passes.catalogue import PASSES
from scull.passes.pipeline import apply_to
from scull.passes.selection import PLANNED, SWITCHES
from scull.static.door import BuildStrategy


def get_data_vars(program: Program) -> list[str]:
    """The names of what is fed."""
    return [v.name for v in program.list_vars() if v.is_data]


def _apply_pass(
    main_program: Program,
    startup_program: Program,
    pass_name: str | list[str],
    pass_attrs: Mapping[str, Any] | None = None,
    pass_attr_types: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Take `main_program` through passes; return their settings.

    Values named in the setting `fetches` stay, besides those that nothing reads.

    Raises:
        scull.errors.ArgumentTypeError: the settings are no dictionaries.
        scull.errors.ArgumentError: there is no pass of one of the names.
    """
    for word, given in (("pass_attrs", pass_attrs), ("pass_attr_types", pass_attr_types)):
        if not isinstance(given, Mapping | None):
            raise ArgumentTypeError(f"{word} must be dict")
    names = [pass_name] if isinstance(pass_name, str) else list(pass_name)
    settings = dict(pass_attrs or {})
    apply_to(main_program, names, settings.get("fetches", ()))
    return settings


def apply_build_strategy(
    main_program: Program,
    startup_program: Program,
    build_strategy: BuildStrategy,
    pass_attrs: Mapping[str, Any],
) -> BuildStrategy:
    """Take `main_program` through the passes that a strategy asks for.

    Args:
        main_program (Program): changes.
        startup_program (Program): stays as it is.
        build_strategy (BuildStrategy): its switches that `SWITCHES` lists name passes.
        pass_attrs (dict): settings of passes; `fetches` are names of values that stay.

    Returns:
        BuildStrategy: a copy, with those switches off.

    Examples:
        >>> import scull as paddle
        >>> from scull.framework.ir import apply_build_strategy
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2])
        ...     y = paddle.nn.functional.relu(x + x)
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.fuse_elewise_add_act_ops = True
        >>> apply_build_strategy(main, startup, strategy, {}).fuse_elewise_add_act_ops
        False
        >>> [o.type for o in main.global_block().ops]
        ['fused_elemwise_activation']
        >>> paddle.disable_static()
    """
    rest: BuildStrategy = build_strategy._copy()
    for switch, names in SWITCHES.items():
        changing = [name for name in names if name in PASSES and name not in PLANNED]
        if getattr(rest, switch) and changing:
            _apply_pass(main_program, startup_program, changing, pass_attrs)
            setattr(rest, switch, False)
    return rest
