"""The demo in eager mode: Python runs the network line by line."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import scull as paddle
from scull.cli.demo.task import Network, Task, Trained, fit
from scull.nn import functional as F
from scull.vision import Digits


def train_eagerly(task: Task, folder: Path) -> Trained:
    """Train, save into `folder`, load again, predict the test images by both."""
    paddle.seed(task.seed)
    network = Network()
    rate = task.schedule()
    optimizer = paddle.optimizer.Adam(rate, parameters=network.parameters())

    def step(image, label):
        loss = F.cross_entropy(network(image), label)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    fitted = fit(task, "eager", step, rate)
    logits = predict(network)
    path = str(folder / "digits.pdparams")
    paddle.save(network.state_dict(), path)
    again = Network()
    again.set_state_dict(paddle.load(path))
    reloaded = predict(again)
    network.train()
    peak = peak_of(step, *next(iter(task.loader())))
    return Trained("eager", fitted, logits, reloaded, peak)


def predict(network: Network):
    """The logits of the test images."""
    network.eval()
    with paddle.no_grad():
        return network(paddle.to_tensor(Digits("test").images)).numpy()


def peak_of(call: Callable, *operands) -> int:
    """The bytes `call` takes at most besides what was there before."""
    call(*operands)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    call(*operands)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - before
