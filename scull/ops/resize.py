"""Images of another size: each element from a few of the input, axis by axis."""

from functools import lru_cache
from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Floats
from scull.core.dtype import int32, int64, uint8
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, floating
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops.half import placed, refuse_integers, wide_at, widening
from scull.ops.window import asking

ATTRIBUTES = (
    "data_layout",
    "out_d",
    "out_h",
    "out_w",
    "scale",
    "interp_method",
    "align_corners",
    "align_mode",
)
METHODS = {"nearest": (4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,)}
SHARPNESS = -0.75  # of cubic curves


def along(x: Any, attrs: dict[str, Any]) -> range:
    """The axes of `x` that are resized."""
    method = attrs["interp_method"]
    if method not in METHODS:
        raise ArgumentError(f"interp_method is {method!r}, not one of {', '.join(METHODS)}")
    if len(x.shape) not in METHODS[method]:
        needed = " or ".join(map(str, METHODS[method]))
        raise ShapeError(f"x has {len(x.shape)} axes, {method} needs {needed}")
    layout = attrs["data_layout"]
    if layout not in ("NCHW", "NHWC", "NCDHW", "NDHWC", "NCW", "NWC"):
        raise ArgumentError(f"data_layout is {layout!r}, of no known order")
    first = 2 if layout[1] == "C" else 1
    return range(first, first + len(x.shape) - 2)


def factors(given: Any, count: int) -> tuple[float, ...]:
    """The factor of each axis; -1 where there is none."""
    if not given:
        return (-1.0,) * count
    if len(given) not in (1, count):
        raise ArgumentError(f"scale is {list(given)}; one factor or {count} are needed")
    if any(v <= 0 for v in given):
        raise ArgumentError(f"scale is {list(given)}; every factor is to be above 0")
    return tuple(given) if len(given) > 1 else tuple(given) * count


def sizes_of(x: Any, given: Any, scale: Any, attrs: dict[str, Any]) -> list[tuple[int, float]]:
    """For each axis that is resized: its size afterwards, and the factor it was asked by, or -1.

    `given` are sizes and `scale` factors that tensors say.
    """
    axes = along(x, attrs)
    asked = [attrs[n] for n in ("out_d", "out_h", "out_w")][-len(axes) :]
    ratios = factors(attrs["scale"] if scale is None else scale, len(axes))
    if given is not None and len(given) != len(axes):
        raise ArgumentError(f"{len(axes)} axes are resized, and there are {len(given)} sizes")
    found = []
    for i, axis in enumerate(axes):
        size, ratio = asked[i], ratios[i]
        if given is not None:
            size, ratio = given[i], -1.0
        elif ratio > 0:
            size = UNKNOWN if x.shape[axis] == -1 else int(np.float32(x.shape[axis] * ratio))
        if size != -1 and size < 1:
            raise ArgumentError(f"axis {axis} is to have {size} elements, at least 1 is needed")
        found.append((size, ratio))
    return found


def step(size: int, count: int, ratio: float, align_corners: bool) -> float:
    """How far apart in the input the elements of the output lie."""
    if count <= 1:
        return 0.0
    if align_corners:
        return float(np.float32(size - 1) / np.float32(count - 1))
    return float(np.float32(1) / np.float32(ratio) if ratio > 0 else np.float32(size / count))


def taps(
    method: str, k: Any, size: int, gap: Any, align_corners: bool, align_mode: int, xp: Any
) -> list[tuple[Any, Any]]:
    """Which elements of the input element `k` is made of, and how much of each; None for all.

    `xp` has `floor`, `minimum` and `maximum` for what `k` is.
    """
    last = size - 1.0
    if method == "nearest":
        place = xp.floor(k * gap + 0.5) if align_corners else xp.floor(k * gap)
        return [(xp.minimum(place, last), None)]
    middle = (k + 0.5) * gap - 0.5
    if method == "bicubic":
        source = k * gap if align_corners else middle
        base = xp.floor(source)
        shares = cubic(source - base)
        return [
            (xp.minimum(xp.maximum(base + (i - 1.0), 0.0), last), w) for i, w in enumerate(shares)
        ]
    source = k * gap if align_corners or align_mode else xp.maximum(middle, 0.0)
    low = xp.minimum(xp.floor(source), last)
    share = source - low
    return [(low, 1.0 - share), (xp.minimum(low + 1.0, last), share)]


def cubic(t: Any) -> list[Any]:
    """How much the four elements around a place count."""

    def near(x: Any) -> Any:
        return ((SHARPNESS + 2) * x - (SHARPNESS + 3)) * x * x + 1.0

    def far(x: Any) -> Any:
        return (((x - 5.0) * x + 8.0) * x - 4.0) * SHARPNESS

    return [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]


@lru_cache(256)
def table(
    method: str, size: int, count: int, gap: float, align_corners: bool, align_mode: int
) -> list[tuple[Any, Any]]:
    """The taps of one axis as arrays of places and shares."""
    k = np.arange(count, dtype="float32")
    found = taps(method, k, size, np.float32(gap), align_corners, align_mode, np)
    return [(place.astype("int64"), share) for place, share in found]


def tables(x: Any, given: Any, scale: Any, attrs: dict[str, Any]) -> list[tuple[int, int, Any]]:
    """For each axis that is resized: itself, its size afterwards, and its taps."""
    found = []
    for axis, (count, ratio) in zip(along(x, attrs), sizes_of(x, given, scale, attrs), strict=True):
        size, corners = x.shape[axis], attrs["align_corners"]
        gap = step(size, count, ratio, corners)
        made = table(attrs["interp_method"], size, count, gap, corners, attrs["align_mode"])
        found.append((axis, count, made))
    return found


def share_along(x: Any, share: Any, axis: int) -> Any:
    """`share`, to be multiplied with `x` along an axis."""
    return share.astype(x.dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def said(out_size: Any, size_tensor: Any, scale: Any) -> tuple[Any, Any]:
    """Sizes and factors that tensors say."""
    if size_tensor:
        return [int(v.reshape(-1)[0]) for v in size_tensor], None
    if out_size is not None:
        return out_size.reshape(-1).tolist(), None
    return None, None if scale is None else scale.reshape(-1).tolist()


def resized_kernel(
    xp: Any,
    x: Any,
    out_size: Any = None,
    size_tensor: Any = None,
    scale_tensor: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    found = x
    for axis, _, made in tables(x, *said(out_size, size_tensor, scale_tensor), attrs):
        total = None
        for place, share in made:
            part = found.take(place, axis)
            if share is not None:
                part *= share_along(part, share, axis)
            total = part if total is None else xp.add(total, part, out=total)
        found = total
    return placed(found, x.dtype, out)


def resized_at(
    index: Any, x: Any, out_size: Any, size_tensor: Any, scale_tensor: Any, **attrs: Any
) -> Any:
    """One element: the sum of a few, each times its shares along all axes."""
    if out_size is not None or size_tensor or scale_tensor is not None:
        raise UnsupportedError("a tensor says the size, so how far apart elements lie is not known")
    choices: list[list[tuple[Any, Any]]] = []
    for axis, (count, ratio) in zip(along(x, attrs), sizes_of(x, None, None, attrs), strict=True):
        size, corners = x.shape[axis], attrs["align_corners"]
        k = lang.cast(index[axis], "float32")
        gap = lang.constant(step(size, count, ratio, corners), "float32")
        method, mode = attrs["interp_method"], attrs["align_mode"]
        choices.append(taps(method, k, size, gap, corners, mode, lang))
    total = summed(x, index, list(along(x, attrs)), choices)
    return lang.cast(total, x.dtype)


def summed(x: Any, index: Any, axes: list[int], choices: list[list[tuple[Any, Any]]]) -> Any:
    """The sum over all choices for the axes that are left."""
    if not axes:
        return wide_at(lang.padded(x, tuple(index), lang.constant(0, x.dtype)))
    total = None
    for place, share in choices[0]:
        spot = list(index)
        spot[axes[0]] = lang.cast(place, "int64")
        part = summed(x, spot, axes[1:], choices[1:])
        part = part if share is None else part * lang.cast(share, part.dtype)
        total = part if total is None else total + part
    return total


def picked_kernel(xp: Any, x: Any, *given: Any, out: Any = None, **attrs: Any) -> Any:
    """As `resized_kernel`, where every element is taken from one place as it is."""
    if x.dtype.kind not in "fV" and x.dtype not in (xp.int32, xp.int64, xp.uint8):
        refuse_integers(x)
    return resized_kernel(xp, x, *given, out=out, **attrs)


WHOLE = (int32, int64, uint8)  # what may be taken from the nearest place


def interpolation(name: str) -> Any:
    """Declare a way to resize under the type `name`."""

    def body(
        x: Meta,
        out_size: Meta = None,
        size_tensor: list[Meta] | None = None,
        scale_tensor: Meta = None,
        *,
        data_layout: str = "NCHW",
        out_d: int = 0,
        out_h: int = 0,
        out_w: int = 0,
        scale: Floats = (),
        interp_method: str = "bilinear",
        align_corners: bool = True,
        align_mode: int = 1,
    ) -> Meta:
        """Images of another size; tensors win over attributes, factors over sizes."""
        if name != "nearest_interp_v2" or x.dtype not in WHOLE:
            floating(x)
        values = (data_layout, out_d, out_h, out_w, scale, interp_method)
        attrs = dict(zip(ATTRIBUTES, (*values, align_corners, align_mode), strict=True))
        asked = out_size is not None or size_tensor or scale_tensor is not None
        shape = list(x.shape)
        for axis, (size, _) in zip(
            along(x, attrs),
            [(UNKNOWN, -1.0)] * 3 if asked else sizes_of(x, None, None, attrs),
            strict=not asked,
        ):
            shape[axis] = size
        return x.with_shape(shape)

    body.__name__ = name
    slots = {"scale_tensor": "Scale"}
    function = primitive(body, slots=slots, fixed={"use_mkldnn": False})
    function.kernel(picked_kernel if name == "nearest_interp_v2" else widening(resized_kernel))
    function.lower(resized_at)
    function.grad("x")(
        asking(
            ATTRIBUTES,
            lambda x_meta, out_size, size_tensor, scale_tensor, dout, attrs: resized_back(
                x_meta, out_size, size_tensor, scale_tensor, dout, **attrs
            ),
        )
    )
    return function


@primitive
def resized_back(
    like_meta: Meta,
    out_size: Meta | None,
    size_tensor: list[Meta] | None,
    scale_tensor: Meta | None,
    source: Meta,
    *,
    data_layout: str,
    out_d: int,
    out_h: int,
    out_w: int,
    scale: Floats,
    interp_method: str,
    align_corners: bool,
    align_mode: int,
) -> Meta:
    """Each element of resized images `source` given back to those it was made of."""
    return source.with_shape(like_meta.shape)


@resized_back.kernel
def resized_back_kernel(
    xp: Any,
    like: Any,
    out_size: Any,
    size_tensor: Any,
    scale_tensor: Any,
    source: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    made = tables(like, *said(out_size, size_tensor, scale_tensor), attrs)
    dtype = source.dtype
    found = source.astype("float32") if dtype.itemsize == 2 else source
    for axis, count, parts in made:
        matrix = xp.zeros((like.shape[axis], count), found.dtype)
        for place, share in parts:
            xp.add.at(matrix, (place, xp.arange(count)), 1 if share is None else share)
        found = xp.moveaxis(xp.tensordot(matrix, found, (1, axis)), 0, axis)
    return placed(found, dtype, out)


@resized_back.grad("source")
def resized_back_grad(
    out_size: Any,
    size_tensor: Any,
    scale_tensor: Any,
    dout: Any,
    data_layout: str,
    out_d: int,
    out_h: int,
    out_w: int,
    scale: Any,
    interp_method: str,
    align_corners: bool,
    align_mode: int,
) -> Any:
    values = (data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode)
    attrs = dict(zip(ATTRIBUTES, values, strict=True))
    resize = BY_METHOD[interp_method]
    return resize(dout, out_size, size_tensor, scale_tensor, **attrs)


resized_back.no_lowering("each element is the sum of those that lie near it: a product of matrices")

BY_METHOD = {method: interpolation(method + "_interp_v2") for method in METHODS}
nearest_interp_v2, linear_interp_v2 = BY_METHOD["nearest"], BY_METHOD["linear"]
bilinear_interp_v2, trilinear_interp_v2 = BY_METHOD["bilinear"], BY_METHOD["trilinear"]
bicubic_interp_v2 = BY_METHOD["bicubic"]
