"""What a process has one of."""

from threading import Event, Thread

from scull.core import session
from tests.runtime.child import ended, fork, needs_fork


@needs_fork
def test_a_child_draws_whoever_drew_in_its_parent():
    generator = session.generator()
    held, over = Event(), Event()

    def holding():
        with generator.turn:
            held.set()
            over.wait()

    thread = Thread(target=holding)
    thread.start()
    held.wait()
    try:
        assert ended(fork(lambda: session.generator().draw())) == 0
    finally:
        over.set()
        thread.join()
