"""`scull doctor`: what it reports of a machine, and what it calls slow."""

from dataclasses import replace

import pytest

from scull.cli import doctor, main
from scull.cli.machine import Machine

FAST = Machine(
    system="Linux",
    architecture="x86_64",
    cpu="A Processor",
    present=8,
    affinity=8,
    quota=None,
    vectors=("avx2", "fma"),
    load=0.5,
    memory=16 << 30,
    available=8 << 30,
    memory_limit=None,
    python="3.12.1 (CPython)",
    debug_build=False,
    development_mode=False,
    numpy="2.4.6",
    blas="scipy-openblas 0.3",
    gigaflops=80.0,
    denormals=True,
    llvm="llvmlite 0.50.0, LLVM 22.1.0, host haswell",
    llvm_error=None,
    cache="/caches/scull/objects, 12 kernels, 0.3 of 512 MiB",
    threads={},
    settings={},
)


def test_a_fast_machine_has_nothing_slow():
    assert list(doctor.reasons(FAST)) == []
    assert doctor.report(FAST).endswith("\n\nNothing slow was found.")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"llvm": None}, "llvmlite is not installed"),
        ({"llvm": None, "llvm_error": "no such symbol"}, "does not load (no such symbol)"),
        ({"architecture": "aarch64"}, "Linux aarch64: code generation is tested on Linux x86-64"),
        ({"system": "Windows"}, "Windows x86_64: code generation is tested on Linux x86-64"),
        ({"vectors": ("sse4_2", "avx")}, "no AVX2"),
        ({"affinity": 2}, "2 of 8 cores may be used, by affinity"),
        (
            {"quota": 2.5, "threads": {"OMP_NUM_THREADS": "3"}},
            "3 of 8 cores may be used, by a quota",
        ),
        ({"affinity": 1, "present": 1}, "1 core may be used: nothing runs in parallel"),
        ({"load": 9.5}, "9.5 processes want its 8 cores"),
        ({"blas": None}, "built without an optimised BLAS"),
        ({"gigaflops": 1.25}, "multiplies matrices at 1.2 GFLOP/s"),
        ({"threads": {"OMP_NUM_THREADS": "1"}}, "OMP_NUM_THREADS=1: matrix products use 1 of 8"),
        ({"debug_build": True}, "debug build"),
        ({"development_mode": True}, "development mode"),
        ({"settings": {"POISON": True}}, "SCULL_POISON=True: freed memory is overwritten"),
        ({"denormals": False}, "denormals are flushed to zero"),
        ({"available": 100 << 20}, "100 MiB of memory are available"),
    ],
)
def test_each_cause_of_slowness_is_one_line(changes, reason):
    (found,) = doctor.reasons(replace(FAST, **changes))
    assert reason in found
    assert doctor.report(replace(FAST, **changes)).splitlines()[-1] == f"- {found}"


def test_more_threads_than_the_quota_lets_run_are_slow():
    found = list(doctor.reasons(replace(FAST, quota=2.0)))
    assert found == [
        "2 of 8 cores may be used, by a quota",
        "NumPy's BLAS starts 8 threads, the quota lets 2 run: set OMP_NUM_THREADS=2",
    ]


@pytest.mark.parametrize(
    ("blas", "threads", "expected"),
    [
        ("scipy-openblas 0.3", {}, (8, None)),
        ("scipy-openblas 0.3", {"OMP_NUM_THREADS": "3"}, (3, "OMP_NUM_THREADS")),
        (
            "scipy-openblas 0.3",
            {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "2"},
            (2, "OPENBLAS_NUM_THREADS"),
        ),
        ("scipy-openblas 0.3", {"MKL_NUM_THREADS": "1"}, (8, None)),
        ("mkl-sdl 2024", {"MKL_NUM_THREADS": "1"}, (1, "MKL_NUM_THREADS")),
        ("scipy-openblas 0.3", {"OMP_NUM_THREADS": "64"}, (8, "OMP_NUM_THREADS")),
        ("scipy-openblas 0.3", {"OMP_NUM_THREADS": "many"}, (8, None)),
    ],
)
def test_the_variable_its_own_blas_reads_sets_the_threads(blas, threads, expected):
    assert doctor.blas_threads(replace(FAST, blas=blas, threads=threads)) == expected


def test_the_report_of_a_machine(golden, monkeypatch):
    monkeypatch.setattr(doctor, "version", lambda: "0.1.0")
    slow = replace(FAST, llvm=None, quota=1.5, memory_limit=2 << 30, settings={"DEBUG": 2})
    assert doctor.report(slow) == golden


def test_what_cannot_be_found_out_is_said_to_be_unknown():
    bare = replace(FAST, system="Darwin", vectors=None, load=None, memory=None, available=None)
    rows = dict(doctor.rows(bare))
    assert (rows["vectors"], rows["memory"]) == ("not known", "not known")
    assert len(list(doctor.reasons(bare))) == 1


def test_the_doctor_reports_on_this_machine_in_plain_text(capsys):
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    names = [line.split()[0] for line in printed.split("\n\n")[0].splitlines()]
    assert names == [name for name, _ in doctor.rows(FAST)]
    assert printed.isascii() and "\x1b" not in printed


def test_the_doctor_takes_no_arguments(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["doctor", "--fast"])
    assert "--fast" in capsys.readouterr().err
