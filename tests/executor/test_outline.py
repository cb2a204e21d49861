"""What the steps of a plan became is found again by what the plan says, and by nothing else."""

import importlib.util
import sys
import time

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.core.dtype import of_name
from scull.core.meta import Meta
from scull.eager import prefer as eager
from scull.executor import tier
from scull.executor.call import Call
from scull.executor.division import Region
from scull.executor.outline import name_of
from scull.flags import flags
from scull.runtime.background import background
from scull.static.nn import cond

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """A cache with nothing in it; Programs are written."""
    paddle.enable_static()
    with flags(CACHE_DIR=str(tmp_path)):
        yield
    paddle.disable_static()


@pytest.fixture
def traced(monkeypatch):
    """The steps that were traced."""
    found = []
    original = Region.add

    def noted(region, number, step):
        found.append(step.operator.type)
        return original(region, number, step)

    monkeypatch.setattr(Region, "add", noted)
    return found


def step_of_training():
    """A step with a draw, an update, and an instruction that has no code between two regions."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 3
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x, y = paddle.static.data("x", [None, 6]), paddle.static.data("y", [None, 1], "int64")
        hidden = F.dropout(F.relu(paddle.nn.Linear(6, 40)(x)), 0.25)
        low, _ = paddle.linalg.eigh(paddle.matmul(hidden, hidden, transpose_x=True))
        loss = F.cross_entropy(paddle.nn.Linear(40, 3)(hidden), y) + 0.0 * low.detach().sum()
        paddle.optimizer.Adam(0.1).minimize(loss)
    return main, startup, loss


def feed_of(rows):
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((rows, 6), np.float32), "y": rng.integers(0, 3, (rows, 1))}


def trained(mode, rows=8, count=3):
    """The losses of some steps, and the regions of the code that the plan has by then."""
    main, startup, loss = step_of_training()
    exe = paddle.static.Executor()
    paddle.seed(5)
    with flags(COMPILE=mode), paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        losses = [
            float(exe.run(main, feed=feed_of(rows), fetch_list=[loss])[0]) for _ in range(count)
        ]
        tiers = [bound.tier for bound in main.plans.values() if bound.tier]
        rows_of_steps = [rows for tier in tiers for rows in tier.variants.values()]
    return losses, [row[0] for rows in rows_of_steps for row in rows if isinstance(row[0], Call)]


def test_a_plan_seen_before_is_not_traced_again(traced):
    first, made = trained("eager")
    count = len(traced)
    assert count and len(made) > 1
    second, again = trained("eager")
    assert second == first and len(traced) == count and len(again) == len(made)
    sizes = [[len(call.native.region.groups) for call in calls] for calls in (made, again)]
    assert sizes[0] == sizes[1]


def test_other_sizes_are_traced(traced):
    trained("eager")
    count = len(traced)
    trained("eager", rows=9)
    assert len(traced) > count


def test_tiered_runs_begin_with_code_that_is_on_the_disk(traced):
    first, made = trained("eager")
    count = len(traced)
    with flags(CODE_FROM_RUN=0):
        second, again = trained("tiered", count=1)
    assert second == first[:1] and len(again) == len(made) and len(traced) == count


@pytest.mark.parametrize("first", [1, 2, 3, 5])
def test_training_changes_to_code_at_the_run_that_is_said(first, tmp_path):
    plain, _ = trained("off", count=6)
    found = []
    with flags(CODE_FROM_RUN=first, CACHE_DIR=str(tmp_path)):
        for count in (first - 1, first, 6, 6):  # the last of them finds code on the disk
            losses, calls = trained("tiered", count=count)
            assert bool(calls) == (count >= first)
            found.append(losses)
    assert found[0] == plain[: first - 1] and found[2] == found[3]
    assert found[1] == found[2][:first]
    assert found[2] == pytest.approx(plain, rel=1e-5)


def test_while_a_plan_waits_for_its_code_its_operators_ask_for_none(monkeypatch):
    asked = []
    monkeypatch.setattr(eager.Preferring, "made", lambda *_: asked.append("a kernel"))
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [8, 4, 40, 40])
        x.stop_gradient = False
        (dx,) = paddle.static.gradients([paddle.nn.Conv2D(4, 4, 3)(x)], [x])
    exe, feed = paddle.static.Executor(), {"x": np.ones([8, 4, 40, 40], np.float32)}
    with flags(COMPILE="tiered"), paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        for _ in range(2):
            exe.run(main, feed=feed, fetch_list=[dx])
        assert background().wait(timeout=60)
    assert asked == []


def named(build, fetches=1, fixed=(), dtype="float32", size=3):
    """The name of what a Program's plan becomes."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 4], dtype)
        out = build(x)
    plan = paddle.static.Executor().plan(main, ["x"], [out, x][:fetches])
    slot = plan.names.index("x")
    return name_of(plan, {slot: Meta((size, 4), of_name(dtype))}, [slot] if fixed else [])


def test_what_decides_about_the_steps_is_part_of_the_name():
    def plain(x):
        return paddle.scale(paddle.tanh(x), 2.0)

    names = [
        named(plain),
        named(lambda x: paddle.scale(paddle.tanh(x), 3.0)),
        named(lambda x: paddle.tanh(paddle.scale(x, 2.0))),
        named(plain, fetches=2),
        named(plain, fixed=True),
        named(plain, dtype="float64"),
        named(plain, size=4),
        named(lambda x: paddle.scale(F.dropout(x, 0.5), 2.0)),
        named(lambda x: paddle.scale(F.dropout(x, 0.25), 2.0)),
    ]
    assert None not in names and len(set(names)) == len(names)
    assert named(plain) == names[0]


def test_plans_with_blocks_are_kept_nowhere():
    def chosen(x):
        return cond(paddle.sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0)

    assert named(chosen) is None


@pytest.mark.parametrize(("terminal", "patience", "told"), [(1, 0.0, 1), (0, 0.0, 0), (1, 60.0, 0)])
def test_a_terminal_is_told_of_a_long_wait(terminal, patience, told, monkeypatch, capsys):
    monkeypatch.setattr(tier, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: bool(terminal))
    task = background().submit("a plan", lambda: time.sleep(0.05))
    assert tier.awaited(task) and task.ended
    assert bool(capsys.readouterr().err) == bool(told)
