"""Reads damaged and malicious files while every audited event of Python is looked at.

`python -m tests.files.fuzz.audited 400` tells in JSON how many were read, and what happened that
may not: code run or compiled, processes, connections, writes, foreign modules. Hooks stay for the
life of a process, so it has one of its own.
"""

import io
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import scull as paddle
from scull.deferred import load_all
from scull.errors import ScullError
from tests.files.fuzz import trial
from tests.files.test_malicious_pickles import REFUSED, RUNS_CODE

PACKAGE = str(Path(paddle.__file__).parent)
EVENTS = """
    os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile os.putenv os.kill
    os.remove os.rename os.rmdir os.mkdir os.link os.symlink os.truncate os.chmod os.chown
    os.utime os.setxattr subprocess.Popen pty.spawn ftplib.connect smtplib.connect
    urllib.Request webbrowser.open pickle.find_class marshal.load marshal.loads code.__new__
    builtins.input cpython.run_command cpython.run_file sys.setprofile sys.settrace"""
FAMILIES = ("socket.", "ctypes.", "shutil.", "tempfile.", "winreg.", "mmap.", "syslog.")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Watch:
    """What happened while something was read."""

    def __init__(self) -> None:
        self.armed = self.strict = False
        self.violations: Counter[str] = Counter()
        self.reads = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.armed, self.reads = True, self.reads + 1
        try:
            yield
        finally:
            self.armed = False

    def hook(self, event: str, arguments: Any) -> None:
        """Note an event that may not be."""
        if self.armed and self.is_wrong(event, arguments):
            self.armed = False
            self.violations[f"{event}{arguments!r}"[:200]] += 1
            self.armed = True

    def is_wrong(self, event: str, arguments: Any) -> bool:
        """Whether an event may not be; modules of scull may be loaded unless it is `strict`."""
        if event == "open":
            _, mode, flags = arguments
            return bool(set(mode or "") & set("wax+")) or bool((flags or 0) & WRITES)
        if event in ("exec", "compile"):
            path = getattr(arguments[0], "co_filename", arguments[-1])
            return self.strict or not str(path).startswith(PACKAGE)
        if event == "import":
            return self.strict or not str(arguments[0]).startswith("scull")
        if event in ("marshal.load", "marshal.loads"):
            return self.strict
        return event in EVENTS.split() or event.startswith(FAMILIES)


def read_all(watch: Watch, count: int) -> None:
    """Read every malicious pickle, and files of each kind damaged at random."""
    for data in (*RUNS_CODE.values(), *REFUSED.values()):
        with suppress(ScullError), watch():
            paddle.load(io.BytesIO(data))
    for number in range(count):
        trial.trial(7, number)


def main() -> None:
    """Read everything twice: when modules of scull may still be loaded, and when not."""
    warnings.simplefilter("ignore")
    for package in ("executor", "lang", "passes"):  # whose dataclasses run code when they load
        load_all(f"scull.{package}")
    watch = Watch()
    for kind in (k for k, (weight, _) in trial.TRIALS.items() if weight):
        for number in range(5):
            with suppress(ScullError):
                trial.trial(0, number, kind)
    trial.watched = watch
    sys.addaudithook(watch.hook)
    for watch.strict in (False, True):
        read_all(watch, int(sys.argv[1]))
    with watch():
        exec("1")  # the hook works
    print(json.dumps({"reads": watch.reads, "violations": watch.violations}))


if __name__ == "__main__":
    main()
