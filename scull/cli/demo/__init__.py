"""`scull demo`: learn handwritten digits eagerly and as a static Program, and compare the two."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from scull.cli.demo.bar import Bar
from scull.cli.demo.compare import Difference, compare
from scull.cli.demo.eager import train_eagerly
from scull.cli.demo.report import write_report
from scull.cli.demo.static import train_as_program
from scull.cli.demo.task import Task, Trained
from scull.vision import Digits

LEAST = 0.97  # the test accuracy either mode must reach
EPOCHS = 12


def main(arguments: Sequence[str]) -> int:
    """Train in both modes and write the report; 1 when something is not as it should be."""
    options = parser().parse_args(arguments)

    def bar(mode: str, epoch: int, steps: int) -> Bar:
        number = f"{epoch + 1:>{len(str(options.epochs))}}/{options.epochs}"
        return Bar(f"{mode:<6}  epoch {number}", steps, sys.stdout)

    task = Task(options.seed, options.epochs, bar)
    print(
        f"digits: {len(Digits('train'))} images to train on; {len(Digits('test'))}, every fifth, "
        "to test on, never trained on",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        eager = train_eagerly(task, Path(folder))
        print(accuracy_line(eager, task), flush=True)
        static, ran = train_as_program(task, Path(folder))
    difference = compare(eager.fitted.losses, static.fitted.losses)
    problems = list(problems_of([eager, static], difference))
    write_report(options.out, task, [eager, static], ran, difference, problems)
    print(f"the losses of the first steps: {difference}")
    print(f"report: {options.out}")
    print(accuracy_line(static, task), flush=True)
    for problem in problems:
        print(f"scull demo: {problem}", file=sys.stderr)
    return int(bool(problems))


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    text = "Learn handwritten digits eagerly and as a static Program, and compare the two."
    made = argparse.ArgumentParser(prog="scull demo", description=text)
    made.add_argument("--seed", type=int, default=0, help="of weights, order and dropout (0)")
    made.add_argument("--epochs", type=positive, default=EPOCHS, help=f"({EPOCHS})")
    made.add_argument(
        "--out", type=Path, default=Path("scull-demo.html"), help="the report (scull-demo.html)"
    )
    return made


def positive(text: str) -> int:
    """A number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not at least 1")
    return number


def accuracy_line(trained: Trained, task: Task) -> str:
    """The last line of a mode; rounded down, so that it never shows more than was reached."""
    shown = int(trained.right * 1000 // len(trained.logits)) / 1000
    return f"test accuracy: {shown:.3f} (n={len(trained.logits)}, seed {task.seed})"


def problems_of(modes: list[Trained], difference: Difference) -> Iterator[str]:
    """What is not as it should be."""
    if difference.parted is not None:
        first, second = (trained.mode for trained in modes)
        yield f"{first} and {second}: {difference}"
    for trained in modes:
        if not np.array_equal(trained.logits, trained.reloaded):
            yield f"{trained.mode}: the model that was saved and loaded again predicts otherwise"
        if trained.accuracy < LEAST:
            yield f"{trained.mode}: the test accuracy is {trained.accuracy:.4f}, below {LEAST}"
