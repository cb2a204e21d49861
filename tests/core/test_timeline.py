"""Timelines: nothing is asked while none is filled, and one that is filled sees everything."""

import gc
import os
import threading

import pytest

import scull as paddle
from scull.core.eager import EAGER, SILENT
from scull.core.interpreter import modes
from scull.core.timeline import (
    FORWARD,
    OPERATOR,
    Timeline,
    active,
    begin,
    end,
    filling,
    note,
    now,
    span,
    spanned,
)


def names(timeline):
    return [s.name for track in timeline.tracks for s in track.spans]


def untouched():
    return not active and not modes and not vars(EAGER).keys() & {"apply", "plain"}


def test_eager_mode_is_as_it_was_after_recording():
    x = paddle.ones([2])
    assert untouched()
    with filling():
        x + x
        assert not untouched()
    assert untouched()
    assert "apply" not in vars(SILENT) and EAGER.plain and SILENT.plain


def test_eager_mode_is_as_it_was_after_an_error():
    with pytest.raises(ZeroDivisionError), filling():
        raise ZeroDivisionError
    assert untouched()


def test_operators_are_recorded_in_every_mode_of_eager_execution():
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    with filling() as timeline:
        x + x
        paddle.nn.functional.relu(x)
        with paddle.no_grad():
            x @ x
        hooks = paddle.autograd.saved_tensors_hooks(lambda t: t, lambda t: t)
        with hooks:
            paddle.exp(x)
    assert names(timeline) == ["add", "relu", "matmul", "exp"]


def test_gradient_operators_lie_within_the_backward_pass():
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    y = (x * x).sum()
    with filling() as timeline:
        y.backward()
    spans = timeline.tracks[0].spans
    assert [s.name for s in spans] == ["Gradient Backward", "reduce_sum_grad", "multiply_grad"]
    outer = spans[0]
    assert all(outer.start <= s.start and s.end <= outer.end for s in spans)
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_layers_and_updates_are_spans():
    layer = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    with filling() as timeline:
        layer(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
    spans = timeline.tracks[0].spans
    assert [s.name for s in spans if s.category == FORWARD] == ["Linear"]
    found = [s.name for s in spans]
    assert found[found.index("Optimization Step") :] == ["Optimization Step", "sgd", "sgd"]


def test_what_computes_is_the_same_while_recording():
    paddle.seed(1)
    x = paddle.randn([3, 4])
    x.stop_gradient = False
    results = []
    for recorded in (False, True):
        timeline = Timeline(details=True, memory=True)
        if recorded:
            begin(timeline)
        paddle.seed(2)
        y = paddle.nn.functional.dropout(paddle.nn.functional.softmax(x @ x.T), 0.5)
        (dx,) = paddle.grad([y.sum()], [x])
        end(timeline)
        results.append((y.numpy().tobytes(), dx.numpy().tobytes()))
    assert results[0] == results[1]


def test_other_threads_have_tracks_of_their_own():
    def work():
        paddle.ones([2]) + 1.0

    with filling() as timeline:
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        paddle.ones([2])
    found = {track.name: [s.name for s in track.spans] for track in timeline.tracks}
    assert found.pop("worker")[-1] == "add"
    assert list(found.values()) == [["fill_constant"]]


def test_two_timelines_see_what_happens_while_they_are_filled():
    x = paddle.ones([2])
    with filling() as outer:
        x + x
        with filling() as inner:
            x * x
        x - x
    assert names(inner) == ["multiply"]
    assert names(outer) == ["add", "multiply", "subtract"]


def test_an_operator_that_fails_is_recorded_and_raises_what_it_raises():
    x, y = paddle.ones([2]), paddle.ones([3])
    with pytest.raises(ValueError) as plain:
        x + y
    with filling() as timeline, pytest.raises(ValueError) as recorded:
        x + y
    assert recorded.value.args == plain.value.args
    assert names(timeline) == ["add"]


def test_details_tell_shapes_element_types_attributes_and_the_line():
    x = paddle.ones([2, 3])
    with filling(details=True) as timeline:
        paddle.matmul(x, x, transpose_y=True)
    [found] = timeline.tracks[0].spans
    told = found.arguments
    assert told["shapes"] == {"x": [[2, 3]], "y": [[2, 3]]}
    assert told["dtypes"] == {"x": ["float32"], "y": ["float32"]}
    assert told["attributes"] == {"transpose_x": False, "transpose_y": True}
    assert told["line"].partition(":")[0].endswith("test_timeline.py")


def test_without_details_nothing_is_told():
    with filling() as timeline:
        paddle.ones([2])
    assert timeline.tracks[0].spans[0].arguments is None


def test_memory_is_live_from_its_operator_until_it_goes():
    x = paddle.ones([4])
    with filling(memory=True) as timeline:
        y = x + x
        view = y.reshape([2, 2])
        del y
        assert timeline.changes[-1].live == 16
        del view
        gc.collect()
    sizes = [change.size for change in timeline.changes]
    assert sizes == [16, -16]
    assert timeline.changes[-1].live == 0 and timeline.changes[-1].peak == 16
    made = timeline.tracks[0].spans[0]
    assert made.start <= timeline.changes[0].moment and made.category == OPERATOR


def test_results_in_the_memory_of_an_operand_are_not_counted():
    x = paddle.ones([4])
    with filling(memory=True) as timeline:
        x.reshape([2, 2])
        x.add_(paddle.full([4], 1.0))
    assert sum(change.size for change in timeline.changes) == 0


def test_spans_that_began_before_the_timeline_are_left_out():
    start = now()
    with filling() as timeline:
        note("early", OPERATOR, start)
        with span("late"):
            pass
    assert names(timeline) == ["late"]


def test_a_decorated_function_is_a_span_and_keeps_its_name():
    @spanned("work")
    def double(x, *, times=2):
        """Twice."""
        return times * x

    with filling() as timeline:
        assert double(3, times=4) == 12
    assert double(2) == 4
    assert names(timeline) == ["work"]
    assert double.__name__ == "double" and double.__doc__ == "Twice."


def test_ending_twice_is_ending_once():
    timeline = Timeline()
    begin(timeline)
    end(timeline)
    end(timeline)
    assert untouched()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork processes")
def test_a_forked_process_does_not_fill_the_timelines_of_its_parent():
    with filling():
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(send, b"untouched" if untouched() else b"touched")
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(receive, 20) == b"untouched"
        os.close(receive)
        os.close(send)
    assert untouched()
