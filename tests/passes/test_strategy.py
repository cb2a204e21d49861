"""A strategy applied to a Program itself, by the door that older code knows."""

import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError
from scull.framework.ir import _apply_pass, apply_build_strategy, get_data_vars
from tests.passes.check import Recorded, f32, types


def layer(x):
    loss = paddle.nn.functional.relu(paddle.nn.Linear(3, 4)(x)).mean()
    paddle.optimizer.Momentum(0.1).minimize(loss)
    return loss


def test_the_program_changes_and_the_strategy_is_what_is_left_to_do():
    recorded = Recorded(layer, f32(2, 3))
    (before,), kept = recorded.run()
    strategy = paddle.static.BuildStrategy()
    strategy.fuse_gemm_epilogue = strategy.fuse_all_optimizer_ops = strategy.enable_addto = True
    rest = apply_build_strategy(recorded.main, paddle.static.Program(), strategy, {})
    assert strategy.fuse_gemm_epilogue and not rest.fuse_gemm_epilogue
    assert not rest.fuse_all_optimizer_ops and rest.enable_addto
    found = types(recorded.main)
    assert found[0] == "fused_gemm_epilogue" and found[-1] == "merged_momentum"
    (after,), left = recorded.run()
    assert before == after
    assert all((kept[name] == left[name]).all() for name in kept)
    assert get_data_vars(recorded.main) == ["x0"]


def test_values_that_are_to_stay_are_named():
    recorded = Recorded(lambda x: paddle.nn.functional.relu(x + x), f32(2))
    _apply_pass(
        recorded.main,
        paddle.static.Program(),
        ["fuse_elewise_add_act_pass"],
        {"fetches": ["tmp_0"]},
    )
    assert types(recorded.main) == ["elementwise_add", "relu"]


def test_wrong_settings_and_unknown_passes_are_refused():
    program = paddle.static.Program()
    with pytest.raises(ArgumentTypeError, match="pass_attrs must be dict"):
        _apply_pass(program, program, "is_test_pass", [])
    with pytest.raises(ArgumentError, match="there is no pass `nothing`"):
        _apply_pass(program, program, "nothing")
