"""The profiler: when it records, what it hands over, and what it leaves behind."""

import inspect
import os
import warnings

import pytest

import scull as paddle
from scull.core.timeline import Timeline, Track, active
from scull.flags import flags
from scull.profiler import Profiler, ProfilerState, ProfilerTarget, RecordEvent
from scull.profiler.event import in_use
from scull.profiler.result import result_of
from tests.profiler.programs import trained

CLOSED, READY = ProfilerState.CLOSED, ProfilerState.READY
RECORD, RETURN = ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    yield
    assert not active and not in_use


def run(states, steps):
    """Run steps under a schedule; the names that each result handed over has."""
    results = []

    def keep(profiler):
        [*trees] = profiler.profiler_result.get_data().values()
        results.append([node.name for tree in trees for node in tree.walk()])

    profiler = Profiler(scheduler=lambda step: states[step], on_trace_ready=keep)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        profiler.start()
        for number in range(steps):
            with RecordEvent(f"span {number}"):
                paddle.ones([1])
            if number < steps - 1:
                profiler.step()
        profiler.stop()
    return results, [str(warning.message) for warning in caught]


def step(number):
    return [f"ProfileStep#{number}", f"span {number}", "fill_constant"]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([RECORD, RECORD, RECORD], [step(0) + step(1) + step(2)]),
        ([CLOSED, RECORD, RETURN, CLOSED], [step(1) + step(2)]),
        ([READY, RETURN, RETURN, CLOSED], [step(1), step(2)]),
        ([READY, RECORD, RETURN, READY, RETURN], [step(1) + step(2), step(4)]),
        ([RETURN, RECORD, RETURN, CLOSED], [step(0), step(1) + step(2)]),
        ([CLOSED, CLOSED], []),
    ],
)
def test_a_result_holds_the_steps_that_were_to_be_recorded(states, expected):
    assert run(states, len(states)) == (expected, [])


@pytest.mark.parametrize(
    ("states", "expected", "warning"),
    [
        ([READY, CLOSED], [], "READY->CLOSED"),
        ([RECORD, CLOSED, RETURN, CLOSED], [step(2)], "RECORD->CLOSED"),
        ([RECORD, READY, RETURN, CLOSED], [step(2)], "RECORD->READY"),
        ([CLOSED, READY], [], "READY->CLOSED"),
    ],
)
def test_a_schedule_that_loses_what_was_recorded_is_warned_of(states, expected, warning):
    results, caught = run(states, len(states))
    assert results == expected
    assert len(caught) == 1 and warning in caught[0]


def test_the_default_records_every_step_and_writes_a_trace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Profiler():
        paddle.ones([1])
    [name] = os.listdir("profiler_log")
    assert name.startswith("host_") and name.endswith(".paddle_trace.json")
    result = paddle.profiler.load_profiler_result(os.path.join("profiler_log", name))
    [tree] = result.get_data().values()
    assert [node.name for node in tree.walk()] == ["ProfileStep#0", "fill_constant"]


def test_what_was_recorded_is_handed_over_when_the_block_raises(tmp_path):
    results = []
    with pytest.raises(ZeroDivisionError), Profiler(on_trace_ready=results.append):
        paddle.ones([1])
        raise ZeroDivisionError
    assert len(results) == 1 and results[0].profiler_result is not None


def test_timing_alone_records_nothing():
    with Profiler(timer_only=True, on_trace_ready=pytest.fail) as profiler:
        assert not active
        profiler.step()
    assert profiler.profiler_result is None


def test_without_a_result_nothing_is_printed_or_written(tmp_path, capsys):
    profiler = Profiler(on_trace_ready=print)
    profiler.summary()
    profiler.export(str(tmp_path / "trace.json"))
    assert capsys.readouterr().out == "" and not os.listdir(tmp_path)


def test_targets_that_are_not_here_are_warned_of_and_left_out():
    with pytest.warns(UserWarning, match="Profiling ProfilerTarget.GPU is not supported"):
        profiler = Profiler(targets=[ProfilerTarget.GPU, ProfilerTarget.CPU], on_trace_ready=print)
    assert profiler.targets == {ProfilerTarget.CPU}
    assert ProfilerTarget.CPU in Profiler(on_trace_ready=print).targets


def test_a_span_outside_of_a_profiler_is_nothing():
    event = RecordEvent("span")
    event.begin()
    event.end()
    event.end()


def test_a_function_can_be_a_span_also_when_it_calls_itself():
    @RecordEvent("factorial")
    def factorial(n):
        return n * factorial(n - 1) if n else 1

    with Profiler(on_trace_ready=lambda profiler: None) as profiler:
        assert factorial(3) == 6
    [tree] = profiler.profiler_result.get_data().values()
    node, depth = tree.children_node[0], 0
    while node.children_node:
        [node] = node.children_node
        depth += node.name == "factorial"
    assert depth == 4


def test_kinds_that_are_the_frameworks_own_are_not_for_users():
    kind = paddle.profiler.TracerEventType.Operator
    with (
        Profiler(on_trace_ready=lambda profiler: None),
        pytest.warns(UserWarning, match="Only TracerEvent Type in"),
        RecordEvent("mine", kind),
    ):
        pass


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        ({"scheduler": "always"}, "a function or two numbers, got 'always'"),
        ({"scheduler": (1, 2, 3)}, "two numbers of steps"),
        ({"scheduler": (3, 2)}, "end at 2, before they start at 3"),
        ({"on_trace_ready": "print"}, "takes a function, got 'print'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(wrong, law):
    with pytest.raises((TypeError, AssertionError), match=law):
        Profiler(**{"on_trace_ready": print, **wrong})


def test_a_span_has_a_text_as_its_name():
    with pytest.raises(TypeError, match="got 3"):
        RecordEvent(3)


def test_a_thread_that_has_the_number_of_one_before_keeps_the_spans_of_both():
    timeline = Timeline()
    for name in ("first", "second"):
        timeline.tracks.append(Track())
        timeline.tracks[-1].rows.append((name, "Operator", 1, 2))
    [thread] = result_of(timeline, 0, {}).threads
    assert [span.name for span in thread.spans] == ["first", "second"]


def test_a_profiler_can_run_again():
    counts = []
    profiler = Profiler(on_trace_ready=lambda p: counts.append(p.profiler_result.get_span_indx()))
    for _ in range(2):
        with profiler:
            paddle.ones([1])
    assert counts == [0, 1]


def test_a_profiler_within_another_leaves_its_steps_alone():
    results = []
    with Profiler(on_trace_ready=results.append) as outer:
        with Profiler(on_trace_ready=results.append):
            paddle.ones([1])
        paddle.zeros([1])
    assert results[-1] is outer
    [tree] = outer.profiler_result.get_data().values()
    assert [n.name for n in tree.walk()].count("fill_constant") == 2


def test_the_data_loader_is_timed_and_recorded():
    data = paddle.io.TensorDataset([paddle.ones([6, 2])])
    with Profiler(on_trace_ready=lambda profiler: None) as profiler:
        for _ in paddle.io.DataLoader(data, batch_size=2):
            profiler.step(num_samples=2)
        info = profiler.step_info("images")
    assert "reader_cost" in info and info.endswith("images/s")
    [tree] = profiler.profiler_result.get_data().values()
    kinds = [node.type.name for node in tree.walk()]
    assert kinds.count("Dataloader") == 4  # three batches, and the end


def test_signatures_are_those_of_paddle():
    def parameters(function):
        return {n: p.default for n, p in inspect.signature(function).parameters.items()}

    assert parameters(Profiler.summary) == {
        "self": inspect.Parameter.empty,
        "sorted_by": paddle.profiler.SortedKeys.CPUTotal,
        "op_detail": True,
        "thread_sep": False,
        "time_unit": "ms",
        "views": None,
    }
    names = "targets scheduler on_trace_ready record_shapes profile_memory timer_only emit_nvtx"
    names += " custom_device_types with_flops"
    assert " ".join(list(parameters(Profiler.__init__))[1:]) == names
    assert parameters(Profiler.step) == {"self": inspect.Parameter.empty, "num_samples": None}
    assert parameters(Profiler.export)["format"] == "json"
    assert list(parameters(RecordEvent.__init__)) == ["self", "name", "event_type"]
    assert list(parameters(paddle.profiler.export_protobuf)) == ["dir_name", "worker_name"]


def test_names_of_paddles_modules_are_here():
    profiler = paddle.profiler
    assert profiler.utils.RecordEvent is RecordEvent
    assert profiler.profiler.Profiler is Profiler
    assert profiler.profiler_statistic.SortedKeys is profiler.SortedKeys
    assert profiler.utils._is_profiler_used is False
    with Profiler(on_trace_ready=lambda profiler: None):
        assert profiler.utils._is_profiler_used is True
        assert profiler.utils.in_profiler_mode()
    assert paddle.utils.flops.flops("relu", {"X": [[12, 12]]}, {}) == 144


def test_a_run_whose_code_is_to_come_is_recorded_by_its_operators():
    case = trained()
    profiler = Profiler(on_trace_ready=lambda _: None)
    with flags(COMPILE="tiered"), profiler:
        case.executor.run(case.main, case.feed, case.fetches, scope=case.scope)
    [*trees] = profiler.profiler_result.get_data().values()
    names = {node.name for tree in trees for node in tree.walk()}
    assert "region" in names or {o.type for o in case.main.global_block().ops} <= names
