"""The examples of distributions run, and every parameter is documented."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import scull as paddle
from scull.core import session

D = paddle.distribution
MODULES = sorted(module.name for module in pkgutil.iter_modules(D.__path__))
PUBLIC = [getattr(D, name) for name in D.__all__ if not inspect.ismodule(getattr(D, name))]


def methods(kind):
    """The public methods a class defines."""
    return [f for n, f in vars(kind).items() if inspect.isfunction(f) and not n.startswith("_")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name, monkeypatch):
    monkeypatch.setattr(D.kl, "_REGISTER_TABLE", dict(D.kl._REGISTER_TABLE))
    with session.guarded(names=session.Names()):
        found = doctest.testmod(importlib.import_module(f"scull.distribution.{name}"))
    assert found.failed == 0


@pytest.mark.parametrize("one", PUBLIC, ids=lambda one: one.__name__)
def test_everything_public_has_an_example_and_documents_its_parameters(one):
    assert ">>> " in inspect.getdoc(one)
    documented = [one] if "Args:" in inspect.getdoc(one) or inspect.isfunction(one) else []
    for function in documented + (methods(one) if inspect.isclass(one) else []):
        text = inspect.getdoc(function)
        names = [n for n in inspect.signature(function).parameters if n != "self"]
        if "Args:" in text:
            section = text.split("Args:")[1].split("\n\n")[0]
            assert re.findall(r"^    (\w+) \(", section, re.MULTILINE) == names
