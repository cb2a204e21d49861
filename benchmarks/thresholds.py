"""Hot operators of eager mode: their NumPy kernels beside machine code, by size.

`python -m benchmarks.thresholds [OPERATOR ...]` prints the time of both on one thread;
`scull/eager/threshold.py` says from where on machine code is used.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.harness import cpu_time
from benchmarks.operands import CASES
from scull.core.op import by_name
from scull.eager.prefer import Preferring
from scull.flags import flags

SIZES = tuple(1 << n for n in range(8, 21, 2))  # elements of the largest operand
ENOUGH = 2e-3  # seconds of one measurement
BEST_OF = 5


def least_seconds(calls: list[Callable[[], Any]]) -> list[float]:
    """The least time of each call in turn, over several measurements."""
    counts = []
    for call in calls:
        call()
        start = cpu_time()
        call()
        counts.append(max(1, int(ENOUGH / max(cpu_time() - start, 1e-7))))
    best = [float("inf")] * len(calls)
    for _ in range(BEST_OF):
        for n, (call, count) in enumerate(zip(calls, counts, strict=True)):
            start = cpu_time()
            for _ in range(count):
                call()
            best[n] = min(best[n], (cpu_time() - start) / count)
    return best


def measured(name: str) -> Iterator[tuple[int, float, float]]:
    """By size the seconds of the NumPy kernel and those of machine code."""
    op = by_name().get(name) or by_name()[name.removesuffix("_grad")].gradient
    assert op is not None
    for size in SIZES:
        operands, out, attrs = CASES[name](size)
        native = Preferring(op, 0)
        plain = native.by_numpy
        yield (
            size,
            *least_seconds(
                [
                    lambda: plain(operands, out, attrs),  # noqa: B023
                    lambda: native(*operands, **({} if out is None else {"out": out}), **attrs),  # noqa: B023
                ]
            ),
        )


def main() -> None:
    """Print the table."""
    print(f"{'':24}" + "".join(f"{size:>16,}" for size in SIZES))
    with flags(COMPILE="eager", NUM_THREADS=1):
        for name in sys.argv[1:] or CASES:
            cells = [f"{p * 1e6:.0f} / {n * 1e6:.0f} us" for _, p, n in measured(name)]
            print(f"{name:24}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
