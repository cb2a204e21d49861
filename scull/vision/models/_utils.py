"""Paddle's name for the Layer that shows what the layers of a network return."""

from scull.errors import ArgumentError
from scull.nn import LayerDict, Linear
from scull.tensor import flatten


class IntermediateLayerGetter(LayerDict):
    """The first layers of a network, returning what chosen ones of them return.

    The network must call its layers once each, in the order in which it owns them.

    Args:
        model (Layer): the network, which shares its layers with this one.
        return_layers (dict[str, str]): layers of the network, by name, and what to call the
            result of each.

    Examples:
        >>> import scull as paddle
        >>> net = paddle.vision.models.LeNet()
        >>> inner = IntermediateLayerGetter(net, {"features": "maps"})
        >>> {name: maps.shape for name, maps in inner(paddle.ones([1, 1, 28, 28])).items()}
        {'maps': [1, 16, 5, 5]}
    """

    def __init__(self, model, return_layers):
        own = dict(model.named_children())
        if not own.keys() >= return_layers.keys():
            raise ArgumentError("return_layers are not present in model")
        names = list(own)
        count = max((names.index(name) + 1 for name in return_layers), default=1)
        super().__init__({name: own[name] for name in names[:count]})
        self.return_layers = return_layers

    def forward(self, x):
        """What the chosen layers return for images `x`, under their new names."""
        found = {}
        for name, layer in self.items():
            first = next(iter(layer.sublayers()), layer)
            if isinstance(first, Linear) and x.ndim == 4:
                x = flatten(x, 1)
            x = layer(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found
