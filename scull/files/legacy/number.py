"""Older operators on numbers: products with a bias, activations, tests, filled arrays."""

from dataclasses import replace

from scull.errors import UnsupportedError
from scull.files import proto
from scull.files.legacy.call import Call, Names, made
from scull.files.wire import AttributeKind

TESTS = {
    "isinf": ("isinf_v2", "reduce_any"),
    "isnan": ("isnan_v2", "reduce_any"),
    "isfinite": ("isfinite_v2", "reduce_all"),
}
ACTIVATIONS = {"leaky_relu": "alpha", "elu": "alpha"}


def steeper(call: Call, names: Names) -> list[Call] | None:
    """`leaky_relu` of version 0 was the larger of `x` and `alpha * x`, also where they cross."""
    alpha = call.get("alpha", 0.02)
    if call.version > 0 or 0 <= alpha <= 1:
        return None
    x = call.first("X")
    scaled = names.like(x, "scaled")
    attrs = {"scale": float(alpha), "bias": 0.0, "bias_after_scale": True}
    return [
        made("scale", {"X": x}, {"Out": scaled}, **attrs),
        made("elementwise_max", {"X": x, "Y": scaled}, call.outputs, axis=-1),
    ]


def doubled(call: Call, names: Names) -> None:
    """`hard_shrink` of version 0 doubled what a threshold below 0 lets through twice."""
    threshold = call.get("threshold", 0.5)
    if call.version == 0 and threshold < 0:
        raise UnsupportedError(
            f"{call.where}: version 0 of `hard_shrink` with a threshold of {threshold} gave other "
            "numbers than any later one"
        )


def of_all(call: Call, names: Names) -> list[Call]:
    """`isfinite`, `isnan`, `isinf` once told of all elements together, in an array of one."""
    x, out = call.first("X"), call.result()
    test, reduce = TESTS[call.type]
    truth = int(proto.VarType.BOOL)
    each, one = names.like(x, "test", dtype=truth), names.like(x, "tested", [], truth)
    last = {"Out": out, "XShape": names.like(x, "tested_shape", [0], truth)}
    return [
        made(test, {"X": x}, {"Out": each}),
        made(reduce, {"X": each}, {"Out": one}, dim=[0], keep_dim=False, reduce_all=True),
        made("reshape2", {"X": one}, last, shape=[1]),
    ]


def of_zeros(call: Call, names: Names) -> list[Call]:
    """`fill_zeros_like` filled with one number only."""
    dtype = call.get("dtype", -1)
    return [made("fill_any_like", {"X": call.first("X")}, call.outputs, value=0.0, dtype=dtype)]


def of_device(call: Call, names: Names) -> list[Call]:
    """`sync_batch_norm` on one device is `batch_norm`."""
    return [replace(call, type=call.type.removeprefix("sync_"))]


def then_activated(call: Call, names: Names) -> list[Call]:
    """`inplace_abn` was `batch_norm` and an activation."""
    kind = call.get("activation", "identity") or "identity"
    if kind == "identity":
        return [replace(call, type="batch_norm")]
    if kind not in ACTIVATIONS:
        raise UnsupportedError(f"{call.where}: activation is {kind!r}")
    y = names.like(call.result("Y"), "normal")
    normal = replace(call, type="batch_norm", outputs=call.outputs | {"Y": [y]})
    alpha = float(call.get("alpha", 0.01 if kind == "leaky_relu" else 1.0))
    return [normal, made(kind, {"X": y}, {"Out": call.outputs["Y"]}, alpha=alpha)]


def with_texts(call: Call, names: Names) -> list[Call] | None:
    """`allclose` of version 0 had its tolerances as numbers."""
    numbers = {
        name: (AttributeKind.STRING, repr(value))
        for name, (_, value) in call.attrs.items()
        if name in ("rtol", "atol") and not isinstance(value, str)
    }
    return [replace(call, attrs=call.attrs | numbers)] if numbers else None


def for_inference(call: Call, names: Names) -> list[Call]:
    """`conditional_block_infer` and `merge_lod_tensor_infer` kept nothing for a gradient."""
    return [replace(call, type=call.type.removesuffix("_infer"))]
