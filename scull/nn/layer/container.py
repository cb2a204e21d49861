"""Layers that hold layers or parameters."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from scull.core.door import shown_by
from scull.errors import ArgumentError, ArgumentTypeError, RangeError
from scull.nn.layer.attribute import changes
from scull.nn.layer.layers import Layer


class Sequential(Layer):
    """Layers called one after another, each with what the one before returned.

    Args:
        layers (Layer | tuple[str, Layer]): the layers, in order; numbered where not named.

    Examples:
        >>> import scull as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.ReLU())
        >>> net(paddle.ones([4, 2])).shape
        [4, 3]
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if layers and isinstance(layers[0], list | tuple):
            for name, layer in layers:
                self.add_sublayer(name, layer)
        else:
            for i, layer in enumerate(layers):
                self.add_sublayer(str(i), layer)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return type(self)(*list(self._sub_layers.values())[key])
        if isinstance(key, str):
            return self._sub_layers[key]
        return list(self._sub_layers.values())[counted(key, len(self))]

    def __setitem__(self, key: Any, layer: Layer) -> None:
        self.add_sublayer(
            list(self._sub_layers)[key] if key in range(len(self)) else str(key), layer
        )

    def __delitem__(self, key: Any) -> None:
        name = str(key)
        if name not in self._sub_layers:
            raise RangeError(f"there is no layer {name!r}; there are {list(self._sub_layers)}")
        del self._sub_layers[name]
        changes[0] += 1

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def forward(self, input: Any) -> Any:
        """What the last layer returns.

        Args:
            input: what the first layer takes.
        """
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


def counted(index: int, length: int) -> int:
    """`index` counted from 0, where -1 is the last."""
    if index >= length:
        raise RangeError(f"index {index} is out of range")
    if index < -length:
        raise RangeError(f"index {index} is out of range")
    return index % length


class LayerList(Layer):
    """A list of layers, whose parameters count as its own.

    Args:
        sublayers (iterable of Layer, optional): the layers.

    Examples:
        >>> import scull as paddle
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers.append(paddle.nn.ReLU()))
        4
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        self.extend(sublayers or [])

    def place(self, index: int) -> int:
        """`index` counted from 0, where -1 is the last."""
        if not isinstance(index, int) or not -len(self) <= index < len(self):
            raise RangeError(
                f"index {index} is out of range, should be an integer in range "
                f"[-{len(self)}, {len(self)})"
            )
        return index % len(self)

    def renumber(self, layers: list[Any]) -> None:
        """Hold these layers and no others."""
        self._sub_layers = OrderedDict((str(i), layer) for i, layer in enumerate(layers))
        changes[0] += 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._sub_layers.values())[index])
        return self._sub_layers[str(self.place(index))]

    def __setitem__(self, index: int, sublayer: Layer) -> None:
        self.add_sublayer(str(self.place(index)), sublayer)

    def __delitem__(self, index: Any) -> None:
        layers = list(self)
        del layers[index if isinstance(index, slice) else self.place(index)]
        self.renumber(layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def append(self, sublayer: Layer) -> "LayerList":
        """Add a layer at the end.

        Args:
            sublayer (Layer): the layer.
        """
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Add a layer before the one at `index`.

        Args:
            index (int): where.
            sublayer (Layer): the layer.
        """
        if not isinstance(index, int) or not -len(self) <= index < len(self):
            raise ArgumentError(f"index should be an integer in range [-{len(self)}, {len(self)})")
        layers = list(self)
        layers.insert(index, sublayer)
        self.renumber(layers)

    def extend(self, sublayers: Any) -> "LayerList":
        """Add several layers at the end.

        Args:
            sublayers (iterable of Layer): the layers.
        """
        for sublayer in sublayers:
            self.append(sublayer)
        return self


class ParameterList(Layer):
    """A list of parameters, which count as its own.

    Args:
        parameters (iterable of Parameter, optional): the parameters.

    Examples:
        >>> import scull as paddle
        >>> parameters = [paddle.create_parameter([2], "float32") for _ in range(3)]
        >>> list(paddle.nn.ParameterList(parameters).state_dict())
        ['0', '1', '2']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        for parameter in parameters or []:
            self.append(parameter)

    def __getitem__(self, key: Any) -> Any:
        return self._parameters[str(key)]

    def __setitem__(self, key: Any, parameter: Any) -> None:
        self.add_parameter(str(key), parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Any) -> "ParameterList":
        """Add a parameter at the end.

        Args:
            parameter (Parameter): the parameter.
        """
        self.add_parameter(str(len(self)), parameter)
        return self


class LayerDict(Layer):
    """Layers by key, whose parameters count as its own.

    Args:
        sublayers (dict | iterable of pairs, optional): the layers.

    Examples:
        >>> import scull as paddle
        >>> layers = paddle.nn.LayerDict({"relu": paddle.nn.ReLU(), "tanh": paddle.nn.Tanh()})
        >>> layers["relu"], list(layers.keys())
        (ReLU(), ['relu', 'tanh'])
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Remove all layers."""
        self._sub_layers.clear()
        changes[0] += 1

    def pop(self, key: str) -> Any:
        """Remove the layer at `key` and return it.

        Args:
            key (str): which.
        """
        changes[0] += 1
        return self._sub_layers.pop(key)

    def keys(self) -> Any:
        """The keys."""
        return self._sub_layers.keys()

    def items(self) -> Any:
        """Pairs of a key and its layer."""
        return self._sub_layers.items()

    def values(self) -> Any:
        """The layers."""
        return self._sub_layers.values()

    def update(self, sublayers: Any) -> None:
        """Add layers, in place of those at the same keys.

        Args:
            sublayers (dict | LayerDict | iterable of pairs): the layers.
        """
        if isinstance(sublayers, Mapping | LayerDict):
            pairs = list(sublayers.items())
        else:
            pairs = [tuple(pair) for pair in sublayers]
        for pair in pairs:
            if len(pair) != 2:
                raise ArgumentTypeError(f"layers are given in pairs of key and layer, not {pair!r}")
            self.add_sublayer(*pair)


__getattr__ = shown_by("scull.nn")
