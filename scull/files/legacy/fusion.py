"""Operators that passes for inference made of several: networks along sequences, squares."""

from dataclasses import replace
from typing import Any

from scull.errors import UnsupportedError
from scull.files import proto
from scull.files.legacy.call import Call, Names, made
from scull.files.legacy.line import Line, check_whole, kept

FLAT: dict[str, Any] = {"x_num_col_dims": 1, "y_num_col_dims": 1}
SQUARED = ("SquaredX", "SquaredY", "SquaredXY")
BYTE, SINGLE = int(proto.VarType.INT8), int(proto.VarType.FP32)


def unread(call: Call, names: Names, *slots: str) -> dict[str, str]:
    """Names for results of new operators that the file does not know."""
    like = call.result("Hidden")
    return {slot: names.like(like, slot) for slot in slots}


def given(call: Call, *slots: str) -> dict[str, list[str]]:
    """The operands in some slots, as far as there are any."""
    return {slot: call.inputs[slot] for slot in slots if call.inputs.get(slot)}


def projected(call: Call, names: Names) -> tuple[str, Call]:
    """The name of an input times its weights, and what makes that."""
    out = call.result("XX") or names.like(call.result("Hidden"), "projected")
    operands = {"X": call.first("X"), "Y": call.first("WeightX")}
    return out, made("mul", operands, {"Out": out}, **FLAT)


def gru(call: Call, names: Names) -> list[Call]:
    """`fusion_gru`: a product, and `gru` along what it gives."""
    check_whole(call)
    x, first = projected(call, names)
    operands = {"Input": x, "Weight": call.first("WeightH")} | given(call, "H0", "Bias")
    unknown = unread(call, names, "BatchGate", "BatchResetHiddenPrev", "BatchHidden")
    outputs = unknown | {"Hidden": call.result("Hidden")}
    attrs = kept(call, "activation", "gate_activation", "is_reverse", "origin_mode")
    return [first, made("gru", operands, outputs, **attrs)]


def lstm(call: Call, names: Names) -> list[Call]:
    """`fusion_lstm`: a product, and `lstm` along what it gives."""
    check_whole(call)
    x, first = projected(call, names)
    return [first, steps_of_lstm(call, names, x)]


def steps_of_lstm(call: Call, names: Names, x: str) -> Call:
    """`lstm` along `x`."""
    operands = {"Input": x, "Weight": call.first("WeightH")} | given(call, "H0", "C0", "Bias")
    unknown = unread(call, names, "BatchGate", "BatchCellPreAct")
    outputs = unknown | {slot: call.result(slot) for slot in ("Hidden", "Cell")}
    activations = ("gate_activation", "cell_activation", "candidate_activation")
    attrs = kept(call, "use_peepholes", "is_reverse", *activations)
    return made("lstm", operands, outputs, **attrs)


def lstm_of_words(call: Call, names: Names) -> list[Call]:
    """`fused_embedding_fc_lstm`: rows of a table, products with their bias already, and `lstm`."""
    shape = names.shape(call.first("WeightH")) or [-1]
    if shape[0] < 0:
        raise UnsupportedError(f"{call.where}: how large a state is, WeightH does not tell")
    gates = 4 * shape[0]
    words = ("rows", "of_gates", "of_cells", "zeros", "weights")
    rows, of_gates, of_cells, zeros, bias = (names.like(call.result("Hidden"), w) for w in words)
    operands = {"W": call.first("Embeddings"), "Ids": call.first("Ids")}
    whole = {"Input": call.first("Bias")}
    nothing = {"scale": 0.0, "bias": 0.0, "bias_after_scale": True}
    calls = [
        made("lookup_table", operands, {"Out": rows}, padding_idx=-1),
        made("slice", whole, {"Out": of_gates}, axes=[1], starts=[0], ends=[gates]),
        made("scale", {"X": of_gates}, {"Out": zeros}, **nothing),
    ]
    if call.get("use_peepholes", True):
        behind = {"axes": [1], "starts": [gates], "ends": [gates + 3 * shape[0]]}
        calls.append(made("slice", whole, {"Out": of_cells}, **behind))
        calls.append(beside(call, [zeros, of_cells], 1, bias))
        zeros = bias
    inner = replace(call, inputs=call.inputs | {"Bias": [zeros]})
    return [*calls, steps_of_lstm(inner, names, rows)]


def layers(call: Call, names: Names) -> list[Call]:
    """`fusion_repeated_fc_relu`: products, each with a bias and a `relu`."""
    x, calls = call.first("X"), []
    outs = [*call.outputs.get("ReluOut", []), call.result()]
    for w, bias, out in zip(call.inputs["W"], call.inputs["Bias"], outs, strict=True):
        line = Line(call, names, x, out).then("mul", {"Y": w}, **FLAT).plus(bias).then("relu")
        calls += line.calls()
        x = out
    return calls


def windows(call: Call, names: Names) -> list[Call]:
    """`fusion_seqconv_eltadd_relu`: `sequence_conv`, a bias, `relu`."""
    line = Line(call, names, call.first("X"))
    attrs = kept(call, "contextLength", "contextStart", "contextStride")
    line.then("sequence_conv", {"Filter": call.first("Filter")}, paddingTrainable=False, **attrs)
    return line.plus(call.first("Bias")).then("relu").calls()


def squares(call: Call, names: Names) -> list[Call]:
    """`fusion_squared_mat_sub`: the square of a product less the product of squares, scaled."""
    x, y = call.first("X"), call.first("Y")
    product, less = (names.like(call.result(), word) for word in ("product", "less"))
    squared = {slot: call.result(slot) or names.like(call.result(), slot) for slot in SQUARED}
    return [
        made("square", {"X": x}, {"Out": squared["SquaredX"]}),
        made("square", {"X": y}, {"Out": squared["SquaredY"]}),
        made("matmul_v2", {"X": x, "Y": y}, {"Out": product}),
        made("square", {"X": product}, {"Out": squared["SquaredXY"]}),
        made("matmul_v2", {"X": squared["SquaredX"], "Y": squared["SquaredY"]}, {"Out": less}),
        *Line(call, names, squared["SquaredXY"])
        .then("elementwise_sub", {"Y": less}, axis=-1)
        .scaled(call.get("scalar", 1.0))
        .calls(),
    ]


def pooled(call: Call, names: Names) -> list[Call]:
    """`fusion_seqpool_concat`: a row of each sequence, side by side."""
    calls, rows = [], []
    for x in call.inputs["X"]:
        row, places = names.like(call.result(), "row"), names.like(call.result(), "places")
        outputs = {"Out": row, "MaxIndex": places}
        attrs = {"pooltype": call.get("pooltype", "SUM"), "pad_value": 0.0, "is_test": True}
        calls.append(made("sequence_pool", {"X": x}, outputs, **attrs))
        rows.append(row)
    return [*calls, beside(call, rows, call.get("axis", 1))]


def beside(call: Call, parts: list[str], axis: int, out: str = "") -> Call:
    """`concat` of what was made."""
    return made("concat", {"X": parts}, {"Out": out or call.result()}, axis=axis)


def expanded(call: Call, names: Names) -> list[Call]:
    """`fusion_seqexpand_concat_fc`: rows of whole sequences beside those of each step, a layer."""
    first, *rest = call.inputs["X"]
    calls, parts = [], [first]
    for x in rest:
        parts.append(names.like(call.result(), "each"))
        slots = {"X": x, "Y": first}
        calls.append(made("sequence_expand", slots, {"Out": parts[-1]}, ref_level=0))
    joined = names.like(call.result(), "joined")
    line = Line(call, names, joined).then("mul", {"Y": call.first("FCWeight")}, **FLAT)
    line.plus(call.first("FCBias")).activated(call.get("fc_activation", "identity"))
    return [*calls, beside(call, parts, 1, joined), *line.calls()]


def flattened(call: Call, names: Names) -> list[Call]:
    """`fusion_transpose_flatten_concat`: images turned, as rows, side by side."""
    calls, parts = [], []
    for x in call.inputs["X"]:
        parts.append(names.like(call.result(), "part"))
        line = Line(call, names, x, parts[-1]).then("transpose", axis=call.get("trans_axis"))
        calls += line.then("flatten2", notes=("XShape",), axis=call.get("flatten_axis")).calls()
    return [*calls, beside(call, parts, call.get("concat_axis"))]


def restored(call: Call, names: Names) -> list[Call]:
    """`dequantize_abs_max`: numbers of 8 bits by one scale."""
    line = Line(call, names, call.first("X")).then("cast", in_dtype=BYTE, out_dtype=SINGLE)
    line.then("elementwise_mul", {"Y": call.first("Scale")}, axis=-1)
    return line.scaled(1 / call.get("max_range")).calls()


TABLE = {
    "dequantize_abs_max": restored,
    "fused_embedding_fc_lstm": lstm_of_words,
    "fusion_gru": gru,
    "fusion_lstm": lstm,
    "fusion_repeated_fc_relu": layers,
    "fusion_seqconv_eltadd_relu": windows,
    "fusion_seqexpand_concat_fc": expanded,
    "fusion_seqpool_concat": pooled,
    "fusion_squared_mat_sub": squares,
    "fusion_transpose_flatten_concat": flattened,
}
