"""Recurrent networks: cells step by step against layers of them, lengths, states, names."""

import numpy as np
import pytest

import scull as paddle

nn = paddle.nn


def sequences(*shape):
    return paddle.to_tensor(np.random.default_rng(0).random(shape, dtype="float32") - 0.5)


NETWORKS = {
    "lstm": lambda **k: nn.LSTM(2, 3, 2, **k),
    "gru": lambda **k: nn.GRU(2, 3, 2, **k),
    "tanh": lambda **k: nn.SimpleRNN(2, 3, 2, **k),
    "relu": lambda **k: nn.SimpleRNN(2, 3, 2, activation="relu", **k),
}


def by_cells(network, x, lengths=None):
    """The same layers, each cell going through the steps by itself."""
    for layer in network:
        x, _ = layer(x, sequence_length=lengths)
        if lengths is not None:
            there = np.arange(x.shape[1])[None] < lengths.numpy()[:, None]
            x = x * paddle.to_tensor(there[:, :, None].astype("float32"))
    return x


@pytest.mark.parametrize("direction", ["forward", "bidirect"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_its_cells_step_by_step(name, direction):
    network, lengths = NETWORKS[name](direction=direction), paddle.to_tensor([1, 4, 2])
    for given in (None, lengths):
        x, y = sequences(3, 4, 2), sequences(3, 4, 2)
        x.stop_gradient = y.stop_gradient = False
        out, _ = network(x, sequence_length=given)
        out.square().sum().backward()
        own = [p.grad.numpy() for p in network.parameters()]
        network.clear_gradients()
        expected = by_cells(network, y, given)
        expected.square().sum().backward()
        np.testing.assert_allclose(out.numpy(), expected.numpy(), atol=1e-6)
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-5)
        for a, p in zip(own, network.parameters(), strict=True):
            np.testing.assert_allclose(a, p.grad.numpy(), atol=1e-5)
        network.clear_gradients()


def test_the_last_states_of_a_sequence_are_those_at_its_end():
    network, x = nn.LSTM(2, 3), sequences(2, 4, 2)
    out, (h, _) = network(x, sequence_length=paddle.to_tensor([2, 4]))
    np.testing.assert_allclose(h[0].numpy(), [out[0, 1].numpy(), out[1, 3].numpy()], rtol=1e-6)
    assert not out[0, 2:].numpy().any()


def test_a_network_goes_on_from_the_states_it_left():
    network, x = nn.GRU(2, 3, time_major=True), sequences(6, 2, 2)
    whole, last = network(x)
    first, state = network(x[:2])
    rest, end = network(x[2:], state)
    np.testing.assert_allclose(whole.numpy(), np.concatenate([first, rest]), rtol=1e-5)
    np.testing.assert_allclose(last.numpy(), end.numpy(), rtol=1e-5)


def test_dropout_lies_between_layers_in_training_only():
    network, x = nn.GRU(2, 8, 2, dropout=0.5), sequences(2, 3, 2)
    assert not np.array_equal(network(x)[0].numpy(), network(x)[0].numpy())
    network.eval()
    assert np.array_equal(network(x)[0].numpy(), network(x)[0].numpy())


def test_parameters_have_the_names_of_the_network_and_of_its_cells():
    network = nn.LSTM(2, 3)
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    assert [n for n, _ in network.named_parameters()] == names
    cells = [f"0.cell.{n.removesuffix('_l0')}" for n in names]
    assert list(network.state_dict()) == names + cells


def test_a_program_records_one_operator_and_gives_the_same_numbers():
    network, x = nn.LSTM(2, 3, 2, "bidirect"), sequences(3, 4, 2)
    expected, weights = network(x)[0].numpy(), network.state_dict()
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            data = paddle.static.data("x", [None, None, 2])
            again = nn.LSTM(2, 3, 2, "bidirect")
            out, _ = again(data)
            paddle.static.append_backward(out.mean())
        exe = paddle.static.Executor()
        exe.run(startup)
        types = [o.type for o in main.global_block().ops]
        assert types.count("rnn") == types.count("rnn_grad") == 1
        for name, p in again.named_parameters():
            paddle.static.global_scope().find_var(p.name).value = weights[name].numpy()
        (found,) = exe.run(main, feed={"x": x.numpy()}, fetch_list=[out])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="direction should be forward or bidirect"):
        nn.LSTM(2, 3, direction="back")
    with pytest.raises(ValueError, match="activation for SimpleRNNCell should be tanh or relu"):
        nn.SimpleRNNCell(2, 3, "gelu")
    with pytest.raises(ValueError, match="hidden_size of GRUCell must be greater than 0"):
        nn.GRUCell(2, 0)
    with pytest.raises(NotImplementedError, match="differentiable once"):
        x = sequences(1, 2, 2)
        x.stop_gradient = False
        (dx,) = paddle.grad(nn.GRU(2, 3)(x)[0].sum(), x, create_graph=True)
        dx.sum().backward()
