"""The examples in the documentation of optimizers run."""

import doctest
import importlib
import pkgutil

import pytest

import scull.optimizer
from scull.core import session

MODULES = [
    found.name for found in pkgutil.walk_packages(scull.optimizer.__path__, "scull.optimizer.")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    with session.guarded(names=session.Names()):
        results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
