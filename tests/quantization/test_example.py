"""The examples of paddle.quantization run, and its public names are there."""

import doctest
import importlib
import pkgutil

import pytest

import scull as paddle
from scull.core import session

MODULES = [
    found.name
    for found in pkgutil.walk_packages(paddle.quantization.__path__, "scull.quantization.")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_print_what_they_say(name):
    with session.guarded(names=session.Names()):
        results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


@pytest.mark.parametrize("package", ["quantization", "quantization.observers", "nn.quant"])
def test_what_is_public_is_there(package):
    module = importlib.import_module(f"scull.{package}")
    assert module.__all__ and all(hasattr(module, name) for name in module.__all__)
