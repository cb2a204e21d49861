"""The examples of paddle.sparse run, and its names are Paddle's."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import scull as paddle
import scull.sparse

MODULES = [
    m.name for m in pkgutil.walk_packages(scull.sparse.__path__, "scull.sparse.") if not m.ispkg
]
PACKAGES = (paddle.sparse, paddle.sparse.nn, paddle.sparse.nn.functional)
NAMES = """
    sparse_coo_tensor sparse_csr_tensor sin tan asin atan sinh tanh asinh atanh sqrt square log1p
    abs pow pca_lowrank cast neg deg2rad rad2deg expm1 mv matmul masked_matmul addmm add subtract
    transpose sum multiply divide coalesce is_same_shape reshape isnan slice"""
LAYERS = """
    ReLU ReLU6 LeakyReLU Softmax BatchNorm SyncBatchNorm Conv2D Conv3D SubmConv2D SubmConv3D
    MaxPool3D"""
COMPUTED = """
    conv2d conv3d subm_conv2d subm_conv3d max_pool3d relu relu6 leaky_relu softmax attention"""
FUNCTIONS = [(p, n) for p in (PACKAGES[0], PACKAGES[2]) for n in p.__all__]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_print_what_they_say(name):
    module = importlib.import_module(name)
    results = doctest.testmod(module)
    shown = [n for p in PACKAGES for n in p.__all__ if getattr(p, n).__module__ == name]
    assert results.attempted or not shown
    assert not results.failed


@pytest.mark.parametrize(("package", "name"), FUNCTIONS, ids=lambda v: getattr(v, "__name__", v))
def test_every_parameter_is_documented_in_order(package, name):
    function = getattr(package, name)
    args = inspect.getdoc(function).split("Args:")[-1].split("\n\n")[0]
    found = re.findall(r"^    (\w+) \(", args, re.MULTILINE)
    assert found == list(inspect.signature(function).parameters)


def test_the_names_are_those_of_paddle():
    for package, names in zip(PACKAGES, (NAMES, LAYERS, COMPUTED), strict=True):
        assert package.__all__ == sorted(names.split())
