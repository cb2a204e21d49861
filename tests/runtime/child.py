"""Children of the test process, forked: they start at once with all that is loaded."""

import faulthandler
import os
import signal
import traceback
import warnings
from collections.abc import Callable

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")

TIME = 60  # seconds after which a child is taken to hang


def fork(work: Callable[[], object]) -> int:
    """The number of a child that does `work` and ends with 0, or with 1 and a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the children need none
        child = os.fork()
    if child:
        return child
    code = 1
    faulthandler.disable()  # some children are to be killed by a fault
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TIME)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """How a child ended: its exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
