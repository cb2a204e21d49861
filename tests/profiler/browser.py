"""A real browser without a window, driven over pipes by its own protocol."""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

fcntl = pytest.importorskip("fcntl", reason="the browser is given pipes by their numbers")
NAMES = ("chromium", "google-chrome", "chromium-browser")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
needs_browser = pytest.mark.skipif(PROGRAM is None, reason="there is no chromium or google-chrome")
PATIENCE = 90  # seconds for one answer
START = "import os, sys; os.dup2({}, 3); os.dup2({}, 4); os.execv(sys.argv[1], sys.argv[1:])"
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--remote-debugging-pipe", "--window-size=1400,900"),
)


class Browser:
    """One process; its pages know nothing of each other."""

    def __init__(self, folder: Path) -> None:
        ends = [
            fcntl.fcntl(end, fcntl.F_DUPFD, 10) for pair in (os.pipe(), os.pipe()) for end in pair
        ]
        self.source, self.sink, theirs = ends[2], ends[1], (ends[0], ends[3])
        start = [sys.executable, "-c", START.format(*theirs), str(PROGRAM), *OPTIONS]
        command = [*start, f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(command, pass_fds=theirs, stderr=subprocess.DEVNULL)
        for end in theirs:
            os.close(end)
        self.numbers, self.rest, self.pages = count(1), b"", dict[str, Page]()

    def close(self) -> None:
        """End the process."""
        self.ask("Browser.close")
        self.process.wait(PATIENCE)
        os.close(self.source)
        os.close(self.sink)

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """What the browser answers."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self.sink, json.dumps(message).encode() + b"\0")
        while True:
            found = self.read()
            if found.get("id") == number:
                assert "error" not in found, found["error"]
                return found["result"]

    def read(self) -> Any:
        """The next message; what happens to a page is noted there."""
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            self.rest += os.read(self.source, 1 << 20)
        line, _, self.rest = self.rest.partition(b"\0")
        found = json.loads(line)
        if found.get("sessionId") in self.pages and "method" in found:
            self.pages[found["sessionId"]].note(found["method"], found["params"])
        return found

    def open(self, page: Path | str, fragment: str = "", **media: str) -> "Page":
        """A file or an address, once its scripts ran; `media` are features of the page, such as
        prefers_color_scheme.
        """
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        found = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            found.ask(f"{domain}.enable")
        features = [{"name": n.replace("_", "-"), "value": v} for n, v in media.items()]
        found.ask("Emulation.setEmulatedMedia", features=features)
        found.ask(
            "Page.navigate", url=(page if isinstance(page, str) else page.as_uri()) + fragment
        )
        while not found.loaded:
            self.read()
        return found


class Page:
    """One page: what it holds, what it asked for, and what went wrong."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.loaded = False

    def ask(self, method: str, **parameters: Any) -> Any:
        return self.browser.ask(method, self.session, **parameters)

    def note(self, method: str, found: Any) -> None:
        """Something happened."""
        match method:
            case "Network.requestWillBeSent":
                self.requests.append(found["request"]["url"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.problems.append(json.dumps(found))
            case "Page.loadEventFired":
                self.loaded = True

    def value(self, expression: str) -> Any:
        """What an expression gives in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def becomes(self, expression: str, expected: Any) -> bool:
        """Whether an expression gives this, now or when what was begun is done."""
        until = time.monotonic() + PATIENCE
        while self.value(expression) != expected:
            if time.monotonic() > until:
                return False
        return True

    def texts(self, selector: str) -> list[str]:
        """The text of each element."""
        return self.value(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")

    def numbers(self, selector: str) -> list[int]:
        """The instructions that links under an element lead to."""
        where = json.dumps(f"{selector} [data-i]")
        return self.value(f"[...document.querySelectorAll({where})].map(e => Number(e.dataset.i))")

    def click(self, selector: str) -> None:
        """Press and release the pointer in the middle of an element."""
        where = f"document.querySelector({selector!r})"
        self.value(f"{where}.scrollIntoView({{ block: 'center', inline: 'center' }})")
        box = f"(r => [r.x + r.width / 2, r.y + r.height / 2])({where}.getBoundingClientRect())"
        x, y = self.value(box)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            left = {"button": "none" if kind == "mouseMoved" else "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **left)

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **more)
