"""One page of timelines: a training step in each mode, of many small and of few large kernels.

`python -m benchmarks.timelines page.html` writes it. Every row of boxes is one step; the boxes are
its operators, or regions of them as one function of machine code, and what is white between them is
Python's time. Rows of one net share a scale.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import scull as paddle
from scull.files.atomic import atomic_file
from scull.flags import flags

WIDTH, HEIGHT = 1100, 46  # of a row, in pixels
COLOURS = {"forward": "#4c78a8", "backward": "#f58518", "update": "#54a24b", "region": "#b279a2"}
STEPS = 30  # of each kind, of which the shortest is shown


class Box(NamedTuple):
    """An operator or a region of a step: its begin and end, in microseconds from the first."""

    name: str
    start: float
    end: float

    @property
    def kind(self) -> str:
        """What the operator is for."""
        if self.name == "region":
            return "region"
        if self.name.endswith("_grad"):
            return "backward"
        return "update" if self.name in ("adam", "sgd") else "forward"


def many_small() -> tuple[Any, Any]:
    """A net of many small kernels, and its input."""
    nn = paddle.nn
    layers = [part for _ in range(12) for part in (nn.Linear(16, 16), nn.LayerNorm(16), nn.Tanh())]
    return nn.Sequential(*layers), paddle.rand([8, 16])


def few_large() -> tuple[Any, Any]:
    """A net of few large kernels, and its input."""
    nn = paddle.nn
    return nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 256)), paddle.rand(
        [256, 1024]
    )


def stepping(net: Any) -> Callable[[Any], Any]:
    """A training step."""
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())

    def step(x: Any) -> Any:
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def recorded(step: Callable[[Any], Any], x: Any) -> list[Box]:
    """The operators of the shortest of several steps."""
    for _ in range(3):
        step(x)
    found = []
    for _ in range(STEPS):
        profiler = paddle.profiler.Profiler(on_trace_ready=lambda _: None)  # no file
        profiler.start()
        step(x)
        profiler.stop()
        found.append(list(boxes(profiler.profiler_result)))
    return min(found, key=lambda row: row[-1].end)


def boxes(result: Any) -> Iterator[Box]:
    """The innermost spans of a recording, from the first operator on."""
    nodes = [n for root in result.get_data().values() for n in root.walk() if not n.children_node]
    nodes = sorted((n for n in nodes if n.name), key=lambda n: n.start_ns)
    first = nodes[0].start_ns
    for n in nodes:
        yield Box(n.name, (n.start_ns - first) / 1e3, (n.end_ns - first) / 1e3)


def row(title: str, found: list[Box], longest: float) -> str:
    """A step as a picture."""
    scale = WIDTH / longest
    drawn = [
        f'<rect x="{b.start * scale:.2f}" width="{max((b.end - b.start) * scale, 0.4):.2f}" y="18"'
        f' height="24" fill="{COLOURS[b.kind]}"><title>{escape(b.name)}: '
        f"{b.end - b.start:.1f} us, at {b.start:.1f} us</title></rect>"
        for b in found
    ]
    busy = sum(b.end - b.start for b in found)
    counts = Counter("region" if b.kind == "region" else "operator" for b in found)
    held = ", ".join(f"{n} {word}{'s' * (n > 1)}" for word, n in counts.items())
    told = f"{title}: {found[-1].end:,.0f} us, {held}, {busy:,.0f} us within"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(told)}">'
        f'<text x="0" y="13">{escape(told)}</text>{"".join(drawn)}</svg>'
    )


def page() -> str:
    """The page."""
    parts = []
    for title, make in (("many small kernels", many_small), ("few large kernels", few_large)):
        net, x = make()
        step = stepping(net)
        rows = {
            "eager": recorded(step, x),
            "static": recorded(paddle.jit.to_static(step, full_graph=True), x),
        }
        with flags(COMPILE="eager"):
            rows["machine code"] = recorded(paddle.jit.to_static(step, full_graph=True), x)
        longest = max(found[-1].end for found in rows.values())
        parts.append(f"<h2>{title}</h2>")
        parts += [row(name, found, longest) for name, found in rows.items()]
    legend = " ".join(
        f'<span style="color:{colour}">&#9632;</span> {name}' for name, colour in COLOURS.items()
    )
    style = (
        "body{font:14px sans-serif;margin:2em}svg{display:block;margin:.6em 0}text{font-size:13px}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Training steps</title>'
        f"<style>{style}</style><h1>A training step in each mode</h1><p>{legend}</p>"
        f"{''.join(parts)}</html>\n"
    )


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "timelines.html")
    with atomic_file(target) as stream:
        stream.write(page().encode())
    print(target)
