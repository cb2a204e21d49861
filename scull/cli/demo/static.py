"""The demo in static mode: the network is a Program, which an Executor runs."""

from dataclasses import dataclass
from pathlib import Path

import scull as paddle
from scull.cli.demo.eager import peak_of
from scull.cli.demo.task import Network, Task, Trained, fit
from scull.flags import flags
from scull.nn import functional as F
from scull.vision import Digits


@dataclass(frozen=True)
class Built:
    """The Programs of the demo and what is fed to and fetched from them."""

    main: paddle.static.Program
    startup: paddle.static.Program
    test: paddle.static.Program
    image: paddle.static.Variable
    logits: paddle.static.Variable
    loss: paddle.static.Variable


@dataclass(frozen=True)
class Ran:
    """What the report shows of a run besides what it learned."""

    program: str
    plan: str
    live: list[tuple[str, int]]  # of each step of the plan: its operator, the bytes alive after it
    peak: int  # the most bytes of temporaries at once


def build(rate) -> Built:
    """Describe the network, its test form and its training."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        image = paddle.static.data("image", [None, 1, 8, 8], "float32")
        label = paddle.static.data("label", [None, 1], "int64")
        logits = Network()(image)
        test = main.clone(for_test=True)
        loss = F.cross_entropy(logits, label)
        paddle.optimizer.Adam(rate).minimize(loss)
    return Built(main, startup, test, image, logits, loss)


def train_as_program(task: Task, folder: Path) -> tuple[Trained, Ran]:
    """Train, save into `folder`, load again, predict the test images by both."""
    paddle.enable_static()
    try:
        with paddle.static.scope_guard(paddle.static.Scope()):
            return train(task, folder)
    finally:
        paddle.disable_static()


def train(task: Task, folder: Path) -> tuple[Trained, Ran]:
    """The same in static mode and a scope of its own."""
    paddle.seed(task.seed)
    rate = task.schedule()
    built = build(rate)
    exe = paddle.static.Executor()
    exe.run(built.startup)

    def step(image, label):
        feed = {"image": image, "label": label}
        return float(exe.run(built.main, feed=feed, fetch_list=[built.loss])[0])

    fitted = fit(task, "static", step, rate)
    images = {"image": Digits("test").images}
    (logits,) = exe.run(built.test, feed=images, fetch_list=[built.logits])
    path = str(folder / "digits")
    paddle.static.save_inference_model(path, [built.image], [built.logits], exe, program=built.test)
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, feeds, fetches = paddle.static.load_inference_model(path, exe)
        feed = dict(zip(feeds, images.values(), strict=True))
        (reloaded,) = exe.run(program, feed=feed, fetch_list=fetches)

    batch = next(iter(task.loader()))
    trained = Trained("static", fitted, logits, reloaded, peak_of(step, *batch))
    with flags(LEDGER=True):
        step(*batch)
    return trained, looked_at(built, exe)


def looked_at(built: Built, exe: paddle.static.Executor) -> Ran:
    """The texts and the ledger of the run just made."""
    plan = next(reversed(built.main.plans.values())).plan
    operators = [step.operator.type for step in plan.steps]
    live = list(zip(operators, exe.ledger.history, strict=True))
    return Ran(str(built.main), str(plan), live, exe.ledger.peak)
