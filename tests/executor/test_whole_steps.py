"""A step of training of a model that people train is one region: no instruction is left."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.executor import compiled
from scull.flags import flags
from tests.executor.test_compiled import program_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def picture(net, size, channels=3):
    x = paddle.static.data("x", [2, channels, size, size])
    y = paddle.static.data("y", [2, 1], "int64")
    return F.cross_entropy(net(x), y)


def lenet():
    layers = paddle.nn
    net = layers.Sequential(
        layers.Conv2D(1, 6, 5, padding=2), layers.ReLU(), layers.MaxPool2D(2),
        layers.Conv2D(6, 16, 5), layers.ReLU(), layers.MaxPool2D(2), layers.Flatten(),
        layers.Linear(400, 84), layers.ReLU(), layers.Dropout(0.5), layers.Linear(84, 10),
    )  # fmt: skip
    paddle.optimizer.Adam(0.01).minimize(picture(net, 28, 1))


def residual():
    net = paddle.vision.models.resnet18(num_classes=10)
    paddle.optimizer.Momentum(0.1, 0.9, weight_decay=1e-4).minimize(picture(net, 32))


def mobile():
    net = paddle.vision.models.mobilenet_v2(num_classes=10)
    paddle.optimizer.RMSProp(0.01, momentum=0.9).minimize(picture(net, 32))


def clicks(sparse):
    x, y = paddle.static.data("x", [8, 5], "int64"), paddle.static.data("y", [8, 1])
    first, e = (paddle.nn.Embedding(1000, n, sparse=sparse)(x) for n in (1, 16))
    total = e.sum(1)
    pairs = (total * total - (e * e).sum(1)).sum(1, keepdim=True) * 0.5
    deep = paddle.nn.Linear(20, 1)(F.dropout(F.relu(paddle.nn.Linear(80, 20)(e.flatten(1)))))
    loss = F.binary_cross_entropy_with_logits(first.sum(1) + pairs + deep, y)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    paddle.optimizer.Adam(0.01, lazy_mode=sparse, grad_clip=clip).minimize(loss)


MODELS = {
    "lenet": lenet,
    "resnet18": residual,
    "mobilenet_v2": mobile,
    "deepfm": lambda: clicks(False),
    "deepfm, row-sparse": lambda: clicks(True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:.*no machine code")
def test_a_step_of_training_is_one_region(name, monkeypatch):
    regions = []

    def noted(statements, *_, **__):
        regions.append({s.origin for s in statements})
        raise ValueError("it need not become code here")

    monkeypatch.setattr(compiled, "native_of", noted)
    main, startup, _ = program_of(MODELS[name])
    block = main.global_block()
    kinds = {"int64": lambda s: np.zeros(s, "int64"), "float32": lambda s: np.ones(s, "float32")}
    feed = {v.name: kinds[v.dtype.name](v.shape) for v in map(block.var, ("x", "y"))}
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        with flags(COMPILE="eager", CACHE_DIR="off"):
            exe.run(main, feed=feed)
    (origins,) = regions
    left = {op.type for op in block.ops} - origins
    assert left <= {"feed", "fetch", "fill_constant", "reshape2", "flatten_contiguous_range"}
