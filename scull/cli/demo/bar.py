"""A bar of progress: a line that is drawn anew on a terminal, one line an epoch elsewhere."""

import os
import shutil
import time
from typing import TextIO

WIDTH = 24  # of the bar itself, in characters
PAUSE = 0.05  # seconds between two drawings
GREEN, GREY, PLAIN, CLEAR = "\x1b[32m", "\x1b[90m", "\x1b[0m", "\r\x1b[K"


class Bar:
    """Progress through `total` steps of what `title` names, on `stream`."""

    def __init__(self, title: str, total: int, stream: TextIO) -> None:
        self.title, self.total, self.stream = title, total, stream
        self.done, self.drawn = 0, 0.0
        self.live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.live and not os.environ.get("NO_COLOR")
        self.full, self.empty = (
            ("━", "━" if self.colour else "·") if encodes(stream) else ("#", ".")
        )

    def step(self, text: str) -> None:
        """One step is done; `text` stands behind the bar."""
        self.done += 1
        now = time.monotonic()
        if self.live and (now - self.drawn > PAUSE or self.done == self.total):
            self.drawn = now
            self.stream.write(CLEAR + self.line(text))
            self.stream.flush()

    def close(self, text: str) -> None:
        """The last line of this bar, which stays."""
        line = self.line(text) if self.live else f"{self.title}  {text}"
        self.stream.write((CLEAR if self.live else "") + line + "\n")
        self.stream.flush()

    def line(self, text: str) -> str:
        """Title, bar, count and text, as wide as the terminal at most."""
        count = f"{self.done:>{len(str(self.total))}}/{self.total}"
        room = shutil.get_terminal_size().columns - len(f"{self.title}    {count}  {text}") - 1
        width = max(0, min(WIDTH, room))
        filled = width * self.done // max(self.total, 1)
        left, right = self.full * filled, self.empty * (width - filled)
        bar = f"{GREEN}{left}{GREY}{right}{PLAIN}" if self.colour else left + right
        return f"{self.title}  {bar}  {count}  {text}"


def encodes(stream: TextIO) -> bool:
    """Whether the bar's own characters can be written to `stream`."""
    try:
        "━·".encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
