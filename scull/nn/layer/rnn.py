"""Recurrent networks: cells that go through sequences, one way or both, in layers."""

import math
from typing import Any

from scull.core.door import shown_by
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import startup_program
from scull.nn.initializer.constant import Constant
from scull.nn.layer.cell import GRUCell, LSTMCell, SimpleRNNCell, filled
from scull.nn.layer.container import LayerList
from scull.nn.layer.layers import Layer
from scull.ops.compare import less_than
from scull.ops.create import cast
from scull.ops.elementwise import add, multiply
from scull.ops.join import concat, stack, unbind
from scull.ops.like import unsqueeze
from scull.ops.move import transpose
from scull.ops.recurrent import rnn
from scull.tensor.creation import arange


def structured(function: Any, *values: Any) -> Any:
    """`function` of tensors, or of each place of tuples of them."""
    if isinstance(values[0], list | tuple):
        return tuple(structured(function, *each) for each in zip(*values, strict=True))
    return function(*values)


def turned(x: Any) -> Any:
    """`x` with its first two axes exchanged."""
    return transpose(x, perm=(1, 0, *range(2, len(x.shape))))


class RNN(Layer):
    """A cell that goes through sequences.

    Args:
        cell (RNNCellBase): one step: from an input and states to what is shown and new states.
        is_reverse (bool): whether it begins at the end.
        time_major (bool): whether the steps are axis 0 and the batch axis 1.

    Examples:
        >>> import scull as paddle
        >>> out, state = paddle.nn.RNN(paddle.nn.GRUCell(2, 3))(paddle.ones([4, 5, 2]))
        >>> out.shape, state.shape
        ([4, 5, 3], [4, 3])
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        self.is_reverse, self.time_major = is_reverse, time_major

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """What is shown at each step, and the last states.

        Args:
            inputs (Tensor): sequences, or a tuple of such.
            initial_states (Tensor | tuple, optional): 0 when None.
            sequence_length (Tensor, optional): how many steps each sequence has; the states stay
                as they are beyond.
        """
        first = inputs[0] if isinstance(inputs, list | tuple) else inputs
        if len(first.shape) < 2:
            raise ShapeError(f"sequences have at least 2 axes, not {len(first.shape)}")
        states = initial_states
        if states is None:
            batch = 1 if self.time_major else 0
            states = self.cell.get_initial_states(first, batch_dim_idx=batch)
        if not self.time_major:
            inputs = structured(turned, inputs)
            first = inputs[0] if isinstance(inputs, list | tuple) else inputs
        if first.shape[0] == -1:
            raise UnsupportedError("a cell goes through a number of steps that is known; use LSTM")
        steps = each_step(inputs)
        there = None if sequence_length is None else masks(sequence_length, first)
        shown: list[Any] = [None] * len(steps)
        for t in reversed(range(len(steps))) if self.is_reverse else range(len(steps)):
            out, new = self.cell(steps[t], states, **kwargs)
            states = new if there is None else structured(choosing(there[t]), new, states)
            shown[t] = out
        outputs = structured(lambda *each: stack(list(each), axis=0), *shown)
        return (outputs if self.time_major else structured(turned, outputs)), states


def each_step(inputs: Any) -> list[Any]:
    """What goes in at each step."""
    if isinstance(inputs, list | tuple):
        return list(zip(*[unbind(x, axis=0) for x in inputs], strict=True))
    return unbind(inputs, axis=0)  # type: ignore[no-any-return]


def masks(lengths: Any, first: Any) -> Any:
    """For each step a column: 1 where a sequence has it."""
    places = arange(first.shape[0], dtype=lengths.dtype)
    found = less_than(unsqueeze(places, axes=(1,)), lengths)
    column = unsqueeze(cast(found, out_dtype=first.dtype, in_dtype=found.dtype), axes=(2,))
    return unbind(column, axis=0)


def choosing(mask: Any) -> Any:
    """A function that takes the new state where there is a step, else the old one."""

    def chosen(new: Any, old: Any) -> Any:
        return add(multiply(new, mask), multiply(old, 1.0 - mask))

    return chosen


class BiRNN(Layer):
    """Two cells that go through sequences, one from each end.

    Args:
        cell_fw (RNNCellBase): the one that begins at the start.
        cell_bw (RNNCellBase): the one that begins at the end.
        time_major (bool): whether the steps are axis 0 and the batch axis 1.

    Examples:
        >>> import scull as paddle
        >>> cells = [paddle.nn.GRUCell(2, 3) for _ in range(2)]
        >>> paddle.nn.BiRNN(*cells)(paddle.ones([4, 5, 2]))[0].shape
        [4, 5, 6]
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw = cell_fw, cell_bw
        if cell_fw.input_size != cell_bw.input_size:
            raise ArgumentError(
                f"input size of forward cell({cell_fw.input_size}) does not equals to that of "
                f"backward cell({cell_bw.input_size})"
            )
        self.time_major = time_major

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """What both show at each step, and their last states.

        Args:
            inputs (Tensor): sequences.
            initial_states (tuple, optional): those of both cells; 0 when None.
            sequence_length (Tensor, optional): how many steps each sequence has.
        """
        states = (None, None) if initial_states is None else initial_states
        cells = (self.cell_fw, self.cell_bw)
        found = [
            RNN(cell, way, self.time_major)(inputs, state, sequence_length, **kwargs)
            for cell, way, state in zip(cells, (False, True), states, strict=True)
        ]
        outputs = structured(lambda x, y: concat([x, y], axis=-1), found[0][0], found[1][0])
        return outputs, (found[0][1], found[1][1])


class Network(LayerList):
    """What networks of layers of cells have in common."""

    mode = ""
    make: Any = None

    def start(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        attributes: tuple[Any, Any, Any, Any],
        **settings: Any,
    ) -> None:
        """Make the cells."""
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ArgumentError(
                "direction should be forward or bidirect (or bidirectional), "
                f"received direction = {direction}"
            )
        self.input_size, self.hidden_size, self.dropout = input_size, hidden_size, dropout
        self.num_layers, self.time_major = num_layers, time_major
        self.num_directions = 1 if direction == "forward" else 2
        self.state_components = 2 if self.mode == "LSTM" else 1
        names = ("weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr")
        options = {**settings, **dict(zip(names, attributes, strict=True))}
        for layer in range(num_layers):
            width = hidden_size * self.num_directions if layer else input_size
            cells = [self.make(width, hidden_size, **options) for _ in range(self.num_directions)]
            whole = BiRNN(*cells, time_major) if len(cells) > 1 else RNN(*cells, False, time_major)
            self.append(whole)
            for cell, suffix in zip(cells, ("", "_reverse"), strict=False):
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    setattr(self, f"{name}_l{layer}{suffix}", getattr(cell, name))
        self.flatten_parameters()

    def flatten_parameters(self) -> None:
        """Lay the parameters of a Program into one more, in which Paddle saves and seeks them."""
        if in_dynamic_mode():
            return
        weights = self.weights()
        size = sum(math.prod(w.shape) for w in weights)
        whole = self.create_parameter(
            [size], dtype=weights[0].dtype, default_initializer=Constant(0.0)
        )
        names = [w.name for w in weights]
        startup_program().global_block().append_op(
            type="coalesce_tensor",
            inputs={"Input": names},
            outputs={"Output": names, "FusedOutput": [whole.name]},
            attrs={"copy_data": True, "use_align": False, "dtype": whole.dtype},
        )

    def weights(self) -> list[Any]:
        """The parameters in the order of the operator: all matrices come first."""
        cells = [
            f"_l{layer}{suffix}"
            for layer in range(self.num_layers)
            for suffix in ("", "_reverse")[: self.num_directions]
        ]
        matrices = [getattr(self, f"weight_{n}{c}") for c in cells for n in ("ih", "hh")]
        return matrices + [getattr(self, f"bias_{n}{c}") for c in cells for n in ("ih", "hh")]

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None
    ) -> tuple[Any, Any]:
        """What the last layer shows at each step, and the last states of all layers.

        Args:
            inputs (Tensor): sequences, ``[batch, steps, input_size]``, or the steps first.
            initial_states (Tensor | tuple, optional): ``[layers * directions, batch, hidden]``;
                two of them for LSTM; 0 when None.
            sequence_length (Tensor, optional): how many steps each sequence has.
        """
        if initial_states is None:
            shape = [self.num_layers * self.num_directions, -1, self.hidden_size]
            batch = 1 if self.time_major else 0
            states = [
                filled(inputs, shape, inputs.dtype, 0.0, batch, 1)
                for _ in range(self.state_components)
            ]
        else:
            several = isinstance(initial_states, list | tuple)
            states = list(initial_states) if several else [initial_states]
        x = inputs if self.time_major else transpose(inputs, perm=(1, 0, 2))
        out, _, last, _ = rnn(
            x,
            states,
            self.weights(),
            sequence_length,
            dropout_prob=self.dropout,
            is_bidirec=self.num_directions == 2,
            input_size=self.input_size,
            hidden_size=self.hidden_size,
            num_layers=self.num_layers,
            mode=self.mode,
            is_test=not self.training,
            name=self._full_name,
        )
        out = out if self.time_major else transpose(out, perm=(1, 0, 2))
        return out, tuple(last) if len(last) > 1 else last[0]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        text += f", time_major={self.time_major}" if self.time_major else ""
        return text + (f", dropout={self.dropout}" if self.dropout else "")


class SimpleRNN(Network):
    """Layers of cells without gates.

    Args:
        input_size (int): how many numbers come in at each step.
        hidden_size (int): how many the states have.
        num_layers (int): how many layers of cells there are.
        direction (str): "forward", or "bidirect" for cells that begin at the end, too.
        time_major (bool): whether the steps are axis 0 and the batch axis 1.
        dropout (float): the chance of what goes into a layer but the first to be dropped.
        activation (str): "tanh" or "relu".
        weight_ih_attr (ParamAttr, optional): of the weights of inputs.
        weight_hh_attr (ParamAttr, optional): of the weights of states.
        bias_ih_attr (ParamAttr, optional): of the biases of inputs.
        bias_hh_attr (ParamAttr, optional): of the biases of states.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> out, last = paddle.nn.SimpleRNN(2, 3)(paddle.ones([4, 5, 2]))
        >>> out.shape
        [4, 5, 3]
    """

    mode = "RNN_TANH"
    make = SimpleRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if activation not in ("tanh", "relu"):
            raise ArgumentError(f"Unknown activation '{activation}'")
        self.activation, self.mode = activation, "RNN_" + activation.upper()
        attributes = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        own = (input_size, hidden_size, num_layers, direction, time_major, dropout, attributes)
        self.start(*own, activation=activation)


class LSTM(Network):
    """Layers of long short-term memory.

    Args:
        input_size (int): how many numbers come in at each step.
        hidden_size (int): how many the states have.
        num_layers (int): how many layers of cells there are.
        direction (str): "forward", or "bidirect" for cells that begin at the end, too.
        time_major (bool): whether the steps are axis 0 and the batch axis 1.
        dropout (float): the chance of what goes into a layer but the first to be dropped.
        weight_ih_attr (ParamAttr, optional): of the weights of inputs.
        weight_hh_attr (ParamAttr, optional): of the weights of states.
        bias_ih_attr (ParamAttr, optional): of the biases of inputs.
        bias_hh_attr (ParamAttr, optional): of the biases of states.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> out, last = paddle.nn.LSTM(2, 3)(paddle.ones([4, 5, 2]))
        >>> out.shape
        [4, 5, 3]
    """

    mode = "LSTM"
    make = LSTMCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attributes = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        own = (input_size, hidden_size, num_layers, direction, time_major, dropout, attributes)
        self.start(*own)


class GRU(Network):
    """Layers of gated recurrent units.

    Args:
        input_size (int): how many numbers come in at each step.
        hidden_size (int): how many the states have.
        num_layers (int): how many layers of cells there are.
        direction (str): "forward", or "bidirect" for cells that begin at the end, too.
        time_major (bool): whether the steps are axis 0 and the batch axis 1.
        dropout (float): the chance of what goes into a layer but the first to be dropped.
        weight_ih_attr (ParamAttr, optional): of the weights of inputs.
        weight_hh_attr (ParamAttr, optional): of the weights of states.
        bias_ih_attr (ParamAttr, optional): of the biases of inputs.
        bias_hh_attr (ParamAttr, optional): of the biases of states.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> out, last = paddle.nn.GRU(2, 3)(paddle.ones([4, 5, 2]))
        >>> out.shape
        [4, 5, 3]
    """

    mode = "GRU"
    make = GRUCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attributes = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        own = (input_size, hidden_size, num_layers, direction, time_major, dropout, attributes)
        self.start(*own)


__getattr__ = shown_by("scull.nn")
