"""Transformers: layers of attention and of networks at each place."""

from typing import Any

from scull.core.door import shown_by
from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.functional.attention import attention_mask, causal_mask
from scull.nn.layer.attention import Cache, MultiHeadAttention, StaticCache
from scull.nn.layer.container import LayerList
from scull.nn.layer.dropout import Dropout
from scull.nn.layer.layers import Layer
from scull.nn.layer.linear import Linear
from scull.nn.layer.norm import LayerNorm


def each(attr: Any, count: int) -> list[Any]:
    """What is said of parameters, for each of `count` parts of a layer."""
    if not isinstance(attr, list | tuple):
        return [attr] * count
    if len(attr) != count:
        raise ArgumentError(f"length of param_attr should be {count} when it is a list/tuple")
    return list(attr)


_convert_attention_mask, _convert_param_attr_to_list = attention_mask, each  # as Paddle has them


class Block(Layer):
    """What layers of encoders and decoders have in common."""

    norms = 2

    def start(self, settings: dict[str, Any]) -> None:
        """Keep the settings, and fill in those that follow from others."""
        for word in ("d_model", "nhead", "dim_feedforward"):
            if settings[word] <= 0:
                raise ArgumentError(
                    f"Expected {word} to be greater than 0, but received {settings[word]}"
                )
        self._config = settings
        dropout = settings["dropout"]
        self.attending = dropout if settings["attn_dropout"] is None else settings["attn_dropout"]
        self.acting = dropout if settings["act_dropout"] is None else settings["act_dropout"]
        self.normalize_before = settings["normalize_before"]
        self.activation = getattr(F, settings["activation"])

    def attention(self, weight_attr: Any, bias_attr: Any) -> MultiHeadAttention:
        """Attention within the layer."""
        d_model, nhead = self._config["d_model"], self._config["nhead"]
        return MultiHeadAttention(
            d_model, nhead, self.attending, weight_attr=weight_attr, bias_attr=bias_attr
        )

    def own(self, weight_attr: Any, bias_attr: Any) -> None:
        """Make the network at each place, and what follows each part."""
        d_model, wide = self._config["d_model"], self._config["dim_feedforward"]
        self.linear1 = Linear(d_model, wide, weight_attr, bias_attr)
        self.dropout = Dropout(self.acting, mode="upscale_in_train")
        self.linear2 = Linear(wide, d_model, weight_attr, bias_attr)
        for i in range(1, self.norms + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model))
        for i in range(1, self.norms + 1):
            dropout = Dropout(self._config["dropout"], mode="upscale_in_train")
            setattr(self, f"dropout{i}", dropout)

    def part(self, number: int, x: Any, compute: Any) -> Any:
        """`x` and what a part makes of it, normalised before or after."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.normalize_before:
            return x + dropout(compute(norm(x)))
        return norm(x + dropout(compute(x)))

    def network(self, x: Any) -> Any:
        """The network at each place."""
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(Block):
    """Attention within a sequence, then a network at each place.

    Args:
        d_model (int): how many numbers a place has.
        nhead (int): how many heads there are.
        dim_feedforward (int): how many numbers the network has within.
        dropout (float): the chance of what a part makes to be dropped.
        activation (str): the name of a function of `paddle.nn.functional`.
        attn_dropout (float, optional): the chance of a weight; `dropout` when None.
        act_dropout (float, optional): the chance of an activation; `dropout` when None.
        normalize_before (bool): whether the input of a part is normalised, not its result.
        weight_attr (ParamAttr | list, optional): of weights: of the attention, of the network.
        bias_attr (ParamAttr | list | bool, optional): of biases.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.TransformerEncoderLayer(8, 2, 16)
        >>> layer(paddle.ones([2, 4, 8])).shape
        [2, 4, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        settings = {n: v for n, v in locals().items() if n not in ("self", "__class__")}
        super().__init__()
        self.start(settings)
        weights, biases = each(weight_attr, 2), each(bias_attr, 2)
        self.self_attn = self.attention(weights[0], biases[0])
        self.own(weights[1], biases[1])

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """The sequence `src` after the layer, with the cache where there is one."""
        mask, kept = attention_mask(src_mask, src.dtype), [cache]

        def attended(x: Any) -> Any:
            if cache is None:
                return self.self_attn(x, x, x, mask)
            out, kept[0] = self.self_attn(x, x, x, mask, cache)
            return out

        x = self.part(2, self.part(1, src, attended), self.network)
        return x if cache is None else (x, kept[0])

    def gen_cache(self, src: Any) -> Any:
        """A cache to begin with."""
        return self.self_attn.gen_cache(src, type=Cache)


def repeated(layer: Any, count: int) -> LayerList:
    """`layer`, and others of its settings."""
    return LayerList([layer, *[type(layer)(**layer._config) for _ in range(count - 1)]])


class TransformerEncoder(Layer):
    """Layers of an encoder.

    Args:
        encoder_layer (TransformerEncoderLayer): the first of them.
        num_layers (int): how many there are.
        norm (LayerNorm, optional): what comes last.

    Examples:
        >>> import scull as paddle
        >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), 2)
        >>> encoder(paddle.ones([2, 4, 8])).shape
        [2, 4, 8]
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = repeated(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """The sequence `src` after all layers, with the caches where there are any."""
        mask, out, kept = attention_mask(src_mask, src.dtype), src, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, src_mask=mask)
            else:
                out, new = layer(out, src_mask=mask, cache=cache[i])
                kept.append(new)
        out = out if self.norm is None else self.norm(out)
        return out if cache is None else (out, kept)

    def gen_cache(self, src: Any) -> list[Any]:
        """Caches to begin with."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoderLayer(Block):
    """Attention within a sequence, then to another, then a network at each place.

    Args:
        d_model (int): how many numbers a place has.
        nhead (int): how many heads there are.
        dim_feedforward (int): how many numbers the network has within.
        dropout (float): the chance of what a part makes to be dropped.
        activation (str): the name of a function of `paddle.nn.functional`.
        attn_dropout (float, optional): the chance of a weight; `dropout` when None.
        act_dropout (float, optional): the chance of an activation; `dropout` when None.
        normalize_before (bool): whether the input of a part is normalised, not its result.
        weight_attr (ParamAttr | list, optional): of weights: of both attentions, of the network.
        bias_attr (ParamAttr | list | bool, optional): of biases.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.TransformerDecoderLayer(8, 2, 16)
        >>> layer(paddle.ones([2, 4, 8]), paddle.ones([2, 6, 8])).shape
        [2, 4, 8]
    """

    norms = 3

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        settings = {n: v for n, v in locals().items() if n not in ("self", "__class__")}
        super().__init__()
        self.start(settings)
        weights, biases = each(weight_attr, 3), each(bias_attr, 3)
        self.self_attn = self.attention(weights[0], biases[0])
        self.cross_attn = self.attention(weights[1], biases[1])
        self.own(weights[2], biases[2])

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """The sequence `tgt` after the layer, with the caches where there are."""
        own_mask = attention_mask(tgt_mask, tgt.dtype)
        other_mask, kept = attention_mask(memory_mask, memory.dtype), [None]

        def attended(x: Any) -> Any:
            if cache is None:
                return self.self_attn(x, x, x, own_mask)
            out, kept[0] = self.self_attn(x, x, x, own_mask, cache[0])
            return out

        def crossed(x: Any) -> Any:
            if cache is None:
                return self.cross_attn(x, memory, memory, other_mask)
            return self.cross_attn(x, memory, memory, other_mask, cache[1])[0]

        x = self.part(3, self.part(2, self.part(1, tgt, attended), crossed), self.network)
        return x if cache is None else (x, (kept[0], cache[1]))

    def gen_cache(self, memory: Any) -> tuple[Any, Any]:
        """Caches to begin with: of the own sequence, and of the other."""
        return (
            self.self_attn.gen_cache(memory, type=Cache),
            self.cross_attn.gen_cache(memory, memory, type=StaticCache),
        )


class TransformerDecoder(Layer):
    """Layers of a decoder.

    Args:
        decoder_layer (TransformerDecoderLayer): the first of them.
        num_layers (int): how many there are.
        norm (LayerNorm, optional): what comes last.

    Examples:
        >>> import scull as paddle
        >>> decoder = paddle.nn.TransformerDecoder(paddle.nn.TransformerDecoderLayer(8, 2, 16), 2)
        >>> decoder(paddle.ones([2, 4, 8]), paddle.ones([2, 6, 8])).shape
        [2, 4, 8]
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = repeated(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """The sequence `tgt` after all layers, with the caches where there are any."""
        masks = {
            "tgt_mask": attention_mask(tgt_mask, tgt.dtype),
            "memory_mask": attention_mask(memory_mask, memory.dtype),
        }
        out, kept = tgt, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, memory, **masks)
            else:
                out, new = layer(out, memory, **masks, cache=cache[i])
                kept.append(new)
        out = out if self.norm is None else self.norm(out)
        return out if cache is None else (out, kept)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """Caches to begin with; with `do_zip` those of one kind together."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """An encoder, and a decoder that looks at what it makes.

    Args:
        d_model (int): how many numbers a place has.
        nhead (int): how many heads there are.
        num_encoder_layers (int): the layers of the encoder.
        num_decoder_layers (int): the layers of the decoder.
        dim_feedforward (int): how many numbers the networks have within.
        dropout (float): the chance of what a part makes to be dropped.
        activation (str): the name of a function of `paddle.nn.functional`.
        attn_dropout (float, optional): the chance of a weight; `dropout` when None.
        act_dropout (float, optional): the chance of an activation; `dropout` when None.
        normalize_before (bool): whether the input of a part is normalised, not its result.
        weight_attr (ParamAttr | list, optional): of weights.
        bias_attr (ParamAttr | list | bool, optional): of biases.
        custom_encoder (Layer, optional): in place of the encoder.
        custom_decoder (Layer, optional): in place of the decoder.

    Examples:
        >>> import scull as paddle
        >>> transformer = paddle.nn.Transformer(8, 2, 1, 1, 16)
        >>> transformer(paddle.ones([2, 6, 8]), paddle.ones([2, 4, 8])).shape
        [2, 4, 8]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
    ) -> None:
        super().__init__()
        rest = (dropout, activation, attn_dropout, act_dropout, normalize_before)
        sizes = (d_model, nhead, dim_feedforward)
        encoder_attrs, decoder_attrs = divided(weight_attr, "weight"), divided(bias_attr, "bias")
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*sizes, *rest, encoder_attrs[0], decoder_attrs[0])
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*sizes, *rest, encoder_attrs[1], decoder_attrs[1])
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model))
        self.decoder, self.d_model, self.nhead = custom_decoder, d_model, nhead

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
    ) -> Any:
        """The sequence `tgt` after the decoder, which looks at `src` after the encoder."""
        memory = self.encoder(src, src_mask=attention_mask(src_mask, src.dtype))
        masks = (attention_mask(m, tgt.dtype) for m in (tgt_mask, memory_mask))
        return self.decoder(tgt, memory, *masks)

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """A mask with which no place looks at later ones."""
        return causal_mask(length)


def divided(attr: Any, what: str) -> tuple[Any, Any]:
    """What is said of parameters, for the encoder and for the decoder."""
    if not isinstance(attr, list | tuple):
        return attr, attr
    if len(attr) == 1:
        return attr[0], attr[0]
    if len(attr) == 2:
        return attr[0], [attr[0], attr[0], attr[-1]]
    if len(attr) == 3:
        return [attr[0], attr[-1]], list(attr)
    raise ArgumentError(f"length of {what}_attr should be 1 or 2 or 3 when it is a list/tuple")


__getattr__ = shown_by("scull.nn")
