"""Which quantizers a layer gets."""

import copy
from typing import Any

from scull.errors import AssertError
from scull.quantization.imperative.ptq_quantizer import (
    SUPPORT_ACT_QUANTIZERS,
    SUPPORT_WT_QUANTIZERS,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
)


class PTQConfig:
    """The quantizers of inputs, outputs and weights.

    Args:
        activation_quantizer (BaseQuantizer): of inputs and outputs; none by channels.
        weight_quantizer (BaseQuantizer): of weights; none with a histogram.

    Raises:
        AssertError: one is of another kind.
    """

    def __init__(self, activation_quantizer: Any, weight_quantizer: Any) -> None:
        if not isinstance(activation_quantizer, tuple(SUPPORT_ACT_QUANTIZERS)):
            raise AssertError(f"{activation_quantizer} finds no scales of inputs")
        if not isinstance(weight_quantizer, tuple(SUPPORT_WT_QUANTIZERS)):
            raise AssertError(f"{weight_quantizer} finds no scales of weights")
        self.in_act_quantizer = copy.deepcopy(activation_quantizer)
        self.out_act_quantizer = copy.deepcopy(activation_quantizer)
        self.wt_quantizer = copy.deepcopy(weight_quantizer)
        self.quant_hook_handle: Any = None
        self.enable_in_act_quantizer = False


default_ptq_config = PTQConfig(KLQuantizer(), PerChannelAbsmaxQuantizer())
