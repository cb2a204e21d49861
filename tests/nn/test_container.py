"""Layers that hold layers or parameters."""

import pytest

from scull import nn
from scull.nn.parameter import free_parameter
from scull.tensor import ones


def kinds(layers):
    return [type(layer).__name__ for layer in layers]


def test_a_sequence_calls_its_layers_in_order():
    net = nn.Sequential(nn.Identity(), nn.Softmax())
    assert net(ones([2])).tolist() == [0.5, 0.5]
    assert nn.Sequential()(3) == 3


def test_a_sequence_takes_names_in_pairs():
    net = nn.Sequential(("a", nn.ReLU()), ["b", nn.Tanh()])
    assert [name for name, _ in net.named_children()] == ["a", "b"]
    assert kinds([net["a"], net[1], net[-1]]) == ["ReLU", "Tanh", "Tanh"]


def test_a_sequence_can_be_sliced_changed_and_cut():
    net = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    net[1], net["x"] = nn.Tanh(), nn.GELU()
    assert kinds(net) == ["Linear", "Tanh", "GELU"]
    assert kinds(net[0:2]) == ["Linear", "Tanh"]
    del net[0]
    assert list(net._sub_layers) == ["1", "x"]
    assert not net.state_dict()


def test_a_place_beyond_a_sequence_is_named():
    with pytest.raises(IndexError, match="index 3 is out of range"):
        nn.Sequential(nn.ReLU())[3]


def test_a_list_of_layers_behaves_as_a_list():
    layers = nn.LayerList([nn.Linear(1, 2), nn.ReLU()])
    layers.append(nn.Tanh()).extend([nn.Sigmoid()])
    layers.insert(0, nn.GELU())
    assert kinds(layers) == ["GELU", "Linear", "ReLU", "Tanh", "Sigmoid"]
    assert list(layers.state_dict()) == ["1.weight", "1.bias"]
    layers[0] = nn.ReLU6()
    del layers[1]
    assert kinds(layers) == ["ReLU6", "ReLU", "Tanh", "Sigmoid"]
    assert list(layers._sub_layers) == ["0", "1", "2", "3"]
    assert kinds(layers[1:3]) == ["ReLU", "Tanh"]
    assert isinstance(layers[-1], nn.Sigmoid)


def test_a_place_beyond_a_list_of_layers_is_named():
    with pytest.raises(IndexError, match=r"should be an integer in range \[-1, 1\)"):
        nn.LayerList([nn.ReLU()])[4]
    with pytest.raises(ValueError, match=r"index should be an integer in range \[-1, 1\)"):
        nn.LayerList([nn.ReLU()]).insert(9, nn.ReLU())


def test_a_list_of_layers_cannot_be_called():
    with pytest.raises(NotImplementedError):
        nn.LayerList([nn.ReLU()])(1)


def test_a_list_of_parameters_saves_them_by_number():
    parameters = nn.ParameterList([free_parameter([n], "float32") for n in (1, 2)])
    parameters.append(free_parameter([3], "float32"))
    assert [p.shape for p in parameters] == [[1], [2], [3]]
    assert list(parameters.state_dict()) == ["0", "1", "2"]
    parameters[0] = parameters[2]
    assert parameters[0].shape == [3]
    assert repr(parameters) == "ParameterList()"


def test_a_dictionary_of_layers_behaves_as_a_dictionary():
    layers = nn.LayerDict({"a": nn.Linear(1, 2)})
    layers["b"] = nn.Tanh()
    layers.update([("c", nn.GELU())])
    layers.update(nn.LayerDict({"b": nn.ReLU()}))
    assert list(layers.keys()) == list(layers) == ["a", "b", "c"]
    assert kinds(layers.values()) == ["Linear", "ReLU", "GELU"]
    assert "a" in layers
    assert isinstance(layers.pop("a"), nn.Linear)
    del layers["c"]
    assert [key for key, _ in layers.items()] == ["b"]
    layers.clear()
    assert len(layers) == 0
    with pytest.raises(KeyError):
        layers.pop("a")


def test_layers_are_given_to_a_dictionary_in_pairs():
    with pytest.raises(TypeError, match="pairs of key and layer"):
        nn.LayerDict([(nn.ReLU(),)])
