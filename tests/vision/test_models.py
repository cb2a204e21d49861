"""The ready-made networks against tests/data/reference/vision.json."""

import hashlib
import inspect
import json
import math
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError, UnsupportedError
from scull.nn.initializer import Constant
from scull.utils import unique_name
from scull.vision import models
from scull.vision.models import densenet, mobilenetv2, resnet
from scull.vision.models._utils import IntermediateLayerGetter
from tools.harvest_values import filled, images, sampled

DATA = Path(__file__).resolve().parent.parent / "data"
FACTS = json.loads((DATA / "reference" / "vision.json").read_text(encoding="utf-8"))
STATES, NUMBERS = (
    {key.removeprefix(kind): facts for key, facts in FACTS.items() if key.startswith(kind)}
    for kind in ("state: ", "numbers: ")
)
FUNCTIONS = [name for name in models.__all__ if name[0].islower()]
CLASSES = [name for name in models.__all__ if name[0].isupper()]
RATE = 0.01
TOLERANCE = 1e-5  # relative to the largest number


@pytest.fixture(autouse=True)
def quick():
    """Parameters start as a constant, which takes no time, and their names anew."""
    paddle.nn.initializer.set_global_initializer(Constant(0.01))
    with unique_name.guard():
        yield
    paddle.nn.initializer.set_global_initializer(None)


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def made(call):
    return eval(call, vars(models))


def prepared(call):
    """A network with the parameters that only its names decide, which drops nothing."""
    network = made(call)
    state = network.state_dict()
    network.set_state_dict({name: filled(name, value.shape) for name, value in state.items()})
    for layer in network.sublayers():
        if isinstance(layer, paddle.nn.Dropout):
            layer.p = 0.0
    return network


def scores(network, x):
    """What a network gives, in one row an image."""
    results = network(x)
    results = results if isinstance(results, list) else [results]
    return paddle.concat([paddle.flatten(result, 1) for result in results], axis=1)


def close(found, expected):
    """The first number is the length of all, of which the others are some."""
    rounding = TOLERANCE * np.abs(expected[1:]).max()
    return math.isclose(found[0], expected[0], rel_tol=TOLERANCE) and np.allclose(
        found[1:], expected[1:], rtol=0, atol=rounding
    )


@pytest.mark.parametrize("call", STATES)
def test_a_network_has_the_parameters_and_the_layers_of_paddles(call):
    paddle.enable_static()  # where parameters take no memory
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup), unique_name.guard():
            network = made(call)
    finally:
        paddle.disable_static()
    state = network.state_dict()
    assert STATES[call] == {
        "count": len(state),
        "size": sum(math.prod(value.shape) for value in state.values()),
        "state": digest([f"{name} {list(value.shape)}" for name, value in state.items()]),
        "names": digest([value.name for value in state.values()]),
        "printed": digest([repr(network)]),
    }


@pytest.mark.parametrize("call", NUMBERS)
def test_a_network_gives_and_learns_what_paddles_does_from_equal_parameters(call):
    facts = NUMBERS[call]
    network, x = prepared(call), paddle.to_tensor(images(facts["images"]))
    network.eval()
    assert close(sampled(scores(network, x).numpy()), facts["eval"])
    network, x = network.to(dtype=facts["dtype"]), x.astype(facts["dtype"])
    network.train()
    optimizer = paddle.optimizer.SGD(RATE, parameters=network.parameters())
    loss = paddle.mean(paddle.tanh(scores(network, x)) ** 2)
    loss.backward()
    assert math.isclose(loss.item(), facts["loss"], rel_tol=TOLERANCE)
    gradients = {
        name: np.linalg.norm(value.grad.numpy().astype(np.float64))
        for name, value in network.named_parameters()
        if value.grad is not None
    }
    assert list(gradients) == list(facts["gradients"])
    expected = list(facts["gradients"].values())
    assert np.allclose(
        list(gradients.values()), expected, rtol=TOLERANCE, atol=TOLERANCE * max(expected)
    )
    optimizer.step()
    network.eval()
    assert close(sampled(scores(network, x).numpy()), facts["after"])


@pytest.mark.parametrize("call", NUMBERS)
def test_a_program_of_a_network_has_the_operators_of_paddles(call):
    facts = NUMBERS[call]
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            made(call)(paddle.static.data("x", [-1, *facts["images"][1:]]))
    finally:
        paddle.disable_static()
    assert digest([operator.type for operator in main.global_block().ops]) == facts["operators"]


def test_a_state_dict_that_paddle_saved_gives_paddles_numbers():
    network = models.LeNet(num_classes=0)
    state = paddle.load(DATA / "models" / "lenet.pdparams")
    assert network.set_state_dict(state) == ([], [])
    x = paddle.to_tensor(images(NUMBERS["LeNet()"]["images"]))
    with np.load(DATA / "models" / "lenet.npz") as arrays:
        expected = arrays["maps"]
    assert np.allclose(network(x).numpy(), expected, rtol=0, atol=TOLERANCE * expected.max())


@pytest.mark.parametrize(
    ("call", "shape", "parts"),
    [
        ("LeNet()", [2, 1, 28, 28], {"conv2d": 2, "pool2d": 2, "relu": 2, "matmul_v2": 3}),
        (
            "resnet18(num_classes=7)",
            [2, 3, 32, 32],
            {"conv2d": 20, "batch_norm": 20, "relu": 17, "pool2d": 2, "matmul_v2": 1},
        ),
    ],
)
def test_a_program_of_a_network_gives_what_the_network_gives(call, shape, parts):
    network = prepared(call)
    state = {value.name: value.numpy() for value in network.state_dict().values()}
    x = images(shape)
    expected = network(paddle.to_tensor(x))
    paddle.mean(expected).backward()
    first = network.parameters()[0]
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with unique_name.guard(), paddle.static.program_guard(main, startup):
            network = made(call)
            out = network(paddle.static.data("x", [-1, *shape[1:]]))
            types = [operator.type for operator in main.global_block().ops]
            (pair,) = paddle.static.append_backward(paddle.mean(out), [first.name])
        executor = paddle.static.Executor()
        executor.run(startup)
        paddle.static.set_program_state(main, state)
        found, gradient = executor.run(main, feed={"x": x}, fetch_list=[out, pair[1]])
    finally:
        paddle.disable_static()
    assert {kind: types.count(kind) for kind in parts} == parts
    for one, other in ((found, expected.numpy()), (gradient, first.grad.numpy())):
        assert np.allclose(one, other, rtol=0, atol=TOLERANCE * np.abs(other).max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_trained_weights_are_refused_with_what_to_do_instead(name):
    function = getattr(models, name)
    assert next(iter(inspect.signature(function).parameters)) == "pretrained"
    with pytest.raises(UnsupportedError, match=rf"`{name}` comes .*scull\.load"):
        function(pretrained=True)


@pytest.mark.parametrize("name", CLASSES)
def test_without_classes_and_pool_feature_maps_come_back(name):
    first = {
        "VGG": (models.vgg.make_layers([512]),),
        "ResNet": (resnet.BottleneckBlock,),
        "SqueezeNet": ("1.0",),
    }
    options = {} if name in ("LeNet", "AlexNet") else {"with_pool": False}
    classes = 512 if name == "SqueezeNet" else 0  # its classes are maps
    network = getattr(models, name)(*first.get(name, ()), num_classes=classes, **options)
    shape = [1, 1, 28, 28] if name == "LeNet" else [1, 3, 76, 76]
    results = network(paddle.ones(shape))
    for maps in results if isinstance(results, list) else [results]:
        assert maps.ndim == 4


@pytest.mark.parametrize(
    ("make", "error", "law"),
    [
        (lambda: models.DenseNet(100), ArgumentError, "supported layers are .* layer is 100"),
        (lambda: models.SqueezeNet("2.0"), ArgumentError, "input version is 2.0"),
        (lambda: models.ShuffleNetV2(0.4), UnsupportedError, r"scale size:\[0.4\]"),
        (lambda: models.ShuffleNetV2(act="tanh"), ArgumentError, "not supported: tanh"),
        (lambda: models.ResNet(resnet.BasicBlock, 20), ArgumentError, "got 20"),
        (lambda: resnet.BasicBlock(4, 4, dilation=2), UnsupportedError, "Dilation > 1"),
        (lambda: mobilenetv2.InvertedResidual(4, 4, 3, 6), ArgumentError, "1 or 2, but got 3"),
        (lambda: models.ResNet(None, 18), ArgumentTypeError, "not None"),
        (lambda: models.ShuffleNetV2(act=[1]), ArgumentError, r"not supported: \[1\]"),
        (lambda: models.LeNet("ten"), ArgumentTypeError, "num_classes is an int, not 'ten'"),
        (lambda: models.MobileNetV1("a"), ArgumentTypeError, "scale is a number, not 'a'"),
        (lambda: models.MobileNetV3Small(math.nan), ArgumentError, "finite number, not nan"),
        (lambda: models.resnet18(classes=7), TypeError, "unexpected keyword argument 'classes'"),
        (lambda: models.LeNet()(paddle.ones([1, 1, 32, 32])), ShapeError, "columns"),
    ],
)
def test_a_network_that_cannot_be_is_refused(make, error, law):
    with pytest.raises(error, match=law):
        make()


def test_a_block_drops_out_in_training():
    layer = densenet.DenseLayer(4, 2, 8, dropout=0.5)
    assert layer(paddle.ones([1, 4, 3, 3])).shape == [1, 6, 3, 3]
    assert isinstance(layer.dropout_func, paddle.nn.Dropout)


def test_the_layers_of_a_network_show_what_they_return():
    network = models.resnet18(num_classes=7)
    chosen = {"layer1": "near", "fc": "scores"}
    found = IntermediateLayerGetter(network, chosen)(paddle.ones([1, 3, 32, 32]))
    assert {name: value.shape for name, value in found.items()} == {
        "near": [1, 64, 8, 8],
        "scores": [1, 7],
    }
    shorter = IntermediateLayerGetter(network, {"layer1": "near"})
    assert list(shorter.keys()) == ["conv1", "bn1", "relu", "maxpool", "layer1"]
    with pytest.raises(ArgumentError, match="return_layers are not present"):
        IntermediateLayerGetter(network, {"layer9": "far"})


def test_a_filter_of_any_shape_keeps_the_size_of_images():
    block = paddle.vision.ops.ConvNormActivation(3, 4, (1, 5), dilation=2)
    assert block(paddle.ones([1, 3, 6, 7])).shape == [1, 4, 6, 7]


def test_networks_are_found_where_paddle_has_them():
    assert paddle.vision.resnet18 is models.resnet18
    assert paddle.vision.models.resnet.BasicBlock is resnet.BasicBlock
    assert issubclass(paddle.vision.ops.ConvNormActivation, paddle.nn.Sequential)
    with pytest.raises(AttributeError, match="has no attribute 'resnet19'"):
        _ = paddle.vision.resnet19
