"""Whole networks as Paddle 1.8 saved them: Programs, values, and which files hold what."""

import struct
from typing import Any

import numpy as np

from tests.files.legacy.case import Generator

# Folder: names of the Program and of the one file of all values; None where each has its own.
LAYOUTS: dict[str, tuple[str, str | None]] = {
    "separate": ("__model__", None),
    "combined": ("__model__", "__params__"),
    "custom": ("network.model", "network.weights"),
}
BLOCK = 1_000_001  # as an attribute: the first block within block 0; the next number is the next
NUMBERS = {"float32": 5, "int64": 3}

CONVOLUTION = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1}
POOL = {"pooling_type": "max", "ksize": [2, 2], "strides": [2, 2], "paddings": [0, 0]}
NORMAL = {"momentum": 0.9, "epsilon": 1e-5, "is_test": True, "data_layout": "NCHW"}


def values() -> dict[str, Any]:
    """The lasting values of the network, by name."""
    g = Generator("network")
    return {
        "conv2d_0.w_0": g.real(3, 1, 3, 3),
        "conv2d_0.b_0": g.real(3),
        "batch_norm_0.w_0": g.real(3, low=0.5),
        "batch_norm_0.b_0": g.real(3),
        "batch_norm_0.w_1": g.real(3),
        "batch_norm_0.w_2": g.real(3, low=0.5),
        "fc_0.w_0": g.real(12, 4),
        "fc_0.b_0": g.real(4),
    }


def image() -> Any:
    """What the network is fed."""
    return Generator("image").real(2, 1, 4, 4)


def operators() -> list[tuple[str, dict[str, str], dict[str, str], dict[str, Any]]]:
    """The operators of the network: type, inputs, outputs, attributes."""
    named = {"Scale": "w_0", "Bias": "b_0", "Mean": "w_1", "Variance": "w_2"}
    normal = {slot: f"batch_norm_0.{name}" for slot, name in named.items()}
    again = {"MeanOut": normal["Mean"], "VarianceOut": normal["Variance"]}
    kept = {"SavedMean": "normal.mean", "SavedVariance": "normal.variance"}
    weights = {"Input": "image", "Filter": "conv2d_0.w_0"}
    product = {"x_num_col_dims": 1, "y_num_col_dims": 1}
    thin = {"dropout_prob": 0.25, "is_test": True}
    return [
        ("feed", {"X": "feed"}, {"Out": "image"}, {"col": 0}),
        ("conv2d", weights, {"Output": "conv"}, CONVOLUTION),
        ("elementwise_add", {"X": "conv", "Y": "conv2d_0.b_0"}, {"Out": "biased"}, {"axis": 1}),
        ("batch_norm", {"X": "biased"} | normal, {"Y": "normal"} | again | kept, NORMAL),
        ("relu", {"X": "normal"}, {"Out": "positive"}, {}),
        ("pool2d", {"X": "positive"}, {"Out": "pooled"}, POOL),
        ("dropout", {"X": "pooled"}, {"Out": "dropped", "Mask": "mask"}, thin),
        ("mul", {"X": "dropped", "Y": "fc_0.w_0"}, {"Out": "product"}, product),
        ("elementwise_add", {"X": "product", "Y": "fc_0.b_0"}, {"Out": "logits"}, {"axis": 1}),
        ("softmax", {"X": "logits"}, {"Out": "chances"}, {}),
        ("fetch", {"X": "chances"}, {"Out": "fetch"}, {"col": 0}),
    ]


SHAPES = {
    "image": [-1, 1, 4, 4],
    "conv": [-1, 3, 4, 4],
    "biased": [-1, 3, 4, 4],
    "normal": [-1, 3, 4, 4],
    "normal.mean": [3],
    "normal.variance": [3],
    "positive": [-1, 3, 4, 4],
    "pooled": [-1, 3, 2, 2],
    "dropped": [-1, 3, 2, 2],
    "mask": [-1, 3, 2, 2],
    "product": [-1, 4],
    "logits": [-1, 4],
    "chances": [-1, 4],
}


def tensor_bytes(x: Any) -> bytes:
    """A tensor as files hold it: versions, an empty level of detail, its type, its elements."""
    kind = bytes([0x08, NUMBERS[str(x.dtype)]])
    kind += b"".join(bytes([0x10]) + varint(n) for n in x.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(kind)) + kind + x.tobytes()


def varint(n: int) -> bytes:
    """A number as protobuf writes it."""
    found = bytearray()
    while n > 0x7F:
        found.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*found, n])


def old_string(text: bytes) -> bytes:
    """A text as Python 2 pickled it."""
    return b"U" + bytes([len(text)]) + text


def python_2(arrays: dict[str, Any]) -> bytes:
    """A pickle of arrays by name as Python 2 wrote it, by protocol 2."""
    made = b"\x80\x02}("
    for name, x in arrays.items():
        shape = b"(" + b"".join(b"K" + bytes([n]) for n in x.shape) + b"t"
        made += old_string(name.encode())
        made += b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR"
        made += b"(K\x01" + shape + b"cnumpy\ndtype\nU\x02f4K\x00K\x01\x87R(K\x03U\x01<NNN"
        made += b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" + old_string(x.tobytes()) + b"tb"
    return made + b"u."


def moments() -> dict[str, Any]:
    """What an optimizer of 1.8 kept for the last layer."""
    w = values()["fc_0.w_0"]
    return {
        "fc_0.w_0_moment1_0": np.asarray(w * 0.5, "float32"),
        "fc_0.w_0_beta1_pow_acc_0": np.array([0.9], "float32"),
    }


def loop() -> dict[str, Any]:
    """A loop of 1.8: its variables by block, its operators by block, and what it is fed."""
    less = ("less_than", {"X": "i", "Y": "end"}, {"Out": "goes_on"}, {"axis": -1})
    outer = [
        ("fill_constant", {}, {"Out": "i"}, {"shape": [1], "value": 1.0, "dtype": 3}),
        ("fill_zeros_like", {"X": "x"}, {"Out": "sum"}, {}),
        less,
        (
            "while",
            {"X": ["i", "end", "sum", "x"], "Condition": "goes_on"},
            {"Out": ["i", "sum", "goes_on"], "StepScopes": "scopes"},
            {"sub_block": BLOCK, "is_test": False},
        ),
    ]
    inner = [
        ("elementwise_mul", {"X": "x", "Y": "i_real"}, {"Out": "term"}, {"axis": -1}),
        ("sum", {"X": ["sum", "term"]}, {"Out": "sum"}, {}),
        ("increment", {"X": "i"}, {"Out": "i"}, {"step": 1.0}),
        less,
    ]
    cast = ("cast", {"X": "i"}, {"Out": "i_real"}, {"in_dtype": 3, "out_dtype": 5})
    own = {"i_real": ("float32", [1]), "term": ("float32", [3])}
    shapes = {
        "x": ("float32", [3]),
        "sum": ("float32", [3]),
        "i": ("int64", [1]),
        "end": ("int64", [1]),
        "goes_on": ("bool", [1]),
        "scopes": ("scopes", []),
    }
    feed = {
        "x": np.array([1.0, 2.0, 3.0], "float32"),
        "end": np.array([4], "int64"),
    }
    return {
        "vars": [shapes, own],
        "ops": [outer, [cast, *inner]],
        "feed": feed,
        "fetch": ["sum", "i"],
    }


def choice() -> dict[str, Any]:
    """A branch of 1.8, as its `Switch` wrote it: a block that assigns where a condition holds."""
    outer = [
        ("less_than", {"X": "x", "Y": "limit"}, {"Out": "small"}, {"axis": -1}),
        ("logical_not", {"X": "small"}, {"Out": "large"}, {}),
        *(
            (
                "conditional_block",
                {"Cond": condition, "Input": ["x"]},
                {"Out": ["out"], "Scope": f"{condition}_scope"},
                {"sub_block": BLOCK + i, "is_scalar_condition": True},
            )
            for i, condition in enumerate(("small", "large"))
        ),
    ]
    grown = [
        ("scale", {"X": "x"}, {"Out": "scaled"}, {"scale": 10.0}),
        ("assign", {"X": "scaled"}, {"Out": "out"}, {}),
    ]
    same = [("assign", {"X": "x"}, {"Out": "out"}, {})]
    shapes = {
        **dict.fromkeys(("x", "limit", "out"), ("float32", [1])),
        **dict.fromkeys(("small", "large"), ("bool", [1])),
        **dict.fromkeys(("small_scope", "large_scope"), ("scopes", [])),
    }
    feed = {"x": np.array([2.0], "float32"), "limit": np.array([3.0], "float32")}
    variables = [shapes, {"scaled": ("float32", [1])}, {}]
    return {"vars": variables, "ops": [outer, grown, same], "feed": feed, "fetch": ["out"]}
