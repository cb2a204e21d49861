"""Recurrent networks give what their cells give, step by step."""

import numpy as np
import pytest

import scull as paddle
from scull import nn

KINDS = [(nn.SimpleRNN, nn.SimpleRNNCell), (nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell)]
every_kind = pytest.mark.parametrize(("network", "cell"), KINDS, ids=lambda c: c.__name__)
PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def cell_like(cell, network, suffix):
    """A cell with the weights of one layer and direction of a network."""
    made = cell(3, 4)
    made.set_state_dict({name: network.state_dict()[name + suffix] for name in PARTS})
    return made


def same(found, asked):
    """Whether nested results are near each other."""
    if isinstance(asked, tuple):
        return all(same(f, a) for f, a in zip(found, asked, strict=True))
    return np.allclose(found.numpy(), asked.numpy(), atol=1e-5)


@every_kind
@pytest.mark.parametrize("lengths", [None, [5, 2]])
def test_a_network_goes_through_a_sequence_as_its_cell(network, cell, lengths):
    paddle.seed(0)
    layer, x = network(3, 4), paddle.randn([2, 5, 3])
    lengths = None if lengths is None else paddle.to_tensor(lengths)
    y, last = layer(x, sequence_length=lengths)
    asked, state = nn.RNN(cell_like(cell, layer, "_l0"))(x, sequence_length=lengths)
    if lengths is not None:
        asked = asked * paddle.to_tensor([[1.0] * 5, [1.0] * 2 + [0.0] * 3]).unsqueeze(-1)
    assert y.shape == [2, 5, 4] and same(y, asked)
    last = tuple(s[0] for s in last) if isinstance(last, tuple) else last[0]
    assert same(last, state)


@every_kind
def test_both_directions_stand_side_by_side(network, cell):
    paddle.seed(1)
    layer, x = network(3, 4, direction="bidirect"), paddle.randn([2, 5, 3])
    y, _ = layer(x)
    cells = [cell_like(cell, layer, suffix) for suffix in ("_l0", "_l0_reverse")]
    asked, _ = nn.BiRNN(*cells)(x)
    assert y.shape == [2, 5, 8] and same(y, asked)


@every_kind
def test_gradients_of_a_network_are_those_of_its_cell(network, cell):
    paddle.seed(2)
    layer, x = network(3, 4), paddle.randn([2, 5, 3])
    steps = nn.RNN(cell_like(cell, layer, "_l0"))
    for made in (layer, steps):
        (made(x)[0] ** 2).sum().backward()
    for name in PARTS:
        own = layer.state_dict()[name + "_l0"].grad
        assert same(own, getattr(steps.cell, name).grad), name


@every_kind
def test_time_may_come_first_and_layers_follow_each_other(network, cell):
    paddle.seed(3)
    layer, x = network(3, 4, num_layers=2), paddle.randn([2, 5, 3])
    other = network(3, 4, num_layers=2, time_major=True)
    other.set_state_dict(layer.state_dict())
    assert same(other(x.transpose([1, 0, 2]))[0].transpose([1, 0, 2]), layer(x)[0])
