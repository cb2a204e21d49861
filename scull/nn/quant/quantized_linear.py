"""Products with weights of 8 or 4 bits."""

from typing import Any

from scull.errors import AssertError
from scull.ops import weight_only
from scull.tensor.size import needs_tensor

GPUS = (70, 75, 80, 86)


def layout(arch: Any, caller: str) -> int:
    """In which order a weight is stored: that of a GPU, or plain."""
    if arch is None:
        return weight_only.PLAIN
    if arch not in GPUS:
        raise AssertError(f"Currently {caller} only support SM70/75/80/86. but got {arch} ")
    return int(arch)


def weight_quantize(x: Any, algo: str = "weight_only_int8", arch: int | None = None) -> Any:
    """The weight of a linear layer as whole numbers, each column by a scale of its own.

    .. math:: scale = max(|x|) / q,  out = round(x / scale),  q = 2^{bits - 1} - 1

    Args:
        x (Tensor): float16 or bfloat16 [k, n]; 64 divides k and 16 divides n.
        algo (str): "weight_only_int8", "llm.int8" or "weight_only_int4".
        arch (int, optional): 70, 75, 80 or 86: stored for a GPU of that kind, as PaddlePaddle
            does. None: in the order of the transpose, with signs; of two numbers of 4 bits, the
            first is the low half of a byte.

    Returns:
        tuple[Tensor, Tensor]: int8 [n, k], or [n / 2, k] with 4 bits; and the scales [n], of the
        dtype of `x`.

    Raises:
        ShapeError: `x` is no such matrix.
        DtypeError: `x` is of another dtype.
        ArgumentError: there is no such `algo`.
        AssertError: there is no such GPU.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.arange(1024, dtype="float32").reshape([64, 16]).astype("float16")
        >>> out, scale = paddle.nn.quant.weight_quantize(x)
        >>> out.shape, out[0, -1].item(), scale.shape
        ([16, 64], 127, [16])
    """
    needs_tensor(x, "weight_quantize")
    return weight_only.weight_quantize(x, algo=algo, arch=layout(arch, "weight_quantize"))


def weight_dequantize(
    x: Any, scale: Any, algo: str = "weight_only_int8", out_dtype: Any = "float16"
) -> Any:
    """The weight that `weight_quantize` stored in plain order, up to rounding.

    Args:
        x (Tensor): int8 [n, k], or [n / 2, k] with 4 bits.
        scale (Tensor): floating-point [n].
        algo (str): "weight_only_int8", "llm.int8" or "weight_only_int4".
        out_dtype (str | DType): that of the result.

    Returns:
        Tensor: [k, n].

    Raises:
        ArgumentError: there is no such `algo`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.arange(1024, dtype="float32").reshape([64, 16]).astype("float16")
        >>> out, scale = paddle.nn.quant.weight_quantize(x)
        >>> back = paddle.nn.quant.weight_dequantize(out, scale)
        >>> bool((back - x).abs().max() < 4.1)  # half a step
        True
    """
    needs_tensor(x, "weight_dequantize")
    return weight_only.weight_dequantize(x, scale, algo=algo, out_dtype=out_dtype)


def weight_only_linear(
    x: Any,
    weight: Any,
    bias: Any = None,
    weight_scale: Any = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
) -> Any:
    """The product of `x` and a stored weight, and the bias.

    Args:
        x (Tensor): floating-point [..., k].
        weight (Tensor): what `weight_quantize` stored.
        bias (Tensor, optional): [n].
        weight_scale (Tensor): floating-point [n].
        weight_dtype (str): "int8" or "int4".
        arch (int, optional): what `weight_quantize` was told.

    Returns:
        Tensor: [..., n], of the dtype of `x`.

    Raises:
        ArgumentError: there is no `weight_scale`, or no such `weight_dtype`.
        AssertError: there is no such GPU.

    Examples:
        >>> import scull as paddle
        >>> weight = paddle.full([2, 3], 2, "int8")
        >>> scale = paddle.to_tensor([0.5, 1.0])
        >>> paddle.nn.quant.weight_only_linear(paddle.ones([1, 3]), weight, None, scale).tolist()
        [[3.0, 6.0]]
    """
    needs_tensor(x, "weight_only_linear")
    return weight_only.weight_only_linear(
        x,
        weight,
        bias,
        weight_scale,
        weight_dtype=weight_dtype,
        arch=layout(arch, "weight_only_linear"),
    )


def llm_int8_linear(
    x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, threshold: float = 6.0
) -> Any:
    """The product of `x` and a stored weight, in whole numbers where `x` is small, and the bias.

    Columns of `x` that hold a magnitude above the threshold are multiplied as they are, by Dettmers
    et al., LLM.int8() (2022). The others are rounded to 8 bits, each row by a scale of its own.

    Args:
        x (Tensor): floating-point [..., k].
        weight (Tensor): int8 [n, k], as `weight_quantize` stored it with the `algo` "llm.int8".
        bias (Tensor, optional): [n].
        weight_scale (Tensor): floating-point [n].
        threshold (float): the largest magnitude that is rounded.

    Returns:
        Tensor: [..., n], of the dtype of `x`.

    Raises:
        ArgumentError: there is no `weight_scale`.

    Examples:
        >>> import scull as paddle
        >>> weight = paddle.full([2, 3], 2, "int8")
        >>> scale = paddle.to_tensor([0.5, 1.0])
        >>> paddle.nn.quant.llm_int8_linear(paddle.ones([1, 3]), weight, None, scale).tolist()
        [[3.0, 6.0]]
    """
    needs_tensor(x, "llm_int8_linear")
    return weight_only.llm_int8_linear(x, weight, bias, weight_scale, threshold=threshold)
