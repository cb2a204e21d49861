"""State dicts that PaddlePaddle saves, at full size: run where SCULL_PADDLE_PYTHON is given."""

import os
import subprocess

import numpy as np
import pytest

import scull as paddle

LIVE = os.environ.get("SCULL_PADDLE_PYTHON")
SIZES = {"inception_v3": 299}
FAMILIES = [
    "alexnet",
    "densenet121",
    "googlenet",
    "inception_v3",
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
    "resnet18",
    "resnet50",
    "resnext50_32x4d",
    "shufflenet_v2_x1_0",
    "squeezenet1_0",
    "vgg11",
    "wide_resnet50_2",
    "LeNet",
]
SAVE = """
import sys, numpy, paddle
paddle.seed(1)
name, folder = sys.argv[1:]
network = getattr(paddle.vision.models, name)()
network.eval()
found = network(paddle.to_tensor(numpy.load(folder + "/x.npy")))
numpy.save(folder + "/y.npy", (found[0] if isinstance(found, list) else found).numpy())
paddle.save(network.state_dict(), folder + "/state.pdparams")
"""


@pytest.mark.skipif(not LIVE, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
@pytest.mark.parametrize("name", FAMILIES)
def test_a_state_dict_that_paddle_saves_gives_its_outputs(name, tmp_path):
    size = SIZES.get(name, 224)
    shape = [1, 1, 28, 28] if name == "LeNet" else [1, 3, size, size]
    images = np.random.default_rng(0).standard_normal(shape, dtype="float32")
    np.save(tmp_path / "x.npy", images)
    subprocess.run([LIVE, "-c", SAVE, name, str(tmp_path)], check=True, capture_output=True)
    network = getattr(paddle.vision.models, name)()
    missing, unexpected = network.set_state_dict(paddle.load(str(tmp_path / "state.pdparams")))
    assert not missing and not unexpected
    network.eval()
    found = network(paddle.to_tensor(images))
    found = (found[0] if isinstance(found, list) else found).numpy()
    expected = np.load(tmp_path / "y.npy")
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
