"""Results for tests: made of numbers, or of what ran."""

import threading

from hypothesis import strategies

import scull as paddle
from scull.core.timeline import Change, Span
from scull.profiler import Profiler, RecordEvent
from scull.profiler.result import ProfilerResult, Thread
from scull.profiler.state import TracerEventType

BASE = 1_700_000_000_123_456_789  # nanoseconds since 1970


@strategies.composite
def nested(draw, start=0, end=10**6, depth=3):
    """Spans that lie within each other or apart."""
    found, moment = [], start
    for _ in range(draw(strategies.integers(0, 3)) if depth else 0):
        first = draw(strategies.integers(moment, end))
        last = draw(strategies.integers(first, end))
        kind = draw(strategies.sampled_from(TracerEventType)).name
        name = draw(strategies.text(max_size=8))
        told = draw(strategies.sampled_from([None, {"line": "train.py:3", "shapes": {"x": [[2]]}}]))
        found.append(Span(name, kind, BASE + first, BASE + last, told))
        found += draw(nested(first, last, depth - 1))
        moment = last + 1
        if moment > end:
            break
    return found


@strategies.composite
def results(draw):
    """Results with any spans and changes of memory on a few threads."""
    threads = tuple(
        Thread(number, f"thread {number}", tuple(draw(nested())))
        for number in range(1, 1 + draw(strategies.integers(0, 3)))
    )
    moments = draw(strategies.lists(strategies.integers(0, 10**6), max_size=4)) if threads else []
    changes = tuple(
        Change(BASE + moment, draw(strategies.sampled_from(threads)).number, 7, size, 9, 9)
        for moment in sorted(moments)
        for size in [draw(strategies.sampled_from([8, -8]))]
    )
    extra = {str(t.number): t.name for t in threads}
    return ProfilerResult(threads, changes, 42, draw(strategies.integers(0, 5)), extra)


def recorded():
    """The result of two steps of training with loading, spans of a user and a second thread."""
    layer = paddle.nn.Linear(4, 2)
    optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    data = paddle.io.TensorDataset([paddle.ones([4, 4])])
    profiler = Profiler(
        on_trace_ready=lambda profiler: None,
        record_shapes=True,
        profile_memory=True,
        with_flops=True,
    )

    def work():
        with RecordEvent("beside"):
            paddle.ones([2]) + 1.0

    with profiler:
        for (x,) in paddle.io.DataLoader(data, batch_size=2):
            with RecordEvent('</script> " \\ é \u2028'):
                loss = paddle.nn.functional.softmax(layer(x)).sum()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            thread = threading.Thread(target=work, name="worker")
            thread.start()
            thread.join()
            profiler.step()
    return profiler
