"""A layer of one product."""

from typing import Any

from scull.incubate.nn.functional.fused_matmul_bias import fused_linear
from scull.nn.layer.layers import Layer


class FusedLinear(Layer):
    """``x @ weight + bias`` over the last axis of `x`.

    Args:
        in_features (int): the size of that axis.
        out_features (int): its size afterwards.
        weight_attr (ParamAttr, optional): what is said of the weight.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        transpose_weight (bool): whether the weight is kept as ``[out_features, in_features]``.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.incubate.nn.FusedLinear(2, 3)
        >>> linear(paddle.ones([4, 2])).shape
        [4, 3]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        sizes = [in_features, out_features]
        self.weight = self.create_parameter(sizes[::-1] if transpose_weight else sizes, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.transpose_weight, self.name = transpose_weight, name

    def forward(self, input: Any) -> Any:
        """The product of `input` and the weight, and the bias."""
        return fused_linear(input, self.weight, self.bias, self.transpose_weight, self.name)
