"""Packages whose names load when first used."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

PACKAGES = (
    "scull.audio",
    "scull.audio.features",
    "scull.audio.functional",
    "scull.fft",
    "scull.io",
    "scull.lang",
    "scull.nn",
    "scull.nn.functional",
    "scull.nn.initializer",
    "scull.nn.utils",
    "scull.optimizer",
    "scull.signal",
    "scull.static",
    "scull.tensor",
)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_of_a_package_can_be_had_and_is_listed(name):
    package = importlib.import_module(name)
    names = [n for names in package.NAMES.values() for n in names.split()]
    assert len(names) == len(set(names))
    assert set(names) <= set(dir(package))
    assert all(getattr(package, n) is not None for n in names)
    assert set(getattr(package, "__all__", names)) >= set(names)


@pytest.mark.parametrize("name", PACKAGES)
def test_no_module_has_the_name_of_a_name_of_its_package(name):
    package = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    names = {n for module, names in package.NAMES.items() if module for n in names.split()}
    assert not modules & names


@pytest.mark.parametrize("name", PACKAGES)
def test_an_unknown_name_is_an_attribute_error_that_names_the_package(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nonsense'"):
        importlib.import_module(name).nonsense  # noqa: B018  to look it up is the test


def test_importing_scull_declares_no_more_operators_than_tensors_need():
    code = "import sys, scull; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(out.stdout.split())
    assert "scull.ops.elementwise" in loaded
    assert not loaded & {"scull.ops.convolution", "scull.nn", "scull.optimizer", "scull.executor"}


def test_looking_up_a_type_declares_its_operator():
    code = "from scull.core.op import op_of; print(op_of('conv2d'), op_of('pool2d_grad'))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "<op conv2d> <op pool2d_grad>\n"
