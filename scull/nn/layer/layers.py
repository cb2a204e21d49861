"""Layer: parameters, buffers and sublayers under names, and a forward computation."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import dtype_of, float32
from scull.core.tensor import Parameter, Tensor
from scull.core.timeline import FORWARD, active, span
from scull.deferred import load
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.ir.mode import in_to_static_mode as in_declarative_mode  # noqa: F401  scripts ask here
from scull.ir.program import main_program
from scull.ir.variable import ParameterVariable, Variable
from scull.nn.layer import convert, state
from scull.nn.layer.attribute import Attributes, changes, checked_name
from scull.nn.layer.hook import HookRemoveHelper
from scull.nn.parameter import create_parameter

UPPER_AFTER_LOWER = re.compile("([a-z])([A-Z])")
UPPER_BEFORE_LOWER = re.compile("(.)([A-Z][a-z]+)")


def snake_case(name: str) -> str:
    """The name of a class as parameters are called after it: BatchNorm2D is batch_norm2d."""
    return UPPER_AFTER_LOWER.sub(r"\1_\2", UPPER_BEFORE_LOWER.sub(r"\1_\2", name)).lower()


class Layer(Attributes):
    """The parent of all layers: what is assigned to it is found by its name in `state_dict`.

    Args:
        name_scope (str, optional): what its parameters are called after; its class when None.
        dtype (str | DType): the element type of its parameters.

    Examples:
        >>> import scull as paddle
        >>> class Double(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = self.create_parameter([1])
        ...     def forward(self, x):
        ...         return x * self.factor * 2.0
        >>> [name for name, _ in Double().named_parameters()]
        ['factor']
    """

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        self.training = True
        self._full_name = session.unique_name(name_scope or snake_case(type(self).__name__))
        self._dtype = dtype
        self._parameters: dict[str, Any] = OrderedDict()
        self._buffers: dict[str, Any] = OrderedDict()
        self._non_persistable_buffer_names_set: set[str] = set()
        self._loaddict_holder: dict[str, Any] = {}  # values of parameters not made yet
        self._sub_layers: dict[str, Any] = OrderedDict()
        self._forward_pre_hooks: dict[int, Any] = OrderedDict()
        self._forward_post_hooks: dict[int, Any] = OrderedDict()
        self._state_dict_hooks: dict[int, Any] = OrderedDict()

    @property
    def _helper(self) -> Any:
        """What makes operators, variables and parameters in code that takes it from here."""
        return load("scull.static.layer_helper", "LayerHelper")(self._full_name)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes; every layer defines it.

        Args:
            inputs: what it was called with.
        """
        raise UnsupportedError(f"{type(self).__name__} defines no `forward`")

    def backward(self, *inputs: Any) -> Any:
        """Refused: gradients are those of what `forward` calls."""
        raise ArgumentError("Layer shouldn't implement backward")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks or self._forward_post_hooks or active:
            return self.hooked(inputs, kwargs)
        return self.forward(*inputs, **kwargs)

    def hooked(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call between its hooks, each of which may replace what it sees; a span if recorded."""
        for hook in list(self._forward_pre_hooks.values()):
            replaced = hook(self, inputs)
            if replaced is not None:
                inputs = replaced if isinstance(replaced, tuple) else (replaced,)
        with span(type(self).__name__, FORWARD):
            outputs = self.forward(*inputs, **kwargs)
        for hook in list(self._forward_post_hooks.values()):
            replaced = hook(self, inputs, outputs)
            if replaced is not None:
                outputs = replaced
        return outputs

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call `hook(layer, inputs)` before every `forward`; what it returns replaces the inputs.

        Args:
            hook (Callable): the function.

        Returns:
            HookRemoveHelper: its `remove()` ends this.

        Examples:
            >>> import scull as paddle
            >>> relu = paddle.nn.ReLU()
            >>> handle = relu.register_forward_pre_hook(lambda layer, inputs: inputs[0] - 1.0)
            >>> relu(paddle.to_tensor([3.0])).tolist()
            [2.0]
            >>> handle.remove()
        """
        return HookRemoveHelper(self._forward_pre_hooks, hook)

    def register_forward_post_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call `hook(layer, inputs, outputs)` after every `forward`; it may return other outputs.

        Args:
            hook (Callable): the function.

        Returns:
            HookRemoveHelper: its `remove()` ends this.

        Examples:
            >>> import scull as paddle
            >>> relu = paddle.nn.ReLU()
            >>> handle = relu.register_forward_post_hook(lambda layer, inputs, out: out * 2.0)
            >>> relu(paddle.to_tensor([3.0])).tolist()
            [6.0]
        """
        return HookRemoveHelper(self._forward_post_hooks, hook)

    def register_state_dict_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call `hook(state)` on every `state_dict` made; what it returns replaces it."""
        return HookRemoveHelper(self._state_dict_hooks, hook)

    def train(self) -> None:
        """Let this layer and those in it behave as in training: dropout drops, batch norm counts.

        Examples:
            >>> import scull as paddle
            >>> layer = paddle.nn.Dropout(0.5)
            >>> layer.eval(); layer.train(); layer.training
            True
        """
        self.behave(True)

    def eval(self) -> None:
        """Let this layer and those in it behave as in use; gradients are recorded all the same.

        Examples:
            >>> import scull as paddle
            >>> layer = paddle.nn.Dropout(0.5)
            >>> layer.eval()
            >>> layer(paddle.ones([2])).tolist()
            [1.0, 1.0]
        """
        self.behave(False)

    def behave(self, training: bool) -> None:
        """Set `training` here and in all sublayers."""
        self.training = training
        for layer in self.sublayers():
            layer.training = training

    def apply(self, fn: Callable[[Any], Any]) -> "Layer":
        """Call `fn` on every sublayer, then on this layer.

        Args:
            fn (Callable): takes a layer.

        Returns:
            Layer: this one.

        Examples:
            >>> import scull as paddle
            >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
            >>> net = net.apply(lambda layer: print(type(layer).__name__))
            ReLU
            Sequential
        """
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def full_name(self) -> str:
        """What its parameters are called after: `linear_0`."""
        return self._full_name

    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:
        """A parameter called after this layer; assign it to an attribute to make it one of its own.

        Args:
            shape (list[int]): its sizes.
            attr (ParamAttr | bool, optional): what else is said of it; False for none at all.
            dtype (str | DType, optional): its element type; the default one when None.
            is_bias (bool): whether it is called `b_0` and starts as 0, instead of `w_0`.
            default_initializer (Initializer, optional): its first value where `attr` names none.

        Returns:
            Tensor: the parameter; a variable of the default main Program in static mode.

        Examples:
            >>> import scull as paddle
            >>> paddle.nn.Layer().create_parameter([2, 3], is_bias=True).shape
            [2, 3]
        """
        return create_parameter(self._full_name, shape, attr, dtype, is_bias, default_initializer)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: Any = None
    ) -> Any:
        """A tensor called after this layer, or a variable of the current block in static mode.

        Args:
            name (str, optional): the last part of its name; a unique one when None.
            persistable (bool, optional): whether it outlives a run.
            dtype (str | DType, optional): its element type; that of the layer when None.

        Returns:
            Tensor: a 0-D one.

        Examples:
            >>> import scull as paddle
            >>> paddle.nn.Layer("owner").create_tensor(name="count").name.split(".")[1]
            'count'
        """
        own = f"{self._full_name}.{name or '_generated_var'}"
        own = own if name else session.unique_name(own)
        dtype = dtype_of(dtype or self._dtype or float32)
        if not in_dynamic_mode():
            block = main_program().current_block()
            return block.create_var(name=own, persistable=bool(persistable), dtype=dtype)
        made = Tensor(np.zeros((), dtype.array))
        made.name, made.persistable = own, bool(persistable)
        return made

    create_variable = create_tensor

    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        """All parameters, each once.

        Args:
            include_sublayers (bool): also those of the layers in it.

        Examples:
            >>> import scull as paddle
            >>> [p.shape for p in paddle.nn.Linear(2, 3).parameters()]
            [[2, 3], [3]]
        """
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """All parameters with the names `state_dict` has for them, each once.

        Args:
            prefix (str): put before the names.
            include_sublayers (bool): also those of the layers in it.

        Examples:
            >>> import scull as paddle
            >>> [name for name, _ in paddle.nn.Linear(2, 3).named_parameters("top")]
            ['top.weight', 'top.bias']
        """
        return self.members("_parameters", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Any]:
        """All buffers, each once.

        Args:
            include_sublayers (bool): also those of the layers in it.
        """
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """All buffers with the names `state_dict` has for them, each once.

        Args:
            prefix (str): put before the names.
            include_sublayers (bool): also those of the layers in it.
        """
        return self.members("_buffers", prefix, include_sublayers)

    def members(
        self, table: str, prefix: str, include_sublayers: bool
    ) -> Iterator[tuple[str, Any]]:
        """What `table` holds in this layer and those in it, each object once."""
        layers = [(prefix, self)]
        if include_sublayers:
            layers = list(self.named_sublayers(prefix=prefix, include_self=True))
        seen: set[int] = set()
        for place, layer in layers:
            for name, member in getattr(layer, table).items():
                if member is not None and id(member) not in seen:
                    seen.add(id(member))
                    yield f"{place}.{name}" if place else name, member

    def children(self) -> Iterator[Any]:
        """The layers directly in this one, each once."""
        return (layer for _, layer in self.named_children())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The layers directly in this one with their names, each once.

        Examples:
            >>> import scull as paddle
            >>> dict(paddle.nn.Sequential(paddle.nn.ReLU()).named_children())
            {'0': ReLU()}
        """
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def sublayers(self, include_self: bool = False) -> list[Any]:
        """All layers in this one, at any depth, each once.

        Args:
            include_self (bool): this one first.
        """
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, layers_set: Any = None
    ) -> Iterator[tuple[str, Any]]:
        """All layers in this one, at any depth, with their names, each once.

        Args:
            prefix (str): put before the names.
            include_self (bool): this one first, under `prefix` itself.
            layers_set (set, optional): layers to leave out; those found are added.

        Examples:
            >>> import scull as paddle
            >>> net = paddle.nn.Sequential(paddle.nn.Sequential(paddle.nn.ReLU()))
            >>> [name for name, _ in net.named_sublayers()]
            ['0', '0.0']
        """
        seen = set() if layers_set is None else layers_set
        if include_self and self not in seen:
            seen.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                place = f"{prefix}.{name}" if prefix else name
                yield from layer.named_sublayers(place, True, seen)

    def add_sublayer(self, name: str, sublayer: "Layer") -> "Layer":
        """Put `sublayer` into this layer under `name`.

        Args:
            name (str): its name.
            sublayer (Layer): the layer.

        Returns:
            Layer: the layer.

        Examples:
            >>> import scull as paddle
            >>> net = paddle.nn.Layer()
            >>> net.add_sublayer("act", paddle.nn.ReLU())
            ReLU()
        """
        if not isinstance(sublayer, Layer) and sublayer is not None:
            raise ArgumentTypeError(f"a sublayer is a Layer, not {type(sublayer).__name__}")
        if not isinstance(name, str):
            raise ArgumentTypeError(f"the name of a sublayer is a str, not {type(name).__name__}")
        self._sub_layers[name] = sublayer
        changes[0] += 1
        return sublayer

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Put `parameter` into this layer under `name`.

        Args:
            name (str): its name, without a dot.
            parameter (Parameter | None): the parameter.

        Returns:
            Parameter: the parameter.

        Examples:
            >>> import scull as paddle
            >>> net = paddle.nn.Layer()
            >>> w = net.add_parameter("w", net.create_parameter([2]))
            >>> list(net.state_dict())
            ['w']
        """
        checked_name(name, "parameter")
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(f"The parameter '{name}' already exists.")
        if parameter is not None and not isinstance(parameter, Parameter | ParameterVariable):
            raise ArgumentTypeError(
                "The parameter to be added should be a Parameter, "
                f"but received {type(parameter).__name__}."
            )
        if self._loaddict_holder:
            parameter.set_value(self._loaddict_holder[parameter.name])
        self._parameters[name] = parameter
        changes[0] += 1
        return parameter

    def register_buffer(self, name: str, tensor: Any, persistable: bool = True) -> None:
        """Put a tensor into this layer that no optimizer changes, such as a running mean.

        Args:
            name (str): its name, without a dot.
            tensor (Tensor | None): the tensor.
            persistable (bool): whether `state_dict` includes it.

        Examples:
            >>> import scull as paddle
            >>> net = paddle.nn.Layer()
            >>> net.register_buffer("count", paddle.zeros([1]))
            >>> list(net.state_dict())
            ['count']
        """
        checked_name(name, "buffer")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists.")
        if not isinstance(tensor, Tensor | Variable | None) or isinstance(tensor, Parameter):
            raise ArgumentTypeError(
                "The registered buffer should be a Paddle.Tensor, "
                f"but received {type(tensor).__name__}."
            )
        self._buffers[name] = tensor
        changes[0] += 1
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def clear_gradients(self) -> None:
        """Set the gradients of all parameters to 0.

        Examples:
            >>> import scull as paddle
            >>> linear = paddle.nn.Linear(1, 1)
            >>> linear(paddle.ones([1, 1])).backward()
            >>> linear.clear_gradients()
            >>> linear.bias.grad.tolist()
            [0.0]
        """
        for p in self.parameters():
            if not p.stop_gradient:
                p.clear_gradient()

    state_dict = state.state_dict
    to_static_state_dict = state.to_static_state_dict
    set_state_dict = state.set_state_dict
    set_dict = load_dict = state.set_state_dict

    to = convert.to
    astype = convert.astype
    float = convert.to_float32
    float16 = convert.to_float16
    bfloat16 = convert.to_bfloat16

    def extra_repr(self) -> str:
        """What stands in the brackets when the layer is printed; layers define it."""
        return ""

    def __repr__(self) -> str:
        own = self.extra_repr()
        if "\n" in own:
            own = "\n  " + own.replace("\n", "\n  ") + "\n"
        lines = [
            f"({name}): " + repr(layer).replace("\n", "\n  ")
            for name, layer in self._sub_layers.items()
        ]
        head = f"{type(self).__name__}({own}"
        if not lines:
            return head + ")"
        return head + "\n  " + "\n  ".join(lines) + "\n)"
