"""Tables of layers and counts of operations: what PaddlePaddle 2.6.2 prints."""

import doctest

import pytest

import scull as paddle
from scull import nn
from scull.errors import ArgumentError, UnsupportedError
from scull.hapi import dynamic_flops, model_summary


class Network(nn.Layer):
    """Convolutions, a pool, linear layers; one weight stays."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1), nn.BatchNorm2D(6), nn.ReLU(), nn.AvgPool2D(2, 2)
        )
        self.last = nn.Linear(24, 3)
        self.last.weight.stop_gradient = True

    def forward(self, x):
        return self.last(paddle.flatten(self.features(x), 1))


class Words(nn.Layer):
    """A network of two results."""

    def __init__(self):
        super().__init__()
        self.cells, self.last = nn.LSTM(4, 5, 2), nn.Linear(5, 2)

    def forward(self, x):
        y, state = self.cells(x)
        return self.last(y), state


@pytest.fixture(autouse=True)
def fresh_names():
    with paddle.utils.unique_name.guard():
        yield


@pytest.mark.parametrize("module", [dynamic_flops, model_summary])
def test_the_examples_print_what_they_say(module):
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


def test_a_network_is_shown_layer_by_layer(capsys, golden):
    net = Network()
    assert paddle.summary(net, (-1, 1, 4, 4)) == {"total_params": 159, "trainable_params": 75}
    paddle.summary(net, input=paddle.ones([2, 1, 4, 4]))
    paddle.summary(Words(), [(2, 3, 4)], dtypes="float32")
    assert capsys.readouterr().out == golden
    assert net.training


def test_an_argument_without_a_shape_is_none_in_the_table(capsys):
    paddle.summary(nn.TransformerEncoderLayer(8, 2, 16), (1, 3, 8))
    assert "[[1, 3, 8], [1, 3, 8], [1, 3, 8], None]" in capsys.readouterr().out


def test_a_summary_needs_a_shape():
    net = nn.Linear(2, 3)
    with pytest.raises(ArgumentError, match="cannot be None at the same time"):
        paddle.summary(net)
    with pytest.raises(ArgumentError, match="only the dim of batch_size"):
        paddle.summary(net, (-1, -1))
    with pytest.raises(ArgumentError, match="greater than zero, but got 0"):
        paddle.summary(net, (0, 2))
    with pytest.raises(ArgumentError, match="unable to determine input_size"):
        paddle.summary(net, input=3)


def test_the_operations_of_layers_are_counted(capsys):
    def count(layer, x, y):
        layer.total_ops += 7

    net = Network()
    assert paddle.flops(net, [1, 1, 4, 4], {nn.ReLU: count}, print_detail=True) == 1255
    printed = capsys.readouterr().out
    assert "Customize Function has been applied to <class" in printed
    assert "|    conv2d_0    | [1, 1, 4, 4] | [1, 6, 4, 4] |   60   |  960  |" in printed
    assert printed.endswith("Total Flops: 1255     Total Params: 159\n")
    assert net.training and not any("total_ops" in n for n, _ in net.named_buffers())


def test_operations_are_those_of_layers():
    with pytest.warns(UserWarning, match="must be an instance of paddle.nn.Layer"):
        assert paddle.flops(3, [1]) == -1
    with pytest.raises(UnsupportedError, match="counts those of a Layer"):
        paddle.flops(paddle.static.Program(), [1])


def test_states_are_declared_beside_an_input(capsys):
    shapes = [(-1, 23, 16), ((2, None, 32), (2, -1, 32))]
    found = paddle.summary(nn.LSTM(16, 32, 2), shapes)
    assert found["total_params"] == 14848
    assert "Input size (MB): 0.00" in capsys.readouterr().out
