"""Calls that may crash or hang, made in a child process, and what is wrong with their outcomes.

Right is a result, or one of scull's own errors with a law; soon, and in little memory.
"""

import faulthandler
import os
import resource
import signal
import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from scull.core.refusal import NO_LAW
from scull.errors import ScullError

SECONDS = 10  # of computing, for one call
ROOM = 2**30  # bytes that a child may take beyond those it starts with


class Trial(Protocol):
    """A call that can be made in several ways; its text says which call it is."""

    def ways(self) -> list[str]: ...

    def make(self, way: str) -> None: ...


def fault(way: str, call: Trial) -> str | None:
    """What is wrong with the outcome of a call, None if nothing is."""
    try:
        with np.errstate(all="ignore"):
            call.make(way)
    except ScullError as error:
        return str(error) if NO_LAW in str(error) else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def faults(calls: Sequence[Trial]) -> list[str]:
    """What is wrong with the outcomes of some calls; another process goes on when one dies."""
    found, start = [], 0
    while start < len(calls):
        number, way, lines = tried(calls, start)
        found += [f"{calls[i]}, {how}: {text}" for i, how, text in lines]
        if number < len(calls):
            found.append(f"{calls[number]}, {way}: the process died")
        start = number + 1
    return found


def tried(calls: Sequence[Trial], start: int) -> tuple[int, str, list[tuple[int, str, str]]]:
    """Make the calls from `start` on in a child: the one it died in, how, and all faults."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which wait
        child = os.fork()
    if not child:
        os.close(reading)
        make(calls, start, writing)
    os.close(writing)
    number, way, lines = len(calls), "", []
    with os.fdopen(reading, encoding="utf-8") as reports:
        for line in reports:
            kind, place, how, text = line.rstrip("\n").split("\t", 3)
            number, way = int(place), how
            if kind == "fault":
                lines.append((number, way, text))
    os.waitpid(child, 0)
    return number, way, lines


def make(calls: Sequence[Trial], start: int, writing: int) -> None:
    """Make the calls, telling each before it is made, and end this process."""
    limit = pages() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    faulthandler.disable()  # a crash is told by the parent
    with os.fdopen(writing, "w", buffering=1, encoding="utf-8") as reports:
        for number in range(start, len(calls)):
            for way in calls[number].ways():
                reports.write(f"call\t{number}\t{way}\t\n")
                signal.setitimer(signal.ITIMER_PROF, SECONDS)  # whose signal ends the process
                text = fault(way, calls[number])
                signal.setitimer(signal.ITIMER_PROF, 0)
                if text is not None:
                    reports.write(f"fault\t{number}\t{way}\t{' '.join(text.split())[:300]}\n")
        reports.write(f"end\t{len(calls)}\t\t\n")
    os._exit(0)


def pages() -> int:
    """The bytes of address space this process has."""
    with open("/proc/self/statm", encoding="ascii") as facts:
        return int(facts.read().split()[0]) * resource.getpagesize()
