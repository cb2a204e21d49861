"""Operators that passes for inference made of several, as optimised models hold them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.files.legacy.case import Case, Generator

OUT = {"Out": "float32"}
ACTIVATIONS: dict[str, dict[str, float]] = {
    "relu": {},
    "tanh": {},
    "sigmoid": {},
    "gelu": {},
    "gelu_erf": {},
    "gelu_tanh": {},
    "abs": {},
    "mish": {},
    "swish": {"fuse_alpha": 1.0},
    "hard_swish": {"fuse_alpha": 1 / 6, "fuse_beta": 0.5},
    "leaky_relu": {"fuse_alpha": 0.125},
    "relu6": {"fuse_alpha": -0.25, "fuse_beta": 0.5},
    "clip": {"fuse_alpha": -0.25, "fuse_beta": 0.5},
    "hard_sigmoid": {"fuse_alpha": 0.25, "fuse_beta": 0.5},
}
DNN = {"use_mkldnn": True}


def elementwise() -> Iterator[Case]:
    g = Generator("merged.elementwise")
    two = {"X": g.real(2, 3, 4), "Y": g.real(2, 3, 4, low=0.5)}
    for kind in ("add", "sub", "mul", "div"):
        type = f"fused_elementwise_{kind}"
        attrs = DNN | {"fuse_activation": "tanh", "fused_output_scale": 2.0, "axis": -1}
        yield Case(type, type, two, OUT, attrs)
    for kind, numbers in ACTIVATIONS.items():
        attrs = DNN | {"fuse_activation": kind, "axis": -1} | numbers
        yield Case(f"fused_add.{kind}", "fused_elementwise_add", two, OUT, attrs)
    middle = two | {"Y": g.real(3)}
    attrs = DNN | {"axis": 1, "fused_unsqueeze2_axes": [0]}
    yield Case("fused_add.axes", "fused_elementwise_add", middle, OUT, attrs)
    slow = DNN | {"fuse_activation": "swish", "fuse_alpha": 0.5, "beta": 2.0, "threshold": 20.0}
    yield Case("fused_softplus", "fused_softplus", {"X": g.real(3, 4)}, OUT, slow)
    x, record = {"X": g.real(2, 3, 1, 4)}, {"Out": "float32", "XShape": "float32"}
    shapes: dict[str, Any] = {"squeeze2_axes": [2], "unsqueeze2_axes": [0], "reshape2_shape": [24]}
    for name, axes in shapes.items():
        order = [1, 2, 0] if name.startswith("squeeze") else [3, 2, 0, 1]
        attrs = DNN | {"axis": order, f"fused_{name}": axes}
        yield Case(f"fused_transpose.{name}", "fused_transpose", x, record, attrs)


def products() -> Iterator[Case]:
    g = Generator("merged.products")
    x, w = g.real(3, 4), g.real(4, 5)
    fc = {"Input": x, "W": w, "Bias": g.real(5)}
    attrs = DNN | {"in_num_col_dims": 1, "activation_type": "", "fuse_activation": "gelu_erf"}
    attrs["fused_output_scale"] = 0.5
    yield Case("fc.activated", "fc", fc, OUT, attrs)
    attrs = DNN | {"in_num_col_dims": 1, "fused_reshape2_shape": [-1, 1, 5]}
    yield Case("fc.reshaped", "fc", fc, OUT, attrs)
    wide, inner = np.full((132, 132), 9, "float32"), g.real(128, 128)
    wide[:128, :128] = inner
    padded = {"Input": g.real(2, 128), "W": wide, "Bias": g.real(128)}
    attrs = {"in_num_col_dims": 1, "padding_weights": True, "activation_type": "relu"}
    yield Case("fc.padded", "fc", padded, OUT, attrs)
    chain: dict[str, Any] = {"X": x, "W": [w, g.real(5, 2)], "Bias": [g.real(5), g.real(1, 2)]}
    outs = {"ReluOut": "float32", "Out": "float32"}
    yield Case("fusion_repeated_fc_relu", "fusion_repeated_fc_relu", chain, outs)
    two = {"X": g.real(2, 6, 8), "Y": g.real(2, 2, 5, 4)}
    summed = two | {"ResidualData": g.real(2, 1, 6, 5)}
    attrs = DNN | {"trans_x": False, "trans_y": True, "matmul_alpha": 0.25}
    attrs |= {"fused_reshape_X": [0, 0, 2, 4], "fused_transpose_X": [0, 2, 1, 3]}
    yield Case("fused_matmul", "fused_matmul", summed, OUT, attrs | {"fuse_activation": "relu"})
    attrs |= {"fused_transpose_Out": [0, 2, 1, 3], "fused_reshape_Out": [0, 0, 10]}
    yield Case("fused_matmul.turned", "fused_matmul", two, OUT, attrs)
    difference = {"SquaredX": "float32", "SquaredY": "float32", "SquaredXY": "float32"} | OUT
    pair = {"X": x, "Y": w}
    name = "fusion_squared_mat_sub"
    yield Case(name, name, pair, difference, {"scalar": 0.5})
    scaled = {"X": g.whole(3, 4, high=100).astype("int8"), "Scale": g.real(1)}
    yield Case("dequantize_abs_max", "dequantize_abs_max", scaled, OUT, {"max_range": 127.0})


def convolutions() -> Iterator[Case]:
    g = Generator("merged.convolutions")
    x, w, out = g.real(2, 4, 5, 5), g.real(6, 4, 3, 3), {"Output": "float32"}
    plain: dict[str, Any] = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1]}
    plain |= DNN | {"groups": 1, "data_format": "NCHW", "padding_algorithm": "EXPLICIT"}
    given = {"Input": x, "Filter": w, "Bias": g.real(6)}
    yield Case("fused_conv2d", "fused_conv2d", given, out, plain | {"fuse_activation": "relu"})
    summed = given | {"ResidualData": g.real(2, 6, 5, 5)}
    attrs = plain | {"fuse_residual_connection": True, "fuse_activation": "swish"}
    yield Case("fused_conv2d.sum", "fused_conv2d", summed, out, attrs | {"fuse_alpha": 1.0})
    three = {"strides": [1] * 3, "paddings": [1] * 3, "dilations": [1] * 3, "data_format": "NCDHW"}
    deep = {"Input": g.real(1, 2, 4, 4, 4), "Filter": g.real(3, 2, 3, 3, 3), "Bias": g.real(3)}
    yield Case("fused_conv3d", "fused_conv3d", deep, out, plain | three)
    rectified = {"Input": x, "Filter": w}
    attrs = plain | {"fuse_activation": "relu"}
    yield Case("conv2d.activated", "conv2d", rectified, out, attrs)


def attentions() -> Iterator[Case]:
    """What the reference has for GPUs only."""
    g = Generator("merged.attentions")
    x, y, scale, bias = g.real(2, 3, 4), g.real(2, 3, 4), g.real(4), g.real(4)
    sums = {"X": x, "Y": y, "Scale": scale, "Bias": bias}
    attrs = {"epsilon": 1e-5, "begin_norm_axis": 2}
    name = "skip_layernorm"
    yield Case(name, name, sums, OUT, attrs, lambda x, y, s, b: normal(x + y) * s + b)
    layer = {"X": g.real(6, 5), "W": g.real(5, 4), "Bias0": g.real(4), "Y": g.real(6, 4)}
    both: Any = lambda x, w, c, y, s, b: normal(np.maximum(x @ w + c, 0) + y) * s + b  # noqa: E731
    attrs = {"x_num_col_dims": 1, "activation_type": "relu", "epsilon": 1e-5, "begin_norm_axis": 1}
    name = "fused_fc_elementwise_layernorm"
    yield Case(name, name, layer | {"Scale": scale, "Bias1": bias}, OUT, attrs, both)
    words = {"Ids": [g.whole(2, 3, 1), g.whole(2, 3, 1)], "Embs": [g.real(5, 4), g.real(5, 4)]}
    rows: Any = lambda i, j, w, v, b, s: normal(w[i[..., 0]] + v[j[..., 0]]) * s + b  # noqa: E731
    name = "fused_embedding_eltwise_layernorm"
    yield Case(name, name, words | {"Bias": bias, "Scale": scale}, OUT, {"epsilon": 1e-5}, rows)
    heads = {"Input": x, "W": g.real(4, 3, 4), "Bias": g.real(3, 4), "BiasQK": g.real(2, 2, 3, 3)}
    attrs = {"alpha": 0.5, "head_number": 2, "transpose_Q": False, "transpose_K": True}
    yield Case("multihead_matmul", "multihead_matmul", heads, OUT, attrs, attended)
    images = {"X": [g.real(2, 3, 2, 2), g.real(2, 1, 4, 2)]}
    attrs = {"trans_axis": [0, 2, 3, 1], "flatten_axis": 1, "concat_axis": 1}
    flat: Any = lambda *xs: np.concatenate([x.transpose(0, 2, 3, 1).reshape(2, -1) for x in xs], 1)  # noqa: E731
    name = "fusion_transpose_flatten_concat"
    yield Case(name, name, images, OUT, attrs, flat)


def normal(x: Any) -> Any:
    """Zero mean and unit variance along the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def attended(x: Any, w: Any, bias: Any, mask: Any) -> Any:
    """Two heads that attend, all three projections at once."""
    parts = np.einsum("bsi,ijo->jbso", x, w) + bias[:, None, None]
    q, k, v = parts.reshape(3, 2, 3, 2, 2).swapaxes(2, 3)
    e = np.exp(0.5 * q @ k.swapaxes(-1, -2) + mask)
    found = e / e.sum(-1, keepdims=True) @ v
    return found.swapaxes(1, 2).reshape(2, 3, 4)
