"""Images resized by one factor, and by sizes where the factor does not divide them."""

from dataclasses import replace
from typing import Any

from scull.errors import ShapeError
from scull.files import proto
from scull.files.legacy.call import Call, Names, made
from scull.files.wire import AttributeKind

SIZES = {1: ("out_w",), 2: ("out_h", "out_w"), 3: ("out_d", "out_h", "out_w")}
AXES = {"linear": 1, "trilinear": 3}  # resized, where the file does not tell the shape; else 2
SAID = ("OutSize", "SizeTensor", "Scale")  # slots that say sizes or factors


def by_axis(call: Call, names: Names) -> list[Call]:
    """`bilinear_interp` and its kin: today's take a factor for each axis.

    Those of before took steps by what sizes became, today's take them by the factor. The two are
    the same where the factor is whole, and sizes say it where it is not.
    """
    scale = float(call.get("scale", 0.0))
    shape = names.shape(call.first("X"))
    axes = spatial(call, shape)
    attrs = call.attrs | {"scale": (AttributeKind.FLOATS, [scale] * len(axes) * (scale > 0))}
    plain = replace(call, type=later(call.type), attrs=attrs)
    if scale <= 0 or scale.is_integer() or any(call.inputs.get(slot) for slot in SAID):
        return [plain]
    attrs = attrs | {"scale": (AttributeKind.FLOATS, [])}
    if shape is not None and all(shape[i] >= 0 for i in axes):
        found = {
            name: (AttributeKind.INT, int(shape[i] * scale))
            for name, i in zip(SIZES[len(axes)], axes, strict=True)
        }
        return [replace(plain, attrs=attrs | found)]
    *before, size = measured(call, names, axes, scale)
    inputs = call.inputs | {"OutSize": size.outputs["Out"]}
    return [*before, size, replace(plain, attrs=attrs, inputs=inputs)]


def later(type: str) -> str:
    """The name of today's operator, or of its gradient."""
    base = type.removesuffix("_grad")
    return f"{base}_v2{type.removeprefix(base)}"


def spatial(call: Call, shape: list[int] | None) -> range:
    """The axes that are resized."""
    first = 1 if str(call.get("data_layout", "NCHW")).endswith("C") else 2
    count = AXES.get(call.type.partition("_")[0], 2) if shape is None else len(shape) - 2
    if count not in SIZES:
        raise ShapeError(f"{call.where}: x has shape {shape}; 3 to 5 axes are needed")
    return range(first, first + count)


def measured(call: Call, names: Names, axes: range, scale: float) -> list[Call]:
    """Operators that compute the sizes afterwards."""
    x, count, whole = call.first("X"), len(axes), int(proto.VarType.INT32)
    real = int(proto.VarType.FP32)

    def new(word: str, size: int, dtype: int) -> str:
        return names.like(x, word, [size], dtype)

    all_sizes = new("sizes", count + 2, whole)
    own, wide = new("resized", count, whole), new("resized_real", count, real)
    scaled, size = new("resized_scaled", count, real), new("resized_size", count, whole)
    ends: dict[str, Any] = {"starts": [axes.start], "ends": [axes.stop], "axes": [0]}
    return [
        made("shape", {"Input": x}, {"Out": all_sizes}),
        made("slice", {"Input": all_sizes}, {"Out": own}, **ends, decrease_axis=[]),
        made("cast", {"X": own}, {"Out": wide}, in_dtype=whole, out_dtype=real),
        made("scale", {"X": wide}, {"Out": scaled}, scale=scale, bias=0.0, bias_after_scale=True),
        made("cast", {"X": scaled}, {"Out": size}, in_dtype=real, out_dtype=whole),
    ]
