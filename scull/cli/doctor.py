"""`scull doctor`: what this machine offers, what is slow and why."""

import argparse
from collections.abc import Iterator, Sequence

from scull.cli import version
from scull.cli.machine import THREAD_VARIABLES, Machine, survey

SLOW_MATMUL = 4.0  # GFLOP/s: plain loops reach about one, a BLAS tens
LITTLE_MEMORY = 1 << 30

SLOW_SETTINGS = {
    "DEBUG": "compilations, and from 2 on the steps of every Program, are printed",
    "POISON": "freed memory is overwritten",
    "LEDGER": "the bytes of every temporary are counted",
}


def main(arguments: Sequence[str]) -> int:
    """Print the report."""
    description = "Print what this machine offers, what is slow and why."
    argparse.ArgumentParser(prog="scull doctor", description=description).parse_args(arguments)
    print(report(survey()))
    return 0


def report(machine: Machine) -> str:
    """The facts, a row each, then what is slow, a line each."""
    facts = "\n".join(f"{name:<10} {value}" for name, value in rows(machine))
    found = [*reasons(machine)]
    if not found:
        return f"{facts}\n\nNothing slow was found."
    return f"{facts}\n\nWhat is slow, and why:\n" + "\n".join(f"- {reason}" for reason in found)


def rows(machine: Machine) -> Iterator[tuple[str, str]]:
    """What there is, by name."""
    quota = "none" if machine.quota is None else f"{machine.quota:.3g}"
    yield "scull", version()
    yield "CPU", f"{machine.cpu}, {machine.system} {machine.architecture}"
    yield (
        "cores",
        f"{machine.cores} usable: {machine.present} present, {machine.affinity} by affinity, "
        f"quota {quota}",
    )
    yield "vectors", "not known" if machine.vectors is None else " ".join(machine.vectors) or "none"
    yield "Python", machine.python
    blas = machine.blas or "no BLAS"
    yield "NumPy", f"{machine.numpy}, {blas}, matmul {machine.gigaflops:.3g} GFLOP/s in float32"
    yield "LLVM", llvm_row(machine)
    yield "cache", machine.cache
    threads, variable = blas_threads(machine)
    yield "threads", f"{threads} in NumPy's BLAS, {variable or 'no limit'} is set"
    yield "memory", memory_row(machine)
    yield "denormals", "kept" if machine.denormals else "flushed to zero"
    settings = ", ".join(f"SCULL_{name}={value}" for name, value in machine.settings.items())
    yield "settings", settings or "defaults"


def llvm_row(machine: Machine) -> str:
    """What there is of LLVM."""
    if machine.llvm_error is not None:
        return "installed, does not load: programs run on NumPy kernels, slower"
    return machine.llvm or "not installed: programs run on NumPy kernels, slower"


def memory_row(machine: Machine) -> str:
    """Memory in all, what is free of it, and the limit of the control group."""
    named = {
        "in all": machine.memory,
        "available": machine.available,
        "allowed": machine.memory_limit,
    }
    sizes = [f"{size / 2**30:.1f} GiB {name}" for name, size in named.items() if size is not None]
    return ", ".join(sizes) or "not known"


def reasons(machine: Machine) -> Iterator[str]:
    """What makes scull slower here than it could be, each with its cause."""
    yield from slow_code(machine)
    yield from slow_cores(machine)
    yield from slow_numpy(machine)
    yield from slow_python(machine)
    if not machine.denormals:
        yield (
            "denormals are flushed to zero: a library loaded here changed the arithmetic of the "
            "process, and results differ from those of other processes"
        )
    room = machine.available
    if room is not None and room < LITTLE_MEMORY:
        yield f"{room / 2**20:.0f} MiB of memory are available: larger programs swap or are killed"


def slow_code(machine: Machine) -> Iterator[str]:
    """What keeps programs from becoming good machine code."""
    if machine.llvm_error is not None:
        yield f"llvmlite does not load ({machine.llvm_error}): programs run on NumPy kernels"
    elif machine.llvm is None:
        yield "llvmlite is not installed: programs run on NumPy kernels; `pip install llvmlite`"
    x86 = machine.architecture in ("x86_64", "AMD64")
    if machine.system != "Linux" or not x86:
        yield (
            f"{machine.system} {machine.architecture}: code generation is tested on Linux x86-64 "
            "alone, programs run on NumPy kernels here"
        )
    if x86 and machine.vectors is not None and "avx2" not in machine.vectors:
        yield "the CPU has no AVX2: a vector instruction does half the work or less"


def slow_cores(machine: Machine) -> Iterator[str]:
    """What keeps cores from being used."""
    if machine.cores == 1:
        yield "1 core may be used: nothing runs in parallel"
    if machine.cores < machine.present:
        cause = "affinity" if machine.cores == machine.affinity else "a quota"
        yield f"{machine.cores} of {machine.present} cores may be used, by {cause}"
    if machine.load is not None and machine.load > machine.present:
        yield (
            f"the machine is busy: {machine.load:.1f} processes want its {machine.present} cores"
        )


def slow_numpy(machine: Machine) -> Iterator[str]:
    """What keeps NumPy's matrix products from being fast."""
    if machine.blas is None:
        yield "NumPy was built without an optimised BLAS: matrix products run in plain loops"
    elif machine.gigaflops < SLOW_MATMUL:
        yield (
            f"NumPy multiplies matrices at {machine.gigaflops:.2g} GFLOP/s: {machine.blas} is not "
            "an optimised BLAS, or other programs hold the cores"
        )
    limit, variable = blas_threads(machine)
    if limit < machine.cores:
        yield f"{variable}={limit}: matrix products use {limit} of {machine.cores} cores"
    if limit > machine.cores:
        yield (
            f"NumPy's BLAS starts {limit} threads, the quota lets {machine.cores} run: "
            f"set OMP_NUM_THREADS={machine.cores}"
        )


def blas_threads(machine: Machine) -> tuple[int, str | None]:
    """The threads NumPy's BLAS starts, and the variable that says so; never more than affinity."""
    for variable, family in THREAD_VARIABLES.items():
        text = machine.threads.get(variable, "")
        if family in (machine.blas or "") and text.isdigit() and int(text) > 0:
            return min(int(text), machine.affinity), variable
    return machine.affinity, None


def slow_python(machine: Machine) -> Iterator[str]:
    """What makes this Python slower than it could be."""
    if machine.debug_build:
        yield "this Python is a debug build: it checks every reference and object"
    if machine.development_mode:
        yield "Python runs in development mode: it checks every block of memory"
    for name, effect in SLOW_SETTINGS.items():
        if name in machine.settings:
            yield f"SCULL_{name}={machine.settings[name]}: {effect}"
