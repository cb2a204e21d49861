"""The older tools: they change a whole model at once, and save it."""

from scull.quantization.imperative.ptq import ImperativePTQ
from scull.quantization.imperative.ptq_config import PTQConfig, default_ptq_config
from scull.quantization.imperative.ptq_quantizer import (
    SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS,
    AbsmaxQuantizer,
    BaseQuantizer,
    HistQuantizer,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
)
from scull.quantization.imperative.ptq_registry import PTQRegistry
from scull.quantization.imperative.qat import ImperativeQuantAware

__all__ = [
    "SUPPORT_ACT_QUANTIZERS",
    "SUPPORT_WT_QUANTIZERS",
    "AbsmaxQuantizer",
    "BaseQuantizer",
    "HistQuantizer",
    "ImperativePTQ",
    "ImperativeQuantAware",
    "KLQuantizer",
    "PTQConfig",
    "PTQRegistry",
    "PerChannelAbsmaxQuantizer",
    "default_ptq_config",
]
