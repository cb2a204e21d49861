"""The demo's report: one page of HTML that needs nothing else."""

from html import escape
from pathlib import Path
from string import Template

import numpy as np

from scull.cli import version
from scull.cli.demo.chart import columns, curves, digit
from scull.cli.demo.compare import COMPARED, Difference
from scull.cli.demo.static import Ran
from scull.cli.demo.task import Task, Trained
from scull.files.atomic import atomic_file
from scull.vision import Digits

PAGE = Template((Path(__file__).parent / "report.html").read_text(encoding="utf-8"))
SHOWN = 12  # misread digits


def write_report(
    path: Path, task: Task, modes: list[Trained], ran: Ran, difference: Difference, problems: list
) -> None:
    """Write the whole page, or nothing."""
    first = {trained.mode: trained.fitted.losses[:COMPARED] for trained in modes}
    every = {trained.mode: trained.fitted.losses for trained in modes}
    page = PAGE.substitute(
        version=escape(version()),
        seed=task.seed,
        epochs=task.epochs,
        tiles=tiles(modes, difference),
        problems="".join(f'<p class="problem">{escape(text)}</p>' for text in problems),
        difference=escape(str(difference)),
        compared=COMPARED,
        first=curves(first, f"loss in the first {COMPARED} steps"),
        every=curves(every, "loss in all steps"),
        confusion="".join(map(confusion, distinct(modes))),
        misread="".join(map(misread, distinct(modes))),
        timings=timings(modes),
        memory=memory(modes, ran),
        live=columns(ran.live, "bytes alive after each step of the plan"),
        program=escape(ran.program),
        plan=escape(ran.plan),
    )
    with atomic_file(path) as stream:
        stream.write(page.encode("utf-8"))


def tiles(modes: list[Trained], difference: Difference) -> str:
    """The results, large."""
    pairs = [(f"{t.accuracy:.3f}", f"test accuracy, {t.mode}") for t in modes]
    pairs.append((f"{difference.largest:.1g}", f"largest difference of losses, {COMPARED} steps"))
    total = sum(sum(t.fitted.seconds) for t in modes)
    pairs.append((f"{total:.1f} s", "training, both modes"))
    return "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in pairs)


def distinct(modes: list[Trained]) -> list[tuple[str, Trained]]:
    """The modes with their names, those that predict the same as one."""
    first, second = modes
    if np.array_equal(first.predicted, second.predicted):
        return [("both modes", first)]
    return [(first.mode, first), (second.mode, second)]


def confusion(named: tuple[str, Trained]) -> str:
    """How often each digit was read as each."""
    name, trained = named
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (Digits("test").labels[:, 0], trained.predicted), 1)
    head = "".join(f"<th>{column}</th>" for column in range(10))
    rows = [f'<tr class="head"><th></th>{head}<th>right</th></tr>']
    for label, row in enumerate(counts):
        cells = "".join(cell(n, n / row.sum(), i == label) for i, n in enumerate(row))
        rows.append(f"<tr><th>{label}</th>{cells}<td>{row[label] / row.sum():.0%}</td></tr>")
    caption = f"{name}: {trained.right} of {len(trained.logits)} read right"
    return f'<table class="confusion"><caption>{caption}</caption>{"".join(rows)}</table>'


def cell(count: int, share: float, right: bool) -> str:
    """One number of the matrix, the darker the larger its share of the row."""
    if not count:
        return '<td class="none">·</td>'
    kind = "right" if right else "wrong"
    strength = 0.25 + 0.65 * share if right else 0.35 + 0.65 * min(1, 4 * share)
    return f'<td class="{kind}" style="--strength:{strength:.2f}">{count}</td>'


def misread(named: tuple[str, Trained]) -> str:
    """Some test images that were read wrong, with both digits and the probability given."""
    name, trained = named
    test = Digits("test")
    wrong = np.flatnonzero(trained.predicted != test.labels[:, 0])
    figures = []
    for i in wrong[:SHOWN]:
        scores = np.exp(trained.logits[i] - trained.logits[i].max())
        found, label = trained.predicted[i], test.labels[i, 0]
        text = f"{label}, read as {found}"
        share = f"{scores[found] / scores.sum():.0%}"
        figures.append(
            f"<figure>{digit(test.images[i, 0], text)}"
            f"<figcaption>{text}<br><small>{share} sure</small></figcaption></figure>"
        )
    shown = f", {SHOWN} of them shown" if len(wrong) > SHOWN else ""
    return (
        f'<p>{name}: {len(wrong)} misread{shown}.</p><div class="digits">{"".join(figures)}</div>'
    )


def timings(modes: list[Trained]) -> str:
    """Milliseconds of a step and seconds of the training."""
    titles = ("", "first step", "median", "p10", "p90", "all")
    rows = ['<tr class="head">' + "".join(f"<th>{title}</th>" for title in titles) + "</tr>"]
    for trained in modes:
        first, *rest = (second * 1e3 for second in trained.fitted.seconds)
        low, middle, high = np.percentile(rest, [10, 50, 90])
        cells = "".join(f"<td>{v:.2f} ms</td>" for v in (first, middle, low, high))
        total = sum(trained.fitted.seconds)
        rows.append(f"<tr><th>{trained.mode}</th>{cells}<td>{total:.2f} s</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def memory(modes: list[Trained], ran: Ran) -> str:
    """What one step takes."""
    rows = [(f"{t.mode}: a step, all it allocates at once", t.peak) for t in modes]
    rows.append(("static: its temporaries at once, by the ledger", ran.peak))
    lines = [f"<tr><th>{name}</th><td>{size / 1024:,.0f} KiB</td></tr>" for name, size in rows]
    return f"<table>{''.join(lines)}</table>"
