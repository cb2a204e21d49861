"""Where the time of a workload goes: `python -m benchmarks.compiled.profile WORKLOAD`.

Every kernel is timed alone, over what those before it left in memory. Beside its time stand the
bytes it moves at least, its operations on floats, and how much of what the machine does at most it
reaches: of its arithmetic, or of its memory where moving the bytes takes longer.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from math import prod

import scull
from benchmarks.compiled.catalog import workloads
from benchmarks.compiled.framework.paddle import Built, predictor_of
from benchmarks.compiled.workload import Fitted, Training
from benchmarks.harness import rounds, seconds_of, short, spread
from scull.compiler.cost import cost_of
from scull.compiler.group import Group
from scull.compiler.peak import peak
from scull.compiler.target import target
from scull.compiler.text import tile_text
from scull.compiler.tuner import tiles_of
from scull.executor.executor import Executor
from scull.flags import flags
from scull.profiler.explain.code import Code, Kernel
from scull.profiler.explain.record import Recorded, recorded

MOST = 30  # kernels that are shown


def recorded_of(work: Fitted) -> Recorded:
    """One run of the workload, with its machine code."""
    if isinstance(work, Training):
        built = Built(scull, work, True)
        feed = built.feed | {"label": work.label.reshape(-1, 1)}
        return recorded(built.executor, built.main, feed, [built.out], built.scope, True)
    predictor = predictor_of(work, 1, "scull")
    predictor(*work.inputs)
    model, scope = predictor.function.simplified
    feed = dict(zip(model.feeds, work.inputs, strict=True))
    fetches = [v.name for v in model.fetches]
    return recorded(Executor(), model.program, feed, fetches, scope, True)


def is_contraction(group: Group) -> bool:
    """Whether a kernel is sums of products."""
    return any(stage.is_contraction for stage in group.stages)


def kernel_line(kernel: Kernel, total: float) -> str:
    """A kernel in a line of figures and one of loops."""
    cost, seconds = cost_of(kernel.group), kernel.seconds or 0.0
    least = peak().seconds(cost)
    bound = "memory" if peak().moving(cost) == least else "arithmetic"
    figures = (
        f"{100 * seconds / total:5.1f} %  {seconds * 1e6:9.1f} us  {cost.operations / 1e6:9.2f} M  "
        f"{(cost.read + cost.written) / 2**20:8.2f} MB  "
        f"{cost.operations / max(seconds, 1e-9) / 1e9:6.1f} GF/s  "
        f"{100 * least / max(seconds, 1e-9):4.0f} % of {bound:10}"
    )
    origins = ", ".join(f"{o} x {n}" if n > 1 else o for o, n in origins_of(kernel.group))
    tiles = [
        tile_text(stage, schedule)
        for stage, schedule in zip(
            kernel.group.stages, tiles_of(kernel.group, target()), strict=True
        )
    ]
    largest = max(kernel.group.stages, key=lambda s: prod(a.size for a in s.axes))
    where = tiles[list(kernel.group.stages).index(largest)]
    reads = ", ".join(f"{list(x.shape)}" for x in kernel.group.read[:4])
    writes = ", ".join(f"{list(x.shape)}" for x in kernel.group.written[:3])
    return f"{figures}  {origins}\n{'':10}{where}; reads {reads}; writes {writes}"


def origins_of(group: Group) -> list[tuple[str, int]]:
    """The operators of a kernel, the most frequent first."""
    return Counter(group.origins).most_common(6)


def lines(found: Recorded, code: Code, step: float) -> Iterator[str]:
    """The whole text."""
    kernels = [k for made in code.regions for k in made.kernels]
    total = sum(k.seconds or 0.0 for k in kernels)
    work = sum(cost_of(k.group).operations for k in kernels)
    least = sum(peak().seconds(cost_of(k.group)) for k in kernels)
    rate = peak().operations["float32"]
    yield (
        f"{len(kernels)} kernels in {len(code.regions)} regions; a step takes {step * 1e3:.3f} ms, "
        f"its kernels alone {total * 1e3:.3f} ms, at the machine's peak {least * 1e3:.3f} ms"
    )
    yield (
        f"{work / 1e9:.3f} G operations; the machine does {rate / 1e9:.0f} G a second; arena "
        f"{', '.join(f'{made.region.arena.size / 2**20:.1f} MB' for made in code.regions)}"
    )
    for kind, chosen in (("contractions", True), ("the rest", False)):
        some = [k for k in kernels if is_contraction(k.group) == chosen]
        seconds = sum(k.seconds or 0.0 for k in some)
        most = sum(peak().seconds(cost_of(k.group)) for k in some)
        share = 100 * most / seconds if seconds else 100.0
        yield (
            f"  {kind}: {len(some)} kernels, {seconds * 1e3:.3f} ms "
            f"({100 * seconds / total:.0f} %), {share:.0f} % of the peak"
        )
    if code.reasons:
        yield "instructions outside:"
        kinds = Counter((found.plan.steps[n].operator.type, why) for n, why in code.reasons.items())
        yield from (f"  {count} x {kind}: {why}" for (kind, why), count in kinds.most_common())
    yield ""
    for kernel in sorted(kernels, key=lambda k: -(k.seconds or 0.0))[:MOST]:
        yield kernel_line(kernel, total)


def main() -> None:
    """Print the profile of one workload."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiled.profile")
    parser.add_argument("workload", choices=[n for n, w in workloads().items() if is_fitted(w)])
    work = workloads()[parser.parse_args().workload]
    assert isinstance(work, Fitted)
    found = recorded_of(work)
    assert found.code is not None
    with flags(COMPILE="eager"):
        step = work.step("scull", 1)
        seconds = rounds({"step": seconds_of(step)}, 10)["step"]
    print(f"{work.title}: {short(spread(seconds).low * 1e3)} ms")
    print(*lines(found, found.code, spread(seconds).low), sep="\n")


def is_fitted(work: object) -> bool:
    """Whether it is a network."""
    return isinstance(work, Fitted)


if __name__ == "__main__":
    main()
