"""The examples in the docstrings of derivatives print what they say."""

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
        "scull.incubate.autograd.functional",
        "scull.incubate.autograd.primapi",
        "scull.incubate.autograd.primops",
        "scull.incubate.autograd.primrules",
        "scull.incubate.autograd.primx",
        "scull.incubate.autograd.utils",
    ],
)
def test_the_examples_print_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed
