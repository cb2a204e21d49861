"""Volumes made larger, or smaller, at their edges: by a value or by their own elements."""

from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, of_shape
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops.half import single

FORMATS = {"NCDHW": (4, 3, 2), "NDHWC": (3, 2, 1)}  # the axes that paddings speak of, in order


def enlarged(shape: Any, paddings: Any, mode: str, data_format: str) -> tuple[int, ...]:
    """`shape` with the paddings of its three inner axes added."""
    if len(shape) != 5:
        raise ShapeError(f"a volume has 5 axes, not {len(shape)}")
    if data_format not in FORMATS:
        raise ArgumentError(f"data_format is {data_format!r}, not NCDHW or NDHWC")
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise ArgumentError(f"mode is {mode!r}, not constant, reflect, replicate or circular")
    if len(paddings) != 6:
        raise ArgumentError(f"three axes need 6 paddings, not {len(paddings)}")
    sizes = list(shape)
    for axis, before, after in sides(paddings, data_format):
        size = sizes[axis]
        if size == -1:
            continue
        if mode == "reflect" and max(before, after) >= size:
            raise ArgumentError(f"axis {axis} of size {size} reflects less than {size} elements")
        if mode != "constant" and not size:
            raise ShapeError(f"axis {axis} has no element to pad with")
        sizes[axis] = size + before + after
        if sizes[axis] < 0:
            raise ArgumentError(f"axis {axis} of size {size} lacks {-before - after} elements")
    return tuple(sizes)


def sides(paddings: Any, data_format: str) -> list[tuple[int, int, int]]:
    """The axes that grow, and by how much before and after."""
    pairs = zip(FORMATS[data_format], paddings[::2], paddings[1::2], strict=True)
    return [(axis, before, after) for axis, before, after in pairs if before or after]


def source(place: Any, size: int, mode: str, least: Any, greatest: Any) -> Any:
    """Where the element comes from that stands at `place`, counted from the first of the old."""
    if mode == "circular":
        return place % size
    if mode == "replicate":
        return least(greatest(place, 0), size - 1)
    up = greatest(place, 0 - place)
    return least(up, 2 * (size - 1) - up)


def windows(shape: Any, paddings: Any, data_format: str) -> tuple[Any, Any]:
    """Where old elements stand in the larger volume, and which of the old ones they are."""
    new, old = [slice(None)] * 5, [slice(None)] * 5
    for axis, before, after in sides(paddings, data_format):
        first, last = max(-before, 0), shape[axis] - max(-after, 0)
        old[axis] = slice(first, last)
        new[axis] = slice(first + before, last + before)
    return tuple(new), tuple(old)


@primitive(
    enlarges=("paddings",),
    slots={"paddings_tensor": "Paddings"},
    fixed={"use_mkldnn": False},
    printed=("use_mkldnn",),
    infer_first=True,
)
def pad3d(
    x: Meta,
    paddings_tensor: Meta = None,
    *,
    paddings: Ints,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCDHW",
) -> Meta:
    """`x` with elements around it along its inner axes; fewer where a padding is negative."""
    if paddings_tensor is None:
        return x.with_shape(enlarged(x.shape, paddings, mode, data_format))
    sizes = list(enlarged(x.shape, (0,) * 6, mode, data_format))
    for axis in FORMATS[data_format]:
        sizes[axis] = UNKNOWN
    return x.with_shape(sizes)


def given(paddings: Any, tensor: Any) -> Any:
    """The paddings when run: a tensor may give them."""
    return paddings if tensor is None else tuple(tensor.reshape(-1).tolist())


@pad3d.kernel
def pad3d_kernel(xp: Any, x: Any, tensor: Any = None, *, out: Any = None, **attrs: Any) -> Any:
    paddings, mode, data_format = (
        given(attrs["paddings"], tensor),
        attrs["mode"],
        attrs["data_format"],
    )
    shape = enlarged(x.shape, paddings, mode, data_format)
    out = xp.empty(shape, x.dtype) if out is None else out
    if mode == "constant":
        out[...] = attrs["value"]
        new, old = windows(x.shape, paddings, data_format)
        out[new] = x[old]
        return out
    for axis, before, after in sides(paddings, data_format):
        places = xp.arange(-before, x.shape[axis] + after)
        x = x.take(source(places, x.shape[axis], mode, xp.minimum, xp.maximum), axis)
    out[...] = x
    return out


@pad3d.grad("x")
def pad3d_grad(
    x_meta: Any, paddings_tensor: Any, dout: Any, paddings: Any, mode: str, data_format: str
) -> Any:
    how = {"paddings": paddings, "mode": mode, "data_format": data_format}
    return fold_pad3d(dout, x_meta, paddings_tensor, **how)


def fixed(tensor: Any) -> None:
    """Refuse to lower what only a tensor's value decides."""
    if tensor is not None:
        raise UnsupportedError("paddings that a tensor gives are known only when run")


@pad3d.lower
def pad3d_at(index: Any, x: Any, tensor: Any, **attrs: Any) -> Any:
    fixed(tensor)
    places = list(index)
    for axis, before, _ in sides(attrs["paddings"], attrs["data_format"]):
        places[axis] = places[axis] - before
        if attrs["mode"] != "constant":
            size = x.shape[axis]
            place = source(places[axis], size, attrs["mode"], lang.minimum, lang.maximum)
            places[axis] = lang.maximum(lang.minimum(place, size - 1), 0)
    if attrs["mode"] != "constant":
        return x[tuple(places)]
    value = int(attrs["value"]) if x.dtype[0] in "iu" else attrs["value"]
    return lang.padded(x, places, lang.constant(value, x.dtype))


@primitive
def fold_pad3d(
    x: Meta,
    like_meta: Meta,
    paddings_tensor: Meta = None,
    *,
    paddings: Ints,
    mode: str = "constant",
    data_format: str = "NCDHW",
) -> Meta:
    """The elements of a larger volume summed to those they come from, in the shape of `like`."""
    if paddings_tensor is None:
        of_shape(x, enlarged(like_meta.shape, paddings, mode, data_format))
    return Meta(like_meta.shape, x.dtype)


@fold_pad3d.kernel
def fold_pad3d_kernel(
    xp: Any, x: Any, like: Any, tensor: Any = None, *, out: Any = None, **attrs: Any
) -> Any:
    paddings, mode, data_format = (
        given(attrs["paddings"], tensor),
        attrs["mode"],
        attrs["data_format"],
    )
    out = xp.empty(like.shape, x.dtype) if out is None else out
    if mode == "constant":
        new, old = windows(like.shape, paddings, data_format)
        out[...] = 0
        out[old] = x[new]
        return out
    x = single(x)
    for axis, before, after in reversed(sides(paddings, data_format)):
        size = like.shape[axis]
        places = source(xp.arange(-before, size + after), size, mode, xp.minimum, xp.maximum)
        folded = xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
        xp.add.at(folded, (*(slice(None),) * axis, places), x)
        x = folded
    out[...] = x
    return out


@fold_pad3d.grad("x")
def fold_pad3d_grad(
    paddings_tensor: Any, dout: Any, paddings: Any, mode: str, data_format: str
) -> Any:
    return pad3d(dout, paddings_tensor, paddings=paddings, mode=mode, data_format=data_format)


@fold_pad3d.lower
def fold_pad3d_at(index: Any, x: Any, like: Any, tensor: Any, **attrs: Any) -> Any:
    fixed(tensor)
    spans = sides(attrs["paddings"], attrs["data_format"])
    if attrs["mode"] == "constant":
        places = list(index)
        for axis, before, _ in spans:
            places[axis] = places[axis] + before
        return lang.padded(x, places, lang.constant(0, x.dtype))
    over = [lang.axis(n) for n in x.shape]
    places = list(over)
    for axis, before, _ in spans:
        place, size = over[axis] - before, like.shape[axis]
        places[axis] = source(place, size, attrs["mode"], lang.minimum, lang.maximum)
    return lang.scatter_add(like.shape, tuple(places), x[tuple(over)], over=over)
