"""Old operators of layers: images, norms, activations, losses."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.files.legacy.case import Case, Generator, one


def images() -> Iterator[Case]:
    g = Generator("images")
    x, w, out = g.real(2, 4, 7, 7), g.real(6, 4, 3, 3), {"Output": "float32"}
    plain = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1}
    yield Case("conv2d", "conv2d", {"Input": x, "Filter": w}, out, plain)
    strided = plain | {"strides": [2, 2], "paddings": [0, 0], "groups": 2}
    yield Case("conv2d.groups", "conv2d", {"Input": x, "Filter": w[:, :2]}, out, strided)
    wide = plain | {"dilations": [2, 1], "paddings": [2, 1]}
    yield Case("conv2d.dilated", "conv2d", {"Input": x, "Filter": w}, out, wide)
    each = plain | {"groups": 4, "use_cudnn": False}
    yield Case("depthwise_conv2d", "depthwise_conv2d", {"Input": x, "Filter": w[:4, :1]}, out, each)
    back = {"Input": x, "Filter": g.real(4, 3, 3, 3)}
    turned = plain | {"strides": [2, 2], "output_size": []}
    yield Case("conv2d_transpose", "conv2d_transpose", back, out, turned)
    sized = turned | {"output_size": [14, 14]}
    yield Case("conv2d_transpose.size", "conv2d_transpose", back, out, sized)
    each = {"Input": x, "Filter": g.real(4, 1, 3, 3)}
    name = "depthwise_conv2d_transpose"
    yield Case(name, name, each, out, turned | {"groups": 4})
    three = {"strides": [1] * 3, "paddings": [1] * 3, "dilations": [1] * 3, "groups": 1}
    deep = {"Input": g.real(1, 2, 4, 4, 4), "Filter": g.real(3, 2, 3, 3, 3)}
    yield Case("conv3d", "conv3d", deep, out, three)
    window: dict[str, Any] = {"ksize": [3, 3], "strides": [2, 2], "paddings": [1, 1]}
    for kind in ("max", "avg"):
        attrs = window | {"pooling_type": kind}
        yield one(f"pool2d.{kind}", x, type="pool2d", **attrs)
        yield one(f"pool2d.{kind}.ceil", x, type="pool2d", **attrs, ceil_mode=True)
        yield one(f"pool2d.{kind}.global", x, type="pool2d", **attrs, global_pooling=True)
    yield one("pool2d.inclusive", x, type="pool2d", **window, pooling_type="avg", exclusive=False)
    own = {"ksize": [2, 3], "adaptive": True, "pooling_type": "avg", "strides": [1, 1]}
    yield one("pool2d.adaptive", x, type="pool2d", **own, paddings=[0, 0])
    cube: dict[str, Any] = {"ksize": [2] * 3, "strides": [2] * 3, "paddings": [0] * 3}
    yield one("pool3d", g.real(1, 2, 4, 4, 4), **cube, pooling_type="max")
    yield one("pixel_shuffle", g.real(1, 4, 2, 3), upscale_factor=2)
    yield one("shuffle_channel", g.real(1, 4, 2, 2), group=2)
    yield one("temporal_shift", g.real(4, 4, 2, 2), seg_num=2, shift_ratio=0.25)
    yield one("maxout", g.real(2, 4, 2, 2), groups=2)
    pair = {"X": g.real(1, 2, 4, 4), "Grid": g.real(1, 3, 3, 2)}
    yield Case("grid_sampler", "grid_sampler", pair, {"Output": "float32"})
    angle = {"Theta": g.real(2, 2, 3)}
    yield Case("affine_grid", "affine_grid", angle, out, {"output_shape": [2, 3, 4, 4]})
    channels = {"X": g.real(2, 3, 2, 2), "Scale": g.real(3), "Bias": g.real(3)}
    yield Case(
        "affine_channel", "affine_channel", channels, {"Out": "float32"}, {"data_layout": "NCHW"}
    )


STATES = {"MeanOut": "Mean.0", "VarianceOut": "Variance.0"}


def norms() -> Iterator[Case]:
    g = Generator("norms")
    x, s, b = g.real(3, 4, 2, 2), g.real(4, low=0.5), g.real(4)
    given = {"X": x, "Scale": s, "Bias": b, "Mean": g.real(4), "Variance": g.real(4, low=0.5)}
    slots = ("Y", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance")
    out = dict.fromkeys(slots, "float32")
    attrs = {"momentum": 0.9, "epsilon": 1e-5, "data_layout": "NCHW"}
    for name, more in (
        ("test", {"is_test": True}),
        ("train", {}),
        ("global", {"use_global_stats": True}),
    ):
        slots = out if name == "test" else out | {"ReserveSpace": "uint8"}
        yield Case(f"batch_norm.{name}", "batch_norm", given, slots, attrs | more, same=STATES)
    for kind in ("", "leaky_relu", "elu"):

        def normal(x: Any, s: Any, b: Any, mean: Any, v: Any, kind: str = kind) -> Any:
            y = (x - mean[:, None, None]) / np.sqrt(v + 1e-5)[:, None, None]
            y = y * s[:, None, None] + b[:, None, None]
            low = {"": y, "leaky_relu": 0.25 * y, "elu": 0.25 * np.expm1(y)}[kind]
            return np.where(y > 0, y, low)

        more = {"is_test": True, "activation": kind, "alpha": 0.25}
        type = "inplace_abn" if kind else "sync_batch_norm"
        more = more if kind else {"is_test": True}
        yield Case(f"{type}.{kind}", type, given, out, attrs | more, normal, same=STATES)


def scaled() -> Iterator[Case]:
    g = Generator("scaled")
    x, s, b = g.real(3, 4, 2, 2), g.real(4, low=0.5), g.real(4)
    rows = {"X": g.real(3, 4), "Scale": s, "Bias": b}
    three = dict.fromkeys(("Y", "Mean", "Variance"), "float32")
    yield Case("layer_norm", "layer_norm", rows, three, {"epsilon": 1e-5, "begin_norm_axis": 1})
    saved = dict.fromkeys(("Y", "SavedMean", "SavedVariance"), "float32")
    channels = {"X": x, "Scale": s, "Bias": b}
    yield Case("instance_norm", "instance_norm", channels, saved, {"epsilon": 1e-5})
    yield Case("group_norm", "group_norm", channels, three, {"epsilon": 1e-5, "groups": 2})
    yield Case(
        "lrn",
        "lrn",
        {"X": x},
        {"Out": "float32", "MidOut": "float32"},
        {"n": 5, "k": 2.0, "alpha": 1e-4, "beta": 0.75},
    )
    yield Case(
        "norm",
        "norm",
        {"X": x},
        {"Out": "float32", "Norm": "float32"},
        {"axis": 1, "epsilon": 1e-10},
    )
    yield one("p_norm", x, porder=2.0, axis=1, keepdim=False, epsilon=1e-12)
    yield one("squared_l2_norm", x)
    yield one("l1_norm", x)
    for name in ("downgrade_in_infer", "upscale_in_train", ""):
        attrs = {"dropout_prob": 0.25, "is_test": True} | (
            {"dropout_implementation": name} if name else {}
        )
        yield Case(f"dropout.{name}", "dropout", {"X": x}, {"Out": "float32"}, attrs)


ACTIVATIONS: dict[str, dict[str, Any]] = {
    "leaky_relu": {"alpha": 0.1},
    "relu6": {"threshold": 6.0},
    "hard_swish": {"threshold": 6.0, "scale": 6.0, "offset": 3.0},
    "hard_sigmoid": {"slope": 0.2, "offset": 0.5},
    "gelu": {},
    "elu": {"alpha": 0.5},
    "brelu": {"t_min": -1.0, "t_max": 2.0},
    "stanh": {"scale_a": 0.67, "scale_b": 1.7159},
    "soft_relu": {"threshold": 40.0},
    "softplus": {},
    "softsign": {},
    "softshrink": {"lambda": 0.5},
    "hard_shrink": {"threshold": 0.5},
    "thresholded_relu": {"threshold": 1.0},
    "logsigmoid": {},
    "tanh_shrink": {},
    "selu": {"scale": 1.0507, "alpha": 1.6733},
    "mish": {"threshold": 20.0},
    "pow": {"factor": 2.0},
    "softmax": {"axis": -1},
    "log_softmax": {"axis": -1},
    "sigmoid": {},
    "tanh": {},
    "exp": {},
    "floor": {},
    "ceil": {},
    "round": {},
    "abs": {},
    "square": {},
    "sign": {},
}


def activations() -> Iterator[Case]:
    g = Generator("activations")
    x = g.real(3, 4, low=-4.0, high=4.0)
    for type, given in ACTIVATIONS.items():
        yield one(type, x, **given)
    bent: Any = lambda x: x / (1 + np.exp(-1.5 * x))  # noqa: E731  2.6.2 forgets beta
    yield Case("swish", "swish", {"X": x}, {"Out": "float32"}, {"beta": 1.5}, bent)
    yield one("rsqrt", np.abs(x) + 1)
    for alpha in (-0.5, 1.5):
        larger: Any = lambda x, alpha=alpha: np.maximum(x, x * np.float32(alpha))  # noqa: E731
        attrs_of = {"alpha": alpha}
        yield Case(
            f"leaky_relu.{alpha}", "leaky_relu", {"X": x}, {"Out": "float32"}, attrs_of, larger
        )
    yield Case(
        "leaky_relu.later", "leaky_relu", {"X": x}, {"Out": "float32"}, {"alpha": 1.5}, version=1
    )
    for mode, alpha in (("all", (1,)), ("channel", (4,)), ("element", (1, 4))):
        given = {"X": x, "Alpha": g.real(*alpha)}
        yield Case(f"prelu.{mode}", "prelu", given, {"Out": "float32"}, {"mode": mode})


def losses() -> Iterator[Case]:
    g = Generator("losses")
    p = g.real(4, 3, low=0.1, high=1.0)
    p, labels = p / p.sum(1, keepdims=True), g.whole(4, 1, high=3)
    given = {"X": p, "Label": labels}
    attrs: dict[str, Any] = {"soft_label": False, "ignore_index": -100}
    yield Case("cross_entropy", "cross_entropy", given, {"Y": "float32"}, attrs)
    soft = {"X": p, "Label": p[::-1].copy()}
    attrs = {"soft_label": True, "ignore_index": -100}
    yield Case("cross_entropy.soft", "cross_entropy", soft, {"Y": "float32"}, attrs)
    two = {"Y": "float32", "MatchX": "float32", "XShape": "float32"}
    yield Case("cross_entropy2", "cross_entropy2", given, two, {"ignore_index": -100})
    both, logits = {"Softmax": "float32", "Loss": "float32"}, g.real(4, 3)
    name = "softmax_with_cross_entropy"
    attrs = {"soft_label": False, "ignore_index": -100, "numeric_stable_mode": True, "axis": -1}
    yield Case(name, name, {"Logits": logits, "Label": labels}, both, attrs)
    attrs = attrs | {"soft_label": True}
    yield Case(f"{name}.soft", name, {"Logits": logits, "Label": p}, both, attrs)
    name = "sigmoid_cross_entropy_with_logits"
    out = {"Out": "float32"}
    given = {"X": logits, "Label": p}
    yield Case(name, name, given, out, {"normalize": False, "ignore_index": -100})
    chance = {"Predicted": p[:, :1], "Labels": g.whole(4, 1, high=2).astype("float32")}
    yield Case("log_loss", "log_loss", chance, {"Loss": "float32"}, {"epsilon": 1e-4})
    far = {"X": g.real(4, 1), "Y": g.real(4, 1)}
    two = {"Out": "float32", "Residual": "float32"}
    yield Case("huber_loss", "huber_loss", far, two, {"delta": 0.5})
    near = {"X": np.log(p), "Target": p[::-1].copy()}
    yield Case("kldiv_loss", "kldiv_loss", near, {"Loss": "float32"}, {"reduction": "mean"})
    yield Case("mean", "mean", {"X": p}, out)
    smooth = {"X": p, "PriorDist": g.real(1, 3)}
    yield Case("label_smooth", "label_smooth", smooth, out, {"epsilon": 0.1})
    sure = {"Out": p, "Indices": g.whole(4, 1, high=3), "Label": labels}
    three = {"Accuracy": "float32", "Correct": "int32", "Total": "int32"}
    part: Any = lambda p, found, given: (np.mean(found == given), np.sum(found == given), 4)  # noqa: E731
    yield Case("accuracy", "accuracy", sure, three, {}, part)


def resized() -> Iterator[Case]:
    g = Generator("resized")
    x, out = g.real(1, 2, 5, 6), {"Out": "float32"}
    for kind in ("nearest", "bilinear", "bicubic"):
        type = f"{kind}_interp"
        for corners in (True, False):
            attrs = {"interp_method": kind, "align_corners": corners, "data_layout": "NCHW"}
            sizes = {"out_d": -1, "out_h": 7, "out_w": 4}
            yield Case(f"{type}.{corners}", type, {"X": x}, out, attrs | sizes | {"scale": 0.0})
            free = {"out_d": -1, "out_h": -1, "out_w": -1}
            for scale in (2.0, 1.5):
                name = f"{type}.{corners}.{scale}"
                yield Case(name, type, {"X": x}, out, attrs | free | {"scale": scale})
        name = f"{type}.unknown"
        attrs = {"interp_method": kind, "align_corners": False, "scale": 1.5}
        yield Case(name, type, {"X": x}, out, attrs | free, unknown=True)
    attrs = {"interp_method": "bilinear", "align_corners": False, "align_mode": 0}
    given = {"X": x, "OutSize": np.array([3, 9], "int32")}
    yield Case("bilinear_interp.tensor", "bilinear_interp", given, out, attrs)
    attrs = attrs | {"data_layout": "NHWC", "scale": 1.5}
    last = {"X": g.real(1, 5, 6, 2)}
    yield Case("bilinear_interp.last", "bilinear_interp", last, out, attrs)
    cube = {"X": g.real(1, 1, 2, 3, 4)}
    attrs = {"interp_method": "trilinear", "align_corners": True, "scale": 2.0}
    yield Case("trilinear_interp", "trilinear_interp", cube, out, attrs)
    row = {"X": g.real(1, 2, 5)}
    attrs = {"interp_method": "linear", "align_corners": False, "out_w": 8, "data_layout": "NCHW"}
    yield Case("linear_interp", "linear_interp", row, out, attrs)
