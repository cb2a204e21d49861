"""Processes of our own in which LLVM works: llvmlite lets one thread of a process in at a time.

A process is asked over pipes, for one object file after the other: a frame with the target as JSON,
one with the text; it answers with a frame of JSON, which has the seconds it took or what LLVM said
against the text, and one with the object file. A frame is its length in eight bytes, and the bytes.
It ends when nobody can ask it any more.
"""

import atexit
import json
import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO

from scull.core.cpus import usable_cpus
from scull.flags import flag
from scull.runtime import llvm
from scull.runtime.background import also_took

MOST = 3  # processes: texts are not written faster than these compile them
SERVE = "from scull.runtime.elsewhere import serve; serve()"


def processes() -> int:
    """How many work beside this one; with one CPU there is none."""
    wanted = flag("COMPILERS")
    return int(wanted) if wanted >= 0 else min(usable_cpus() - 1, MOST)


class Compiler:
    """A process that makes object files; where it is gone this one makes them."""

    def __init__(self) -> None:
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        atexit.register(self.close)

    def object_code(self, text: str, target: llvm.Target) -> bytes:
        """An object file of text IR for a target; a RuntimeError is what LLVM says against it."""
        if self._process is None or self._owner != os.getpid():  # pipes have two ends, not three
            return llvm.object_code(text, target)
        try:
            answer, code = self._asked(self._process, text, target)
        except (OSError, EOFError):
            self.close()
            return llvm.object_code(text, target)
        if "wrong" in answer:
            raise RuntimeError(answer["wrong"])
        also_took(float(answer["seconds"]))
        return code

    def _asked(
        self, process: subprocess.Popen[bytes], text: str, target: llvm.Target
    ) -> tuple[dict[str, str | float], bytes]:
        assert process.stdin is not None and process.stdout is not None
        _send(process.stdin, json.dumps(asdict(target)).encode(), text.encode())
        return json.loads(_frame(process.stdout)), _frame(process.stdout)

    def close(self) -> None:
        """End the process; it has nothing to lose."""
        process, self._process = self._process, None
        atexit.unregister(self.close)
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):  # of what was still to be written
                pipe.close()


def started() -> Compiler | None:
    """Another process, or None where none can start or this one runs another program's Python."""
    if not Path(sys.executable or "").name.startswith("python") or hasattr(sys, "frozen"):
        return None
    try:
        return Compiler()
    except OSError:
        return None


def serve() -> None:
    """Answer what is asked through the standard streams, until there is nobody to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: it is for who asks
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints is no answer
    llvm.host()
    with suppress(EOFError, BrokenPipeError):
        while True:
            target = llvm.Target(**json.loads(_frame(sys.stdin.buffer)))
            text, start = _frame(sys.stdin.buffer).decode(), time.process_time()
            try:
                code = llvm.object_code(text, target)
                answer: dict[str, str | float] = {"seconds": time.process_time() - start}
            except RuntimeError as error:
                answer, code = {"wrong": str(error)}, b""
            _send(told, json.dumps(answer).encode(), code)


def _send(pipe: IO[bytes], *frames: bytes) -> None:
    for frame in frames:
        pipe.write(struct.pack("<Q", len(frame)) + frame)
    pipe.flush()


def _frame(pipe: IO[bytes]) -> bytes:
    (size,) = struct.unpack("<Q", _exactly(pipe, 8))
    return _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError
    return found
