"""Old operators that reduce, fill, find boxes, and count in steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.files.legacy.case import Case, Generator, one


def reductions() -> Iterator[Case]:
    g = Generator("reductions")
    x = g.real(2, 3, 4)
    for kind in ("sum", "mean", "max", "min", "prod"):
        name = f"reduce_{kind}"
        yield one(name, x, dim=[1], keep_dim=False, reduce_all=False)
        yield one(f"{name}.kept", x, type=name, dim=[0, -1], keep_dim=True, reduce_all=False)
        yield one(f"{name}.all", x, type=name, dim=[0], keep_dim=False, reduce_all=True)
    for kind in ("any", "all"):
        name = f"reduce_{kind}"
        yield one(name, x > 0, "bool", dim=[1], keep_dim=False, reduce_all=False)
    yield one("logsumexp", x, axis=[1], keepdim=False, reduce_all=False)
    yield one("frobenius_norm", x, dim=[1, 2], keep_dim=False, reduce_all=False)
    yield one("is_empty", x, "bool")
    yield Case("size", "size", {"Input": x}, {"Out": "int64"})
    pair = {"X": g.real(3), "Y": g.real(3)}
    yield Case("dist", "dist", pair, {"Out": "float32"}, {"p": 2.0})


def filled() -> Iterator[Case]:
    g = Generator("filled")
    out = {"Out": "float32"}
    attrs = {"shape": [2, 3], "value": 1.5, "dtype": 5, "force_cpu": False}
    yield Case("fill_constant", "fill_constant", {}, out, attrs)
    told = {"ShapeTensor": np.array([3, 2], "int32")}
    yield Case("fill_constant.tensor", "fill_constant", told, out, attrs | {"shape": []})
    rows = {"Input": g.real(4, 2)}
    attrs = {"shape": [1, 3], "value": 0.5, "dtype": 5, "input_dim_idx": 0, "output_dim_idx": 0}
    yield Case("fill_constant_batch_size_like", "fill_constant_batch_size_like", rows, out, attrs)
    yield one("fill_zeros_like", g.real(2, 3))
    yield one("fill_zeros_like2", g.real(2, 3), dtype=5)
    yield one("fill_any_like", g.real(2, 3), value=2.0, dtype=-1)
    ends = {n: np.array([v], "float32") for n, v in (("Start", 1.0), ("End", 6.0), ("Step", 1.5))}
    yield Case("range", "range", ends, out)
    some = {"Start": ends["Start"], "Stop": ends["End"], "Num": np.array([4], "int32")}
    even: Any = lambda start, stop, num: np.linspace(1, 6, 4, dtype="float32")  # noqa: E731
    yield Case("linspace", "linspace", some, out, {}, even)
    values = {"fp32_values": [1.0, 2.0, 3.0], "shape": [3], "dtype": 5}
    yield Case("assign_value", "assign_value", {}, out, values)
    yield one("assign", g.real(2))
    yield Case("eye", "eye", {}, out, {"num_rows": 2, "num_columns": 3, "dtype": 5})
    yield Case("diag_embed", "diag_embed", {"Input": g.real(2, 3)}, out, {"offset": 0})
    part = {"index_num": 20, "nshards": 2, "shard_id": 0, "ignore_value": -1}
    yield one("shard_index", g.whole(4, 1, high=20), "int64", **part)
    second: Any = lambda x: np.stack([x[0], np.full(3, 4.0, "float32")])  # noqa: E731
    yield Case("set_value", "set_value", {"Input": g.real(2, 3)}, out, WINDOW, second)


WINDOW = {
    "axes": [0],
    "starts": [1],
    "ends": [2],
    "dtype": 5,
    "fp32_values": [4.0],
    "shape": [1],
}


def boxes() -> Iterator[Case]:
    g = Generator("boxes")
    both = {"Boxes": "float32", "Variances": "float32"}
    given = {"Input": g.real(1, 2, 2, 3), "Image": g.real(1, 3, 20, 30)}
    attrs: dict[str, Any] = {
        "min_sizes": [4.0],
        "max_sizes": [8.0],
        "aspect_ratios": [1.0, 2.0],
        "variances": [0.1, 0.1, 0.2, 0.2],
        "flip": True,
        "clip": True,
        "step_w": 0.0,
        "step_h": 0.0,
        "offset": 0.5,
    }
    yield Case("prior_box", "prior_box", given, both, attrs)
    corners = g.real(6, 2, low=0.0, high=0.5)
    known = np.concatenate([corners, corners + g.real(6, 2, low=0.1, high=0.4)], -1)
    priors = {"PriorBox": known, "PriorBoxVar": np.full((6, 4), 0.1, "float32")}
    out = {"OutputBox": "float32"}
    attrs = {"code_type": "encode_center_size", "box_normalized": True}
    yield Case("box_coder.encode", "box_coder", priors | {"TargetBox": known[:2]}, out, attrs)
    attrs = {"code_type": "decode_center_size", "box_normalized": False, "axis": 0}
    coded = priors | {"TargetBox": g.real(2, 6, 4)}
    yield Case("box_coder.decode", "box_coder", coded, out, attrs)
    seen = {"X": g.real(1, 14, 2, 2, high=2.0), "ImgSize": np.array([[64, 64]], "int32")}
    attrs = {"anchors": [10, 13, 16, 30], "class_num": 2, "conf_thresh": 0.3}
    found = {"Boxes": "float32", "Scores": "float32"}
    yield Case("yolo_box", "yolo_box", seen, found, attrs | {"downsample_ratio": 32})


def detections() -> Iterator[Case]:
    g = Generator("detections")
    corners = g.real(6, 2, low=0.0, high=0.5)
    known = np.concatenate([corners, corners + g.real(6, 2, low=0.1, high=0.4)], -1)
    chances = g.real(1, 3, 6, low=0.0, high=1.0)
    detected = {"BBoxes": known[None], "Scores": chances}
    asked = {
        "background_label": 0,
        "score_threshold": 0.2,
        "nms_top_k": 5,
        "nms_threshold": 0.2,
        "nms_eta": 1.0,
        "keep_top_k": 7,
        "normalized": True,
    }
    yield Case("multiclass_nms", "multiclass_nms", detected, {"Out": "float32"}, asked)
    none = asked | {"score_threshold": 2.0}
    yield Case("multiclass_nms.none", "multiclass_nms", detected, {"Out": "float32"}, none)
    numbered = {"Out": "float32", "Index": "int32"}
    pixels = asked | {"normalized": False, "background_label": -1, "nms_eta": 0.9}
    yield Case("multiclass_nms2", "multiclass_nms2", detected, numbered, pixels)
    counted = numbered | {"NmsRoisNum": "int32"}
    yield Case("multiclass_nms3", "multiclass_nms3", detected, counted, asked)
    rois = {"X": g.real(1, 2, 6, 6), "ROIs": known[:2] * 5, "RoisNum": np.array([2], "int32")}
    attrs = {"pooled_height": 2, "pooled_width": 2, "spatial_scale": 1.0, "sampling_ratio": 2}
    yield Case("roi_align", "roi_align", rois, {"Out": "float32"}, attrs)


def quantized() -> Iterator[Case]:
    g = Generator("quantized")
    x, both = g.real(4, 3), {"Out": "float32", "OutScale": "float32"}
    for name in ("", "dequantize_"):
        type = f"fake_quantize_{name}abs_max"
        yield Case(type, type, {"X": x}, both, {"bit_length": 8})
        type = f"fake_quantize_{name}moving_average_abs_max"
        states = {"X": x, "InScale": g.real(1, low=0.2)}
        attrs = {"bit_length": 8, "moving_rate": 0.9}
        tested = attrs | {"is_test": True}
        yield Case(f"{type}.test", type, states, both, tested, same={"OutScale": "InScale.0"})
        more = {"InAccum": g.real(1, low=1.0, high=2.0), "InState": g.real(1, low=1.0, high=2.0)}
        four = both | {"OutState": "float32", "OutAccum": "float32"}
        yield Case(f"{type}.train", type, states | more, four, attrs)
    type = "fake_channel_wise_quantize_abs_max"
    yield Case(type, type, {"X": x}, both, {"bit_length": 8})
    type = "fake_quantize_range_abs_max"
    states = {"X": x, "InScale": g.real(1, low=0.2)}
    attrs = {"bit_length": 8, "window_size": 10, "is_test": True}
    yield Case(type, type, states, both, attrs, same={"OutScale": "InScale.0"})
    steps = np.round(x * 127)
    one_scale = {"X": steps, "Scale": g.real(1, low=0.2)}
    yield Case(
        "fake_dequantize_max_abs",
        "fake_dequantize_max_abs",
        one_scale,
        {"Out": "float32"},
        {"max_range": 127.0},
    )
    type = "fake_channel_wise_dequantize_max_abs"
    scales = {"X": steps, "Scales": [g.real(4, low=0.2)]}
    yield Case(type, type, scales, {"Out": "float32"}, {"quant_bits": [8]})
    scales = {"X": steps, "Scales": [g.real(3, low=0.2), g.real(1, low=0.2)]}
    yield Case(f"{type}.two", type, scales, {"Out": "float32"}, {"quant_bits": [8, 8]})
    watched = {"X": x, "InAccum": more["InAccum"], "InState": more["InState"]}
    type = "moving_average_abs_max_scale"
    yield Case(type, type, watched, four, {"moving_rate": 0.9})


def linear_steps() -> Iterator[Case]:
    g = Generator("linear_steps")
    x, zero = g.real(4, 3), np.zeros(1, "float32")
    one, four = g.real(1, low=0.2), g.real(4, low=0.2)
    for axis, scale in ((-1, one), (0, four)):
        for kind in (0, 1):
            given = {"X": x, "Scale": scale, "ZeroPoint": zero}
            attrs = {"quant_axis": axis, "bit_length": 8, "round_type": kind, "is_test": True}
            name = f"quantize_linear.{axis}.{kind}"
            yield Case(name, "quantize_linear", given, {"Y": "float32"}, attrs)
        given = {"X": np.round(x * 127), "Scale": scale, "ZeroPoint": zero}
        attrs = {"quant_axis": axis, "bit_length": 8}
        name = f"dequantize_linear.{axis}"
        yield Case(name, "dequantize_linear", given, {"Y": "float32"}, attrs)
    states = {"InAccum": g.real(1, low=1.0, high=2.0), "InState": g.real(1, low=1.0, high=2.0)}
    given = {"X": x, "Scale": one, "ZeroPoint": zero} | states
    three = dict.fromkeys(("Y", "OutState", "OutAccum", "OutScale"), "float32")
    attrs = {"quant_axis": -1, "bit_length": 8, "is_test": False}
    same = {"OutState": "InState.0", "OutAccum": "InAccum.0", "OutScale": "Scale.0"}
    yield Case("quantize_linear.train", "quantize_linear", given, three, attrs, same=same)


def distances() -> Iterator[Case]:
    g = Generator("distances")
    x, y = g.real(4, 3), g.real(4, 3)

    def angle(x: Any, y: Any) -> Any:
        lengths = [np.sqrt((v * v).sum(1, keepdims=True)) for v in (x, y)]
        return ((x * y).sum(1, keepdims=True) / (lengths[0] * lengths[1]), *lengths)

    three = dict.fromkeys(("Out", "XNorm", "YNorm"), "float32")
    yield Case("cos_sim", "cos_sim", {"X": x, "Y": y}, three, {}, angle)
    yield Case("cos_sim.row", "cos_sim", {"X": x, "Y": y[:1]}, three, {}, angle)

    def apart(x: Any, y: Any) -> Any:
        return x - y, ((x - y) ** 2).sum(1, keepdims=True)

    type, two = "squared_l2_distance", {"sub_result": "float32", "Out": "float32"}
    yield Case(type, type, {"X": x, "Y": y}, two, {}, apart)

    def smooth(x: Any, y: Any, inner: Any = 1.0, outer: Any = 1.0) -> Any:
        d = (x - y) * inner
        near = 0.5 * (2.0 * d) ** 2
        each = np.where(np.abs(d) < 0.25, near, np.abs(d) - 0.125)
        return d, (each * outer).sum(1, keepdims=True)

    two, type = {"Diff": "float32", "Out": "float32"}, "smooth_l1_loss"
    given = {"X": x, "Y": y}
    yield Case(type, type, given, two, {"sigma": 2.0}, smooth)
    weights = {"InsideWeight": g.real(4, 3), "OutsideWeight": g.real(4, 3)}
    yield Case(f"{type}.weighed", type, given | weights, two, {"sigma": 2.0}, smooth)

    def ranked(label: Any, first: Any, second: Any) -> Any:
        loss = np.maximum(0.1 - label * (first - second), 0)
        return loss, (loss > 0).astype("float32")

    label = np.array([[1.0], [-1.0], [1.0], [-1.0]], "float32")
    given = {"Label": label, "X1": x[:, :1], "X2": y[:, :1]}
    two = {"Out": "float32", "Activated": "float32"}
    yield Case("margin_rank_loss", "margin_rank_loss", given, two, {"margin": 0.1}, ranked)
