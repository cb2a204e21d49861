"""The examples of every documented function, run; and the lists of public names."""

import doctest
import importlib
import inspect
import re

import pytest

import scull as paddle
from scull.core import session
from scull.core.tensor import Tensor
from scull.deferred import listed
from scull.ir.variable import Variable
from scull.tensor import inplace, method

MODULES = [importlib.import_module("scull.tensor." + name) for name in paddle.tensor.NAMES]
PUBLIC = {name: getattr(paddle.tensor, name) for name in paddle.tensor.__all__}
WRITTEN = {n: f for n, f in PUBLIC.items() if n == "where_" or not n.endswith("_")}


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_the_examples_of_a_function_run(name):
    function = WRITTEN[name]
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name)
    assert test.examples
    before = session.get("print")
    with session.guarded(names=session.Names()):
        found = doctest.DocTestRunner().run(test)
    session.put("print", before)
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_every_parameter_is_documented_once_and_in_order(name):
    function = WRITTEN[name]
    parameters = list(inspect.signature(function).parameters)
    text = inspect.getdoc(function)
    documented = re.findall(
        r"^    (\w+) \(", text.split("Args:")[-1].split("\n\n")[0], re.MULTILINE
    )
    if "options" in parameters:
        documented = [n if n != "name" else "options" for n in documented]
    assert (documented if "Args:" in text else []) == parameters


def test_every_public_name_is_one_of_the_package():
    assert all(hasattr(paddle, name) for name in PUBLIC)
    assert all(callable(function) for function in PUBLIC.values())


METHODS = {*listed(paddle.tensor.NAMES), *listed(paddle.tensor.OWN)} - {*method.NO_METHODS.split()}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_is_the_function_of_its_name(name):
    assert getattr(Tensor, name) is getattr(paddle.tensor, name)
    assert getattr(Variable, name) is getattr(paddle.tensor, name)


def test_every_function_in_place_says_so_in_its_name():
    made = {*inplace.NAMES.split(), "where_"}
    assert made <= {n for n in PUBLIC if n.endswith("_")}
    assert all(callable(getattr(inplace, name)) for name in made)
