"""Whole models as source: the same graph, the same bits, the same gradients."""

import numpy as np
import pytest

import scull as paddle
from tests.jit.decompile.trip import assert_same_graph, written
from tests.jit.test_save_zoo import called, network
from tests.jit.test_zoo import MODELS


def assert_same_bits(layer, loaded, arrays):
    """Two layers give the same; the results are returned."""
    found, expected = called(layer, arrays), called(loaded, arrays)
    assert len(found) == len(expected) > 0
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x.numpy(), y.numpy(), strict=True)
    return found, expected


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_graph_and_trains_the_same(name, tmp_path):
    for net, specs, arrays in network(name):
        net.train()
        path = tmp_path / "net"
        paddle.jit.save(net, str(path), specs)
        layer, made = written(path, tmp_path)
        layer.eval()
        assert_same_graph(path, layer, made, tmp_path)
        loaded = paddle.jit.load(str(path))
        assert_same_bits(layer, loaded, arrays)
        for each in (layer, loaded):
            each.train()
        for found in assert_same_bits(layer, loaded, arrays):
            sum((v**2).mean() for v in found if not v.stop_gradient).backward()
        assert_same_gradients(layer, loaded, made, path)


def assert_same_gradients(layer, loaded, made, path):
    """Each value of the file has the gradient it has where the file is loaded."""
    names = loaded._persistable_var_name_dict.values()
    there = zip(paddle.load(str(path)), names, strict=True)
    theirs = {stored: getattr(loaded, n).grad for stored, n in there}
    own = dict(layer.named_parameters())
    assert any(p.grad is not None for p in own.values())
    for word, stored in made.WEIGHTS.items():
        if word in own:
            found, expected = own[word].grad, theirs[stored]
            assert (found is None) == (expected is None), word
            if found is not None:
                np.testing.assert_array_equal(found.numpy(), expected.numpy(), strict=True)


@pytest.mark.parametrize("name", ["resnet", "vae"])
def test_a_model_saved_for_evaluation_is_the_same_graph(name, tmp_path):
    for net, specs, _ in network(name):
        net.eval()
        paddle.jit.save(net, str(tmp_path / "net"), specs)
        layer, made = written(tmp_path / "net", tmp_path)
        layer.eval()
        assert_same_graph(tmp_path / "net", layer, made, tmp_path)
