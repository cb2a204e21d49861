"""Operators that passes for inference made of several, for oneDNN and for any processor."""

from dataclasses import replace

from scull.errors import UnsupportedError
from scull.files.legacy.call import Call, Names, made
from scull.files.legacy.line import Line, check_whole, kept, kind_of_activation

MORE: tuple[str, ...] = ("fuse_residual_connection", "fused_squeeze2_axes", "fused_unsqueeze2_axes")
MORE += ("fused_reshape2_shape", "fused_reshape_X", "fused_reshape_Y", "fused_reshape_Out")
MORE += ("fused_transpose_X", "fused_transpose_Y", "fused_transpose_Out")
WITH_WINDOWS = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")


def plain(call: Call) -> bool:
    """Whether an operator of a name of today has nothing of others in it."""
    if call.type.startswith("fused_"):
        return False
    factors = ("fused_output_scale", *(["alpha"] if call.type == "matmul_v2" else []))
    more = kind_of_activation(call)[0] or any(call.get(name) for name in MORE)
    return not (
        call.get("use_mkldnn", False) and (more or any(call.get(n, 1) != 1 for n in factors))
    )


def on_pairs(call: Call, names: Names) -> list[Call] | None:
    """An elementwise operator, an activation, a factor, new axes."""
    if plain(call):
        return None
    check_whole(call)
    line = Line(call, names, call.first("X"))
    type = call.type.removeprefix("fused_")
    line.then(type, {"Y": call.first("Y")}, axis=call.get("axis", -1))
    return line.finished().calls()


def turned(call: Call, names: Names) -> list[Call] | None:
    """`transpose2` between other changes of the shape."""
    if plain(call):
        return None
    if call.get("scale", 1.0) != 1 or call.get("shift", 0.0) != 0:
        raise UnsupportedError(f"{call.where}: an operator on 8 bits is not run")
    line = Line(call, names, call.first("X"))
    if call.get("fused_squeeze2_axes"):
        line.then("squeeze2", notes=("XShape",), axes=call.get("fused_squeeze2_axes"))
    line.then("transpose", axis=call.get("axis", []))
    return line.reshaped().calls()


def softplus(call: Call, names: Names) -> list[Call] | None:
    """`softplus` and an activation."""
    if plain(call):
        return None
    line = Line(call, names, call.first("X")).then("softplus", **kept(call, "beta", "threshold"))
    return line.finished().calls()


def normal(call: Call, names: Names) -> list[Call] | None:
    """`batch_norm` with a `relu`."""
    if not (call.get("fuse_with_relu", False) and call.get("use_mkldnn", False)):
        return None
    y = names.like(call.result("Y"), "normal")
    attrs = {name: value for name, value in call.attrs.items() if name != "fuse_with_relu"}
    first = replace(call, outputs=call.outputs | {"Y": [y]}, attrs=attrs)
    return [first, made("relu", {"X": y}, {"Out": call.outputs["Y"]})]


def product(call: Call, names: Names) -> list[Call] | None:
    """`matmul` of what is reshaped and turned, a factor, a sum, an activation."""
    if plain(call):
        return None
    check_whole(call)
    calls: list[Call] = []
    operands = [operand(call, names, slot, calls) for slot in ("X", "Y")]
    line, old = Line(call, names, operands[0]), call.type == "matmul"
    turns = [
        call.get(("transpose_" if old else "trans_") + n, False)
        for n in ("X" if old else "x", "Y" if old else "y")
    ]
    line.then("matmul_v2", {"Y": operands[1]}, trans_x=turns[0], trans_y=turns[1])
    line.scaled(call.get("matmul_alpha", call.get("alpha", 1.0)))
    line.plus(call.first("ResidualData")).finished()
    if call.get("fused_transpose_Out"):
        line.then("transpose", axis=call.get("fused_transpose_Out"))
    if call.get("fused_reshape_Out"):
        line.then("reshape", shape=call.get("fused_reshape_Out"))
    return [*calls, *line.calls()]


def operand(call: Call, names: Names, slot: str, calls: list[Call]) -> str:
    """The name of an operand of a product, after its own changes of the shape."""
    x = call.first(slot)
    for type, attribute in (("reshape", "shape"), ("transpose", "axis")):
        change = call.get(f"fused_{type}_{slot}")
        if change:
            out = names.like(x, type, [-1] * len(change))
            calls.append(made(type, {"X": x}, {"Out": out}, **{attribute: change}))
            x = out
    return x


def convolved(call: Call, names: Names) -> list[Call] | None:
    """A convolution with a number a channel, a sum, an activation."""
    if plain(call) and not (call.first("Bias") or call.first("ResidualData")):
        return None
    check_whole(call)
    type = call.type.removeprefix("fused_")
    line = Line(call, names, call.first("Input"), call.result("Output"))
    line.then(
        type, {"Filter": call.first("Filter")}, ("Input", "Output"), **kept(call, *WITH_WINDOWS)
    )
    channels_last = call.get("data_format", "NCHW") in ("NHWC", "NDHWC")
    line.plus(call.first("Bias"), axis=-1 if channels_last else 1)
    if call.get("fuse_residual_connection", False):
        line.plus(call.first("ResidualData"))
    return line.finished().calls()


def connected(call: Call, names: Names) -> list[Call]:
    """`fc`: a product, a bias, a sum, an activation."""
    check_whole(call)
    kind = call.get("activation_type", "")
    if kind not in ("", "relu"):
        raise UnsupportedError(f"{call.where}: activation_type is {kind!r}, not 'relu'")
    calls: list[Call] = []
    w, count = call.first("W"), call.get("in_num_col_dims", 1)
    if call.get("padding_weights", False):
        w, padded = names.like(w, "inner", None), w
        ends = {"axes": [0, 1], "starts": [0, 0], "ends": [-4, -4]}
        calls.append(made("slice", {"Input": padded}, {"Out": w}, **ends))
    line = Line(call, names, call.first("Input"))
    line.then("mul", {"Y": w}, x_num_col_dims=count, y_num_col_dims=1)
    line.plus(call.first("Bias"))
    if call.get("fuse_residual_connection", False):
        line.plus(call.first("ResidualData"))
    line.activated(kind)
    return [*calls, *(line.finished() if call.get("use_mkldnn", False) else line).calls()]


def named_anew(call: Call, names: Names) -> list[Call]:
    """`conv2d_fusion`, what passes for GPUs made before 2.6."""
    return [replace(call, type="fused_conv2d_add_act")]


CONVOLUTIONS = ("conv2d", "conv3d", "depthwise_conv2d", "conv2d_transpose")
PAIRS = ("add", "sub", "mul", "div")
TABLE = {
    "batch_norm": normal,
    "conv2d_fusion": named_anew,
    "fc": connected,
    "fused_conv2d": convolved,
    "fused_conv3d": convolved,
    "fused_matmul": product,
    "fused_softplus": softplus,
    "fused_transpose": turned,
    "matmul": product,
    "matmul_v2": product,
    "softplus": softplus,
    "transpose2": turned,
    **dict.fromkeys(CONVOLUTIONS, convolved),
    **dict.fromkeys((f"elementwise_{kind}" for kind in PAIRS), on_pairs),
    **dict.fromkeys((f"fused_elementwise_{kind}" for kind in PAIRS), on_pairs),
}
