"""Layers in a row that may be on several processes: here they all are."""

from functools import partial
from typing import Any

from scull.distributed.fleet.recompute import recompute
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.nn.layer.container import LayerDict
from scull.nn.layer.layers import Layer


class LayerDesc:
    """A layer that is made later.

    Args:
        layer_func (type): its class, a kind of Layer.
        *inputs, **kwargs: what it is made of.

    Raises:
        ArgumentTypeError: `layer_func` is no kind of Layer.
    """

    def __init__(self, layer_func: Any, *inputs: Any, **kwargs: Any) -> None:
        if not (isinstance(layer_func, type) and issubclass(layer_func, Layer)):
            raise ArgumentTypeError(f"`layer_func` is a class of Layers, not {layer_func!r}")
        self.layer_func, self.inputs, self.kwargs = layer_func, inputs, kwargs

    def build_layer(self) -> Layer:
        """Make the layer."""
        layer: Layer = self.layer_func(*self.inputs, **self.kwargs)
        return layer

    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"{self.layer_func.__name__}({', '.join([*map(repr, self.inputs), *options])})"


class SharedLayerDesc(LayerDesc):
    """A layer that stands at several places and is made once.

    Args:
        key (str): which it is.
        layer_func (type): its class.
        forward_func (callable, optional): called with the layer and what comes in; the layer
            itself when None.
        shared_weight_attr (str): the name of the parameter that the places share.
        *inputs, **kwargs: what it is made of.
    """

    def __init__(
        self,
        key: str,
        layer_func: Any,
        forward_func: Any = None,
        shared_weight_attr: str = "weight",
        *inputs: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func = key, forward_func
        self.shared_weight_attr = shared_weight_attr


class PipelineLayer(Layer):
    """Layers one after another; one process has all of them.

    Args:
        layers (list): Layers, `LayerDesc`, `SharedLayerDesc` and functions; what one returns, a
            tuple too, is the one argument of the next.
        num_stages (int, optional): among how many processes they are divided: 1.
        topology (optional): how processes are arranged; not needed by one.
        loss_fn (callable, optional): kept as `_loss_fn`.
        seg_method (str): of no effect.
        recompute_interval (int): how many layers forget together what backward can compute
            again; none when 0.
        recompute_ctx (dict, optional): of no effect.
        num_virtual_pipeline_stages (int, optional): of no effect.

    Raises:
        ArgumentError: neither `num_stages` nor `topology` is given.
        UnsupportedError: there are several stages.

    Examples:
        >>> import scull as paddle
        >>> from scull.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer
        >>> net = PipelineLayer([LayerDesc(paddle.nn.Linear, 2, 3), paddle.tanh], num_stages=1)
        >>> list(net.state_dict()), net(paddle.ones([1, 2])).shape
        (['0.weight', '0.bias'], [1, 3])
    """

    def __init__(
        self,
        layers: list[Any],
        num_stages: int | None = None,
        topology: Any = None,
        loss_fn: Any = None,
        seg_method: str = "uniform",
        recompute_interval: int = 0,
        recompute_ctx: dict[str, Any] | None = None,
        num_virtual_pipeline_stages: int | None = None,
    ) -> None:
        super().__init__()
        if num_stages is None and topology is None:
            raise ArgumentError("should provide num_stages or topology")
        if (num_stages or topology.get_dim("pipe")) > 1:
            raise UnsupportedError("`PipelineLayer` has one stage: processes do not train together")
        self._layers_desc, self._loss_fn = list(layers), loss_fn
        self._recompute_interval = recompute_interval
        self.shared_layers = LayerDict()
        self.run_function = [self.made(str(i), part) for i, part in enumerate(layers)]

    def made(self, name: str, part: Any) -> Any:
        """What is called for an element of `layers`."""
        if isinstance(part, SharedLayerDesc):
            key = part.layer_name
            if key not in self.shared_layers:
                self.shared_layers[key] = part.build_layer()
            layer = self.shared_layers[key]
            return layer if part.forward_func is None else partial(part.forward_func, layer)
        if isinstance(part, LayerDesc):
            part = part.build_layer()
        if isinstance(part, Layer):
            self.add_sublayer(name, part)
        return part

    def forward_function(self, start: int, end: int) -> Any:
        """A function that applies some of the layers, one after another."""

        def call(*x: Any) -> Any:
            value = x[0] if len(x) == 1 else x
            for part in self.run_function[start:end]:
                value = part(value)
            return value

        return call

    def forward(self, input: Any, chunk_id: Any = None) -> Any:
        """What all the layers make of `input`, a Tensor or a tuple of them."""
        count, step = len(self.run_function), self._recompute_interval
        if not step:
            return self.forward_function(0, count)(input)
        for start in range(0, count, step):
            parts = input if isinstance(input, tuple) else (input,)
            input = recompute(self.forward_function(start, start + step), *parts)
        return input


__all__ = ["LayerDesc", "PipelineLayer", "SharedLayerDesc"]
