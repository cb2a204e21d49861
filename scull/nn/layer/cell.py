"""Cells of recurrent networks: one step."""

import math
from typing import Any

from scull.core.dtype import dtype_of
from scull.core.meta import UNKNOWN
from scull.errors import ArgumentError
from scull.nn.initializer import Constant, Uniform
from scull.nn.layer.layers import Layer
from scull.ops.create import fill_constant, fill_constant_batch_size_like
from scull.ops.elementwise import add, multiply, subtract
from scull.ops.join import split
from scull.ops.linear import matmul
from scull.ops.math import relu, sigmoid, tanh


class RNNCellBase(Layer):
    """What cells of recurrent networks have in common.

    Args:
        name_scope (str, optional): what parameters are called after.
        dtype (str): the element type of parameters.

    Examples:
        >>> import scull as paddle
        >>> isinstance(paddle.nn.GRUCell(2, 3), paddle.nn.RNNCellBase)
        True
    """

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States to begin with.

        Args:
            batch_ref (Tensor): says how many sequences there are, and the element type.
            shape (list[int] | tuple, optional): of a state without the batch, or a tuple of such;
                `state_shape` when None.
            dtype (str, optional): the element type.
            init_value (float): every element.
            batch_dim_idx (int): which axis of `batch_ref` is the batch.

        Returns:
            Tensor | tuple: a state for each shape.
        """
        while isinstance(batch_ref, list | tuple):
            batch_ref = batch_ref[0]
        shape = self.state_shape if shape is None else shape
        dtype = batch_ref.dtype if dtype is None else dtype_of(dtype)
        if shape and isinstance(shape[0], list | tuple):
            return tuple(
                self.get_initial_states(batch_ref, s, dtype, init_value, batch_dim_idx)
                for s in shape
            )
        sizes = [n for n in shape if n != -1]
        return filled(batch_ref, [UNKNOWN, *sizes], dtype, init_value, batch_dim_idx, 0)

    @property
    def state_shape(self) -> Any:
        """The shape of a state without the batch, or a tuple of such."""
        raise NotImplementedError("a cell says what shape its states have: `state_shape`")

    @property
    def state_dtype(self) -> Any:
        """The element type of a state: a cell of one's own may say it."""
        raise NotImplementedError("this cell does not say of which elements its states are")

    def own(
        self, rows: int, inputs: int, hidden: int, attributes: tuple[Any, Any, Any, Any]
    ) -> None:
        """Make the parameters: `rows` gates for each of `hidden` numbers."""
        if hidden <= 0:
            raise ArgumentError(
                f"hidden_size of {type(self).__name__} must be greater than 0, "
                f"but now equals to {hidden}"
            )
        self.input_size, self.hidden_size = inputs, hidden
        reach = 1.0 / math.sqrt(hidden)
        shapes = ([rows * hidden, inputs], [rows * hidden, hidden], [rows * hidden])
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        for name, shape, attr in zip(names, (*shapes, shapes[2]), attributes, strict=True):
            is_bias = name.startswith("bias")
            start: Any = Uniform(-reach, reach)
            if attr is False:
                start = Constant(0.0 if is_bias else 1.0)
            made = self.create_parameter(
                shape, None if attr is False else attr, is_bias=is_bias, default_initializer=start
            )
            if attr is False:
                made.stop_gradient = True
            setattr(self, name, made)

    def gates(self, inputs: Any, h: Any) -> tuple[Any, Any]:
        """What the input and the state add to the gates."""
        along = add(matmul(inputs, self.weight_ih, transpose_y=True), self.bias_ih)
        return along, add(matmul(h, self.weight_hh, transpose_y=True), self.bias_hh)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


def filled(
    like: Any, shape: list[int], dtype: Any, value: float, batch_of: int, batch_at: int
) -> Any:
    """`value` in `shape`, of which one size is that of axis `batch_of` of `like`."""
    size = like.shape[batch_of]
    if size != -1:
        shape = [int(size) if i == batch_at else n for i, n in enumerate(shape)]
        return fill_constant(shape=shape, value=value, dtype=dtype, str_value=str(value))
    return fill_constant_batch_size_like(
        like,
        shape=[-1 if i == batch_at else n for i, n in enumerate(shape)],
        value=value,
        dtype=dtype,
        str_value=str(value),
        input_dim_idx=batch_of,
        output_dim_idx=batch_at,
    )


class SimpleRNNCell(RNNCellBase):
    """A cell without gates: ``h = activation(w_ih x + b_ih + w_hh h + b_hh)``.

    Args:
        input_size (int): how many numbers come in at each step.
        hidden_size (int): how many the state has.
        activation (str): "tanh" or "relu".
        weight_ih_attr (ParamAttr | bool, optional): of the weight of the input.
        weight_hh_attr (ParamAttr | bool, optional): of the weight of the state.
        bias_ih_attr (ParamAttr | bool, optional): of the bias of the input.
        bias_hh_attr (ParamAttr | bool, optional): of the bias of the state.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> out, state = paddle.nn.SimpleRNNCell(2, 3)(paddle.ones([4, 2]))
        >>> out.shape
        [4, 3]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.own(
            1, input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )
        if activation not in ("tanh", "relu"):
            raise ArgumentError(
                f"activation for SimpleRNNCell should be tanh or relu, but get {activation}"
            )
        self.activation = activation

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """What is shown, and the new state."""
        h = self.get_initial_states(inputs) if states is None else states
        along, own = self.gates(inputs, h)
        h = (tanh if self.activation == "tanh" else relu)(add(along, own))
        return h, h

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        more = f", activation={self.activation}" if self.activation != "tanh" else ""
        return super().extra_repr() + more


class LSTMCell(RNNCellBase):
    """Long short-term memory: what is forgotten, written and shown is learnt.

    Args:
        input_size (int): how many numbers come in at each step.
        hidden_size (int): how many the states have.
        weight_ih_attr (ParamAttr | bool, optional): of the weight of the input.
        weight_hh_attr (ParamAttr | bool, optional): of the weight of the state.
        bias_ih_attr (ParamAttr | bool, optional): of the bias of the input.
        bias_hh_attr (ParamAttr | bool, optional): of the bias of the state.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> out, (h, c) = paddle.nn.LSTMCell(2, 3)(paddle.ones([4, 2]))
        >>> c.shape
        [4, 3]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.own(
            4, input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """What is shown, and the new states."""
        h, c = self.get_initial_states(inputs) if states is None else states
        along, own = self.gates(inputs, h)
        i, f, new, o = split(add(along, own), num=4, axis=1)
        c = add(multiply(sigmoid(f), c), multiply(sigmoid(i), tanh(new)))
        h = multiply(sigmoid(o), tanh(c))
        return h, (h, c)

    @property
    def state_shape(self) -> tuple[tuple[int, ...], ...]:
        return ((self.hidden_size,), (self.hidden_size,))


class GRUCell(RNNCellBase):
    """The gated recurrent unit: what is reset and kept is learnt.

    Args:
        input_size (int): how many numbers come in at each step.
        hidden_size (int): how many the state has.
        weight_ih_attr (ParamAttr | bool, optional): of the weight of the input.
        weight_hh_attr (ParamAttr | bool, optional): of the weight of the state.
        bias_ih_attr (ParamAttr | bool, optional): of the bias of the input.
        bias_hh_attr (ParamAttr | bool, optional): of the bias of the state.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> out, state = paddle.nn.GRUCell(2, 3)(paddle.ones([4, 2]))
        >>> state.shape
        [4, 3]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.own(
            3, input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """What is shown, and the new state."""
        h = self.get_initial_states(inputs) if states is None else states
        along, own = self.gates(inputs, h)
        (r, z, new), (q, u, old) = split(along, num=3, axis=1), split(own, num=3, axis=1)
        new = tanh(add(new, multiply(sigmoid(add(r, q)), old)))
        h = add(multiply(subtract(h, new), sigmoid(add(z, u))), new)
        return h, h

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.hidden_size,)
