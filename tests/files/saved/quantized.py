"""Layers that round: trained so, or rounded by what some batches show, ready to be used."""

import importlib

import numpy as np

from tests.files.saved.framework import InputSpec, functional, nn, paddle
from tests.files.saved.values import parameter, uniform

quantization = paddle.quantization
quanters, observers = (
    importlib.import_module(f"{quantization.__name__}.{name}") for name in ("quanters", "observers")
)


class Net(nn.Layer):
    """A small network for pictures with a step beside it, and with names for what is rounded."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(1, 4, 3, padding=1, weight_attr="first", bias_attr="first_bias")
        self.norm = nn.BatchNorm2D(4)
        self.relu = nn.ReLU()
        self.second = nn.Conv2D(4, 4, 3, padding="SAME", weight_attr="second", bias_attr=False)
        self.stub = nn.quant.Stub()
        self.last = nn.Linear(16, 5, weight_attr="last", bias_attr="last_bias")
        for p in (self.first.weight, self.first.bias, self.second.weight, self.last.weight):
            p.set_value(parameter(f"quantized.{p.name}", tuple(p.shape)))

    def forward(self, x):
        x = functional.max_pool2d(self.relu(self.norm(self.first(x))), 2)
        x = functional.avg_pool2d(self.stub(x + self.second(x)), 2)
        return self.last(paddle.flatten(x, 1))


def arrays():
    """Three batches of pictures."""
    return [uniform(f"quantized.{i}", (2, 1, 8, 8)) for i in range(3)]


def ready(tool, model):
    """What is used: the model after some batches, converted."""
    model = tool.quantize(model, inplace=True)
    for array in arrays():
        model(paddle.to_tensor(array))
    model.eval()
    made = tool.convert(model, inplace=True)
    return made, [InputSpec([None, 1, 8, 8], "float32", "x")], [arrays()[0] * np.float32(1.25)]


def trained_in_steps():
    quanter = quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.75)
    config = quantization.QuantConfig(activation=quanter, weight=quanter)
    return ready(quantization.QAT(config), Net())


def watched():
    config = quantization.QuantConfig(None, None)
    few, more = (observers.AbsmaxObserver(quant_bits=bits) for bits in (6, 8))
    config.add_type_config([nn.Conv2D, nn.Linear], activation=more, weight=few)
    config.add_type_config([nn.quant.Stub, nn.ReLU], activation=more)
    model = Net()
    model.eval()
    return ready(quantization.PTQ(config), model)


CASES = [trained_in_steps, watched]
