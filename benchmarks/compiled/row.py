"""The rows of workloads: how many times as fast as the best of the others, and all their times."""

import compileall
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from benchmarks.compiled.catalog import workloads
from benchmarks.compiled.process import ROOT, Contender, python_of, started
from benchmarks.compiled.workload import Workload
from benchmarks.harness import Row, short, spread

PRODUCTS = "machine code, {}: products of matrices, 64 .. 2048, geometric mean"
SECONDS, FEWEST = 20.0, 5  # that all turns of a row take; turns that each takes at least


def turns(contenders: dict[str, Contender], count: int) -> dict[str, list[float]]:
    """The seconds of each in its turns, of which there are at most so many."""
    once = sum(c.turn() * c.count for c in contenders.values())
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(max(FEWEST, min(count, int(SECONDS / once)))):
        for name, contender in contenders.items():
            found[name].append(contender.turn())
    return found


def agree(work: Workload, contenders: dict[str, Contender]) -> None:
    """All compute the same."""
    own = contenders["scull"].result
    for name, contender in contenders.items():
        gap = float(np.max(np.abs(contender.result - own)) / np.max(np.abs(own)))
        assert gap <= work.tolerance, f"{work.title}: {name} differs by {gap:.2g}"


def plural(threads: int) -> str:
    """How many."""
    return "1 thread" if threads == 1 else f"{threads} threads"


def row_of(name: str, work: Workload, threads: int, count: int) -> Row:
    """The figure of one workload."""
    title = f"machine code, {plural(threads)}: {work.title}"
    asked = f">= {work.asked[threads]}x" if work.asked[threads] else "report"
    every = ("scull", *work.peers, "paddle")
    names = [n for n in every if work.is_done_by(n) and python_of(n)]
    others = [n for n in names if n != "scull"]
    if not others:
        return Row(title, asked, "no peer is installed")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        alone = threads == 1
        there = {
            n: stack.enter_context(started(name, n, threads, folder, pinned=alone)) for n in names
        }
        agree(work, there)
        found = turns(there, count)
        memory = {n: c.peak for n, c in there.items()}
    medians = {n: spread(v) for n, v in found.items()}
    unit, factor = ("ms", 1e3) if medians["scull"].median > 1e-3 else ("us", 1e6)
    detail = ", ".join(
        f"{n} {s.times(factor).show(f' {unit}')} {memory[n] / 2**20:.0f} MB"
        for n, s in medians.items()
    )
    best = min(others, key=lambda n: medians[n].median)
    ratio = spread([b / a for a, b in zip(found["scull"], found[best], strict=True)])
    return Row(title, asked, ratio.show("x"), detail)


def products_row(threads: int, count: int) -> Row:
    """The products of all sizes in one figure: the geometric mean of their ratios."""
    ratios, details = [], []
    for name, work in workloads().items():
        if name.startswith("gemm-"):
            row = row_of(name, work, threads, count)
            if "x" not in row.measured:
                return replace(row, name=PRODUCTS.format(plural(threads)))
            ratios.append(float(row.measured.partition("x")[0]))
            details.append(f"{name} {row.measured}: {row.detail}")
    mean = float(np.exp(np.mean(np.log(ratios))))
    return Row(
        PRODUCTS.format(plural(threads)),
        ">= 1x",
        f"{short(mean)}x",
        "; ".join(details),
    )


def making_rows(count: int) -> Iterator[Row]:
    """How long making the code of ResNet-18's step takes, the first answer, and memory.

    Making is the first step less one of those that follow.
    """
    title, memory = "machine code: ResNet-18's step,", dict[str, int]()
    found, later = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    compileall.compile_dir(ROOT / "scull", quiet=2)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            code = {"SCULL_CACHE_DIR": f"{folder}/code"}
            tiered = {"SCULL_CACHE_DIR": f"{folder}/other", "SCULL_COMPILE": "tiered"}
            for state, threads, settings in (
                ("cold", 1, code),
                ("from the cache", 1, code),
                ("tiered", 1, tiered),
                ("tiered, 2 threads", 2, tiered),
            ):
                with started("resnet18", "scull", threads, folder, **settings) as own:
                    found[state].append(own.first)
                    if settings is code:  # the next steps of the others wait for code
                        later[state].append(own.turn())
                    memory[f"scull, {state}"] = own.peak
    first, others = first_steps(memory)
    for state, asked in (("cold", 6), ("from the cache", 0.3)):
        whole, steps = spread(found[state]).show(" s"), spread(later[state]).show(" s")
        made = [x - y for x, y in zip(found[state], later[state], strict=True)]
        detail = f"the first step {whole}, a later one {steps}; {first[1]}"
        yield Row(
            f"{title} making its code, {state}", f"<= {asked} s", spread(made).show(" s"), detail
        )
    for state, beside in (("tiered", first[1]), ("tiered, 2 threads", first[2])):
        took = spread(found[state]).show(" s")
        yield Row(f"{title} the first answer, {state}", "<= 0.5 s", took, beside)
    shown = ", ".join(f"{n} {b / 2**20:.0f} MB" for n, b in memory.items())
    least = min(memory[n] for n in others) if others else 0
    ours = memory["scull, from the cache"]
    ratio = f"{short(ours / least)}x" if least else "no peer is installed"
    yield Row(f"{title} peak memory : least of peers", "< 1x", ratio, shown)


def first_steps(memory: dict[str, int]) -> tuple[dict[int, str], list[str]]:
    """The first steps of others on one thread and on two; who they are, whose memory is noted."""
    others = [n for n in ("torch", "torch/compile", "jax", "paddle") if python_of(n)]
    told = {}
    for threads in (1, 2):
        each = []
        for name in others:
            with (
                tempfile.TemporaryDirectory() as folder,
                started("resnet18", name, threads, folder) as other,
            ):
                each.append(f"first step of {name} {short(other.first)} s")
                other.turn()
                if threads == 1:
                    memory[name] = other.peak
        told[threads] = ", ".join(each)
    return told, others


def rows(count: int, only: str = "") -> Iterator[Row]:
    """The figures of all workloads, or of one, with one thread and with two."""
    for name, work in workloads().items():
        if only == name or (only == "" and not name.startswith("gemm-")):
            for threads in work.asked:
                yield row_of(name, work, threads, count)
    if only in ("", "gemm"):
        yield from (products_row(threads, count) for threads in (1, 2))
    if only in ("", "making"):
        yield from making_rows(max(1, min(3, count // 100)))
