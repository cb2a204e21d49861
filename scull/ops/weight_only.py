"""Weights of linear layers as whole numbers of 8 or 4 bits, and products with them.

A column of a weight [k, n] has one scale, its largest magnitude over 127 or 7. Stored are [n, k]
whole numbers in one of three layouts, which `arch` names:

- 0: in that order, as signed bytes; of two with 4 bits the first is the low half of a byte.
- 70, a GPU of that kind: [k, n], without signs (128 or 8 stand for 0), in words of 32 bits in which
  the numbers at even places come first.
- 75, 80, 86: [n, k], without signs, in words alike. Within 128 bits of a row pairs are dealt to
  four lanes, and pieces of 64 of 2 rows (of 4 with 4 bits) lie behind one another.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from scull.core.attribute import Dtype
from scull.core.dtype import float16, float32, float64, int8
from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.compare import greater_than, where
from scull.ops.complex import abs
from scull.ops.create import cast
from scull.ops.cross_entropy import cast_to
from scull.ops.linear import matmul
from scull.ops.move import transpose
from scull.ops.reduce import reduce_max
from scull.ops.rounding import round

BITS = {"weight_only_int8": 8, "weight_only_int4": 4, "llm.int8": 8}
KINDS = {"int8": 8, "int4": 4}
PLAIN, ROWS = 0, 70
ARCHES = (PLAIN, ROWS, 75, 80, 86)
NO_LOOP = "bits are packed and put in the order of a device"


def most(bits: int) -> int:
    """The largest step."""
    return (1 << (bits - 1)) - 1


def said(value: Any, known: Any, what: str) -> Any:
    """`value`, which is one of what is known."""
    if value not in known:
        raise ArgumentError(f"{what} is {value!r}, not one of {', '.join(map(str, known))}")
    return value


@lru_cache(8)
def order(n: int, k: int, bits: int, arch: int) -> Any:
    """The place in [n, k] of each number, as they are stored."""
    place = np.arange(n * k).reshape(n, k)
    if arch == PLAIN:
        return place.reshape(-1)
    word, period, together = 32 // bits, 128 // bits, 16 // bits
    if arch == ROWS:
        found = place.T
    else:
        dealt = np.arange(period).reshape(-1, 4, 2).transpose(1, 0, 2).reshape(-1)
        found = place.reshape(n, -1, period)[..., dealt]
        found = found.reshape(n // together, together, k // 64, 64).swapaxes(1, 2)
    even_first = np.r_[0:word:2, 1:word:2]
    return np.ascontiguousarray(found).reshape(-1, word)[:, even_first].reshape(-1)


def packed(steps: Any, bits: int, arch: int) -> Any:
    """int8 [n, k] whole numbers as they are stored, [n, k] or, with 4 bits, [n / 2, k]."""
    n, k = steps.shape
    found = steps.reshape(-1)[order(n, k, bits, arch)].astype(np.int16)
    found += 0 if arch == PLAIN else most(bits) + 1
    if bits == 4:
        found = (found[0::2] & 15) | (found[1::2] & 15) << 4
    return found.astype(np.uint8).view(np.int8).reshape(n * bits // 8, k)


def unpacked(stored: Any, bits: int, arch: int) -> Any:
    """What `packed` made, as int8 [n, k]."""
    rows, k = stored.shape
    found = stored.reshape(-1).view(np.uint8).astype(np.int16)
    if bits == 4:
        found = np.stack([found & 15, found >> 4], -1).reshape(-1)
    half = most(bits) + 1
    found = found - half if arch != PLAIN else (found + half) % (2 * half) - half
    steps = np.empty(found.size, np.int8)
    n = rows * 8 // bits
    steps[order(n, k, bits, arch)] = found
    return steps.reshape(n, k)


def tiled(k: int, n: int) -> None:
    """Refuse sizes of a weight that a device does not take."""
    if k != UNKNOWN and k % 64:
        raise ShapeError(f"The first dimension of input must be divisible by 64, but got[{k}]")
    if n != UNKNOWN and n % 16:
        raise ShapeError(f"The second dimension of input must be divisible by 16, but got[{n}]")


@primitive(outputs=("out", "scale"), infer_first=True)
def weight_quantize(
    x: Meta, *, algo: str = "weight_only_int8", arch: int = PLAIN
) -> tuple[Meta, Meta]:
    """The whole numbers of a weight [k, n] as they are stored, and the scales of its columns."""
    bits = BITS[said(algo, BITS, "algo")]
    said(arch, ARCHES, "arch")
    if x.dtype.name not in ("float16", "bfloat16"):
        raise DtypeError(f"{x} is not of float16 or bfloat16")
    if x.ndim != 2:
        raise ShapeError(f"The x tensor of quant op must be 2D, but got[{x.ndim}]")
    k, n = x.shape
    tiled(k, n)
    rows = n if n == UNKNOWN else n * bits // 8
    return Meta((rows, k), int8), x.with_shape((n,))


@weight_quantize.kernel
def weight_quantize_kernel(xp: Any, x: Any, *, out: Any = None, algo: str, arch: int) -> Any:
    bits = BITS[algo]
    wide = x.astype(np.float32)
    scale = (np.abs(wide).max(0, initial=0) / np.float32(most(bits))).astype(x.dtype)
    known = scale.astype(np.float32)
    steps = np.rint(wide / np.where(known == 0, 1, known)).clip(-most(bits), most(bits))
    stored = packed(steps.T.astype(np.int8), bits, PLAIN if algo == "llm.int8" else arch)
    if out is None:
        return stored, scale
    np.copyto(out[0], stored)
    np.copyto(out[1], scale)
    return out


@primitive(infer_first=True)
def weight_steps(weight: Meta, *, bits: int = 8, arch: int = PLAIN) -> Meta:
    """Stored whole numbers as int8 [n, k]."""
    said(bits, KINDS.values(), "bits")
    said(arch, ARCHES, "arch")
    if weight.dtype is not int8:
        raise DtypeError(f"a stored weight is of int8, not {weight}")
    if weight.ndim != 2:
        raise ShapeError(f"a stored weight has 2 axes, not {weight.ndim}")
    rows, k = weight.shape
    if arch != PLAIN:
        tiled(k, rows if rows == UNKNOWN else rows * 8 // bits)
    return weight.with_shape((rows if rows == UNKNOWN else rows * 8 // bits, k))


@weight_steps.kernel
def weight_steps_kernel(xp: Any, weight: Any, *, out: Any = None, bits: int, arch: int) -> Any:
    found = unpacked(np.ascontiguousarray(weight), bits, arch)
    if out is None:
        return found
    np.copyto(out, found)
    return out


def restored(weight: Any, scale: Any, bits: int, arch: int) -> Any:
    """A stored weight as float32 [k, n]."""
    needs_scales(scale)
    steps = cast(weight_steps(weight, bits=bits, arch=arch), out_dtype=float32)
    return transpose(steps, perm=(1, 0)) * cast(scale, out_dtype=float32)


def needs_scales(scale: Any) -> None:
    """Refuse a stored weight whose scales nobody said."""
    if scale is None:
        raise ArgumentError("a weight of whole numbers has a `weight_scale`, and there is none")


@composite(infer_first=True)
def weight_dequantize(
    x: Any, scale: Any, *, algo: str = "weight_only_int8", out_dtype: Dtype = float16
) -> Any:
    """A stored weight as numbers [k, n]."""
    found = restored(x, scale, BITS[said(algo, BITS, "algo")], PLAIN)
    return cast(found, out_dtype=out_dtype)


@composite(infer_first=True)
def weight_only_linear(
    x: Any,
    weight: Any,
    bias: Any = None,
    weight_scale: Any = None,
    *,
    weight_dtype: str = "int8",
    arch: int = PLAIN,
) -> Any:
    """The product of `x` and a stored weight, and the bias."""
    bits = KINDS[said(weight_dtype, KINDS, "weight_dtype")]
    found = matmul(x, cast_to(restored(weight, weight_scale, bits, arch), x))
    return found if bias is None else found + bias


@composite(infer_first=True)
def llm_int8_linear(
    x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, *, threshold: float = 6.0
) -> Any:
    """The product of `x` and a stored weight, both as whole numbers, and the bias.

    Columns of `x` that hold a magnitude above the threshold are multiplied as they are, by Dettmers
    et al., LLM.int8() (2022). The others are rounded, each row by a scale of its own.
    """
    needs_scales(weight_scale)
    wide = x if meta_of(x).dtype is float64 else cast(x, out_dtype=float32)
    axes = tuple(range(len(x.shape) - 1))
    large = greater_than(reduce_max(abs(wide), axis=axes, keepdim=True), threshold)
    inside = where(large, wide * 0.0, wide)
    scale = reduce_max(abs(inside), axis=(-1,), keepdim=True) / 127.0 + 1e-30
    steps = cast_to(transpose(weight_steps(weight), perm=(1, 0)), wide)
    scale_of_columns = cast_to(weight_scale, wide)
    small = matmul(round(inside / scale), steps) * scale * scale_of_columns
    found = cast_to(small + matmul(wide - inside, steps * scale_of_columns), x)
    return found if bias is None else found + bias


for function in (weight_quantize, weight_steps):
    function.no_grad("rounded numbers have no gradient, as in Paddle")
    function.no_lowering(NO_LOOP)
