"""Damage saved models at random and read them: a value or a typed error each time, or it is told.

    python -m tools.fuzz --cases 1000000 --log fuzz.json

Each trial is fixed by its seed and number, so `--only NUMBER` repeats one. Trials are done in child
processes under a limit of memory; one that dies, or takes too long, is noted and the next goes on
behind it. The log holds counts by kind and outcome, what broke the law, the slowest trials and the
most memory; a run that is stopped goes on from it when it is started again.
"""

import argparse
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import tracemalloc
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.files.fuzz.trial import TRIALS, trial

BATCH = 2000  # trials of one child
MEASURED = 100  # in one of so many the memory is traced
PATIENCE = 30  # times as long as it may compute a trial may wait
SLOWEST = 10  # trials that are told
EXAMPLES = 5  # numbers that are told of trials that broke the law alike
MEGABYTE = 1 << 20


def main() -> int:
    """Do the trials that the command line asks for; 1 when one broke the law."""
    options = arguments().parse_args()
    if options.only is not None:
        print(*trial(options.seed, options.only, options.kind))
        return 0
    log = started(options)
    warmed(options.seed, options.kind)
    while log["next"] < options.cases:
        end = min(log["next"] + BATCH, options.cases)
        batch(log, options, end)
        Path(options.log).write_text(json.dumps(log, indent=1) + "\n")
        print(summary(log), flush=True)
    return 1 if log["broken"] else 0


def arguments() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000, help="how many trials in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="", choices=("", *TRIALS), help="only trials of one kind")
    parser.add_argument("--log", default="fuzz.json")
    parser.add_argument("--only", type=int, help="repeat the trial of this number")
    parser.add_argument("--seconds", type=float, default=20.0, help="that one trial may take")
    parser.add_argument("--megabytes", type=int, default=1500, help="that a child may take more")
    return parser


def started(options: Any) -> dict[str, Any]:
    """The log of a run that was stopped, or a new one."""
    path = Path(options.log)
    if path.exists():
        log: dict[str, Any] = json.loads(path.read_text())
        if (log["seed"], log["kind"]) != (options.seed, options.kind):
            raise SystemExit(f"{path} is the log of other trials")
        return log
    fixed = {"seed": options.seed, "kind": options.kind, "next": 0, "seconds": 0.0}
    return {**fixed, "outcomes": {}, "broken": {}, "slowest": [], "most_bytes": [0, -1, ""]}


def warmed(seed: int, only: str) -> None:
    """Load all that trials need once, before their time and memory count."""
    warnings.simplefilter("ignore")
    for kind in [only] if only else [k for k, (weight, _) in TRIALS.items() if weight]:
        for number in range(-3, 0):
            with suppress(Exception):
                trial(seed, number, kind)


def batch(log: dict[str, Any], options: Any, end: int) -> None:
    """Do trials in a child until `end`, or until one kills it; note them all."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os._exit(work(options, log["next"], end, writer))
    os.close(writer)
    with os.fdopen(reader, "rb", 0) as stream:
        why = follow(log, stream, options.seconds, child)
    if why:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if why or status:
        died = f"killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "left"
        broke(log, why or f"the process {died}", log["next"])
        log["next"] += 1


def follow(log: dict[str, Any], stream: Any, seconds: float, child: int) -> str:
    """Note what a child tells; why it has to be ended, if so.

    A trial that waits for a busy machine has more time than one that computes.
    """
    rest, waits, begun = b"", 0, worked(child)
    while True:
        ready, _, _ = select.select([stream], [], [], seconds)
        if not ready:
            waits += 1
            if worked(child) - begun > seconds or waits > PATIENCE:
                return f"a trial takes more than {seconds:g} seconds"
            continue
        waits, begun = 0, worked(child)
        data = stream.read(65536)
        if not data:
            return ""
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            note(log, json.loads(line))


def worked(child: int) -> float:
    """The seconds of CPU that a child has taken."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def note(log: dict[str, Any], told: dict[str, Any]) -> None:
    """Note one trial."""
    number, kind = told["number"], told["kind"]
    log["next"] = number + 1
    log["seconds"] += told["seconds"]
    if told["broken"]:
        broke(log, told["broken"], number)
    key = f"{kind}: {told['outcome']}"
    log["outcomes"][key] = log["outcomes"].get(key, 0) + 1
    log["slowest"] = sorted([*log["slowest"], [told["seconds"], number, kind]])[-SLOWEST:]
    log["most_bytes"] = max(log["most_bytes"], [told["bytes"], number, kind])


def broke(log: dict[str, Any], law: str, number: int) -> None:
    """Note a trial that broke the law."""
    known = log["broken"].setdefault(law, [0, []])
    known[0] += 1
    known[1] = [*known[1], number][:EXAMPLES]


def work(options: Any, start: int, end: int, writer: int) -> int:
    """Do trials and tell of each in a line; the exit code."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + options.megabytes * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(os.open(os.devnull, os.O_WRONLY), "w") as silence:
        sys.stdout = sys.stderr = silence
        for number in range(start, end):
            told = json.dumps(done(options, number)).encode() + b"\n"
            os.write(writer, told)
    return 0


def done(options: Any, number: int) -> dict[str, Any]:
    """One trial and what is to tell of it."""
    traced = number % MEASURED == 0
    if traced:
        tracemalloc.start()
    start, broken = time.process_time(), ""
    try:
        kind, outcome = trial(options.seed, number, options.kind)
    except Exception as error:
        kind, outcome, broken = options.kind or "any", "broke the law", where(error)
    seconds = time.process_time() - start
    taken = tracemalloc.get_traced_memory()[1] if traced else 0
    tracemalloc.stop()
    return {
        "number": number,
        "kind": kind,
        "outcome": outcome,
        "broken": broken,
        "seconds": 0.0 if traced else seconds,
        "bytes": taken,
    }


def where(error: Exception) -> str:
    """What an exception is, and the line of scull it came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/scull/" in f.filename]
    place = f"{frames[-1].filename.split('/scull/')[-1]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} at {place}: {str(error)[:120]}"


def summary(log: dict[str, Any]) -> str:
    """A few lines about all trials so far."""
    counts = Counter[str]()
    for key, count in log["outcomes"].items():
        counts[key.partition(": ")[2]] += count
    slow = log["slowest"][-1] if log["slowest"] else [0.0, -1, ""]
    size, number, kind = log["most_bytes"]
    broken = [f"BROKEN {n} times, as {who}: {law}" for law, (n, who) in log["broken"].items()]
    lines = [
        f"{log['next']} trials in {log['seconds']:.0f} s of CPU",
        ", ".join(f"{outcome} {count}" for outcome, count in counts.most_common()),
        f"slowest: {slow[0]:.2f} s ({slow[2]}, number {slow[1]})",
        f"most memory: {size / MEGABYTE:.1f} MB ({kind}, number {number})",
        *broken,
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
