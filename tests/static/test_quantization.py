"""Whole numbers in Programs: what modules import at their top says that it is lacking."""

import pytest
from scull.static.quantization.utils import load_variable_data

import scull as paddle
from scull.errors import UnsupportedError
from scull.static.quantization import PostTrainingQuantization, quant_config


def test_what_is_lacking_is_named_and_refuses_to_be_used():
    assert paddle.static.quantization.quant_config is quant_config
    with pytest.raises(UnsupportedError, match="PostTrainingQuantization` is not in scull"):
        PostTrainingQuantization(None)
    with pytest.raises(UnsupportedError, match="quantized as layers"):
        load_variable_data(None, "x")


def test_no_operator_of_a_program_can_be_quantized():
    assert not quant_config.SUPPORT_QUANTIZATION_OP_DICT
    assert not quant_config.SUPPORT_WEIGHT_QUANTIZATION_OP_DICT
    assert not quant_config.SUPPORT_ACT_QUANTIZATION_OP_DICT
