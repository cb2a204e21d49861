"""Predictors: a saved model with its values, run by an Executor in a scope of its own."""

import io
import os
from collections.abc import Callable
from typing import Any

from scull.core.tensor import Tensor as EagerTensor
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FeedError,
    FetchError,
    RangeError,
    RunError,
)
from scull.executor.executor import Executor
from scull.files.model import Model, load_model
from scull.inference.config import Config
from scull.inference.handle import Tensor
from scull.runtime.scope import Scope


class Predictor:
    """A saved model that can be run; `create_predictor` makes it."""

    def __init__(self, model: Model, scope: Scope) -> None:
        self.model, self.scope, self.executor = model, scope, Executor()
        block = model.program.global_block()
        self.inputs = {n: Tensor(n, block.var(n)) for n in model.feeds}
        self.outputs = {v.name: Tensor(v.name, v) for v in model.fetches}
        self.hooks: list[Callable[[str, str, EagerTensor], Any]] = []

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return list(self.inputs)

    def get_output_names(self) -> list[str]:
        """The names of the outputs, in order."""
        return list(self.outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """What gives the input `name` its value."""
        if name not in self.inputs:
            raise FeedError(f"`{name}` is no input of the model; it has {listed(self.inputs)}")
        return self.inputs[name]

    def get_output_handle(self, name: str) -> Tensor:
        """Where the output `name` is read after `run`."""
        if name not in self.outputs:
            raise FetchError(f"`{name}` is no output of the model; it has {listed(self.outputs)}")
        return self.outputs[name]

    def run(self, inputs: Any = None) -> list[EagerTensor] | None:
        """Compute the outputs.

        Args:
            inputs (list[Tensor], optional): Tensors in the order of the inputs; what the handles
                hold when None.

        Returns:
            list[Tensor] | None: Tensors in the order of the outputs when `inputs` were given.
        """
        if inputs is not None:
            self.fill(inputs)
        missing = [n for n, handle in self.inputs.items() if handle.cell.value is None]
        if missing:
            raise FeedError(
                f"{listed(missing)} has no value: call copy_from_cpu of its input handle first"
            )
        feed = {n: handle.cell.value for n, handle in self.inputs.items()}
        watched = self.watched()
        names = [*self.outputs, *[name for _, name in watched]]
        values = self.executor.run(self.model.program, feed, names, scope=self.scope)
        for handle, value in zip(self.outputs.values(), values, strict=False):
            handle.take(value)
        for (type, name), value in zip(watched, values[len(self.outputs) :], strict=True):
            for hook in self.hooks:
                hook(type, name, EagerTensor(value))
        if inputs is None:
            return None
        return [EagerTensor(handle.cell.value) for handle in self.outputs.values()]

    def fill(self, inputs: Any) -> None:
        """Give the inputs these Tensors."""
        if not isinstance(inputs, list | tuple) or len(inputs) != len(self.inputs):
            raise ArgumentError(f"run takes a list of {len(self.inputs)} Tensors")
        for handle, value in zip(self.inputs.values(), inputs, strict=True):
            if not isinstance(value, EagerTensor):
                raise ArgumentTypeError(f"run takes Tensors, not {type(value).__name__}")
            handle.take(value.array)

    def watched(self) -> list[tuple[str, str]]:
        """The type of an operator and the name of its result, for all that hooks are told of."""
        if not self.hooks:
            return []
        operators = self.model.program.global_block().ops
        made = [o for o in operators if o.type not in ("feed", "fetch", "fetch_v2")]
        return [(o.type, v.name) for o in made for v in o.results() if v.name not in self.inputs]

    def register_output_hook(self, hook: Callable[[str, str, EagerTensor], Any]) -> None:
        """Call `hook` with the type, the name and the value of every result, after each run."""
        self.hooks.append(hook)

    def clone(self) -> "Predictor":
        """Another predictor of the same values, with inputs and outputs of its own."""
        return Predictor(self.model, self.scope)

    def clear_intermediate_tensor(self) -> None:
        """Drop what is between inputs and outputs: a run keeps none of it."""

    def try_shrink_memory(self) -> int:
        """Give memory back: a run keeps none.

        Returns:
            int: the bytes given back, 0.
        """
        return 0


class PredictorPool:
    """Several predictors of one model, for several threads.

    Args:
        config (Config): the model.
        size (int): how many.
    """

    def __init__(self, config: Config, size: int = 1) -> None:
        if not isinstance(size, int) or size < 1:
            raise ArgumentError(f"a pool has 1 predictor at least, not {size}")
        first = create_predictor(config)
        self.predictors = [first, *[first.clone() for _ in range(size - 1)]]

    def retrive(self, idx: int) -> Predictor:
        """The predictor of one place."""
        if not 0 <= idx < len(self.predictors):
            raise RangeError(f"the pool has {len(self.predictors)} predictors, none at {idx}")
        return self.predictors[idx]


def create_predictor(config: Config) -> Predictor:
    """The predictor of a saved model.

    Args:
        config (Config): its files; each makes one predictor.

    Returns:
        Predictor: with the values of the files.
    """
    if not isinstance(config, Config):
        raise ArgumentTypeError(f"create_predictor takes a Config, not {type(config).__name__}")
    if not config.is_valid():
        raise ArgumentError("Note: Each config can only be used for one predictor.")
    scope = Scope()
    model = model_of(config, scope)
    config.valid = False
    return Predictor(model, scope)


def model_of(config: Config, scope: Scope) -> Model:
    """The model of a Config, its values put into `scope`."""
    if config.buffers is not None:
        program, values = config.buffers
        return load_model(program, io.BytesIO(values), "the buffer", scope)
    if config.prog_file():
        data, path = content(config.prog_file()), config.params_file()
        if not path:
            return load_model(data, None, "a file of values", scope)
        return load_model(data, io.BytesIO(content(path)), path, scope)
    if not config.model_dir():
        raise ArgumentError("Either model_dir or (prog_file, param_file) should be set.")
    folder = config.model_dir()
    return load_model(content(os.path.join(folder, "__model__")), folder, folder, scope)


def content(path: str) -> bytes:
    """The bytes of a file; RunError when it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise RunError(f"cannot open the file {path}: {error.strerror}") from None


def listed(names: Any) -> str:
    """Names in quotes, in line."""
    return ", ".join(f"`{n}`" for n in names) or "none"
