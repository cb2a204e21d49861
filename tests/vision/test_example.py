"""The examples in the documentation run."""

import doctest
import importlib
import pkgutil

import pytest

import scull.vision
from scull.core import session
from scull.nn.initializer import Constant, set_global_initializer

MODULES = [found.name for found in pkgutil.walk_packages(scull.vision.__path__, "scull.vision.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    set_global_initializer(Constant(0.01))  # which takes no time
    with session.guarded(names=session.Names()):
        results = doctest.testmod(importlib.import_module(name))
    set_global_initializer(None)
    assert results.failed == 0


def test_what_is_public_is_there():
    names = scull.vision.models.__all__
    assert all(hasattr(scull.vision.models, name) for name in names)
    assert len(set(names)) == len(names) == 51
