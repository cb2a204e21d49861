"""What a call means while other threads record Programs."""

from contextlib import ExitStack
from threading import Event, Thread

import numpy as np
import pytest

from scull.core.interpreter import interpreting
from scull.ir.recorder import Recorder
from scull.ops.elementwise import add
from scull.tensor import to_tensor


@pytest.fixture
def another_records():
    """A function after which another thread records."""
    asked, records, over = Event(), Event(), Event()

    def work():
        asked.wait()
        with interpreting(Recorder()):
            records.set()
            over.wait()

    thread = Thread(target=work)
    thread.start()

    def begin():
        asked.set()
        records.wait()

    with ExitStack() as stack:
        stack.callback(thread.join)
        stack.callback(over.set)
        stack.callback(asked.set)
        yield begin


def test_a_call_goes_on_as_it_began_when_another_thread_begins_to_record(
    monkeypatch, another_records
):
    x = to_tensor([1.0, 2.0], stop_gradient=False)

    def slow(a, b):
        another_records()
        return np.add(a, b)

    monkeypatch.setattr(add.op, "short", slow)
    y = add(x, x)
    y.sum().backward()
    assert y.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [2.0, 2.0]
