"""How long machine code takes: the time of this thread, of as many calls as can be told apart."""

import ctypes
import time
from collections.abc import Callable
from functools import cache

from scull.runtime import llvm

ENOUGH = 1e-3  # seconds of one measurement
ROWS = 8  # measurements, of which the best counts

REPEAT = """
define void @repeat(ptr %kernel, i64 %chunks, ptr %table, i64 %count) nounwind {{
entry:
{loads}
  br label %turn
turn:
  %i = phi i64 [0, %entry], [%next, %turn]
  call void %kernel({arguments})
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %turn, label %done
done:
  ret void
}}
"""


def clock() -> Callable[[], float]:
    """Of this thread where it is fine enough: what other processes do is not counted."""
    fine = time.get_clock_info("thread_time").resolution < ENOUGH / 100
    return time.thread_time if fine else time.perf_counter


def best(run: Callable[[int], None]) -> float:
    """The seconds of one time, where `run` takes how often: the least average of several runs."""
    now = clock()
    run(1)
    start = now()
    run(1)
    count = max(1, int(ENOUGH / max(now() - start, 1e-9)))
    found = []
    for _ in range(ROWS if count > 1 else 3):
        start = now()
        run(count)
        found.append((now() - start) / count)
    return min(found)


@cache
def repeating(count: int) -> Callable[[int, int, int, int], None]:
    """A function that calls one of so many addresses, which stand in a table, several times.

    It takes the function, how many chunks that has, the table and the times.
    """
    loads = [
        f"  %p{n} = getelementptr ptr, ptr %table, i64 {n}\n  %a{n} = load ptr, ptr %p{n}"
        for n in range(count)
    ]
    arguments = ", ".join([*(f"ptr %a{n}" for n in range(count)), "i64 0", "i64 %chunks"])
    text = REPEAT.format(loads="\n".join(loads), arguments=arguments)
    library = llvm.build([llvm.Module(text, ("repeat",))])
    kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    function = ctypes.CFUNCTYPE(None, *kinds)(library.addresses["repeat"])

    def repeat(kernel: int, chunks: int, table: int, times: int) -> None:
        assert library
        function(kernel, chunks, table, times)

    return repeat
