"""Pipelines: names, what they print, what they say, and how a broken Program is shown."""

import pytest

import scull as paddle
from scull.errors import ArgumentError, ProgramError
from scull.flags import flags
from scull.ir.clone import copied
from scull.passes import pipeline
from scull.passes.catalogue import PASSES
from scull.passes.pipeline import Pipeline
from scull.passes.selection import INFERENCE, PLANNED, SIMPLIFYING, SWITCHES, asked
from scull.passes.work import Pass
from tests.passes.check import Recorded, f32, types


def make(x):
    return paddle.tanh(paddle.exp(x) * paddle.ones([1])) + paddle.exp(x)


def test_a_pipeline_prints_its_passes(golden):
    assert str(Pipeline(PASSES)) == golden


def test_selections_name_passes_that_there_are():
    named = {*INFERENCE, *SIMPLIFYING, *PLANNED, *(n for names in SWITCHES.values() for n in names)}
    assert named <= set(PASSES)
    assert all(PASSES[name].exact for name in SIMPLIFYING)
    assert set(SWITCHES) <= set(paddle.static.BuildStrategy.settings)
    with pytest.raises(ArgumentError, match="there is no pass `nothing`; there are is_test_pass"):
        Pipeline(["nothing"])


def test_the_program_itself_stays_as_it_is_and_reasons_are_told(golden):
    recorded = Recorded(make, f32(2))
    before = str(recorded.main)
    outcome = recorded.through(*SIMPLIFYING)
    assert str(recorded.main) == before
    assert types(outcome.program) == ["exp", "tanh", "elementwise_add"]
    assert outcome.explain() == golden


def test_debug_3_prints_programs_after_passes_and_5_what_stays(capsys):
    def several(x):
        paddle.tanh(x)
        return paddle.exp(x), paddle.exp(x), x * paddle.ones([1]) + x

    recorded = Recorded(several, f32(2))
    with flags(DEBUG=3):
        recorded.through(*SIMPLIFYING)
    shown = capsys.readouterr().out
    assert shown.count("after ") == 2 and "block_idx:0" in shown and "stays" not in shown
    with flags(DEBUG=5):
        recorded.through(*SIMPLIFYING)
    assert "stays: `exp_1.tmp_0` is fetched" in capsys.readouterr().out


def test_a_pass_that_breaks_a_program_is_named_with_the_operators_around(monkeypatch):
    def broken(work):
        block = work.program.global_block()
        block.ops.insert(9, block.ops.pop(4))

    monkeypatch.setitem(PASSES, "breaking_pass", Pass("breaking_pass", "breaks", broken))

    def chain(x):
        for _ in range(10):
            x = paddle.tanh(x)
        return x

    recorded = Recorded(chain, f32(2))
    with pytest.raises(ProgramError) as raised:
        recorded.through("breaking_pass")
    text = str(raised.value)
    assert "after breaking_pass: " in text and text.count("= tanh(") == 9 and "->    4" in text


def test_switches_of_a_strategy_ask_for_passes():
    strategy = paddle.static.BuildStrategy()
    assert asked(strategy) == ()
    strategy.fuse_gemm_epilogue = strategy.enable_addto = strategy.enable_auto_fusion = True
    strategy.fuse_elewise_add_act_ops = True
    assert asked(strategy) == (
        "fuse_gemm_epilogue_pass",
        "fuse_elewise_add_act_pass",
        "fuse_activations_pass",
    )


def test_a_compiled_program_goes_through_the_passes_of_its_strategy():
    def layer(x):
        y = paddle.nn.functional.relu(paddle.nn.Linear(3, 4)(x))
        loss = y.mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
        return loss

    recorded = Recorded(layer, f32(2, 3))
    strategy = paddle.static.BuildStrategy()
    strategy.fuse_gemm_epilogue = strategy.fuse_all_optimizer_ops = True
    runs = []
    for program in (recorded.main, paddle.static.CompiledProgram(recorded.main, strategy)):
        scope = paddle.static.Scope()
        for name, cell in recorded.scope.cells.items():
            scope.var(name).value = cell.value.copy()
        exe = paddle.static.Executor()
        runs.append(
            [
                exe.run(program, recorded.feeds, recorded.names, scope=scope)[0].item()
                for _ in range(3)
            ]
        )
    assert runs[0] == runs[1]
    plans = [bound.plan for bound in recorded.main.plans.values()]
    ran = {step.operator.type for plan in plans for step in plan.instructions}
    assert {"fused_gemm_epilogue", "merged_adam"} <= ran


def test_what_a_compiled_program_leaves_in_the_scope_is_kept_apart():
    recorded = Recorded(lambda x: paddle.nn.functional.relu(x + 1.0 * x), f32(3))
    strategy = paddle.static.BuildStrategy()
    strategy.fuse_elewise_add_act_ops = True
    compiled = paddle.static.CompiledProgram(recorded.main, strategy)
    compiled._graph.set("skip_gc_vars", {"tmp_1"})
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    exe.run(compiled, recorded.feeds, recorded.names, scope=scope)
    assert scope.find_var("tmp_1").value is not None


def test_a_pipeline_may_run_again_on_what_it_made():
    recorded = Recorded(make, f32(2))
    outcome = recorded.through(*SIMPLIFYING)
    again = Pipeline(SIMPLIFYING).run(outcome.program, recorded.feeds, recorded.names)
    assert str(again.program) == str(copied(outcome.program)) and not again.fired()
    assert pipeline.passed(recorded.main, recorded.feeds, recorded.names, SIMPLIFYING)
