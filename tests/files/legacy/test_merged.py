"""Operators that passes for inference made of several, over sequences, and what is refused."""

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import UnsupportedError
from scull.files import proto
from scull.files.legacy.call import made, message_of
from scull.files.program import program_of
from scull.incubate.nn import functional as F
from tests.files.legacy.case import Generator
from tests.files.legacy.network import tensor_bytes

LEVELS = [[2, 1, 3]]
ELEMENTS = {"float32": proto.VarType.FP32, "int64": proto.VarType.INT64, "int8": proto.VarType.INT8}


def run(type, inputs, results, levelled=("X.0",), **attrs):
    """The results of one operator of a file, on arrays by slot."""
    message = proto.ProgramDesc()
    block = message.blocks.add(idx=0, parent_idx=-1)
    feed, slots = {}, {}
    for slot, given in inputs.items():
        given = given if isinstance(given, list) else [given]
        slots[slot] = [f"{slot}.{i}" for i in range(len(given))]
        feed |= dict(zip(slots[slot], given, strict=True))
    sizes = {name: x.shape for name, x in feed.items()} | dict.fromkeys(results, (-1, -1))
    for name, shape in sizes.items():
        variable = block.vars.add(name=name).type
        variable.type = proto.VarType.LOD_TENSOR
        dtype = str(feed[name].dtype) if name in feed else "float32"
        variable.lod_tensor.tensor.data_type = ELEMENTS[dtype]
        variable.lod_tensor.tensor.dims[:] = shape
    call = made(type, slots, {name: name for name in results}, **attrs)
    block.ops.append(message_of(call, proto.OpDesc()))
    program = program_of(message.SerializeToString())
    for name in [n for n in levelled if len(feed.get(n, ())) == sum(*LEVELS)]:
        feed[name] = paddle.base.create_lod_tensor(feed[name], LEVELS, paddle.CPUPlace())
    found = static.Executor().run(program, feed, list(results), return_numpy=False)
    return [np.array(x) for x in found]


def tensor(x):
    return paddle.to_tensor(x)


def close(found, expected):
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, 1e-5, 1e-6)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_product_and_the_gates_of_a_gru_are_one_operator(backwards):
    g = Generator("gru")
    x, w, inner, bias = g.real(6, 3), g.real(3, 12), g.real(4, 12), g.real(1, 12)
    start = {"H0": g.real(3, 4), "Bias": bias}
    attrs = {"activation": "tanh", "gate_activation": "sigmoid", "is_reverse": backwards}
    one = {"X": x, "WeightX": w, "WeightH": inner}
    found = run("fusion_gru", one | start, ["Hidden"], use_seq=True, use_mkldnn=False, **attrs)
    apart = {"Input": x @ w, "Weight": inner}
    close(found, run("gru", apart | start, ["Hidden"], ["Input.0"], **attrs))


@pytest.mark.parametrize("peepholes", [False, True])
def test_a_product_or_rows_of_one_and_the_gates_of_an_lstm_are_one_operator(peepholes):
    g = Generator("lstm")
    x, w, inner = g.real(6, 3), g.real(3, 16), g.real(4, 16)
    bias, results = g.real(1, 28 if peepholes else 16), ["Hidden", "Cell"]
    start = {"H0": g.real(3, 4), "C0": g.real(3, 4), "Bias": bias, "WeightH": inner}
    attrs = {"use_peepholes": peepholes, "cell_activation": "relu"}
    found = run("fusion_lstm", {"X": x, "WeightX": w} | start, results, **attrs)
    apart = {"Input": x @ w, "Weight": start.pop("WeightH")} | start
    close(found, run("lstm", apart, results, ["Input.0"], **attrs))
    ids, products = g.whole(6, 1), g.real(5, 3) @ w + bias[:, :16]  # the bias is in the table
    words = {"Ids": ids, "Embeddings": products, "WeightH": inner} | start
    found = run("fused_embedding_fc_lstm", words, results, ["Ids.0"], **attrs)
    rows = {"Input": products[ids[:, 0]] - bias[:, :16]}
    close(found, run("lstm", apart | rows, results, ["Input.0"], **attrs))


def test_windows_of_a_sequence_a_bias_and_an_activation_are_one_operator():
    g = Generator("windows")
    x, w, bias = g.real(6, 2), g.real(6, 4), g.real(4)
    attrs = {"contextLength": 3, "contextStart": -1, "contextStride": 1}
    given = {"X": x, "Filter": w, "Bias": bias}
    (found,) = run("fusion_seqconv_eltadd_relu", given, ["Out"], **attrs)
    (products,) = run("sequence_conv", {"X": x, "Filter": w}, ["Out"], **attrs)
    close([found], [np.maximum(products + bias, 0)])


def test_rows_of_sequences_stand_beside_one_another():
    x, y = np.arange(12.0, dtype="float32").reshape(6, 2), np.ones((6, 1), "float32")
    given = {"X": [x, y]}
    levelled = ("X.0", "X.1")
    (found,) = run("fusion_seqpool_concat", given, ["Out"], levelled, pooltype="SUM", axis=1)
    assert found.tolist() == [[2.0, 4.0, 2.0], [4.0, 5.0, 1.0], [24.0, 27.0, 3.0]]


def test_a_row_of_each_sequence_stands_beside_every_step():
    g = Generator("expanded")
    x, y, w, bias = g.real(6, 2), g.real(3, 1), g.real(3, 4), g.real(4)
    given = {"X": [x, y], "FCWeight": w, "FCBias": bias}
    (found,) = run("fusion_seqexpand_concat_fc", given, ["Out"], fc_activation="tanh")
    each = np.repeat(y, LEVELS[0], 0)
    close([found], [np.tanh(np.concatenate([x, each], 1) @ w + bias)])


def test_what_older_passes_left_in_an_operator_of_today_is_done_too():
    g = Generator("older")
    x, w, bias, more = g.real(1, 2, 3, 3), g.real(4, 2, 1, 1), g.real(4), g.real(1, 4, 3, 3)
    windows = {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 1}
    attrs = windows | {"use_mkldnn": True, "fuse_residual_connection": True}
    whole = {"Input": x, "Filter": w, "Bias": bias, "ResidualData": more}
    (found,) = run("conv2d", whole, ["Output"], fuse_relu=True, **attrs)
    product = np.einsum("nchw,oc->nohw", x, w[..., 0, 0]) + bias[:, None, None] + more
    close([found], [np.maximum(product, 0)])
    bound = {"fuse_brelu": True, "fuse_brelu_threshold": 0.5}
    (found,) = run("conv2d", whole, ["Output"], **bound, **attrs)
    close([found], [np.clip(product, 0, 0.5)])
    attrs = windows | {"activation": "tanh", "workspace_size_MB": 4, "exhaustive_search": False}
    (found,) = run("conv2d_fusion", whole, ["Output"], **attrs)
    close([found], [np.tanh(product)])
    two = {"X": g.real(2, 3), "Y": g.real(3, 2)}
    attrs = {"use_mkldnn": True, "fused_transpose_Out": [1, 0], "alpha": 0.5}
    (found,) = run("matmul", two, ["Out"], **attrs)
    close([found], [0.5 * (two["X"] @ two["Y"]).T])
    attrs = {"fuse_activation": "relu", "axis": -1}
    (found,) = run("elementwise_sub", {"X": x, "Y": x + 1}, ["Out"], use_mkldnn=True, **attrs)
    assert (found == 0).all()
    (found,) = run("elementwise_sub", {"X": x, "Y": x + 1}, ["Out"], use_mkldnn=False, **attrs)
    close([found], [np.full_like(x, -1)])


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_attention_with_its_products_and_norms_is_one_operator(before, flat):
    g = Generator("attention")
    x, w, bias = g.real(2, 3, 4), g.real(3, 2, 2, 4), g.real(3, 2, 2)
    behind, mask, scale = g.real(4, 4), g.real(2, 1, 3, 3), g.real(4)
    if flat:
        w, bias = np.ascontiguousarray(w.reshape(12, 4).T), bias.reshape(12)
    norm = {"LnScale" if before else "Ln2Scale": scale, "LnBias" if before else "Ln2Bias": scale}
    given = {"X": x, "QKVW": w, "QKVBias": bias, "SrcMask": mask, "OutLinearW": behind}
    attrs = {"pre_layer_norm": before, "transpose_qkv_wb": flat, "dropout_rate": 0.5}
    attrs |= {"num_heads": 2 if flat else -1, "is_test": True, "add_residual": True}
    attrs["dropout_implementation"] = "downgrade_in_infer"
    found = run("fused_attention", given | norm, ["Y"], (), attn_dropout_rate=0.5, **attrs)
    words = ("pre_ln_scale", "pre_ln_bias") if before else ("ln_scale", "ln_bias")
    rest = {"mode": "downscale_in_infer", "attn_dropout_rate": 0.0, "training": False}
    rest |= dict.fromkeys(words, tensor(scale)) | {"qkv_bias": tensor(bias)}
    rest |= {"attn_mask": tensor(mask), "transpose_qkv_wb": flat, "num_heads": attrs["num_heads"]}
    operands = map(tensor, (x, w, behind))
    expected = F.fused_multi_head_attention(*operands, pre_layer_norm=before, **rest)
    close(found, [expected.numpy()])


@pytest.mark.parametrize("before", [False, True])
def test_the_network_of_a_transformer_is_one_operator(before):
    g = Generator("network")
    x, w, back, bias, scale = g.real(2, 3, 4), g.real(4, 6), g.real(6, 4), g.real(6), g.real(4)
    number = 1 if before else 2
    given = {"X": x, "Linear1Weight": w, "Linear2Weight": back, "Linear1Bias": bias}
    attrs = {"dropout1_rate": 0.5, "dropout2_rate": 0.5, "is_test": True, "act_method": "gelu"}
    attrs |= {"dropout1_implementation": "upscale_in_train", "pre_layer_norm": before}
    norm = {f"Ln{number}Scale": scale}
    found = run("fused_feedforward", given | norm, ["Out"], (), **attrs)
    rest = {f"ln{number}_scale": tensor(scale), "pre_layer_norm": before, "training": False}
    operands = map(tensor, (x, w, back, bias))
    expected = F.fused_feedforward(*operands, activation="gelu", **rest)
    close(found, [expected.numpy()])


def test_sums_after_dropout_and_norms_of_them_are_one_operator():
    g = Generator("sums")
    x, y, bias, scale = g.real(2, 3, 4), g.real(2, 3, 4), g.real(4), g.real(4)
    rest = {"mode": "upscale_in_train", "is_test": True}
    close(run("fused_dropout_add", {"x": x, "y": y}, ["out"], (), p=0.5, **rest), [x + y])
    attrs = {"dropout_rate": 0.0, "ln_epsilon": 1e-5}
    given = {"X": x, "Residual": y, "Bias": bias, "LnScale": scale}
    found = run("fused_bias_dropout_residual_layer_norm", given, ["Y"], (), **attrs)
    expected = F.fused_layer_norm(*map(tensor, (x + bias + y, scale, 0 * scale)), 1e-5, 1.0, 2)
    close(found, [expected[0].numpy()])
    attrs = {"epsilon": 1e-6, "begin_norm_axis": 2}
    given = {"x": x, "norm_weight": scale, "residual": y}
    found = run("rms_norm", given, ["out", "residual_out"], (), **attrs)
    expected = F.fused_rms_norm(tensor(x + y), tensor(scale), None, 1e-6, 2)
    close(found, [expected[0].numpy(), x + y])


@pytest.mark.parametrize("weights", [{}, {"norm_weight": 1, "norm_bias": 2}])
@pytest.mark.parametrize("residual", [{}, {"residual": 3, "bias": 4}])
def test_a_sum_and_its_norm_are_one_operator(weights, residual):
    x = Generator("total").real(2, 4)
    given = {
        n: np.full([2, 4] if n == "residual" else [4], v, "float32") * x[0]
        for n, v in (weights | residual).items()
    }
    attrs = {"epsilon": 1e-6, "residual_alpha": 0.5, "begin_norm_axis": 1}
    found = run("fused_bias_residual_layernorm", {"x": x} | given, ["out"], (), **attrs)
    operands = {"norm_weight": None, "norm_bias": None} | {n: tensor(v) for n, v in given.items()}
    close(found, [F.fused_layer_norm(tensor(x), **operands, **attrs)[0].numpy()])


@pytest.mark.parametrize("causal", [False, True])
def test_attention_with_a_bias_of_its_scores_is_one_operator(causal):
    g = Generator("biased")
    q, k, v, bias = g.real(2, 3, 2, 4), g.real(2, 3, 2, 4), g.real(2, 3, 2, 4), g.real(2, 1, 3, 3)
    given = {"query": q, "key": k, "value": v, "bias": bias}
    attrs = {"causal": causal, "scale": -1.0, "is_test": True, "dropout_p": 0.5}
    found = run("memory_efficient_attention", given, ["output"], (), **attrs)
    later = np.triu(np.full((3, 3), -np.inf, "float32"), 1) if causal else 0
    operands = map(tensor, (q, k, v, bias + later))
    close(found, [paddle.nn.functional.scaled_dot_product_attention(*operands).numpy()])


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("axes", [2, 4])
@pytest.mark.parametrize("picked", [False, True])
def test_pairs_of_numbers_are_turned_by_tables_of_any_form(neighbours, axes, picked):
    g = Generator("turned")
    q, k, sin, cos = g.real(2, 3, 2, 4), g.real(2, 3, 1, 4), g.real(3, 4), g.real(3, 4)
    given = {"q": q, "k": k, "sin": sin, "cos": cos}
    if axes == 4:
        given |= {"sin": sin[None, :, None], "cos": cos[None, :, None]}
    if picked:
        given["position_ids"] = g.whole(2, 3, high=3)
    rest = {"use_neox_rotary_style": neighbours}
    found = run("fused_rotary_position_embedding", given, ["out_q", "out_k"], (), **rest)
    operands = {name: tensor(x) for name, x in given.items()}
    expected = F.fused_rotary_position_embedding(**operands, **rest)
    close(found, [x.numpy() for x in expected[:2]])


def test_attention_of_what_lies_side_by_side_is_one_operator():
    x = Generator("alone").real(2, 3, 3, 2, 4)
    (found,) = run("self_dp_attention", {"X": x}, ["Out"], (), alpha=0.5, head_number=2)
    parts = [tensor(x[:, :, i]) for i in range(3)]  # the factor is one over the root of 4
    close([found], [paddle.nn.functional.scaled_dot_product_attention(*parts).numpy()])


def test_operators_on_8_bits_and_unknown_activations_are_refused_by_name():
    x = np.ones((2, 3), "float32")
    two, slots = {"X": x, "Y": x}, ["Out"]
    with pytest.raises(UnsupportedError, match=r"`fused_elementwise_add`\): scale_x: an operator"):
        run("fused_elementwise_add", two, slots, scale_x=2.0)
    with pytest.raises(UnsupportedError, match="no activation is 'round'; there are relu, "):
        run("fused_elementwise_add", two, slots, fuse_activation="round")
    with pytest.raises(UnsupportedError, match="activation_type is 'tanh', not 'relu'"):
        run("fc", {"Input": x, "W": x.T}, slots, activation_type="tanh")
    heads = {
        "Input": x[None],
        "W": np.ones((3, 3, 2), "float32"),
        "Bias": np.ones((3, 2), "float32"),
    }
    with pytest.raises(UnsupportedError, match="other operands than the keys are transposed"):
        run("multihead_matmul", heads, slots, transpose_Q=True, head_number=1)


def test_of_an_attribute_that_comes_twice_the_last_one_counts():
    message = proto.ProgramDesc()
    block = message.blocks.add(idx=0, parent_idx=-1)
    for name in ("x", "out"):
        block.vars.add(name=name).type.type = proto.VarType.LOD_TENSOR
    call = made(
        "fused_elementwise_add", {"X": "x", "Y": "x"}, {"Out": "out"}, fuse_activation="abs"
    )
    operator = message_of(call, proto.OpDesc())
    operator.attrs.add().CopyFrom(operator.attrs[0])
    operator.attrs[1].s = "tanh"
    block.ops.append(operator)
    program = program_of(message.SerializeToString())
    assert [o.type for o in program.global_block().ops] == ["elementwise_add", "tanh"]


def test_weights_of_which_a_file_tells_no_shape_are_loaded(tmp_path):
    message = proto.ProgramDesc()
    block = message.blocks.add(idx=0, parent_idx=-1)
    block.vars.add(name="w", persistable=True).type.type = proto.VarType.LOD_TENSOR
    (tmp_path / "__model__").write_bytes(message.SerializeToString())
    weight = np.ones((2, 3), "float32")
    (tmp_path / "w").write_bytes(tensor_bytes(weight))
    scope = static.Scope()
    with static.scope_guard(scope):
        static.load_inference_model(str(tmp_path), static.Executor())
    assert (np.array(scope.find_var("w").get_tensor()) == weight).all()
