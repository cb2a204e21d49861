"""Which quanters each layer of a model gets."""

from typing import Any

from scull.errors import AssertError
from scull.nn.layer.activation import ReLU
from scull.nn.layer.convolution import Conv2D
from scull.nn.layer.layers import Layer
from scull.nn.layer.linear import Linear
from scull.nn.layer.pooling import AvgPool2D
from scull.nn.quant.qat import QuantedConv2D, QuantedLinear
from scull.nn.quant.stub import QuanterStub, Stub
from scull.quantization.wrapper import ObserveWrapper

DEFAULT_QAT_LAYER_MAPPINGS = {Stub: QuanterStub, Linear: QuantedLinear, Conv2D: QuantedConv2D}
DEFAULT_LEAVES = [ReLU, AvgPool2D]


class SingleLayerConfig:
    """The quanters of one layer.

    Args:
        activation (QuanterFactory | None): makes that of the input.
        weight (QuanterFactory | None): makes that of the weight.
    """

    def __init__(self, activation: Any, weight: Any) -> None:
        self._activation, self._weight = activation, weight

    @property
    def activation(self) -> Any:
        """What makes the quanter of the input."""
        return self._activation

    @property
    def weight(self) -> Any:
        """What makes the quanter of the weight."""
        return self._weight

    def __str__(self) -> str:
        return f"activation: {self._activation}\nweight: {self._weight}"


def several(value: Any) -> list[Any]:
    """One or a list of them as a list."""
    return value if isinstance(value, list) else [value]


class QuantConfig:
    """Which quanters each layer of a model gets: by its name, its type, or as all do.

    What is said of a layer holds for those in it too, unless more is said of them. A name is
    stronger than a type, and a type than what all get.

    Args:
        activation (QuanterFactory | None): makes the quanters of inputs of all layers.
        weight (QuanterFactory | None): makes the quanters of weights of all layers.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.observers import AbsmaxObserver
        >>> print(paddle.quantization.QuantConfig(AbsmaxObserver(), None), end="")
        Global config:
        activation: AbsmaxObserver(quant_bits=8)
        weight: None
    """

    def __init__(self, activation: Any, weight: Any) -> None:
        nothing = activation is None and weight is None
        self._global_config = None if nothing else SingleLayerConfig(activation, weight)
        self._layer2config: dict[Layer, Any] = {}
        self._prefix2config: dict[str, SingleLayerConfig] = {}
        self._type2config: dict[type, SingleLayerConfig] = {}
        self._model: Any = None
        self._qat_layer_mapping: dict[type, type] = dict(DEFAULT_QAT_LAYER_MAPPINGS)
        self._customized_qat_layer_mapping: dict[type, type] = {}
        self._customized_leaves: list[type] = []

    def add_layer_config(self, layer: Any, activation: Any = None, weight: Any = None) -> None:
        """Say which quanters some layers get.

        Args:
            layer (Layer | list[Layer]): the layers.
            activation (QuanterFactory, optional): makes the quanters of inputs.
            weight (QuanterFactory, optional): makes the quanters of weights.

        Examples:
            >>> import scull as paddle
            >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.Linear(3, 1))
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_layer_config(model[1], weight=FakeQuanterWithAbsMaxObserver())
            >>> paddle.quantization.QAT(config).quantize(model)
            Sequential(
              (0): Linear(in_features=2, out_features=3, dtype=float32)
              (1): QuantedLinear(
                (weight_quanter): FakeQuanterWithAbsMaxObserverLayer()
              )
            )
        """
        self.add_name_config([each.full_name() for each in several(layer)], activation, weight)

    def add_name_config(self, layer_name: Any, activation: Any = None, weight: Any = None) -> None:
        """Say which quanters layers of some names get.

        Args:
            layer_name (str | list[str]): the names, as `Layer.full_name` gives them.
            activation (QuanterFactory, optional): makes the quanters of inputs.
            weight (QuanterFactory, optional): makes the quanters of weights.

        Examples:
            >>> import scull as paddle
            >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> quanter = FakeQuanterWithAbsMaxObserver()
            >>> config.add_name_config(model[1].full_name(), activation=quanter)
            >>> type(paddle.quantization.QAT(config).quantize(model)[1]).__name__
            'ObserveWrapper'
        """
        for name in several(layer_name):
            self._prefix2config[name] = SingleLayerConfig(activation, weight)

    def add_type_config(self, layer_type: Any, activation: Any = None, weight: Any = None) -> None:
        """Say which quanters layers of some types get, not those of types derived from them.

        Args:
            layer_type (type | list[type]): the types.
            activation (QuanterFactory, optional): makes the quanters of inputs.
            weight (QuanterFactory, optional): makes the quanters of weights.

        Examples:
            >>> import scull as paddle
            >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> quanter = FakeQuanterWithAbsMaxObserver()
            >>> config.add_type_config(paddle.nn.Linear, activation=quanter, weight=quanter)
            >>> [type(layer).__name__ for layer in paddle.quantization.QAT(config).quantize(model)]
            ['QuantedLinear', 'ReLU']
        """
        for each in several(layer_type):
            self._type2config[each] = SingleLayerConfig(activation, weight)

    def add_qat_layer_mapping(self, source: type, target: type) -> None:
        """Say which class takes the place of layers of a type.

        Args:
            source (type): the type of layers.
            target (type): the class; it is called with a layer and its `SingleLayerConfig`.

        Raises:
            AssertError: one of them is no class, or `source` none of layers.

        Examples:
            >>> import scull as paddle
            >>> from scull.nn.quant.qat import QuantedLinear
            >>> class Mine(QuantedLinear):
            ...     pass
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_qat_layer_mapping(paddle.nn.Linear, Mine)
            >>> config.qat_layer_mappings[paddle.nn.Linear].__name__
            'Mine'
        """
        if not (isinstance(source, type) and issubclass(source, Layer)):
            raise AssertError(
                "The source layer to be placed should be a subclass of paddle.nn.Layer"
            )
        if not isinstance(target, type):
            raise AssertError("The target layer should be a subclass of paddle.nn.qat.Layer")
        self._qat_layer_mapping[source] = target
        self._customized_qat_layer_mapping[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Let layers of a type be observed as one, with all that is in them.

        Args:
            layer_type (type): the type.

        Examples:
            >>> import scull as paddle
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_customized_leaf(paddle.nn.Sequential)
            >>> config.customized_leaves
            [<class 'scull.nn.layer.container.Sequential'>]
        """
        self._customized_leaves.append(layer_type)

    @property
    def customized_leaves(self) -> list[type]:
        """The types that `add_customized_leaf` was told."""
        return self._customized_leaves

    @property
    def qat_layer_mappings(self) -> dict[type, type]:
        """By the type of layers, the class that takes their place."""
        return self._qat_layer_mapping

    @property
    def default_qat_layer_mapping(self) -> dict[type, type]:
        """The same, where nothing was added."""
        return DEFAULT_QAT_LAYER_MAPPINGS

    @property
    def global_config(self) -> Any:
        """The quanters of all layers; None for none."""
        return self._global_config

    def _specify(self, model: Any) -> None:
        """Find the quanters of each layer in `model`."""
        self._model = model
        self._specify_helper(model)

    def _specify_helper(self, model: Any) -> None:
        for layer in model.children():
            config = self._layer2config.get(model, self.global_config)
            config = self._type2config.get(type(layer), config)
            config = self._prefix2config.get(layer.full_name(), config)
            if config is not None:
                self._layer2config[layer] = config
            self._specify_helper(layer)

    def _get_config_by_layer(self, layer: Any) -> Any:
        """The quanters of a layer; None where nothing was said of it."""
        return self._layer2config.get(layer)

    def _is_quantifiable(self, layer: Any) -> bool:
        """Whether a layer gets a quanter."""
        config = self._get_config_by_layer(layer)
        return layer in self._layer2config and not (config.activation is config.weight is None)

    def _has_observer_config(self, layer: Any) -> bool:
        """Whether the input of a layer gets a quanter."""
        config = self._get_config_by_layer(layer)
        return config is not None and config.activation is not None

    def _is_default_leaf(self, layer: Any) -> bool:
        return type(layer) in DEFAULT_LEAVES

    def _is_real_leaf(self, layer: Any) -> bool:
        """Whether there is no layer in it."""
        return not layer._sub_layers

    def _is_customized_leaf(self, layer: Any) -> bool:
        return type(layer) in self.customized_leaves

    def _is_leaf(self, layer: Any) -> bool:
        """Whether a layer is observed as one."""
        return (
            self._is_default_leaf(layer)
            or self._is_real_leaf(layer)
            or self._is_customized_leaf(layer)
        )

    def _need_observe(self, layer: Any) -> bool:
        """Whether a quanter is put before a layer."""
        return self._is_leaf(layer) and self._has_observer_config(layer)

    def _get_qat_layer(self, layer: Any) -> Any:
        """What takes the place of a layer."""
        target: Any = self.qat_layer_mappings.get(type(layer))
        return target(layer, self._get_config_by_layer(layer))

    def _get_observer(self, layer: Any) -> Any:
        """The quanter of the input of a layer; None for none."""
        config = self._get_config_by_layer(layer)
        return config.activation._instance(layer) if self._has_observer_config(layer) else None

    def _get_observe_wrapper(self, layer: Any) -> Any:
        """A layer behind the quanter of its input."""
        return ObserveWrapper(self._get_observer(layer), layer)

    def details(self) -> str:
        """What was said, or the layers of the model that was quantized with what each got."""
        return str(self) if self._model is None else self._details_helper(self._model)

    def _details_helper(self, layer: Any) -> str:
        text = type(layer).__name__ + "("
        for name, child in layer.named_children():
            config = self._get_config_by_layer(child)
            if config is not None:
                within = self._details_helper(child).replace("\n", "\n  ")
                text += f"\n  ({name}): {within}, {config}"
        return text + ("\n)" if "\n" in text else ")")

    def __str__(self) -> str:
        text = f"Global config:\n{self._global_config}\n"
        if self._type2config:
            text += f"Layer type config:\n{self._type2config}\n"
        if self._prefix2config:
            text += f"Layer prefix config: \n{self._prefix2config}\n"
        return text
