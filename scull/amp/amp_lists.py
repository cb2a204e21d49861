"""Which operators gain by fewer digits, and which need all of them, by the names in Programs."""


def words(line: str) -> frozenset[str]:
    """The words of a line, as a set."""
    return frozenset(line.split())


SAFE = words("conv2d einsum fused_gemm_epilogue matmul matmul_v2 max_pool2d_with_index mul")
SAFE_IN_FLOAT16 = SAFE | {
    "fake_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    "fused_attention",
    "fused_feedforward",
}
DANGEROUS = words(
    "acos asin atanh c_softmax_with_cross_entropy cosh cross_entropy cross_entropy2 cumprod cumsum"
    " dist erfinv exp expm1 frobenius_norm group_norm hsigmoid_loss huber_loss layer_norm log"
    " log10 log2 log_loss log_softmax margin_cross_entropy mean nll_loss pnorm pow reciprocal"
    " reduce_mean reduce_prod reduce_sum renorm rsqrt sigmoid_cross_entropy_with_logits sinh"
    " softmax softmax_with_cross_entropy softmin softplus square tan tanh_shrink"
    " triplet_margin_loss"
)
SLOWER = words(  # whose gradients lose
    "bicubic_interp_v2 bilinear_interp_v2 linear_interp_v2 lookup_table lookup_table_v2"
    " nearest_interp_v2 scatter trilinear_interp_v2"
)


def white_list() -> dict[str, dict[str, set[str]]]:
    """The operators that always compute with fewer digits, by element type and level.

    Examples:
        >>> import scull as paddle
        >>> "matmul_v2" in paddle.amp.white_list()["bfloat16"]["O1"]
        True
    """
    return {
        dtype: {level: set(names) for level in ("OD", "O1", "O2")}
        for dtype, names in (("float16", SAFE_IN_FLOAT16), ("bfloat16", SAFE))
    }


def black_list() -> dict[str, dict[str, set[str]]]:
    """The operators that always compute in float32, by element type and level.

    Examples:
        >>> import scull as paddle
        >>> "softmax" in paddle.amp.black_list()["bfloat16"]["O1"]
        True
    """
    levels = {"OD": frozenset[str](), "O1": DANGEROUS | SLOWER, "O2": SLOWER}
    return {
        dtype: {level: set(names) for level, names in levels.items()}
        for dtype in ("float16", "bfloat16")
    }
