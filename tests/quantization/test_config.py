"""Which layers of a model get which quanters."""

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.nn.quant.format import ConvertibleQuantedLayer
from scull.nn.quant.qat import QuantedLinear
from scull.quantization import PTQ, QAT, QuantConfig
from scull.quantization.observers import AbsmaxObserver
from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver

EIGHT = FakeQuanterWithAbsMaxObserver()
FOUR = FakeQuanterWithAbsMaxObserver(bit_length=4)


class Model(nn.Layer):
    """Layers of every kind there is a rule for."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.stub = nn.quant.Stub(FOUR)
        self.rest = nn.Sequential(nn.Conv2D(1, 1, 1), nn.Sigmoid())


def bits(layer):
    """Of the input and of the weight, by the names of layers; None where nothing is rounded."""
    found = {}
    for name, each in layer.named_sublayers():
        if isinstance(each, QuantedLinear | nn.quant.qat.QuantedConv2D):
            quanters = (each.activation_quanter, each.weight_quanter)
            found[name] = tuple(None if q is None else q.bit_length() for q in quanters)
        elif hasattr(each, "_observer") and type(each) is not nn.quant.Stub:
            found[name] = (each._observer.bit_length(), None)
    return found


def quantized(config, model=None):
    return bits(QAT(config).quantize(model or Model()))


def test_what_all_get_holds_for_all():
    both, once = (8, 8), (8, None)
    found = {"first": both, "stub": (4, None), "rest.0": both, "rest.1": once}
    assert quantized(QuantConfig(EIGHT, EIGHT)) == found
    assert quantized(QuantConfig(None, EIGHT)) == {
        "first": (None, 8),
        "stub": (4, None),
        "rest.0": (None, 8),
    }
    assert quantized(QuantConfig(None, None)) == {}


def test_a_type_is_that_type_alone():
    class Own(nn.Linear):
        pass

    config = QuantConfig(None, None)
    config.add_type_config([nn.Linear, nn.Sigmoid], activation=EIGHT, weight=FOUR)
    assert quantized(config) == {"first": (8, 4), "rest.1": (8, None)}
    assert quantized(config, nn.Sequential(Own(1, 1))) == {}
    assert quantized(QuantConfig(EIGHT, EIGHT), nn.Sequential(Own(1, 1))) == {"0": (8, None)}


def test_what_is_said_of_a_layer_holds_for_those_in_it():
    model = Model()
    config = QuantConfig(EIGHT, EIGHT)
    config.add_layer_config(model.rest, activation=FOUR)
    assert quantized(config, model)["rest.0"] == (4, None)
    assert quantized(config, model)["rest.1"] == (4, None)
    config.add_name_config([model.rest[0].full_name()], weight=FOUR)
    assert quantized(config, model)["rest.0"] == (None, 4)
    config.add_layer_config([model.rest[1]])
    assert "rest.1" not in quantized(config, model)


def test_a_name_is_stronger_than_a_type_and_a_type_than_the_rest():
    model = Model()
    config = QuantConfig(EIGHT, EIGHT)
    config.add_type_config(nn.Linear, activation=FOUR, weight=FOUR)
    assert quantized(config, model)["first"] == (4, 4)
    config.add_name_config(model.first.full_name(), activation=EIGHT)
    assert quantized(config, model)["first"] == (8, None)


def test_a_model_is_copied_unless_it_is_said():
    model = Model()
    qat = QAT(QuantConfig(EIGHT, EIGHT))
    made = qat.quantize(model)
    assert made is not model and type(model.first) is nn.Linear
    assert made.first.weight is not model.first.weight
    weight = model.first.weight
    assert qat.quantize(model, inplace=True) is model
    assert type(model.first) is QuantedLinear and model.first.weight is weight


def test_the_model_itself_is_not_replaced():
    assert type(QAT(QuantConfig(EIGHT, EIGHT)).quantize(nn.Linear(1, 1))) is nn.Linear


def test_a_leaf_is_observed_as_one():
    config = QuantConfig(EIGHT, EIGHT)
    config.add_customized_leaf(nn.Sequential)
    found = QAT(config).quantize(Model())
    assert type(found.rest).__name__ == "ObserveWrapper"
    assert type(found.rest._observed[1]) is nn.Sigmoid
    assert config.customized_leaves == [nn.Sequential]


class Doubled(ConvertibleQuantedLayer):
    """A class of a user that takes the place of linear layers."""

    def __init__(self, layer, q_config):
        super().__init__()
        self.matrix, self.rounds = layer.weight, q_config.weight._instance(layer)

    def forward(self, x):
        return x @ self.rounds(self.matrix) * 2

    def weights_to_quanters(self):
        return [("matrix", "rounds")]

    def activation_quanters(self):
        return []


def test_a_class_of_a_user_takes_the_place_of_layers_and_is_converted():
    config = QuantConfig(None, EIGHT)
    config.add_qat_layer_mapping(nn.Linear, Doubled)
    qat = QAT(config)
    plain = nn.Linear(2, 2)
    plain.weight.set_value(np.float32([[1.0, -0.25], [0.5, -0.125]]))  # none below minus the scale
    model = qat.quantize(nn.Sequential(plain))
    x = paddle.ones([1, 2])
    model(x)
    model.eval()
    made = qat.convert(model)
    assert (made[0].matrix == made[0].matrix.round()).all()
    assert paddle.allclose(made(x), model(x))
    assert config.default_qat_layer_mapping[nn.Linear] is QuantedLinear


@pytest.mark.parametrize("source, target", [(3, Doubled), (int, Doubled), (nn.Linear, 4)])
def test_a_mapping_is_from_layers_to_a_class(source, target):
    with pytest.raises(AssertionError, match="should be a subclass"):
        QuantConfig(None, None).add_qat_layer_mapping(source, target)


def test_a_configuration_prints_what_was_said():
    model = nn.Sequential(nn.Linear(1, 1))
    config = QuantConfig(AbsmaxObserver(), None)
    assert str(config) == "Global config:\nactivation: AbsmaxObserver(quant_bits=8)\nweight: None\n"
    config.add_type_config(nn.Linear, weight=AbsmaxObserver())
    config.add_layer_config(model)
    assert "Layer type config:\n{<class" in str(config) and "Layer prefix config: \n{'" in str(
        config
    )


def test_the_details_name_the_layers_that_were_told_something():
    model = nn.Sequential(nn.Sequential(nn.ReLU()), nn.Linear(1, 1))
    config = QuantConfig(AbsmaxObserver(quant_bits=4), None)
    assert config.details() == str(config)
    config._specify(model)
    lines = """\
Sequential(
  (0): Sequential(
    (0): ReLU(), activation: AbsmaxObserver(quant_bits=4)
  weight: None
  ), activation: AbsmaxObserver(quant_bits=4)
weight: None
  (1): Linear(), activation: AbsmaxObserver(quant_bits=4)
weight: None
)"""
    assert config.details() == lines
    ptq = PTQ(QuantConfig(AbsmaxObserver(), None))
    assert (
        str(ptq)
        == repr(ptq)
        == "Global config:\nactivation: AbsmaxObserver(quant_bits=8)\nweight: None\n"
    )


def test_a_quantized_model_prints_its_quanters():
    found = QAT(QuantConfig(EIGHT, None)).quantize(nn.Sequential(nn.Linear(1, 1), nn.ReLU()))
    assert (
        str(found)
        == """\
Sequential(
  (0): QuantedLinear(
    (activation_quanter): FakeQuanterWithAbsMaxObserverLayer()
  )
  (1): ObserveWrapper(
    (_observer): FakeQuanterWithAbsMaxObserverLayer()
    (_observed): ReLU()
  )
)"""
    )
