"""The examples in the documentation run."""

import doctest
import importlib
import pkgutil

import pytest

import scull.nn
from scull.core import session

MODULES = [
    "scull.regularizer",
    *(found.name for found in pkgutil.walk_packages(scull.nn.__path__, "scull.nn.")),
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    with session.guarded(names=session.Names()):
        results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_what_is_public_is_there():
    assert all(hasattr(scull.nn, name) for name in scull.nn.__all__)
    assert len(set(scull.nn.__all__)) == len(scull.nn.__all__)
