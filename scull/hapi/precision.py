"""What `Model.prepare` is told of mixed precision."""

from dataclasses import dataclass, field
from typing import Any

from scull.errors import ArgumentError, AssertError
from scull.ir.mode import in_dynamic_mode
from scull.nn import ClipGradByGlobalNorm, ClipGradByNorm

LEVELS = ("O0", "O1", "O2")
LISTS = {"custom_white_list", "custom_black_list", "custom_black_varnames"}
SCALER = {
    "init_loss_scaling",
    "incr_ratio",
    "decr_ratio",
    "incr_every_n_steps",
    "decr_every_n_nan_or_inf",
    "use_dynamic_loss_scaling",
}


@dataclass(frozen=True)
class Precision:
    """The level, and the options of the parts that make it."""

    level: str = "O0"
    lists: dict[str, Any] = field(default_factory=dict)
    scaler: dict[str, Any] = field(default_factory=dict)
    use_fp16_guard: Any = None

    @property
    def is_mixed(self) -> bool:
        """Whether anything computes with fewer digits."""
        return self.level != "O0"


def precision_of(configs: Any, optimizer: Any) -> Precision:
    """`amp_configs` as the parts they are for.

    Raises:
        ArgumentError: a level or a key that there is not, or that this mode has no use for.
        AssertError: level O2 with gradients clipped by value.
    """
    configs = {"level": configs} if isinstance(configs, str) else dict(configs or {"level": "O0"})
    level = configs.pop("level", "O1")
    if level not in LEVELS:
        raise ArgumentError(f"The level of amp_configs should be 'O0', 'O1' or 'O2', not {level!r}")
    if "use_pure_fp16" in configs:
        raise ArgumentError(
            "'use_pure_fp16' is an invalid parameter: the level 'O1' or 'O2' decides alone"
        )
    unknown = configs.keys() - LISTS - SCALER - {"use_fp16_guard"}
    if unknown:
        raise ArgumentError(
            f"the keys {sorted(unknown)} of 'amp_configs' could not be recognized; beside 'level' "
            f"there are {', '.join(sorted(LISTS | SCALER | {'use_fp16_guard'}))}"
        )
    if "use_fp16_guard" in configs and in_dynamic_mode():
        raise ArgumentError("'use_fp16_guard' is supported in static graph mode only.")
    clip = getattr(optimizer, "_grad_clip", None)
    if level == "O2" and clip and not isinstance(clip, ClipGradByGlobalNorm | ClipGradByNorm):
        raise AssertError(
            "Only ClipGradByNorm and ClipGradByGlobalNorm are supported in amp training with "
            "level=O2 currently."
        )
    return Precision(
        level,
        {name: value for name, value in configs.items() if name in LISTS},
        {name: value for name, value in configs.items() if name in SCALER},
        configs.get("use_fp16_guard"),
    )
