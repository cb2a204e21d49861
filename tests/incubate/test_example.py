"""The examples in the docstrings of what is in preparation print what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "scull.autograd.interface",
        "scull.autograd.layer",
        "scull.autograd.matrix",
        "scull.autograd.saving",
        "scull.eager.grad_node",
        "scull.incubate.asp.mask",
        "scull.incubate.asp.support",
        "scull.incubate.asp.workflow",
        "scull.cost_model.cost_model",
        "scull.distributed.spawning",
        "scull.incubate.autograd.functional",
        "scull.incubate.autograd.primapi",
        "scull.incubate.autograd.primops",
        "scull.incubate.autograd.primrules",
        "scull.incubate.autograd.primx",
        "scull.incubate.autograd.utils",
        "scull.incubate.autotune",
        "scull.incubate.checkpoint.auto_checkpoint",
        "scull.incubate.nn.functional.fused_dropout_add",
        "scull.incubate.nn.functional.fused_layer_norm",
        "scull.incubate.nn.functional.fused_matmul_bias",
        "scull.incubate.nn.functional.fused_rms_norm",
        "scull.incubate.nn.functional.fused_rotary_position_embedding",
        "scull.incubate.nn.functional.fused_transformer",
        "scull.incubate.nn.functional.variable_length_memory_efficient_attention",
        "scull.incubate.nn.layer.fused_dropout_add",
        "scull.incubate.nn.layer.fused_dropout_nd",
        "scull.incubate.nn.layer.fused_linear",
        "scull.incubate.nn.layer.fused_transformer",
        "scull.incubate.nn.memory_efficient_attention",
    ],
)
def test_the_examples_print_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed
