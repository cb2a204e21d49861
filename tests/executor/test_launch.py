"""Runs on devices: the same bits as on the host, values that stay there, errors, nothing run."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
from scull.core.meta import Meta
from scull.core.place import Place
from scull.errors import DeviceFault, NumberError, RangeError, ShapeError, UnknownSizeError
from scull.executor.binding import Bound, fetched, filled
from scull.executor.crew import run_ordered
from scull.executor.launch import DeviceWork, launches_of, run_device, waits_into
from scull.executor.stream import EVENT
from scull.flags import flags
from scull.framework.core import VarDesc
from scull.runtime.device import device_of
from scull.runtime.resident import Resident
from scull.runtime.sim import Sim
from tests.executor.random_program import FED, START, actions, build

SIM = Place("sim")


def on_device(example, plan, device, count, times=1):
    """What runs of an example fetch on a device, the calls of the last, the parameter after it."""
    scope = paddle.static.Scope()
    bound = Bound(plan, scope)
    bound.device = device
    for _ in range(times):
        scope.var("w").value = START.copy()
        example.calls.clear()
        paddle.seed(7)
        frame = filled(bound, {"x": FED.copy()})
        with flags(DEVICE_STREAMS=count):
            run_device(bound, frame)
        for cell, slot in bound.stores:
            cell.value = frame[slot]
    found = fetched(bound, frame, True)
    return [*found, np.array(example.calls), np.asarray(scope.var("w").value)]


@given(choices=actions, seed=st.integers(0, 2**31), count=st.integers(1, 3))
@settings(max_examples=25)
def test_on_streams_a_run_gives_the_bits_of_the_host(choices, seed, count):
    example = build(choices)
    plan = example.plan()
    expected = example.run(plan, poison=False)
    device = Sim(seed=seed)
    for times in (1, 2):  # in order, then by counts
        found = on_device(example, plan, device, count, times)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    del found
    gc.collect()
    assert device.allocator.statistics().live == 0


def classifier():
    """A small network, its loss and its optimizer."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 8])
        y = paddle.static.data("y", [None, 1], "int64")
        hidden = paddle.static.nn.fc(x, 16, activation="relu")
        out = paddle.static.nn.fc(paddle.nn.functional.dropout(hidden, 0.3), 4)
        loss = paddle.mean(paddle.nn.functional.cross_entropy(out, y))
        paddle.optimizer.Adam(0.01).minimize(loss)
    return main, startup, loss


def trained(program, place, steps):
    """The losses of some steps on a place, and the scope after them."""
    main, startup, loss = program
    paddle.seed(1)
    scope, exe = paddle.static.Scope(), paddle.static.Executor(place)
    exe.run(startup, scope=scope)
    losses = []
    for step in range(steps):
        chance = np.random.default_rng(step)
        feed = {"x": chance.random((5, 8), "float32"), "y": chance.integers(0, 4, (5, 1))}
        losses += exe.run(main, feed=feed, fetch_list=[loss], scope=scope)
    return losses, scope


@pytest.mark.parametrize("count", [1, 2, 3])
def test_training_on_a_device_is_training_on_the_host(count):
    program = classifier()
    expected, host = trained(program, None, 5)
    with flags(DEVICE_STREAMS=count, SIM_SEED=count):
        found, away = trained(program, SIM, 5)
    assert found == expected
    assert away.local_var_names() == host.local_var_names()
    for name, cell in host.cells.items():
        assert np.array_equal(cell.value, np.asarray(away.find_var(name).get_tensor()))


def test_parameters_stay_on_the_device_and_come_home_for_the_host():
    program = classifier()
    expected, _ = trained(program, None, 3)
    losses, scope = trained(program, SIM, 2)
    main, _, loss = program
    parameters = [v.name for v in main.all_parameters()]
    assert all(type(scope.find_var(name).value) is Resident for name in parameters)
    chance = np.random.default_rng(2)
    feed = {"x": chance.random((5, 8), "float32"), "y": chance.integers(0, 4, (5, 1))}
    losses += paddle.static.Executor().run(main, feed=feed, fetch_list=[loss], scope=scope)
    assert losses == expected
    assert all(type(scope.find_var(name).value) is np.ndarray for name in parameters)


def test_when_programs_and_scopes_are_gone_the_device_holds_nothing():
    before = device_of(SIM).allocator.statistics().live
    trained(classifier(), SIM, 3)
    gc.collect()
    assert device_of(SIM).allocator.statistics().live == before


def test_a_result_of_a_size_that_only_a_run_tells_is_waited_for(main):
    x = paddle.static.data("x", [None, 3])
    picked = paddle.masked_select(paddle.tanh(x), x > 0)
    out = paddle.exp(picked) * 2.0
    feed = {"x": np.random.default_rng(0).standard_normal((7, 3)).astype("float32")}
    expected = paddle.static.Executor().run(main, feed=feed, fetch_list=[out, picked])
    exe = paddle.static.Executor(SIM)
    for _ in range(3):
        found = exe.run(main, feed=feed, fetch_list=[out, picked])
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_sparse_gradients_run_on_a_device(main):
    startup = paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [4], "int64")
        rows = paddle.static.nn.embedding(ids, [9, 3], is_sparse=True)
        loss = paddle.mean(rows * rows)
        paddle.optimizer.SGD(0.5).minimize(loss)
    feed = {"ids": np.array([1, 1, 7, 0])}
    results = []
    for place in (None, SIM):
        paddle.seed(3)
        scope, exe = paddle.static.Scope(), paddle.static.Executor(place)
        exe.run(startup, scope=scope)
        losses = [exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(3)]
        results.append([*losses, *(np.asarray(c.get_tensor()) for c in scope.cells.values())])
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def test_an_operator_that_writes_a_parameter_on_the_host_leaves_it_there(main):
    block = main.global_block()
    w = block.create_var("w", shape=[2], dtype="float32", persistable=True)
    slope = paddle.tanh(w)
    with paddle.static.device_guard("cpu"):
        inputs = {"Param": [w], "Grad": [slope], "LearningRate": [paddle.full([1], 0.5)]}
        block.append_op("sgd", inputs, {"ParamOut": [w]}, {})
    out = w + 1.0
    scope = paddle.static.Scope()
    start = scope.var("w").value = np.array([1.0, -2.0], np.float32)
    expected = start.copy()
    exe = paddle.static.Executor(SIM)
    for _ in range(3):
        (found,) = exe.run(main, fetch_list=[out], scope=scope)
        expected -= np.float32(0.5) * np.tanh(expected)
        assert np.array_equal(found, expected + np.float32(1))
        assert np.array_equal(np.asarray(scope.var("w").value), expected)


def test_an_error_on_the_device_names_the_operator_and_leaves_the_next_run_correct(main):
    n, m = paddle.static.data("n", [None]), paddle.static.data("m", [None])
    out = paddle.exp(paddle.matmul(n, m))
    exe = paddle.static.Executor(SIM)
    good = {"n": np.ones(2, "float32"), "m": np.ones(2, "float32")}
    (expected,) = exe.run(main, feed=good, fetch_list=[out])
    live = device_of(SIM).allocator.statistics().live
    for _ in range(3):
        with pytest.raises(ShapeError) as caught:
            exe.run(main, feed=good | {"m": np.ones(3, "float32")}, fetch_list=[out])
        assert "matmul" in str(caught.value)
        assert "test_launch.py:" in str(caught.value)
        del caught
        assert np.array_equal(exe.run(main, feed=good, fetch_list=[out])[0], expected)
    gc.collect()
    assert device_of(SIM).allocator.statistics().live == live


def test_a_run_without_one_of_its_event_waits_is_refused(main):
    w = main.global_block().create_var("w", shape=[2, 2], dtype="float32", persistable=True)
    out = paddle.exp(w) + paddle.tanh(w)
    scope = paddle.static.Scope()
    scope.var("w").value = np.ones((2, 2), np.float32)
    exe = paddle.static.Executor()
    exe.run(main, fetch_list=[out], scope=scope)
    (bound,) = main.plans.values()
    given = {slot: Meta((2, 2), paddle.float32) for _, slot in bound.plan.loads}
    whole = launches_of(bound.plan, SIM, 2, given)
    events = [wait for wait in whole.streams.waits if wait.kind == EVENT]
    assert events
    for lost in events:
        waits = tuple(w for w in whole.streams.waits if w is not lost)
        fewer = copy(whole)
        fewer.waits = waits_into(replace(whole.streams, waits=waits))
        work = DeviceWork(fewer, bound.plan, Sim(seed=1), filled(bound, {}))
        with pytest.raises(DeviceFault):
            run_ordered(fewer.schedule, work, range(len(whole.streams.tasks)))


def test_one_program_runs_on_a_device_from_several_threads(main):
    x = paddle.static.data("x", [4, 4])
    out = paddle.tanh(paddle.matmul(x, x)) + paddle.exp(x)
    feeds = [{"x": np.full((4, 4), k / 8, "float32")} for k in range(4)]
    expected = [paddle.static.Executor().run(main, feed=f, fetch_list=[out])[0] for f in feeds]
    exe, wrong = paddle.static.Executor(SIM), []
    exe.run(main, feed=feeds[0], fetch_list=[out])
    scope = paddle.static.global_scope()

    def runs(feed, value):
        for _ in range(10):
            found = exe.run(main, feed=feed, fetch_list=[out], scope=scope)[0]
            if not np.array_equal(found, value):
                wrong.append(found)

    threads = [threading.Thread(target=runs, args=a) for a in zip(feeds, expected, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("place", [SIM, Place("null")], ids=str)
def test_what_a_branch_did_not_make_is_nothing_on_a_device_too(main, place):
    x, held = paddle.static.data("x", [64, 32]), paddle.static.data("held", [1], "bool")
    block = main.global_block()
    out = block.create_var("out", shape=[64, 32], dtype="float32")
    scopes = block.create_var("scopes", type=VarDesc.VarType.STEP_SCOPES)
    inner = main._create_block()
    inner.append_op("scale", {"X": x}, {"Out": out}, {"scale": 2.0})
    main._rollback()
    attrs = {"sub_block": inner, "is_scalar_condition": True}
    inputs, outputs = {"Cond": [held], "Input": [x]}, {"Out": [out], "Scope": [scopes]}
    block.append_op("conditional_block", inputs, outputs, attrs)
    feed = {"x": np.ones((64, 32), "float32"), "held": np.array([False])}
    for _ in range(2):
        found = paddle.static.Executor(place).run(main, feed=feed, fetch_list=[out, x])
        assert found[0] is None


@pytest.mark.parametrize("place", [SIM, Place("null")], ids=str)
def test_what_nothing_computes_is_none_on_a_device_too(main, place):
    block = main.global_block()
    empty = block.create_var("empty", shape=[2], dtype="float32", persistable=True)
    exe, scope = paddle.static.Executor(place), paddle.static.Scope()
    for _ in range(2):
        assert exe.run(main, fetch_list=[empty], scope=scope) == [None]


def test_a_parameter_that_is_fed_and_updated_on_a_device_is_the_scopes(main):
    w = main.global_block().create_var("w", shape=[2], dtype="float32", persistable=True)
    rate = paddle.full([1], 0.5)
    inputs = {"Param": [w], "Grad": [w * 1.0], "LearningRate": [rate]}
    main.global_block().append_op("sgd", inputs, {"ParamOut": [w]}, {})
    exe, scope, fed = paddle.static.Executor(SIM), paddle.static.Scope(), np.ones(2, "float32")
    for _ in range(2):
        exe.run(main, feed={"w": fed}, scope=scope)
        assert np.asarray(scope.var("w").get_tensor()).tolist() == [0.5, 0.5]
    assert fed.tolist() == [1.0, 1.0]


def test_elements_of_what_stays_on_a_device_are_read_and_set(main):
    scope = paddle.static.Scope()
    w = main.global_block().create_var("w", shape=[2, 2], dtype="float32", persistable=True)
    main.global_block().append_op("scale", {"X": w}, {"Out": w}, {"scale": 2.0})
    scope.var("w").value = np.ones((2, 2), "float32")
    exe = paddle.static.Executor(SIM)
    exe.run(main, scope=scope)
    tensor = scope.var("w").get_tensor()
    assert np.asarray(tensor[0]).tolist() == [2.0, 2.0]
    exe.run(main, scope=scope)
    assert tensor._get_float_element(3) == 4.0
    exe.run(main, scope=scope)
    tensor._set_float_element(0, 1.0)
    exe.run(main, scope=scope)
    assert np.asarray(tensor).tolist() == [[2.0, 16.0], [16.0, 16.0]]


def test_what_waits_in_the_first_run_on_a_device_keeps_nobody_from_working(main, monkeypatch):
    x = paddle.static.data("x", [4])
    first, second = paddle.tanh(x), paddle.exp(x)
    let = threading.Event()

    def awaiting(v, out=None):
        assert let.wait(20)
        return np.tanh(v)

    def letting(v, out=None):
        let.set()
        return np.exp(v)

    for made, call in ((first, awaiting), (second, letting)):
        for name, value in (("effects", frozenset({"blocks"})), ("cpu", call), ("short", None)):
            monkeypatch.setattr(made.op.op, name, value)
    value = np.ones(4, "float32")
    (found,) = paddle.static.Executor(SIM).run(main, feed={"x": value}, fetch_list=[first + second])
    assert np.array_equal(found, np.tanh(value) + np.exp(value))


def test_an_error_on_a_device_is_that_of_its_own_run_alone(main):
    x, place = paddle.static.data("x", [4, 4]), paddle.static.data("place", [2], "int64")
    right = paddle.tanh(paddle.matmul(x, x)) + paddle.exp(x)
    wrong = paddle.exp(paddle.nn.functional.embedding(place, x))
    scope, exe = paddle.static.Scope(), paddle.static.Executor(SIM)
    feed = {"x": np.full((4, 4), 0.3, "float32"), "place": np.array([1, 9])}
    expected = paddle.static.Executor().run(main, feed=feed, fetch_list=[right], use_prune=True)

    def runs(fetched):
        told = []
        for _ in range(60):
            try:
                told.append(exe.run(main, feed, [fetched], scope=scope, use_prune=True)[0])
            except RangeError as error:
                told.append(error)
        return told

    with ThreadPoolExecutor(2) as threads:
        found, errors = threads.map(runs, (right, wrong))
    assert all(np.array_equal(value, expected[0]) for value in found)
    assert all(isinstance(error, RangeError) for error in errors)


@pytest.mark.parametrize("own", [False, True], ids=["another thread", "its own thread"])
@pytest.mark.parametrize("seed", range(6))
def test_a_parameter_is_read_while_a_run_on_a_device_writes_over_it(main, own, seed):
    x = paddle.static.data("x", [2])
    w = main.global_block().create_var("w", shape=[2], dtype="float32", persistable=True)
    inputs = {"Param": [w], "Grad": [x], "LearningRate": [paddle.full([1], 1.0)]}
    seen, made = [], main.global_block().create_var("made", shape=[2], dtype="float32")
    scope, exe = paddle.static.Scope(), paddle.static.Executor(SIM)

    def read():
        seen.append(np.array(scope.find_var("w").get_tensor())[0])

    def call(value):
        if own:
            read()
        else:
            with ThreadPoolExecutor(1) as threads:
                threads.submit(read).result()
        return value

    main.global_block().append_op("sgd", inputs, {"ParamOut": [w]}, {})
    paddle.static.py_func(call, x, made)
    main.global_block().append_op("sgd", inputs, {"ParamOut": [w]}, {})
    out = w + made
    scope.var("w").value = np.zeros(2, "float32")
    with flags(SIM_SEED=seed, DEVICE_STREAMS=2):
        for times in range(1, 4):
            feed = {"x": np.ones(2, "float32")}
            (found,) = exe.run(main, feed=feed, fetch_list=[out], scope=scope)
            assert found[0] == 1.0 - 2 * times
    assert all(-2 * i >= number >= -2 * i - 2 for i, number in enumerate(seen))


def test_parameters_are_read_as_they_like_while_runs_on_a_device_go_on(main):
    main, startup, loss = classifier()
    exe, scope, ended = paddle.static.Executor(SIM), paddle.static.Scope(), []
    feed = {"x": np.ones((5, 8), "float32"), "y": np.ones((5, 1), "int64")}
    exe.run(startup, scope=scope)

    def read():
        while not ended:
            for name in names:
                assert np.isfinite(np.array(scope.find_var(name).get_tensor())).all()

    names = [p.name for p in main.all_parameters()]
    with ThreadPoolExecutor(2) as threads:
        readers = [threads.submit(read) for _ in range(2)]
        try:
            for _ in range(20):
                exe.run(main, feed=feed, fetch_list=[loss], scope=scope)
        finally:
            ended.append(True)
        for reader in readers:
            reader.result()


def test_null_plans_and_runs_nothing(main):
    program = classifier()
    losses, _ = trained(program, Place("null"), 3)
    assert [(v.shape, v.dtype) for v in losses] == [((), np.dtype("float32"))] * 3
    assert not any(losses)
    (bound,) = program[0].plans.values()
    (whole,) = bound.launches.values()
    assert len(whole.streams.tasks) > len(bound.plan.instructions)


def test_null_refuses_what_only_a_run_can_tell(main):
    x = paddle.static.data("x", [None])
    out = paddle.masked_select(x, x > 0)
    with pytest.raises(UnknownSizeError, match="null"):
        feed = {"x": np.ones(3, "float32")}
        paddle.static.Executor(Place("null")).run(main, feed=feed, fetch_list=[out])


def test_the_check_for_nan_names_the_operator_on_a_device(main):
    x = paddle.static.data("x", [3])
    out = paddle.sum(paddle.log(paddle.tanh(x)))
    exe = paddle.static.Executor(SIM)
    feed = {"x": np.array([1.0, -1.0, 2.0], "float32")}
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(NumberError) as caught:
            exe.run(main, feed=feed, fetch_list=[out])
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert "log_0.tmp_0" in str(caught.value)
    assert "test_launch.py:" in str(caught.value)


@pytest.mark.parametrize("count", [1, 2])
def test_the_plan_of_an_executor_on_a_device_shows_what_is_launched_there(main, count):
    x = paddle.static.data("x", [2, 3])
    out = paddle.mean(paddle.tanh(x) + paddle.exp(x))
    with flags(DEVICE_STREAMS=count):
        executor = paddle.static.Executor(paddle.CustomPlace("sim", 0))
        plan = executor.plan(main, ["x"], [out])
        executor.run(main, feed={"x": np.ones((2, 3), "float32")}, fetch_list=[out])
        (bound,) = main.plans.values()
        (whole,) = bound.launches.values()
        text = str(whole.streams)
        shown = str(plan)
    assert "copy-in" in text and "memcpy_h2d(x@host)" in text
    assert f"{out.name}@host = memcpy_d2h({out.name}@sim:0)" in text and "synchronize" in text
    assert len(plan.streams.events) == text.count("records") == count
    here = str(paddle.static.Executor().plan(main, ["x"], [out]))
    assert shown == f"{here}\n{text}"
