"""One program run in each way: what each gives, and where two of them differ."""

import contextlib
import io
import linecache
import tempfile
import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import scull as paddle
from scull.static import InputSpec
from tests.control.graph import loss_of
from tests.control.tree import RESULTS
from tests.control.trial import Difference, drawn

INPUTS = ("x", "y", "n")
CALLS = 3  # with inputs of its own each
TRAINED = 9  # a third of the programs are differentiated when loaded, on one of their calls
numbers = count()


@dataclass(frozen=True)
class Found:
    """What a call gives: results, their loss, its gradients, and the buffer after it."""

    results: list[Any]
    gradients: dict[str, Any]
    seen: Any


class Trial:
    """A program and the values of its operands; `opened` where a size of them is unknown."""

    def __init__(self, text: str, seed: int, exact: bool = False, opened: bool = False) -> None:
        self.text, self.seed, self.exact, self.opened = text, seed, exact, opened
        self.chance = np.random.default_rng(seed)
        rows = [2] * CALLS if not opened else self.chance.permutation([1, 2, 3])
        self.inputs = [self.given(int(r), i) for i, r in enumerate(rows)]

    def given(self, rows: int, number: int) -> dict[str, Any]:
        """The inputs of one call."""
        x, y = (drawn(self.chance, shape, self.exact) for shape in ((3,), (rows, 3)))
        return {"x": x, "y": y, "n": np.array((self.chance.integers(0, 4) + number) % 4)}

    @cached_property
    def kind(self) -> Any:
        """The class that the text declares."""
        return class_of(self.text)

    @cached_property
    def state(self) -> dict[str, Any]:
        """The values of parameters and buffers."""
        found = self.kind().state_dict()
        return {n: drawn(self.chance, tuple(v.shape), self.exact) for n, v in found.items()}

    def started(self) -> Any:
        """A Layer that never ran."""
        model = self.kind()
        self.restore(model)
        return model

    def restore(self, model: Any) -> None:
        """Give parameters and buffers their first values."""
        for name, tensor in model.state_dict().items():
            tensor.set_value(self.state[name])
        model.clear_gradients()

    def called(
        self, model: Any, inputs: dict[str, Any], names: Any = INPUTS, backward: bool = True
    ) -> Found:
        """What a Layer gives, called with some of the inputs."""
        given = {n: paddle.to_tensor(v, stop_gradient=n == "n") for n, v in inputs.items()}
        with contextlib.redirect_stdout(io.StringIO()):
            results = model(*(given[n] for n in names))
        loss = loss_of(results)
        if backward:
            loss.backward()
        wanted = {"x": given["x"], "y": given["y"], **dict(model.named_parameters())}
        gradients = {n: zeros_or(v.grad, v.shape) for n, v in wanted.items()}
        values = [v.numpy() for v in (*results, loss)]
        seen = getattr(model, "seen", None)
        seen = None if seen is None else seen.numpy()
        return Found(values, gradients, seen)

    @cached_property
    def eager(self) -> list[Found]:
        """What Python gives for each of the inputs."""
        return [self.called(self.started(), inputs) for inputs in self.inputs]

    def check(self) -> None:
        """Eager, one Program, and that Program saved and loaded agree; else a Difference says."""
        rows = None if self.opened else 2
        specs = [
            InputSpec([3], "float64", "x"),
            InputSpec([rows, 3], "float64", "y"),
            InputSpec([], "int64", "n"),
        ]
        model = paddle.jit.to_static(self.started(), input_spec=specs, full_graph=True)
        self.check_calls("to_static", model)
        if len(model.forward.program_cache) != 1:
            raise Difference(f"{len(model.forward.program_cache)} Programs instead of one")
        with tempfile.TemporaryDirectory() as made:
            self.check_saved(model, Path(made) / "model")

    def check_calls(self, way: str, model: Any) -> None:
        """A Layer gives what eager Python does, each time it is called."""
        for number, (inputs, expected) in enumerate(zip(self.inputs, self.eager, strict=True)):
            self.restore(model)
            self.compare(f"{way}, call {number}", self.called(model, inputs), expected)

    def check_saved(self, model: Any, path: Path) -> None:
        """What a Layer is, saved and loaded."""
        self.restore(model)
        with contextlib.redirect_stdout(io.StringIO()):
            paddle.jit.save(model, str(path))
        loaded = paddle.jit.load(str(path), allow_ops=["print"])
        first = [(v, v.numpy()) for v in loaded.buffers()]
        names = [spec.name for spec in loaded._input_spec()]
        for number, (inputs, expected) in enumerate(zip(self.inputs, self.eager, strict=True)):
            for buffer, value in first:
                buffer.set_value(value)
            trains = number == self.seed % TRAINED
            (loaded.train if trains else loaded.eval)()
            found = self.called(loaded, inputs, names, trains)
            self.compare(f"loaded, call {number}", found, expected, ("x", "y") * trains)

    def check_pieces(self) -> None:
        """Pieces of graph with Python between them agree with eager."""
        model = paddle.jit.to_static(self.started(), full_graph=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            for _ in range(2):
                self.check_calls("pieces", model)

    def compare(self, way: str, found: Found, expected: Found, names: Any = None) -> None:
        """Results are equal, the sign of 0 apart; gradients too where every sum is exact."""
        for word, a, b in zip((*RESULTS, "loss"), found.results, expected.results, strict=True):
            if (a.dtype, a.shape) != (b.dtype, b.shape) or not np.array_equal(a, b):
                raise Difference(f"{way}: {word} is\n{a!r}\ninstead of\n{b!r}")
        for name in expected.gradients if names is None else names:
            a, b = found.gradients[name], expected.gradients[name]
            if not (np.array_equal(a, b) if self.exact else np.allclose(a, b, 1e-9, 1e-11)):
                raise Difference(f"{way}: the gradient of {name} is\n{a}\ninstead of\n{b}")
        if names is None and not np.array_equal(found.seen, expected.seen):
            raise Difference(f"{way}: seen is\n{found.seen}\ninstead of\n{expected.seen}")


def zeros_or(gradient: Any, shape: Any) -> Any:
    """A gradient as an array."""
    return np.zeros(shape) if gradient is None else gradient.numpy()


def class_of(text: str) -> Any:
    """The class `Model` of a text, which `inspect` finds."""
    name = f"<random program {next(numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"paddle": paddle, "__name__": "tests.jit.random_program"}
    exec(compile(text, name, "exec"), names)
    return names["Model"]


def failure(trial: Trial, pieces: bool = False) -> Exception | None:
    """What is wrong with a program; None where nothing is. One that Python refuses raises."""
    trial.eager  # noqa: B018
    try:
        trial.check_pieces() if pieces else trial.check()
    except Exception as law:
        return law
    return None
