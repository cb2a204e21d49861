"""What is measured: a computation with its data, the same for every contender."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.compiled.network import Network, Parameter, parameters_of, values_of

BETAS, ADAM_EPSILON, DECAY = (0.9, 0.999), 1e-8, 0.01
STEPS = 20  # of training whose losses are compared

Arrays = tuple[np.ndarray[Any, Any], ...]
Step = Callable[[], Any]  # once what is measured


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A figure: `asked` is the least ratio of the best peer's time to ours, by threads; 0 is none.

    A contender is a framework and, after a slash, the form in which it runs.
    """

    title: str
    asked: dict[int, float]
    peers: tuple[str, ...]
    tolerance: float = 1e-3  # within which contenders agree, relative to the largest value

    def is_done_by(self, contender: str) -> bool:
        """Whether a contender is known to do it."""
        return True

    def step(self, contender: str, threads: int) -> Step:
        """What a contender does again and again in this process."""
        raise NotImplementedError

    def result(self, step: Step) -> np.ndarray[Any, Any]:
        """What is compared."""
        return np.asarray(step())


@dataclass(frozen=True, kw_only=True)
class Fitted(Workload):
    """A network, its inputs, the first values of its parameters."""

    network: Network
    inputs: Arrays
    form: str  # the function of a framework's module

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Its parameters, in its order."""
        return parameters_of(self.network, len(self.inputs))

    @cached_property
    def values(self) -> list[np.ndarray[Any, Any]]:
        """Their first values."""
        return values_of(self.parameters)

    def step(self, contender: str, threads: int) -> Step:
        """A step of training, or a prediction."""
        name, _, form = contender.partition("/")
        module = "paddle" if name in ("scull", "paddle") else name
        framework = import_module(f"benchmarks.compiled.framework.{module}")
        return getattr(framework, self.form)(self, threads, form or name)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Training(Fitted):
    """Steps of training, which give losses."""

    label: np.ndarray[Any, Any]
    optimizer: str
    rate: float = 1e-3
    form: str = "training"
    mixed: bool = False  # products in bfloat16, the rest in float32

    def is_done_by(self, contender: str) -> bool:
        """PaddlePaddle's CPU has no products in bfloat16."""
        return not self.mixed or contender != "paddle"

    def result(self, step: Step) -> np.ndarray[Any, Any]:
        """The losses of the first steps."""
        return np.array([float(step()) for _ in range(STEPS)])


@dataclass(frozen=True, kw_only=True)
class Prediction(Fitted):
    """Predictions, from NumPy to NumPy."""

    form: str = "prediction"

    def result(self, step: Step) -> np.ndarray[Any, Any]:
        """What comes out, which ONNX Runtime lays in a list."""
        return np.ravel(step())
