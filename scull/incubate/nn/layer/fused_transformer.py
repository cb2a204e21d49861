"""The parts of transformers as layers, each with its dropout, its sum and its norm."""

from typing import Any

from scull.core.absent import absent
from scull.core.session import default_dtype
from scull.errors import AssertError, UnsupportedError
from scull.incubate.nn.functional import fused_transformer as F
from scull.nn.functional.attention import attention_mask
from scull.nn.initializer import Constant
from scull.nn.layer.layers import Layer
from scull.nn.layer.transformer import each

__getattr__ = absent(
    __name__,
    {
        "what a GPU's kernel of generation keeps between steps is not known here": (
            "FusedMultiTransformer"
        )
    },
)


class Part(Layer):
    """What the layers have in common."""

    def __init__(self, nranks: int = 1, **sizes: int) -> None:
        super().__init__(dtype=default_dtype().name)
        if nranks != 1:
            raise UnsupportedError(f"nranks is {nranks}: one process computes")
        for word, size in sizes.items():
            if size <= 0:
                raise AssertError(f"Expected {word} to be greater than 0, but received {size}")

    def norm(self, size: int, scale_attr: Any, bias_attr: Any) -> tuple[Any, Any]:
        """The parameters of a norm."""
        scale = self.create_parameter([size], scale_attr, default_initializer=Constant(1.0))
        return scale, self.create_parameter([size], bias_attr, is_bias=True)

    def told(self, *names: str) -> str:
        """Some attributes, the element type and the name."""
        pairs = {name: getattr(self, name, getattr(self, f"_{name}", None)) for name in names}
        pairs |= {"dtype": self._dtype} | ({"name": self.name} if self.name else {})
        return ", ".join(f"{name}={value}" for name, value in pairs.items())


class FusedBiasDropoutResidualLayerNorm(Part):
    """``layer_norm(residual + dropout(bias + x))`` over the last axis.

    Args:
        embed_dim (int): the size of that axis.
        dropout_rate (float): the chance of an element to be dropped.
        weight_attr (ParamAttr, optional): what is said of the factor of the norm.
        bias_attr (ParamAttr, optional): what is said of both biases.
        epsilon (float): added to the variance.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(2, 0.0)
        >>> layer(paddle.ones([1, 3, 2]), paddle.ones([1, 3, 2])).shape
        [1, 3, 2]
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        super().__init__(embed_dim=embed_dim)
        self.embed_dim, self.dropout_rate, self._epsilon = embed_dim, dropout_rate, epsilon
        self.linear_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        self.ln_scale, self.ln_bias = self.norm(embed_dim, weight_attr, bias_attr)
        self.name = name

    def forward(self, x: Any, residual: Any) -> Any:
        """The norm of the sum."""
        return F.fused_bias_dropout_residual_layer_norm(
            x,
            residual,
            self.linear_bias,
            self.ln_scale,
            self.ln_bias,
            self.dropout_rate,
            self._epsilon,
            self.training,
        )

    def extra_repr(self) -> str:
        return self.told("embed_dim", "dropout_rate", "epsilon")


class FusedMultiHeadAttention(Part):
    """Attention within a sequence, with the products and the norm around it.

    Args:
        embed_dim (int): how many numbers a place has.
        num_heads (int): how many heads there are.
        dropout_rate (float): the chance of an element of the result to be dropped.
        attn_dropout_rate (float): the chance of a weight.
        kdim (int, optional): not used.
        vdim (int, optional): not used.
        normalize_before (bool): whether the input is normalised, not the result.
        need_weights (bool): False.
        qkv_weight_attr (ParamAttr, optional): of the weight of queries, keys and values.
        qkv_bias_attr (ParamAttr | bool, optional): of their bias.
        linear_weight_attr (ParamAttr, optional): of the product behind.
        linear_bias_attr (ParamAttr | bool, optional): of its bias.
        pre_ln_scale_attr (ParamAttr, optional): of the norm of the input.
        pre_ln_bias_attr (ParamAttr, optional): of its bias.
        ln_scale_attr (ParamAttr, optional): of the norm of the result.
        ln_bias_attr (ParamAttr, optional): of its bias.
        epsilon (float): added to the variance.
        nranks (int): 1.
        ring_id (int): not used.
        transpose_qkv_wb (bool): whether the weight is kept as ``[embed_dim, 3 * embed_dim]``.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.incubate.nn.FusedMultiHeadAttention(8, 2)
        >>> layer(paddle.ones([1, 3, 8])).shape
        [1, 3, 8]
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: Any = None,
        qkv_bias_attr: Any = None,
        linear_weight_attr: Any = None,
        linear_bias_attr: Any = None,
        pre_ln_scale_attr: Any = None,
        pre_ln_bias_attr: Any = None,
        ln_scale_attr: Any = None,
        ln_bias_attr: Any = None,
        epsilon: float = 1e-5,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(nranks, embed_dim=embed_dim, nhead=num_heads)
        if embed_dim % num_heads:
            raise AssertError("embed_dim must be divisible by num_heads")
        if need_weights:
            raise AssertError("Only support need_weight is False now.")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout_rate, self.attn_dropout_rate = dropout_rate, attn_dropout_rate
        self.kdim, self.vdim, self.need_weights = kdim, vdim, need_weights
        self.normalize_before, self._epsilon = normalize_before, epsilon
        self.transpose_qkv_wb, self.name = transpose_qkv_wb, name
        flat, heads = transpose_qkv_wb, [3, num_heads, self.head_dim]
        sizes = [embed_dim, 3 * embed_dim] if flat else [*heads, embed_dim]
        self.qkv_weight = self.create_parameter(sizes, qkv_weight_attr)
        sizes = sizes[1:] if flat else heads
        self.qkv_bias = self.create_parameter(sizes, qkv_bias_attr, is_bias=True)
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], linear_bias_attr, is_bias=True)
        self.pre_ln_scale = self.pre_ln_bias = self.ln_scale = self.ln_bias = None
        if normalize_before:
            found = self.norm(embed_dim, pre_ln_scale_attr, pre_ln_bias_attr)
            self.pre_ln_scale, self.pre_ln_bias = found
        else:
            self.ln_scale, self.ln_bias = self.norm(embed_dim, ln_scale_attr, ln_bias_attr)

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        attn_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """What each place of `query` takes from others; the cache behind it where there is one."""
        return F.fused_multi_head_attention(
            query,
            self.qkv_weight,
            self.linear_weight,
            pre_layer_norm=self.normalize_before,
            pre_ln_scale=self.pre_ln_scale,
            pre_ln_bias=self.pre_ln_bias,
            ln_scale=self.ln_scale,
            ln_bias=self.ln_bias,
            pre_ln_epsilon=self._epsilon,
            qkv_bias=self.qkv_bias,
            linear_bias=self.linear_bias,
            cache_kv=cache,
            attn_mask=attention_mask(attn_mask, query.dtype),
            dropout_rate=self.dropout_rate,
            attn_dropout_rate=self.attn_dropout_rate,
            ln_epsilon=self._epsilon,
            training=self.training,
            num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )

    def extra_repr(self) -> str:
        rates = ("embed_dim", "num_heads", "dropout_rate", "attn_dropout_rate", "epsilon")
        return self.told(*rates, "kdim", "vdim", "normalize_before", "need_weights")


class FusedFeedForward(Part):
    """The network at each place of a transformer: two products, with what stands around them.

    Args:
        d_model (int): how many numbers a place has.
        dim_feedforward (int): how many numbers the network has within.
        dropout_rate (float): the chance of an element of the result to be dropped.
        epsilon (float): added to the variance.
        activation (str): the name of a function of `paddle.nn.functional`.
        act_dropout_rate (float, optional): the chance of an activation; `dropout_rate` when None.
        normalize_before (bool): whether the input is normalised, not the result.
        linear1_weight_attr (ParamAttr, optional): of the first product.
        linear1_bias_attr (ParamAttr | bool, optional): of its bias.
        linear2_weight_attr (ParamAttr, optional): of the second product.
        linear2_bias_attr (ParamAttr | bool, optional): of its bias.
        ln1_scale_attr (ParamAttr, optional): of the norm of the input.
        ln1_bias_attr (ParamAttr, optional): of its bias.
        ln2_scale_attr (ParamAttr, optional): of the norm of the result.
        ln2_bias_attr (ParamAttr, optional): of its bias.
        nranks (int): 1.
        ring_id (int): not used.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.incubate.nn.FusedFeedForward(4, 8)
        >>> layer(paddle.ones([1, 3, 4])).shape
        [1, 3, 4]
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-05,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: Any = None,
        linear1_bias_attr: Any = None,
        linear2_weight_attr: Any = None,
        linear2_bias_attr: Any = None,
        ln1_scale_attr: Any = None,
        ln1_bias_attr: Any = None,
        ln2_scale_attr: Any = None,
        ln2_bias_attr: Any = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__(nranks, d_model=d_model, dim_feedforward=dim_feedforward)
        self._d_model, self._dim_feedforward, self._epsilon = d_model, dim_feedforward, epsilon
        self._dropout_rate, self._activation = dropout_rate, activation
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._normalize_before, self.name = normalize_before, name
        wide = dim_feedforward
        self._linear1_weight = self.create_parameter([d_model, wide], linear1_weight_attr)
        self._linear1_bias = self.create_parameter([wide], linear1_bias_attr, is_bias=True)
        self._linear2_weight = self.create_parameter([wide, d_model], linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], linear2_bias_attr, is_bias=True)
        self._ln1_scale = self._ln1_bias = self._ln2_scale = self._ln2_bias = None
        if normalize_before:
            found = self.norm(d_model, ln1_scale_attr, ln1_bias_attr)
            self._ln1_scale, self._ln1_bias = found
        else:
            found = self.norm(d_model, ln2_scale_attr, ln2_bias_attr)
            self._ln2_scale, self._ln2_bias = found

    def forward(self, src: Any, cache: Any = None) -> Any:
        """`src` after the network."""
        return F.fused_feedforward(
            src,
            self._linear1_weight,
            self._linear2_weight,
            self._linear1_bias,
            self._linear2_bias,
            self._ln1_scale,
            self._ln1_bias,
            self._ln2_scale,
            self._ln2_bias,
            dropout1_rate=self._act_dropout_rate,
            dropout2_rate=self._dropout_rate,
            activation=self._activation,
            ln1_epsilon=self._epsilon,
            ln2_epsilon=self._epsilon,
            pre_layer_norm=self._normalize_before,
            training=self.training,
        )

    def extra_repr(self) -> str:
        sizes = ("d_model", "dim_feedforward", "dropout_rate", "epsilon", "activation")
        return self.told(*sizes, "act_dropout_rate", "normalize_before")


class FusedTransformerEncoderLayer(Part):
    """Attention within a sequence, then a network at each place.

    Args:
        d_model (int): how many numbers a place has.
        nhead (int): how many heads there are.
        dim_feedforward (int): how many numbers the network has within.
        dropout_rate (float): the chance of what a part makes to be dropped.
        activation (str): the name of a function of `paddle.nn.functional`.
        attn_dropout_rate (float, optional): the chance of a weight; `dropout_rate` when None.
        act_dropout_rate (float, optional): the chance of an activation; `dropout_rate` when None.
        normalize_before (bool): whether the input of a part is normalised, not its result.
        weight_attr (ParamAttr | list, optional): of weights: of the attention, of the network.
        bias_attr (ParamAttr | list | bool, optional): of biases.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)
        >>> layer(paddle.ones([2, 4, 8])).shape
        [2, 4, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: float | None = None,
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        settings = {n: v for n, v in locals().items() if n not in ("self", "__class__")}
        super().__init__(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        self._config, self.normalize_before = settings, normalize_before
        weights, biases = each(weight_attr, 2), each(bias_attr, 2)
        self.fused_attn = FusedMultiHeadAttention(
            d_model,
            nhead,
            dropout_rate,
            dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before,
            **attributes("qkv_weight linear_weight pre_ln_scale ln_scale", weights[0]),
            **attributes("qkv_bias linear_bias pre_ln_bias ln_bias", biases[0]),
        )
        self.ffn = FusedFeedForward(
            d_model,
            dim_feedforward,
            dropout_rate,
            activation=activation,
            act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before,
            **attributes("linear1_weight linear2_weight", weights[1]),
            **attributes("linear1_bias linear2_bias", biases[1]),
        )

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """The sequence `src` after the layer, with the cache where there is one."""
        if cache is None:
            return self.ffn(self.fused_attn(src, attn_mask=src_mask))
        out, kept = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        return self.ffn(out), kept


def attributes(names: str, attr: Any) -> dict[str, Any]:
    """What is said of several parameters together."""
    return {f"{name}_attr": attr for name in names.split()}
