"""Processes of our own in which LLVM works: llvmlite lets one thread of a process in at a time.

A process greets, then it is asked over pipes for one object file after the other: a frame with the
target as JSON, one with the text. It answers with a frame of JSON, which has the seconds it took or
what LLVM said against the text, and one with the object file. A frame is its length in eight bytes,
and the bytes. It ends when nobody can ask it any more.
"""

import atexit
import json
import os
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO
from weakref import WeakSet

from scull.core.cpus import usable_cpus
from scull.errors import RunError
from scull.flags import flag
from scull.runtime import llvm
from scull.runtime.background import also_took

MOST = 3  # processes: texts are not written faster than these compile them
GREETING = b"LLVM works here."
LARGEST = 1 << 31  # bytes of a frame; more is no length, but what somebody printed
SERVE = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: it is for who asks
from scull.runtime.elsewhere import serve
serve()
"""


def processes() -> int:
    """How many work beside this one; with one CPU there is none."""
    wanted = flag("COMPILERS")
    return int(wanted) if wanted >= 0 else min(usable_cpus() - 1, MOST)


class Compiler:
    """A process that makes object files; where it ends by itself this one makes them."""

    def __init__(self) -> None:
        paths = (path or os.getcwd() for path in sys.path if isinstance(path, str))
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE],  # no module of the folder where we happen to be
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what goes wrong there is done again here, and said
        )
        self._greeted = self._closed = False
        _every.add(self)
        atexit.register(self.close)

    def object_code(self, text: str, target: llvm.Target) -> bytes:
        """An object file of text IR for a target; a RuntimeError is what LLVM says against it."""
        process = self._process
        if process is None and not self._closed:
            return llvm.object_code(text, target)
        try:
            answer, code = self._asked(process, text, target)
        except (OSError, EOFError, ValueError) as error:
            if self._closed:  # nobody wants it any more
                raise RunError("this process does not compile any more") from error
            self._end()
            return llvm.object_code(text, target)
        if "wrong" in answer:
            raise RuntimeError(answer["wrong"])
        also_took(float(answer["seconds"]))
        return code

    def _asked(
        self, process: subprocess.Popen[bytes] | None, text: str, target: llvm.Target
    ) -> tuple[dict[str, str | float], bytes]:
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        if not self._greeted and _exactly(process.stdout, len(GREETING)) != GREETING:
            raise EOFError
        self._greeted = True
        _send(process.stdin, json.dumps(asdict(target)).encode(), text.encode())
        return json.loads(_frame(process.stdout)), _frame(process.stdout)

    def close(self) -> None:
        """End the process; it has nothing to lose, and what it was asked for is not made."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        atexit.unregister(self.close)
        if process is not None:
            process.kill()
            process.wait()
            _let_go(process)

    def forget(self) -> None:
        """In a child that was forked: pipes have two ends, not three."""
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # it is not a child of this one, which has not to wait for it
            _let_go(process)


_every: WeakSet[Compiler] = WeakSet()


def _let_go(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _forget_all() -> None:
    for compiler in list(_every):
        compiler.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


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
    asked, told = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what anybody prints is no answer
    llvm.host()
    with suppress(EOFError, BrokenPipeError):
        _write(told, GREETING)
        while True:
            target = llvm.Target(**json.loads(_frame(asked)))
            text, start = _frame(asked).decode(), time.process_time()
            try:
                code = llvm.object_code(text, target)
                answer: dict[str, str | float] = {"seconds": time.process_time() - start}
            except RuntimeError as error:
                answer, code = {"wrong": str(error)}, b""
            _send(told, json.dumps(answer).encode(), code)


def _send(pipe: IO[bytes], *frames: bytes) -> None:
    _write(pipe, b"".join(struct.pack("<Q", len(frame)) + frame for frame in frames))


def _write(pipe: IO[bytes], content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[pipe.write(left) :]


def _frame(pipe: IO[bytes]) -> bytes:
    (size,) = struct.unpack("<Q", _exactly(pipe, 8))
    if size > LARGEST:
        raise EOFError
    return _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        part = pipe.read(size - len(found))
        if not part:
            raise EOFError
        found += part
    return bytes(found)
