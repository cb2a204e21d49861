"""Layers of models that are ready to be saved: rounding to steps and back, by scales that stay."""

from abc import ABC, ABCMeta, abstractmethod
from typing import Any

from scull.autograd import no_grad
from scull.core import session
from scull.errors import AssertError
from scull.nn.initializer import Assign
from scull.nn.layer.layers import Layer
from scull.nn.param_attr import ParamAttr
from scull.nn.quant.state import PREFIX
from scull.ops import quantize_linear as operators
from scull.ops.quantize import steps
from scull.tensor import clip, full, repeat_interleave, round, to_tensor

GROUP = 128  # rows that share a scale, where an observer does not say


class Stepped(Layer):
    """What both directions keep: scales, zero points and what they are the scales of."""

    def __init__(
        self,
        scales: Any,
        zero_point: Any = None,
        quant_axis: int | None = None,
        bit_length: int = 8,
        group_size: int = GROUP,
    ) -> None:
        super().__init__()
        values = to_tensor(scales, dtype="float32")
        attr = ParamAttr(session.unique_name(PREFIX + ".scale"), Assign(values), trainable=False)
        self._scales = self.create_parameter(values.shape, attr, "float32")
        self._scales.stop_gradient = True
        self._zero_point = full([1], 0.0) if zero_point is None else zero_point
        self._quant_axis = -1 if quant_axis is None else quant_axis
        self._bit_length, self._group_size = bit_length, group_size

    @classmethod
    def from_quanter(cls, quanter: Any) -> Any:
        """The layer that rounds by what a quanter or an observer found.

        Args:
            quanter (BaseQuanter): of which scales, zero points, axis and bits are asked.
        """
        return cls(
            quanter.scales(),
            quanter.zero_points(),
            quanter.quant_axis(),
            quanter.bit_length(),
            getattr(quanter, "group_size", GROUP),
        )

    def grouped(self) -> Any:
        """A scale for every element of a matrix whose rows share scales in groups."""
        return repeat_interleave(self._scales, self._group_size, 0)

    def applied(self, operator: Any, input: Any) -> Any:
        """The first result of `operator`, by the scales of all or of an axis."""
        return operator(
            input,
            self._scales,
            self._zero_point,
            quant_axis=self._quant_axis,
            bit_length=self._bit_length,
            name=self._full_name,
        )[0]


class LinearQuanter(Stepped):
    """The whole number of steps of a scale that is nearest to each element, halves to even.

    .. math:: out = clip(round(x / scale * q), -q - 1, q),  q = 2^{bits - 1} - 1

    Args:
        scales (Tensor | ndarray | float): one, one for each place of `quant_axis`, or
            [rows / group_size, columns] for a matrix.
        zero_point (Tensor, optional): kept beside the scales; steps are counted from 0.
        quant_axis (int, optional): the axis of the scales; -1 or None for all.
        bit_length (int): from 1 to 16.
        group_size (int): how many rows share a scale, where these form a matrix.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.format import LinearQuanter
        >>> LinearQuanter(1.0, bit_length=4)(paddle.to_tensor([0.5, -3.0])).tolist()
        [4.0, -8.0]
    """

    def forward(self, input: Any) -> Any:
        """The steps of `input`, of its shape and dtype."""
        if len(self._scales.shape) < 2:
            return self.applied(operators.quantize_linear, input)
        most = steps(self._bit_length)
        return clip(round(input / self.grouped() * most), -most - 1, most)


class LinearDequanter(Stepped):
    """The numbers that steps of a scale stand for.

    .. math:: out = x * scale / q,  q = 2^{bits - 1} - 1

    Args:
        scales (Tensor | ndarray | float): as of `LinearQuanter`.
        zero_point (Tensor, optional): kept beside the scales; steps are counted from 0.
        quant_axis (int, optional): the axis of the scales; -1 or None for all.
        bit_length (int): from 1 to 16.
        group_size (int): how many rows share a scale, where these form a matrix.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.format import LinearDequanter
        >>> LinearDequanter(3.5, bit_length=4)(paddle.to_tensor([4.0, -7.0])).tolist()
        [2.0, -3.5]
    """

    def forward(self, input: Any) -> Any:
        """What the steps `input` stand for, of its shape and the dtype of the scales."""
        if len(self._scales.shape) < 2:
            return self.applied(operators.dequantize_linear, input)
        return input / steps(self._bit_length) * self.grouped()


class LinearQuanterDequanter(Layer):
    """Rounding to steps and back; either part may be missing.

    Args:
        quanter (LinearQuanter | None): the first part.
        dequanter (LinearDequanter | None): the second part.
    """

    def __init__(self, quanter: Any, dequanter: Any) -> None:
        super().__init__()
        self._quanter, self._dequanter = quanter, dequanter

    def forward(self, input: Any) -> Any:
        """`input` rounded to steps; as it is where there is no part."""
        for part in (self._quanter, self._dequanter):
            input = input if part is None else part(input)
        return input

    @staticmethod
    def from_quanter(quanter: Any) -> "LinearQuanterDequanter":
        """Both parts, by what a quanter or an observer found.

        Args:
            quanter (BaseQuanter): of which scales, zero points, axis and bits are asked.
        """
        return LinearQuanterDequanter(
            LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter)
        )


class ConvertibleQuantedLayer(Layer, ABC, metaclass=ABCMeta):
    """A layer with quanters that can be made ready to be saved: its weights become steps.

    A class of a user says by two methods which of its attributes are weights and quanters.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.format import ConvertibleQuantedLayer
        >>> class Scaled(ConvertibleQuantedLayer):
        ...     def __init__(self, layer, q_config):
        ...         super().__init__()
        ...         self.weight = layer.weight
        ...         self.weight_quanter = q_config.weight._instance(layer)
        ...     def forward(self, x):
        ...         return x @ self.weight_quanter(self.weight)
        ...     def weights_to_quanters(self):
        ...         return [("weight", "weight_quanter")]
        ...     def activation_quanters(self):
        ...         return []
    """

    def __init__(self) -> None:
        super().__init__()
        self.converted = False

    @abstractmethod
    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """The name of each weight with that of its quanter."""

    @abstractmethod
    def activation_quanters(self) -> list[str]:
        """The names of the quanters of inputs."""

    def _convert_quanter_to_qdq(self, quanter_name: str) -> Any:
        """Let rounding by scales that stay take the place of a quanter, if there is one."""
        quanter = getattr(self, quanter_name, None)
        if quanter is None:
            return None
        made = LinearQuanterDequanter.from_quanter(quanter)
        setattr(self, quanter_name, made)
        return made

    def _quant_weights(self, weight_name: str, quanter: Any) -> None:
        """Let the steps of a weight take its place."""
        weight = getattr(self, weight_name)
        with no_grad():
            weight.set_value(quanter(weight))

    def _convert(self, remain_weight: bool = False) -> None:
        """Let scales that stay take the place of all quanters, and steps that of weights."""
        if self.converted:
            raise AssertError("The model should be converted only once.")
        for weight_name, quanter_name in self.weights_to_quanters():
            made = self._convert_quanter_to_qdq(quanter_name)
            if made is not None and not remain_weight:
                self._quant_weights(weight_name, made._quanter)
                made._quanter = None
        for quanter_name in self.activation_quanters():
            self._convert_quanter_to_qdq(quanter_name)
        self.converted = True
