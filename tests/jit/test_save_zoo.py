"""Whole models saved and loaded: what they compute, and the gradients that train them further."""

import json
import os
import subprocess
from functools import cache

import numpy as np
import pytest

import scull as paddle
from scull.core.tensor import Tensor
from tests.jit.saving import again
from tests.jit.test_zoo import MODELS, built

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")

READ = """
import json
import numpy as np
import paddle

answer = {}
for name, count in json.load(open("asked.json")).items():
    layer = paddle.jit.load("./" + name)
    found = layer(*[paddle.to_tensor(np.load(f"{name}_{i}.npy")) for i in range(count)])
    found = found if isinstance(found, list) else [found]
    answer[name] = [v.astype("float64").tolist() for v in found]
json.dump(answer, open("answer.json", "w"))
"""


def leaves(value) -> list[Tensor]:
    """The tensors in what a model returns; those of a dictionary in the order of its keys."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return [t for v in value for t in leaves(v)] if isinstance(value, list | tuple) else []


def arguments(case, specs) -> list[np.ndarray]:
    """For each description an array of the batch that fits it, else one made up."""
    pool, found = list(case.batch(0)), []
    for spec in specs:
        fitting = [i for i, a in enumerate(pool) if fits(spec, a)]
        if fitting:
            found.append(pool.pop(fitting[0]))
        else:
            shape = [4 if n == -1 else n for n in spec.shape]
            found.append(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))
        found[-1] = found[-1].astype(spec.dtype.array)
    return found


def fits(spec, array) -> bool:
    """Whether a description is one of `array`."""
    return (
        array.dtype == spec.dtype.array
        and array.ndim == len(spec.shape)
        and all(n in (-1, m) for n, m in zip(spec.shape, array.shape, strict=True))
    )


@cache
def network(name):
    """The layers of a model with what each is called with."""
    case = built(name)
    return [(net, specs, arguments(case, specs)) for net, specs in case.nets]


def called(layer, arrays):
    """What a layer gives, with the same random numbers each time."""
    paddle.seed(3)
    return leaves(layer(*map(paddle.to_tensor, arrays)))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_computes_and_learns_the_same_when_loaded(name, tmp_path):
    for net, specs, arrays in network(name):
        net.eval()
        layer = again(net, tmp_path, specs)
        assert_same(called(layer, arrays), called(net, arrays))
        net.train()
        layer = again(net, tmp_path, specs)
        layer.train()
        results = called(layer, arrays), called(net, arrays)
        assert_same(*results)
        for found in results:
            sum((v**2).mean() for v in found if not v.stop_gradient).backward()
        state = dict(net.to_static_state_dict())
        names = paddle.load(str(tmp_path / "net"))
        values = [getattr(layer, n) for n in layer._persistable_var_name_dict.values()]
        assert any(v.grad is not None for v in values)
        for own, value in zip(names, values, strict=True):
            assert (value.grad is None) == (state[own].grad is None)
            if value.grad is not None:
                assert_same([value.grad], [state[own].grad])
                state[own].clear_gradient()


def assert_same(found, expected) -> None:
    assert len(found) == len(expected) > 0
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
def test_paddle_computes_the_same_with_every_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked, expected = {}, {}
    for name in MODELS:
        for k, (net, specs, arrays) in enumerate(network(name)):
            net.eval()
            paddle.jit.save(net, f"{name}{k}", specs)
            for i, array in enumerate(arrays):
                np.save(f"{name}{k}_{i}.npy", array)
            asked[f"{name}{k}"], expected[f"{name}{k}"] = len(arrays), called(net, arrays)
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    result = subprocess.run([str(PYTHON), "-B", "-c", READ], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    answer = json.loads((tmp_path / "answer.json").read_text())
    for name, values in expected.items():
        for x, y in zip(answer[name], values, strict=True):
            np.testing.assert_allclose(x, y.numpy(), rtol=1e-5, atol=1e-5)
