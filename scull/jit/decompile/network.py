"""Calls for operators of neural networks."""

import ast
from typing import Any

from scull.jit.decompile.expression import call, name, short, without
from scull.jit.decompile.rule import rule, rule_before
from scull.jit.decompile.view import View


@rule_before("elementwise_add")
def affine(view: View) -> ast.expr | None:
    """`F.linear(x, weight, bias)`."""
    inner = view.absorb(view.value("x"), "matmul_v2")
    if inner is None:
        return None
    return call("F.linear", inner.x("x"), inner.x("y"), view.x("y"))


@rule_before("elementwise_add")
def convolved_with_bias(view: View) -> ast.expr | None:
    """`F.conv2d(x, weight, bias)`."""
    reshaped = view.absorb(view.value("y"), "reshape2")
    inner = view.absorb(view.value("x"), *CONVOLUTIONS)
    if inner is None:
        return None
    return convolution(inner, view.x("y") if reshaped is None else reshaped.x())


@rule_before("matmul_v2")
def linear(view: View) -> ast.expr | None:
    """`F.linear(x, weight)`, where the weight is one."""
    weight = view.value("y")
    if weight is None or not weight.variable.is_parameter or len(weight.meta.shape) != 2:
        return None
    return call("F.linear", view.x("x"), view.x("y"))


RAINING = name("self.training")


@rule("dropout")
def dropped(view: View) -> ast.expr | None:
    options = {"training": name("training")}
    words = without({"mode": view["dropout_implementation"]}, {"mode": "upscale_in_train"})
    return call("F.dropout", view.x(), view["dropout_prob"], **options, **words)


@rule("lookup_table_v2")
def looked_up(view: View) -> ast.expr | None:
    options = {"padding_idx": view["padding_idx"], "sparse": view["is_sparse"]}
    options = without(options, {"padding_idx": -1, "sparse": False})
    return call("F.embedding", view.x("ids"), view.x("w"), **options)


CONVOLUTIONS = {"conv2d": "conv2d", "depthwise_conv2d": "conv2d", "conv3d": "conv3d"}


def convolution(view: View, bias: ast.expr | None) -> ast.expr | None:
    """A convolution by its function."""
    axes = 3 if view.call.type == "conv3d" else 2
    first, second = view.op.inputs[:2]
    said = {
        "bias": bias,
        "stride": tuple(view["strides"]),
        "padding": padding_of(view),
        "dilation": tuple(view["dilations"]),
        "groups": view["groups"],
        "data_format": view["data_format"],
    }
    defaults = {"bias": None, "groups": 1, "data_format": "NCHW" if axes == 2 else "NCDHW"}
    defaults |= {"stride": (1,) * axes, "dilation": (1,) * axes, "padding": (0,) * axes}
    function = CONVOLUTIONS[view.call.type]
    options = {n: short(v) for n, v in without(said, defaults).items()}
    return call(f"F.{function}", view.x(first), view.x(second), **options)


def padding_of(view: View) -> Any:
    """The padding of a convolution or of pooling: a text, or sizes."""
    algorithm = view["padding_algorithm"]
    return tuple(view["paddings"]) if algorithm == "EXPLICIT" else algorithm


@rule(*CONVOLUTIONS)
def convolved(view: View) -> ast.expr | None:
    return convolution(view, None)


@rule("pool2d")
def pooled(view: View) -> ast.expr | None:
    """`F.max_pool2d(x, 2)`."""
    word = {"max": "max", "avg": "avg"}.get(view["pooling_type"])
    sizes = short(tuple(view["ksize"]))
    if word is None or view.call.told:
        return None
    if view["adaptive"]:
        return call(f"F.adaptive_{word}_pool2d", view.x(), sizes)
    options = {
        "stride": short(tuple(view["strides"])),
        "padding": short(padding_of(view)),
        "ceil_mode": view["ceil_mode"],
        "data_format": view["data_format"],
    }
    if word == "avg":
        options["exclusive"] = view["exclusive"]
    defaults = {"padding": 0, "ceil_mode": False, "data_format": "NCHW", "exclusive": True}
    if type(options["stride"]) is type(sizes):
        defaults["stride"] = sizes
    return call(f"F.{word}_pool2d", view.x(), sizes, **without(options, defaults))


@rule("pool2d")
def pooled_to_one(view: View) -> ast.expr | None:
    """`F.adaptive_avg_pool2d(x, 1)` where the whole is one part."""
    word = view["pooling_type"]
    return call(f"F.adaptive_{word}_pool2d", view.x(), 1) if view["global_pooling"] else None


@rule("batch_norm")
def normal(view: View) -> ast.expr | None:
    """`F.batch_norm(x, mean, variance, weight, bias)`."""
    return call("F.batch_norm", *normal_operands(view), **normal_options(view))


def normal_operands(view: View) -> list[ast.expr]:
    """What batch norm reads."""
    return [view.slot_tree(s) for s in view.call.inputs[:5]]


def normal_options(view: View) -> dict[str, Any]:
    """What batch norm is told."""
    said = {
        "training": name("training"),
        "momentum": view["momentum"],
        "epsilon": view["epsilon"],
        "data_format": view["data_layout"],
    }
    if view["use_global_stats"] or view["trainable_statistics"]:
        said["use_global_stats"] = view["use_global_stats"]
    return without(said, {"data_format": "NCHW"})


@rule("layer_norm")
def layer_normal(view: View) -> ast.expr | None:
    """`F.layer_norm(x, [8], weight, bias)`."""
    sizes = list(view.shape()[view["begin_norm_axis"] :])
    operands = [view.slot_tree(s) for s in view.call.inputs]
    words = without({"epsilon": view["epsilon"]}, {"epsilon": 1e-5})
    return call("F.layer_norm", operands[0], sizes, *operands[1:], **words)


@rule("sequence_mask")
def masked(view: View) -> ast.expr | None:
    """`F.sequence_mask(lengths, 6, "float32")`."""
    longest = view.x("max_len_tensor") if view.has("x") else view["max_len"]
    return call("F.sequence_mask", view.x(), longest, view["out_dtype"])


@rule("leaky_relu")
def leaked(view: View) -> ast.expr | None:
    return call("F.leaky_relu", view.x(), view["alpha"])
