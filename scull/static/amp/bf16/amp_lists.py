"""Which operators compute in bfloat16, and which have no kernel for it in Paddle on the CPU."""

from collections.abc import Iterable

from scull.amp.amp_lists import SAFE, words
from scull.core.op import by_type
from scull.errors import ArgumentError
from scull.static.amp.fp16_lists import black_list, gray_list, white_list

bf16_initializer_list = {"fill_constant", "uniform_random"}
bf16_list = set(SAFE | {"fused_gemm_epilogue"})
fp32_list = (black_list | white_list) - bf16_list - gray_list
HAS_KERNEL = words(
    "abs as_strided assign bicubic_interp_v2 bilinear_interp_v2 check_numerics clip"
    " conv2d_transpose data depthwise_conv2d dequantize diagonal elu empty equal exp expand_v2 fc"
    " feed fetch fetch_v2 fill_any fill_any_like flatten_contiguous_range fused_conv2d"
    " fused_elementwise_add fused_elementwise_div fused_elementwise_mul fused_elementwise_sub"
    " fused_matmul fused_softplus fused_transpose fusion_gru fusion_lstm gelu greater_equal"
    " greater_than hard_swish index_put index_select index_select_strided isfinite_v2 isinf_v2"
    " isnan_v2 less_equal less_than linear_interp_v2 load_combine log log10 log1p log2 log_softmax"
    " lookup_table lookup_table_v2 mean memcpy memcpy_d2h memcpy_h2d mish nearest_interp_v2"
    " not_equal pad pad3d prelu reduce_max reduce_mean reduce_min reduce_sum repeat_interleave"
    " requantize reshape save save_combine set_value sgd shape share_buffer shuffle_channel size"
    " softmax softplus sqrt squeeze2 strided_slice sum swish tensor_unfold transfer_dtype"
    " transfer_layout trilinear_interp_v2 unbind unsqueeze2 view_dtype view_shape weight_quantize"
    " where_index"
)


class AutoMixedPrecisionListsBF16:
    """The lists of an optimizer for bfloat16.

    Args:
        custom_bf16_list (set, optional): types of operators that compute in bfloat16.
        custom_fp32_list (set, optional): that compute in float32.
        custom_fp32_varnames (set, optional): variables whose operators do so, too.

    Raises:
        ArgumentError: a type stands in both lists.

    Examples:
        >>> import scull as paddle
        >>> lists = paddle.static.amp.bf16.AutoMixedPrecisionListsBF16({"elementwise_add"})
        >>> "elementwise_add" in lists.bf16_list
        True
    """

    def __init__(
        self,
        custom_bf16_list: Iterable[str] | None = None,
        custom_fp32_list: Iterable[str] | None = None,
        custom_fp32_varnames: Iterable[str] | None = None,
    ) -> None:
        more, fewer = set(custom_bf16_list or ()), set(custom_fp32_list or ())
        if more & fewer:
            raise ArgumentError("Custom bf16 list overlap custom fp32 list")
        self._custom_bf16_list, self._custom_fp32_list = custom_bf16_list, custom_fp32_list
        self.bf16_list = (bf16_list | more) - fewer
        self.fp32_list = fp32_list - more | fewer
        self.gray_list = gray_list - (more - fp32_list) - (fewer - bf16_list - more)
        self.bf16_initializer_list = set(bf16_initializer_list)
        known = HAS_KERNEL | bf16_list | gray_list
        self.unsupported_list = (set(by_type()) - known) | fewer
        given = custom_fp32_varnames
        self.fp32_varnames = None if given is None else set(given)
