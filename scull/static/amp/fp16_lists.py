"""Which operators compute in fewer digits: lists, and a user's changes of them."""

from collections.abc import Iterable
from typing import Any

from scull.amp.amp_lists import DANGEROUS, SAFE_IN_FLOAT16, SLOWER, words
from scull.core.dtype import DType, bfloat16, dtype_of, float16
from scull.core.op import by_type
from scull.errors import ArgumentError, ArgumentTypeError

HALVES = (float16, bfloat16)
ONLY_FLOAT16 = words("fused_bn_add_activation resnet_unit")

white_list = set(SAFE_IN_FLOAT16 | {"fused_gemm_epilogue"})
black_list = set(DANGEROUS)
gray_list = set(
    words(
        "batch_norm c_allreduce_sum c_concat c_identity cast concat dropout elementwise_add"
        " elementwise_div elementwise_floordiv elementwise_max elementwise_min elementwise_mod"
        " elementwise_mul elementwise_pow elementwise_sub fill_constant flatten2 fused_attention"
        " fused_bn_add_activation fused_feedforward fused_multi_transformer gather gaussian_random"
        " get_tensor_from_selected_rows layer_norm leaky_relu pool2d pool3d rank relu relu6"
        " reshape2 scale sigmoid sign slice soft_relu split stack tanh top_k transpose2"
        " uniform_random uniform_random_batch_size_like unstack"
    )
)


def check_amp_dtype(dtype: Any) -> str:
    """The name of an element type of 16 bits; ArgumentError when it is another."""
    name = dtype.lower() if isinstance(dtype, str) else dtype
    if name not in ("float16", "bfloat16"):
        raise ArgumentError("If enable AMP, dtype should be 'float16' or 'bfloat16'.")
    return str(name)


def half_of(dtype: Any) -> DType:
    """The element type of 16 bits that a name, a number or an element type means."""
    if isinstance(dtype, str):
        dtype = check_amp_dtype(dtype)
    elif not isinstance(dtype, DType | int):
        raise ArgumentTypeError(f"dtype is a text or an element type, not {type(dtype).__name__}")
    found = dtype_of(dtype)
    if found not in HALVES:
        raise ArgumentError(f"dtype should be float16 or bfloat16, not {found.name}")
    return found


class AutoMixedPrecisionLists:
    """The lists of one decorated optimizer.

    Operators of the white list compute in 16 bits, those of the black list in float32, those of the
    gray list as the ones before them, all others in float32.

    Args:
        custom_white_list (set, optional): types of operators that compute in 16 bits.
        custom_black_list (set, optional): that compute in float32, whatever else is asked.
        custom_black_varnames (set, optional): variables whose operators do so, too.
        dtype (str): "float16" or "bfloat16".

    Raises:
        ArgumentError: a type stands in both lists, or the dtype is another.

    Examples:
        >>> import scull as paddle
        >>> lists = paddle.static.amp.CustomOpLists(custom_black_list={"conv2d"})
        >>> "conv2d" in lists.white_list, "conv2d" in lists.black_list
        (False, True)
    """

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: str = "float16",
    ) -> None:
        self.amp_dtype = check_amp_dtype(dtype)
        white, black = set(custom_white_list or ()), set(custom_black_list or ())
        self._custom_white_list, self._custom_black_list = custom_white_list, custom_black_list
        refuse_overlap(white, black)
        more = ONLY_FLOAT16 if dtype == "float16" else frozenset()
        dangerous = black_list | SLOWER
        whole = white_list | more | white
        self.white_list = whole - black
        self.black_list = dangerous - white | black
        self.gray_list = gray_list - (white - dangerous) - (black - whole)
        self.unsupported_list = set(black)
        self.all_list = set(by_type())
        given = custom_black_varnames
        self.black_varnames = None if given is None else set(given)


CustomOpLists = AutoMixedPrecisionLists


def refuse_overlap(white: set[str], black: set[str]) -> None:
    """Refuse lists that share a type."""
    both = sorted(white & black)
    if both:
        raise ArgumentError(
            f"The given custom_white_list overlaps custom_black_list with < {both[0]} >!"
        )
