"""The benchmarks measure what they say: counts and bytes here, times nowhere."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from benchmarks import (
    chains,
    control_flow,
    eager,
    executor,
    harness,
    loop,
    memory,
    models,
    reference,
    start,
    tiny,
)
from scull.executor.plan import make_plan
from scull.flags import flags

ROOT = Path(__file__).resolve().parent.parent.parent


def test_importing_scull_loads_nothing_heavy():
    found = start.imported()
    assert found.heavy == []
    assert 0 < found.own < found.modules


def test_a_spread_is_the_median_between_two_percentiles():
    assert harness.spread([float(n) for n in range(101)]) == harness.Spread(50.0, 10.0, 90.0)
    assert harness.spread([2.0]) == harness.Spread(2.0, 2.0, 2.0)
    assert harness.Spread(2.0, 1.0, 4.0).times(10).show(" us") == "20 us (10..40)"


def test_contenders_take_turns_and_the_first_rounds_are_dropped():
    turns = []

    def contender(name):
        return lambda: turns.append(name) or float(len(turns))

    found = harness.rounds({"a": contender("a"), "b": contender("b")}, 10)
    assert turns == ["a", "b"] * 11
    assert found["a"] == [float(n) for n in range(3, 22, 2)]


def test_a_row_beside_a_peer_has_the_ratio_of_each_round():
    row = harness.beside("chain", "<= 1x", {"scull": [1e-6, 4e-6], "torch": [2e-6, 4e-6]})
    assert row.measured == "0.75x (0.55..0.95)"
    assert row.detail == "scull 2.5 us (1.3..3.7), torch 3 us (2.2..3.8)"


def test_without_torch_a_row_says_so(monkeypatch):
    monkeypatch.setattr(harness.util, "find_spec", lambda name: None)
    harness.torch.cache_clear()
    try:
        assert [row.measured for row in eager.rows(1)] == ["torch not installed"] * 5
    finally:
        harness.torch.cache_clear()


def test_a_table_shows_each_row_as_soon_as_it_is_measured():
    measured = []

    def rows():
        for name in ("import", "a"):
            measured.append(name)
            yield harness.Row(name, "<= 0.25 s", "0.2 s", "b")

    lines = harness.table(rows())
    title, place = next(lines), slice(harness.WIDTHS[0] + 2, None)
    assert title.split() == ["figure", "asked", "measured", "detail"] and measured == []
    assert next(lines).split() == ["import", "<=", "0.25", "s", "0.2", "s", "b"]
    assert measured == ["import"]
    assert title[place].startswith("asked") and next(lines)[place].startswith("<= 0.25 s")


def bare_chain():
    """The chain by NumPy."""
    x, y = eager.SMALL
    for _ in range(eager.LENGTH // 2):
        x = (x + y) * y
    return x


def test_both_ways_to_write_the_chain_compute_it():
    x, y = map(paddle.to_tensor, eager.SMALL)
    for chain in (eager.by_operators, eager.by_functions(paddle.add, paddle.multiply)):
        assert np.array_equal(chain(x, y).numpy(), bare_chain())


def test_the_program_of_tiny_operators_is_what_bare_numpy_computes():
    main, out = tiny.program(paddle)
    (found,) = paddle.static.Executor().run(main, feed=tiny.OPERANDS, fetch_list=[out])
    assert np.allclose(found, tiny.chain(tiny.calls(np), tiny.OPERANDS), rtol=1e-5)
    assert np.isfinite(found).all()
    (plan,) = [bound.plan for bound in main.plans.values()]
    assert len(plan.steps) == tiny.LENGTH == 200


def test_without_paddlepaddle_a_row_says_so(monkeypatch):
    monkeypatch.delenv("SCULL_PADDLE_PYTHON", raising=False)
    row = executor.beside_paddlepaddle(2)
    assert row.measured == "SCULL_PADDLE_PYTHON names no Python"
    assert row.detail.startswith("scull ")


def test_a_process_of_another_python_takes_its_turns(monkeypatch, tmp_path):
    (tmp_path / "taking_turns.py").write_text(
        "import sys\nprint('loading')\nfor _ in sys.stdin:\n    print('took 0.5', flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SCULL_PADDLE_PYTHON", sys.executable)
    with reference.paddlepaddle("taking_turns") as measured:
        assert [measured(), measured()] == [0.5, 0.5]


def test_a_process_of_another_python_that_ends_says_so(monkeypatch):
    monkeypatch.setenv("SCULL_PADDLE_PYTHON", sys.executable)
    with (
        reference.paddlepaddle("benchmarks.absent") as measured,
        pytest.raises(RuntimeError, match="ended"),
    ):
        measured()


RUNS = {
    "forward": partial(memory.perceptron, trained=False),
    "step": partial(memory.perceptron, trained=True),
    "demo": memory.demo,
    "resnet": memory.resnet,
}


@pytest.mark.parametrize("name", RUNS)
def test_the_ledger_is_within_5_percent_of_tracemalloc(name):
    run = RUNS[name]()
    assert memory.ledger_peak(run) == pytest.approx(memory.traced_peak(run), rel=0.05)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_takes_little_more_than_lifetimes_allow(name):
    run = RUNS[name]()
    assert memory.traced_peak(run) <= 1.2 * memory.lifetime_peak(run)


@pytest.mark.parametrize("batch", [2, 16])
def test_a_step_of_resnet_takes_at_most_5_percent_more_than_lifetimes_allow(batch):
    run = memory.resnet(batch)
    least, traced = memory.lifetime_peak(run), memory.traced_peak(run)
    assert least <= traced <= 1.05 * least
    (plan,) = [bound.plan for bound in run.main.plans.values()]
    assert str(plan.peak) == f"{plan.peak_bytes} bytes"
    assert least <= plan.peak_bytes <= 1.001 * least


def test_lifetimes_of_a_chain_allow_two_values_at_once():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [256, 256], "float32")
        y = x
        for _ in range(5):
            y = paddle.tanh(y)
    paddle.disable_static()
    feed = {"x": np.zeros((256, 256), np.float32)}
    run = memory.Run(main, feed, [y])
    assert memory.lifetime_peak(run) == 2 * 256 * 256 * 4 == memory.ledger_peak(run)


def test_the_command_prints_some_figures_and_at_night_every_one(nightly):
    some, count = ("--only", "executor", "start", "perceptron"), 5
    if nightly > 1:  # the code of every network is made
        some, count = (), 35
    command = [sys.executable, "-m", "benchmarks", "--rounds", "2", "--processes", "1", *some]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert sum("<=" in line for line in done.stdout.splitlines()) == count


def test_the_chains_of_products_wait_for_nothing_of_each_other():
    main, ends = chains.program()
    plan = make_plan(main.global_block(), ("x",), tuple(end.name for end in ends))
    starts = [i for i, count in enumerate(plan.graph.counts) if not count]
    assert len(starts) == chains.CHAINS
    assert len(plan.instructions) == chains.CHAINS * (chains.LENGTH + 2)
    assert len(plan.graph.edges) == len(plan.instructions) - chains.CHAINS


def test_the_loop_is_in_every_form_what_bare_numpy_computes():
    main, out = loop.program(paddle)
    expected = loop.bare().tobytes()
    assert loop.eager(paddle)().numpy().tobytes() == expected
    for form in ("in-graph", "primitives", "unrolled"):
        with flags(CONTROL_FLOW=form, UNROLL_LIMIT=control_flow.LIMIT):
            (found,) = paddle.static.Executor().run(main, feed=loop.FEED, fetch_list=[out])
        assert found.tobytes() == expected and np.abs(found).min() > 1e-30


def test_every_form_of_the_loop_has_its_figures(monkeypatch):
    monkeypatch.delenv("SCULL_PADDLE_PYTHON", raising=False)
    rows = list(control_flow.side_by_side(2))
    assert [row.asked for row in rows] == ["<= 3x NumPy"] * 4 + ["< 1x PaddlePaddle"] * 4
    assert {row.measured for row in rows[4:]} == {"SCULL_PADDLE_PYTHON names no Python"}


def test_the_nested_loops_are_those_that_numpy_computes():
    main, ends = control_flow.nested_loops()
    x = chains.operand()
    found = paddle.static.Executor().run(main, feed={"x": x}, fetch_list=ends)
    for i, value in enumerate(found):
        y = x * np.float32(1.0 + i)
        for _ in range(control_flow.OUTER * control_flow.INNER):
            y = np.tanh(np.matmul(y, x))
        assert np.allclose(value, y, rtol=1e-4)


def test_the_page_of_timelines_draws_steps_with_their_operators_and_regions(tmp_path):
    target = tmp_path / "timelines.html"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.timelines", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.strip()) == (0, str(target))
    text = target.read_text(encoding="utf-8")
    assert text.count("<svg") == 6
    for mode in ("eager: ", "static: ", "machine code: "):
        assert text.count(mode) == 4  # what is shown and what is read out, of two nets
    for name in ("layer_norm", "matmul_v2_grad", "sgd", "region"):
        assert f"<title>{name}: " in text
    assert "http" not in text


def test_a_prediction_is_what_its_calls_of_numpy_give(tmp_path):
    models.save_models(paddle, str(tmp_path), ["tiny"])
    x = models.INPUTS["tiny"]
    found = models.opened("scull", str(tmp_path), "tiny")(x)
    np.testing.assert_array_equal(found, models.by_hand(str(tmp_path))(x))
    wall, *told = models.process(sys.executable, "scull", "call", str(tmp_path))
    assert wall > sum(told) > 0
