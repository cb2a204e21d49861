"""Modules that show what stands elsewhere."""

import importlib
import subprocess
import sys

import pytest

import scull
from scull.core.door import doors

SHOWN = {
    "scull.tensor.math": ("scull.tensor", "add"),
    "scull.tensor.ops": ("scull.tensor", "exp"),
    "scull.tensor.stat": ("scull.tensor", "mean"),
    "scull.nn.functional.common": ("scull.nn.functional", "linear"),
    "scull.nn.functional.loss": ("scull.nn.functional", "cross_entropy"),
    "scull.nn.layer.common": ("scull.nn", "Linear"),
    "scull.nn.layer.norm": ("scull.nn", "GroupNorm"),
    "scull.nn.utils.weight_norm_hook": ("scull.nn.utils", "weight_norm"),
    "scull.optimizer.adam": ("scull.optimizer", "Adam"),
    "scull.io.dataloader.dataset": ("scull.io", "Dataset"),
    "scull.static.nn.common": ("scull.static.nn", "fc"),
    "scull.static.nn.metric": ("scull.static", "accuracy"),
}


@pytest.mark.parametrize("module", SHOWN)
def test_a_module_of_paddles_shows_what_its_package_has(module):
    package, name = SHOWN[module]
    importlib.import_module(package)
    own = getattr(importlib.import_module(package), name)
    assert getattr(importlib.import_module(module), name) is own


def test_a_layer_is_found_in_the_package_of_layers():
    assert scull.nn.layer.MaxPool1D is scull.nn.MaxPool1D


def test_an_unknown_name_is_an_attribute_error():
    importlib.import_module("scull.tensor")
    math = importlib.import_module("scull.tensor.math")
    assert not hasattr(math, "nonsense")
    assert not hasattr(math, "__path__")


def test_a_door_is_an_attribute_of_its_parent():
    doors("scull.tensor", "made_for_a_test")
    made = importlib.import_module("scull.tensor.made_for_a_test")
    assert scull.tensor.made_for_a_test is made
    assert made.add is scull.add


def test_a_door_within_a_door_is_found_by_its_name_under_paddle():
    code = "import scull.compat; scull.compat.install()\n"
    code += "from paddle.io.dataloader.dataset import Dataset\n"
    code += "from paddle.distributed.fleet.utils.fs import LocalFS\n"
    code += "import paddle; print(Dataset is paddle.io.Dataset, LocalFS.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "True LocalFS\n"


def test_packages_and_modules_of_layers_are_there_before_one_is_imported():
    code = "import scull; print(scull.nn.layer.loss.L1Loss.__name__, scull.hapi.summary.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "L1Loss summary\n"


def test_a_module_that_has_the_name_of_a_function_leaves_the_function():
    code = "import scull.compat; scull.compat.install()\n"
    code += "from paddle.amp.auto_cast import amp_state\nimport paddle, paddle.distributed.launch\n"
    code += "with paddle.amp.auto_cast(level='O2', dtype='bfloat16'): print(amp_state()['level'])\n"
    code += "print(amp_state(), callable(paddle.distributed.launch))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "O2\nNone True\n"


def test_names_with_one_underscore_are_shown():
    assert importlib.import_module("scull.io.dataloader.dataloader_iter")._DataLoaderIterBase
