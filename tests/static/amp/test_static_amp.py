"""Programs in mixed precision: as the reference writes them, and they train."""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, RunError
from scull.ir.verify import verify
from tests.static.amp.networks import NETWORKS, dense, lines, programs

amp = static.amp
FILE = Path(__file__).resolve().parents[2] / "data" / "reference" / "static_amp.json"
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
VECTORS = np.random.RandomState(0).rand(4, 8).astype("float32")
PICTURES = np.random.RandomState(1).rand(4, 1, 8, 8).astype("float32")
LABELS = np.array([[0], [1], [2], [3]])


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    with static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def fed(build, scale=1.0):
    """What a network is fed."""
    if "convolution" in build.__name__:
        return {"x": PICTURES * scale}
    return {"x": VECTORS * scale, "label": LABELS}


@pytest.mark.parametrize("build", NETWORKS, ids=lambda build: build.__name__)
def test_a_program_is_rewritten_as_the_reference_does_and_trains(build):
    paddle.seed(1)
    main, startup, loss, optimizer = programs(paddle, build)
    known = RECORDED[build.__name__]
    assert lines(main) == known["main"]
    assert lines(startup) == known["startup"]
    types = {v.name: v.dtype.name for b in main.blocks for v in b.vars.values()}
    assert {n: known["types"][n] for n in types if n in known["types"]} == types
    verify(main)
    exe = static.Executor()
    exe.run(startup)
    optimizer.amp_init(paddle.CPUPlace())
    losses = [exe.run(main, fed(build), [loss])[0].item() for _ in range(6)]
    assert losses[-1] < losses[0] - 0.02, losses


@pytest.mark.parametrize("build", NETWORKS[:2], ids=lambda build: build.__name__)
def test_losses_are_nearly_those_of_float32(build):
    def trained(rewritten):
        paddle.seed(1)
        main, startup = static.Program(), static.Program()
        with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
            loss, optimizer = build(paddle)
            (optimizer if rewritten else optimizer._optimizer).minimize(loss)
        exe, scope = static.Executor(), static.Scope()
        exe.run(startup, scope=scope)
        return [exe.run(main, fed(build), [loss], scope=scope)[0].item() for _ in range(5)]

    np.testing.assert_allclose(trained(True), trained(False), rtol=5e-3)


@pytest.mark.parametrize("build", NETWORKS[1:2] + NETWORKS[5:6], ids=lambda b: b.__name__)
def test_a_step_that_overflows_changes_nothing_but_the_factor(build):
    main, startup, _, optimizer = programs(paddle, build)
    exe = static.Executor()
    exe.run(startup)
    optimizer.amp_init(paddle.CPUPlace())
    scope = static.global_scope()
    names = [p.name for p in main.all_parameters()]

    def values():
        return {n: np.array(scope.find_var(n).value) for n in names}

    def factor():
        return scope.find_var(optimizer.get_loss_scaling().name).value.item()

    before, first = values(), factor()
    exe.run(main, fed(build, np.float32(1e30)))
    exe.run(main, fed(build, np.float32(1e30)))
    for name, value in values().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    assert factor() < first
    exe.run(main, fed(build))
    assert any((values()[n] != before[n]).any() for n in names)


def test_a_program_for_tests_is_rewritten_too():
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        loss = dense(paddle)
        test = main.clone(for_test=True)
        optimizer = amp.decorate(paddle.optimizer.SGD(0.1), level="O2", dtype="bfloat16")
        optimizer.minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    optimizer.amp_init(paddle.CPUPlace(), test_program=test)
    types = [o.type for o in test.global_block().ops]
    assert types.count("cast") == 1 and "sgd" not in types
    assert test.global_block().var("fc_0.w_0").dtype is paddle.bfloat16
    assert static.global_scope().find_var("fc_0.w_0").value.dtype.name == "bfloat16"
    found = exe.run(test, fed(dense), [loss.name])[0]
    assert np.isfinite(float(found))


def test_lists_follow_the_users():
    customs = [({"softmax", "relu", "layer_norm"}, {"conv2d", "tanh"}), (None, None)]
    for custom, known in zip(customs, RECORDED["own lists"], strict=True):
        made = amp.CustomOpLists(*custom)
        assert {n: sorted(getattr(made, n)) for n in known} == known
    older = amp.bf16.AutoMixedPrecisionListsBF16({"softmax"}, {"matmul", "relu"})
    known = RECORDED["own lists of bfloat16"]
    assert {n: sorted(getattr(older, n)) for n in known} == known
    with pytest.raises(ArgumentError, match="custom_white_list overlaps custom_black_list"):
        amp.AutoMixedPrecisionLists({"relu"}, {"relu"})
    with pytest.raises(ArgumentError, match="overlap"):
        amp.bf16.AutoMixedPrecisionListsBF16({"relu"}, {"relu"})


def test_variables_on_the_black_list_keep_their_operators_in_float32():
    main = static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main):
        dense(paddle)
        lists = amp.CustomOpLists(custom_black_varnames={"fc_0.w_0"}, dtype="bfloat16")
        amp.cast_model_to_fp16(main, lists, False, "bfloat16", "O1")
    block = main.global_block()
    assert block.var("fc_0.tmp_0").dtype is paddle.float32
    assert block.var("fc_1.tmp_0").dtype is paddle.bfloat16


def test_blocks_of_control_flow_are_rewritten_too():
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        x = static.data("x", [2, 4])
        w = paddle.create_parameter([4, 4], "float32")
        y = static.nn.cond(x.sum() > 0, lambda: paddle.matmul(x, w), lambda: x * 2.0)
        loss = paddle.mean(y)
        amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16").minimize(loss)
    assert "cast" in [o.type for o in main.blocks[1].ops]
    exe = static.Executor()
    exe.run(startup)
    for sign in (1, -1):
        feed = {"x": sign * np.ones((2, 4), "float32")}
        assert np.isfinite(exe.run(main, feed, [loss])[0]).all()


def test_options_of_operators_are_those_of_where_they_were_made():
    options = amp.fp16_utils.AmpOptions(False, None, None, "O1", "float16", True)
    main = static.Program()
    with static.program_guard(main):
        dense(paddle)
    default = amp.fp16_utils.DEFAULT_AMP_OPTIONS
    amp.fp16_utils.prepare_op_amp_options(main, {0: [(options, 1, 3)]}, default)
    found = [o.amp_options for o in main.global_block().ops]
    assert found[:4] == [default, options, options, default]


def test_calls_out_of_order_and_other_words_are_refused():
    sgd = paddle.optimizer.SGD(0.1)
    wrapped = amp.decorate(sgd)
    with pytest.raises(RunError, match="minimize"):
        wrapped.get_loss_scaling()
    with pytest.raises(RunError, match="minimize"):
        wrapped.amp_init(paddle.CPUPlace())
    with pytest.raises(RunError, match="backward"):
        wrapped.apply_gradients([])
    with pytest.raises(ArgumentError, match="O0, OD, O1 or O2"):
        amp.decorate(sgd, level="O5")
    with pytest.raises(ArgumentError, match="'float16' or 'bfloat16'"):
        amp.decorate(sgd, dtype="float64")
    with pytest.raises(ArgumentTypeError, match="Optimizer"):
        amp.decorate(None)
    with pytest.raises(ArgumentTypeError, match="Program"):
        amp.cast_model_to_fp16(None)
    with pytest.raises(ArgumentError, match="float16 or bfloat16"):
        amp.cast_model_to_fp16(static.Program(), dest_type=paddle.float32)
    with pytest.raises(ArgumentTypeError, match="list of gradients"):
        amp.amp_nn.check_finite_and_unscale(None, None)
    with static.program_guard(static.Program()):
        whole = static.data("n", [2], "int64")
        with pytest.raises(DtypeError, match="fractions"):
            amp.amp_nn.check_finite_and_unscale([whole], whole)
    with pytest.warns(UserWarning, match="Dynamic loss scaling for bfloat16"):
        amp.decorate(sgd, dtype="bfloat16", use_dynamic_loss_scaling=True)


@pytest.mark.parametrize("kept", [True, False])
def test_a_layer_norm_keeps_its_scale_in_float32_unless_told(kept):
    main = static.Program()
    before = amp.fp16_utils._keep_layer_norm_scale_bias_to_fp32(kept)
    try:
        with paddle.utils.unique_name.guard(), static.program_guard(main):
            paddle.nn.LayerNorm(3)(static.data("x", [2, 3]))
            lists = amp.CustomOpLists(custom_white_list={"layer_norm"})
            amp.cast_model_to_fp16(main, lists, use_fp16_guard=False)
    finally:
        assert amp.fp16_utils._keep_layer_norm_scale_bias_to_fp32(before) is kept
    found = {v.dtype for v in main.global_block().all_parameters()}
    found |= {v.dtype for v in main.global_block().ops[-1].results()[:2]}
    assert found == {paddle.float32 if kept else paddle.float16}
    with pytest.raises(TypeError, match="one bool says"):
        amp.fp16_utils._keep_layer_norm_scale_bias_to_fp32(1)


def test_operators_are_counted_by_the_element_type_of_what_they_read(capsys):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4], "float32")
        paddle.static.nn.cond(x.sum() > 0, lambda: x.astype("float16"), lambda: x.tanh())
        paddle.ones([2], "float16")
        paddle.arange(3).astype("float32")
    paddle.static.amp.debugging.collect_operator_stats(main, print_subblocks=True)
    text = capsys.readouterr().out
    blocks = text.split("op list of ")[1:]
    assert [part.split(" -")[0] for part in blocks] == [
        "block 0",
        "block 1",
        "block 2",
        "all blocks",
    ]
    rows = {
        line.split()[0]: line.split("|")[1:] for line in blocks[-1].splitlines() if "  |" in line
    }
    counts = {name: [int(n) for n in row] for name, row in rows.items() if name != "<"}
    assert counts["cast"] == [0, 0, 1, 2]  # one for the number of the branch
    assert counts["tanh"] == [0, 0, 1, 0]
    assert counts["fill_constant"][0] == 1
    assert "tanh" not in blocks[0]
