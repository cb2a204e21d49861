"""Operators of transformers as passes and layers for GPUs join them: attention, sums and norms."""

from typing import Any

from scull.errors import UnsupportedError
from scull.files.legacy.call import Call, Names, made
from scull.files.legacy.line import Line

FLAT: dict[str, Any] = {"x_num_col_dims": 2, "y_num_col_dims": 1}


def normal(line: Line, scale: str, bias: str, epsilon: float, axis: int) -> Line:
    """The line, then `layer_norm`."""
    found = {slot: name for slot, name in (("Scale", scale), ("Bias", bias)) if name}
    attrs: dict[str, Any] = {"epsilon": epsilon, "begin_norm_axis": axis}
    return line.then("layer_norm", found, ("X", "Y"), ("Mean", "Variance"), **attrs)


def dropped(line: Line, prefix: str = "dropout_") -> Line:
    """The line, then the dropout that attributes with a prefix tell of."""
    call = line.call
    rate, mode = call.get(f"{prefix}rate", 0.5), call.get(f"{prefix}implementation", "")
    if call.get("is_test", False) or rate == 0:
        return line.scaled(1 - rate) if mode == "downgrade_in_infer" else line
    seeds = {n: call.get(f"{prefix}{n}", v) for n, v in (("fix_seed", False), ("seed", 0))}
    attrs = {"dropout_prob": rate, "dropout_implementation": mode or "downgrade_in_infer"}
    return line.then("dropout", notes=("Mask",), is_test=False, **attrs, **seeds)


def linear(line: Line, w: str, bias: str) -> Line:
    """The line, then a product with a bias."""
    return line.then("matmul_v2", {"Y": w}, trans_x=False, trans_y=False).plus(bias)


def skipped(call: Call, names: Names) -> list[Call]:
    """`skip_layernorm`: a sum, and that normal."""
    line = Line(call, names, call.first("X")).plus(call.first("Y"))
    axis, epsilon = call.get("begin_norm_axis", 2), call.get("epsilon", 1e-5)
    return normal(line, call.first("Scale"), call.first("Bias"), epsilon, axis).calls()


def layer(call: Call, names: Names) -> list[Call]:
    """`fused_fc_elementwise_layernorm`: a product with bias and activation, a sum, that normal."""
    columns: dict[str, Any] = {"x_num_col_dims": call.get("x_num_col_dims", 1)}
    line = Line(call, names, call.first("X"))
    line.then("mul", {"Y": call.first("W")}, y_num_col_dims=1, **columns)
    line.plus(call.first("Bias0")).activated(call.get("activation_type", ""))
    axis, epsilon = call.get("begin_norm_axis", 1), call.get("epsilon", 1e-5)
    line.plus(call.first("Y"))
    return normal(line, call.first("Scale"), call.first("Bias1"), epsilon, axis).calls()


def words(call: Call, names: Names) -> list[Call]:
    """`fused_embedding_eltwise_layernorm`: the sum of rows of tables, and that normal."""
    calls, rows = [], []
    for ids, table in zip(call.inputs["Ids"], call.inputs["Embs"], strict=True):
        rows.append(names.like(call.result(), "rows"))
        column = (names.shape(ids) or [0])[-1] == 1
        type = "lookup_table" if column else "lookup_table_v2"
        calls.append(made(type, {"Ids": ids, "W": table}, {"Out": rows[-1]}, padding_idx=-1))
    total = names.like(call.result(), "sum")
    calls.append(made("sum", {"X": rows}, {"Out": total}))
    line, epsilon = Line(call, names, total), call.get("epsilon", 1e-5)
    return [*calls, *normal(line, call.first("Scale"), call.first("Bias"), epsilon, 2).calls()]


def weighed(line: Line, alpha: float, mask: str, prefix: str = "") -> tuple[list[Call], Line]:
    """What takes queries, keys and values apart, and the line of their attention.

    The line begins with all three, as ``[batch, places, 3, heads, numbers]``.
    """
    call, names = line.call, line.names
    parts = [names.like(line.out, word) for word in ("queries", "keys", "values")]
    whole = names.like(line.out, "turned")
    calls = line.then("transpose", axis=[2, 0, 3, 1, 4]).into(whole)
    calls += [part_of(whole, out, i) for i, out in enumerate(parts)]
    found = Line(call, names, parts[0], line.out)
    found.then("matmul_v2", {"Y": parts[1]}, trans_x=False, trans_y=True)
    found.scaled(alpha).plus(mask).then("softmax", axis=-1)
    if prefix:
        dropped(found, prefix)
    found.then("matmul_v2", {"Y": parts[2]}, trans_x=False, trans_y=False)
    return calls, found.then("transpose", axis=[0, 2, 1, 3])


def part_of(x: str, out: str, place: int) -> Call:
    """One place along the first axis."""
    window = {"axes": [0], "starts": [place], "ends": [place + 1], "decrease_axis": [0]}
    return made("slice", {"Input": x}, {"Out": out}, **window)


def attention(call: Call, names: Names) -> list[Call]:
    """`multihead_matmul`: queries, keys and values by one product, and what they make."""
    turns = {"transpose_Q": False, "transpose_K": True, "transpose_V": False}
    if any(call.get(name, usual) != usual for name, usual in turns.items()):
        raise UnsupportedError(f"{call.where}: other operands than the keys are transposed")
    w, bias = (names.like(call.result(), word) for word in ("weight", "bias"))
    line = Line(call, names, call.first("Input")).then("mul", {"Y": w}, **FLAT).plus(bias)
    line.then("reshape", shape=[0, 0, 3, call.get("head_number", 1), -1])
    calls, found = weighed(line, call.get("alpha", 1.0), call.first("BiasQK"))
    return [
        made("reshape", {"X": call.first("W")}, {"Out": w}, shape=[0, -1]),
        made("reshape", {"X": call.first("Bias")}, {"Out": bias}, shape=[-1]),
        *calls,
        *found.then("reshape", shape=[0, 0, -1]).calls(),
    ]


def attention_alone(call: Call, names: Names) -> list[Call]:
    """`self_dp_attention`: what queries, keys and values side by side make."""
    calls, found = weighed(Line(call, names, call.first("X")), call.get("alpha", 1.0), "")
    return [*calls, *found.calls()]


def attention_layer(call: Call, names: Names) -> list[Call]:
    """`fused_attention`: a norm, attention with its products, dropout, a sum, a norm."""
    if call.first("CacheKV"):
        raise UnsupportedError(f"{call.where}: attention from a cache on is not run")
    x, y, flat = call.first("X"), call.result("Y"), call.get("transpose_qkv_wb", False)
    sizes, before = names.shape(call.first("QKVW")) or [], call.get("pre_layer_norm", False)
    if len(sizes) != (2 if flat else 4) or min(sizes) < 1:
        raise UnsupportedError(f"{call.where}: QKVW is of shape {sizes}")
    heads = call.get("num_heads", 1) if flat else sizes[1]
    w, line = call.first("QKVW"), Line(call, names, x, y)
    made_before: list[Call] = []
    if before:
        epsilon = call.get("epsilon", 1e-5)
        normal(line, call.first("LnScale"), call.first("LnBias"), epsilon, 2)
    if not flat:
        w = names.like(w, "matrix", [sizes[0] * sizes[1] * sizes[2], sizes[3]])
        shape = [-1, sizes[3]]
        made_before.append(made("reshape", {"X": call.first("QKVW")}, {"Out": w}, shape=shape))
    line.then("matmul_v2", {"Y": w}, trans_x=False, trans_y=not flat)
    line.then("reshape", shape=[0, 0, 3, heads, -1])
    if bias := call.first("QKVBias"):
        row = names.like(bias, "parts")
        made_before.append(made("reshape", {"X": bias}, {"Out": row}, shape=[3, heads, -1]))
        line.plus(row)
    alpha = ((sizes[0] // heads) if flat else sizes[2]) ** -0.5
    calls, found = weighed(line, alpha, call.first("SrcMask"), "attn_dropout_")
    found.then("reshape", shape=[0, 0, -1])
    dropped(linear(found, call.first("OutLinearW"), call.first("OutLinearBias")))
    found.plus(x if call.get("add_residual", True) else "")
    if not before:
        epsilon = call.get("ln_epsilon", 1e-5)
        normal(found, call.first("Ln2Scale"), call.first("Ln2Bias"), epsilon, 2)
    return [*made_before, *calls, *found.calls()]


def network(call: Call, names: Names) -> list[Call]:
    """`fused_feedforward`: a norm, two products with their dropouts, a sum, a norm."""
    x, before = call.first("X"), call.get("pre_layer_norm", False)
    norms = [
        (call.first(f"Ln{i}Scale"), call.first(f"Ln{i}Bias"), call.get(f"ln{i}_epsilon", 1e-5), 2)
        for i in (1, 2)
    ]
    line = Line(call, names, x)
    if before:
        normal(line, *norms[0])
    linear(line, call.first("Linear1Weight"), call.first("Linear1Bias"))
    dropped(line.activated(call.get("act_method", "gelu")), "dropout1_")
    linear(line, call.first("Linear2Weight"), call.first("Linear2Bias"))
    dropped(line, "dropout2_").plus(x if call.get("add_residual", True) else "")
    return (line if before else normal(line, *norms[1])).calls()


def normal_sum(call: Call, names: Names) -> list[Call]:
    """`fused_bias_dropout_residual_layer_norm`: a bias, dropout, a sum, that normal."""
    x = call.first("X")
    axis = len(names.shape(x) or [0, 0, 0]) - 1
    line = dropped(Line(call, names, x, call.result("Y")).plus(call.first("Bias")))
    line.plus(call.first("Residual"))
    epsilon = call.get("ln_epsilon", 1e-5)
    return normal(line, call.first("LnScale"), call.first("LnBias"), epsilon, axis).calls()


def sum_after_dropout(call: Call, names: Names) -> list[Call]:
    """`fused_dropout_add`: dropout, a sum."""
    if call.first("seed_tensor"):
        raise UnsupportedError(f"{call.where}: a seed is no tensor")
    mode = {"upscale_in_train": "upscale_in_train"}.get(call.get("mode", ""), "downgrade_in_infer")
    attrs = {"dropout_prob": call.get("p", 0.5), "dropout_implementation": mode}
    attrs |= {"is_test": call.get("is_test", False), "fix_seed": call.get("fix_seed", False)}
    line = Line(call, names, call.first("x"), call.result("out"))
    line.then("dropout", notes=("Mask",), seed=call.get("seed", 0), **attrs)
    return line.plus(call.first("y")).calls()


def root_mean_square(call: Call, names: Names) -> list[Call]:
    """`rms_norm`: a sum over the root of the mean of its squares."""
    x, out = call.first("x"), call.result("out")
    rank, axis = len(names.shape(x) or []), call.get("begin_norm_axis", -1)
    if axis % max(rank, 1) != rank - 1 or call.get("quant_scale", -1.0) > 0:
        raise UnsupportedError(f"{call.where}: the norm is over the last axis, not of 8 bits")
    calls: list[Call] = []
    if call.first("bias") or call.first("residual"):
        total = call.result("residual_out") or names.like(out, "sum")
        summed = Line(call, names, x, total).plus(call.first("bias")).plus(call.first("residual"))
        calls, x = summed.calls(), total
    factor = names.like(out, "factor")
    root = Line(call, names, x, factor).then("square")
    root.then("reduce_mean", dim=[rank - 1], keep_dim=True, reduce_all=False)
    attrs: dict[str, Any] = {"bias": call.get("epsilon", 1e-5), "bias_after_scale": True}
    calls += root.then("scale", scale=1.0, **attrs).then("rsqrt").calls()
    line = Line(call, names, x, out)
    for y in (factor, call.first("norm_weight")):
        line.then("elementwise_mul", {"Y": y}, axis=-1)
    return [*calls, *line.plus(call.first("norm_bias")).calls()]


def normal_total(call: Call, names: Names) -> list[Call]:
    """`fused_bias_residual_layernorm`: a bias, a sum, that normal."""
    if call.get("quant_scale", -1.0) > 0:
        raise UnsupportedError(f"{call.where}: results are not of 8 bits")
    out, residual = call.result("out"), call.first("residual")
    weights, alpha = (call.first("norm_weight"), call.first("norm_bias")), 1.0
    calls: list[Call] = []
    if residual:
        alpha = call.get("residual_alpha", 1.0)
        part = names.like(residual, "part")
        calls = Line(call, names, residual, part).scaled(alpha).calls()
        residual = part
    line = Line(call, names, call.first("x")).plus(call.first("bias")).plus(residual)
    if not any(weights):
        return [*calls, *line.into(out)]
    total = call.result("residual_out") or names.like(out, "sum")
    found = Line(call, names, total, out)
    epsilon, axis = call.get("epsilon", 1e-5), call.get("begin_norm_axis", 1)
    return [*calls, *line.into(total), *normal(found, *weights, epsilon, axis).calls()]


def attention_by_bias(call: Call, names: Names) -> list[Call]:
    """`memory_efficient_attention`: attention with what is added to the scores."""
    lengths = ("cu_seqlens_q", "cu_seqlens_k", "causal_diagonal", "seqlen_k")
    if any(map(call.first, lengths)):
        raise UnsupportedError(f"{call.where}: sequences of several lengths are not run")
    if call.get("dropout_p", 0.0) and not call.get("is_test", False):
        raise UnsupportedError(f"{call.where}: it drops weights; that is for training")
    query, scale, calls, turned = call.first("query"), call.get("scale", -1.0), [], []
    for slot in ("query", "key", "value"):
        turned.append(names.like(call.first(slot), "turned"))
        operands = {"X": call.first(slot)}
        calls.append(made("transpose", operands, {"Out": turned[-1]}, axis=[0, 2, 1, 3]))
    line = Line(call, names, turned[0], call.result("output"))
    line.then("matmul_v2", {"Y": turned[1]}, trans_x=False, trans_y=True)
    line.scaled(scale if scale > 0 else (names.shape(query) or [1])[-1] ** -0.5)
    line.plus(call.first("bias"))
    if call.get("causal", False):
        line.then("fused_softmax_mask_upper_triangle")
    else:
        line.then("softmax", axis=-1)
    line.then("matmul_v2", {"Y": turned[2]}, trans_x=False, trans_y=False)
    return [*calls, *line.then("transpose", axis=[0, 2, 1, 3]).calls()]


def turned(call: Call, names: Names) -> list[Call]:
    """`fused_rotary_position_embedding`: pairs of numbers turned by angles, of up to three."""
    if not (call.first("sin") and call.first("cos")):
        raise UnsupportedError(f"{call.where}: sin and cos are not given")
    calls: list[Call] = []
    tables = [table(call, names, call.first(slot), calls) for slot in ("sin", "cos")]
    for name in "qkv":
        if call.first(name) and call.result(f"out_{name}"):
            calls += turned_one(call, names, call.first(name), call.result(f"out_{name}"), *tables)
    return calls


def table(call: Call, names: Names, given: str, calls: list[Call]) -> str:
    """Sines or cosines, as ``[batch or 1, places, 1, numbers]``."""
    line, ids = Line(call, names, given, names.like(given, "beside")), call.first("position_ids")
    rank = len(names.shape(given) or [])
    if not ids and rank == 4:
        return given
    if ids:
        rows, record = names.like(given, "rows"), names.like(given, "XShape")
        if rank == 4:
            outputs = {"Out": rows, "XShape": record}
            calls.append(made("squeeze2", {"X": given}, outputs, axes=[0, 2]))
            given = rows
        line.x = names.like(given, "picked")
        operands = {"W": given, "Ids": ids}
        calls.append(made("lookup_table_v2", operands, {"Out": line.x}, padding_idx=-1))
    calls += line.then("unsqueeze2", notes=("XShape",), axes=[2] if ids else [0, 2]).calls()
    return line.out


def turned_one(call: Call, names: Names, x: str, out: str, sin: str, cos: str) -> list[Call]:
    """Each pair of numbers of `x`, turned."""
    neighbours = call.get("use_neox_rotary_style", False)
    axis = 4 if neighbours else 3
    first, second, less, both, partner, part = (
        names.like(x, word) for word in ("first", "second", "less", "both", "partner", "part")
    )
    calls, pairs = [], x
    if neighbours:
        pairs = names.like(x, "pairs", [-1] * 5)
        calls.append(made("reshape", {"X": x}, {"Out": pairs}, shape=[0, 0, 0, -1, 2]))
    opposite: dict[str, Any] = {"scale": -1.0, "bias": 0.0, "bias_after_scale": True}
    calls += [
        made("split", {"X": pairs}, {"Out": [first, second]}, num=2, axis=axis, sections=[]),
        made("scale", {"X": second}, {"Out": less}, **opposite),
        made("concat", {"X": [less, first]}, {"Out": both}, axis=axis),
    ]
    if neighbours:
        calls.append(made("reshape", {"X": both}, {"Out": partner}, shape=[0, 0, 0, -1]))
    moved = {"X": partner if neighbours else both, "Y": sin}
    calls.append(made("elementwise_mul", moved, {"Out": part}, axis=-1))
    line = Line(call, names, x, out).then("elementwise_mul", {"Y": cos}, axis=-1)
    return [*calls, *line.plus(part).calls()]


TABLE = {
    "fused_attention": attention_layer,
    "fused_bias_dropout_residual_layer_norm": normal_sum,
    "fused_bias_residual_layernorm": normal_total,
    "fused_dropout_add": sum_after_dropout,
    "fused_embedding_eltwise_layernorm": words,
    "fused_fc_elementwise_layernorm": layer,
    "fused_feedforward": network,
    "fused_rotary_position_embedding": turned,
    "memory_efficient_attention": attention_by_bias,
    "multihead_matmul": attention,
    "rms_norm": root_mean_square,
    "self_dp_attention": attention_alone,
    "skip_layernorm": skipped,
}
