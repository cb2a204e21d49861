"""Models in numbers of few bits: trained with rounding, or rounded by what some batches show."""

from scull.deferred import deferred

NAMES = {
    "": "imperative observers quanters quantize wrapper",
    "base_observer": "BaseObserver",
    "base_quanter": "BaseQuanter",
    "config": "QuantConfig",
    "factory": "quanter",
    "imperative.ptq": "ImperativePTQ",
    "imperative.ptq_config": "PTQConfig default_ptq_config",
    "imperative.ptq_quantizer": """
        SUPPORT_ACT_QUANTIZERS SUPPORT_WT_QUANTIZERS AbsmaxQuantizer BaseQuantizer HistQuantizer
        KLQuantizer PerChannelAbsmaxQuantizer""",
    "imperative.ptq_registry": "PTQRegistry",
    "imperative.qat": "ImperativeQuantAware",
    "ptq": "PTQ",
    "qat": "QAT",
}
__all__ = ["PTQ", "QAT", "BaseObserver", "BaseQuanter", "QuantConfig", "quanter"]

__getattr__, __dir__ = deferred(__name__, NAMES)
