"""How a Model trains, tests and predicts one batch in static mode: by a Program for each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.core import session
from scull.errors import AssertError
from scull.executor.executor import Executor
from scull.executor.feed import cell_of
from scull.files.model import persistables, put_values
from scull.hapi.eager_step import arrays, listed
from scull.hapi.precision import Precision
from scull.hapi.state import PARAMETERS, STATES, renamed
from scull.ir.program import Program, main_program, program_guard, startup_program
from scull.ir.variable import ParameterVariable, Variable
from scull.runtime.scope import global_scope
from scull.static.amp import AutoMixedPrecisionLists, decorate
from scull.static.input import data
from scull.static.model import save_inference_model
from scull.tensor import add_n

MODES = ("train", "eval", "test")


@dataclass(frozen=True)
class Recorded:
    """The Program of a mode, what it is fed, and what is fetched from it."""

    program: Program
    inputs: list[Variable]
    labels: list[Variable]
    outputs: list[Variable]
    losses: list[Variable]
    metrics: list[list[Variable]]

    def run(self, executor: Executor, inputs: list[Any], labels: list[Any]) -> Any:
        """The outputs, or the losses and what each metric is updated with, as arrays."""
        if len(inputs) != len(self.inputs):
            raise AssertError(
                f"number of inputs ({len(inputs)}) does not match number of arguments of "
                f"`forward` method ({len(self.inputs)})"
            )
        pairs = [*zip(self.inputs, inputs, strict=True), *zip(self.labels, labels, strict=False)]
        fed = {v.name: np.asarray(given, v.dtype.array) for v, given in pairs if given is not None}
        fetched = [*self.losses, *(v for each in self.metrics for v in each)] or self.outputs
        names = list(dict.fromkeys(v.name for v in fetched if v.name not in fed))
        values = executor.run(self.program, feed=fed, fetch_list=names) if names else []
        known = fed | dict(zip(names, map(np.asarray, values), strict=True))
        if not self.losses and not self.metrics:
            return [known[v.name] for v in self.outputs]
        losses = [known[v.name] for v in self.losses]
        return losses, [[known[v.name] for v in each] for each in self.metrics]


class ProgramStep:
    """One batch at a time, by Programs that share the parameters in the global scope."""

    def __init__(self, model: Any) -> None:
        self.model, self.precision = model, Precision()
        self.startup, self.origin = startup_program(), main_program()
        self.programs: dict[str, Recorded] = {}
        self.executor: Executor | None = None

    def prepare(self, precision: Precision) -> None:
        """Record the three Programs, and give parameters without a value their first one."""
        self.precision, self.programs = precision, {}
        for mode in MODES:
            self.programs[mode] = self.recorded(mode)
        self.executor = Executor(session.place())
        scope = global_scope()
        fresh = [v for v in self.startup.list_vars() if cell_of(scope, v.name).value is None]
        if fresh:
            self.executor.run(self.startup._prune(fresh))
        if precision.level == "O2" and self.model._optimizer:
            self.model._optimizer.amp_init(session.place())

    def recorded(self, mode: str) -> Recorded:
        """The Program of one mode."""
        model, program = self.model, self.origin.clone()
        if mode != "train":
            for _ in list(program.global_block().ops):  # such as what counts steps for a schedule
                program.global_block()._remove_op(0)
        losses: list[Any] = []
        metrics: list[list[Any]] = []
        with program_guard(program, self.startup):
            inputs, labels = (
                [data(s.name, list(s.shape), s.dtype) for s in listed(specs)]
                for specs in (model._inputs, model._labels)
            )
            outputs = listed(model.network(*inputs))
            if mode != "test":
                losses = listed(model._loss(*outputs, *labels)) if model._loss else []
                metrics = [listed(m.compute(*outputs, *labels)) for m in model._metrics]
            if mode == "train" and model._optimizer and losses:
                model._optimizer = self.casting(model._optimizer)
                model._optimizer.minimize(add_n(losses))
        if mode != "train":
            program = program.clone(for_test=True)
        return Recorded(program, inputs, labels, outputs, losses, metrics)

    def casting(self, optimizer: Any) -> Any:
        """The optimizer, with mixed precision where it was asked for."""
        precision = self.precision
        if not precision.is_mixed:
            return optimizer
        return decorate(
            optimizer,
            amp_lists=AutoMixedPrecisionLists(**precision.lists) if precision.lists else None,
            use_pure_fp16=precision.level == "O2",
            use_fp16_guard=precision.use_fp16_guard,
            **precision.scaler,
        )

    def train_batch(self, inputs: Any, labels: Any, update: bool) -> Any:
        """Losses and metrics of a batch, from which the parameters learn."""
        if not update:
            raise AssertError("Does not support `update == False` in static graph mode by now.")
        return self.results("train", inputs, labels)

    def eval_batch(self, inputs: Any, labels: Any) -> Any:
        """Losses and metrics of a batch."""
        return self.results("eval", inputs, labels)

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """What the network gives for a batch."""
        return self.ready("test").run(self.executor, arrays(inputs), [])

    def ready(self, mode: str) -> Recorded:
        """The Program of one mode, which `prepare` recorded."""
        if mode not in self.programs:
            raise AssertError("Model is not ready, please call `model.prepare()` first")
        return self.programs[mode]

    def results(self, mode: str, inputs: Any, labels: Any) -> Any:
        """The losses as arrays, the metrics after this batch, or both."""
        recorded = self.ready(mode)
        found = recorded.run(self.executor, arrays(inputs), arrays(labels))
        if not recorded.losses and not recorded.metrics:
            return []
        losses, states = found
        pairs = zip(self.model._metrics, states, strict=True)
        metrics = [metric.update(*state) for metric, state in pairs]
        return (losses, metrics) if losses and metrics else losses or metrics

    def optimizer_variables(self) -> list[Variable]:
        """What lasts from step to step beside the parameters."""
        if "train" not in self.programs or not self.model._optimizer:
            return []
        everything = persistables(self.programs["train"].program)
        return [v for v in everything if not isinstance(v, ParameterVariable) and not v.is_data]

    def states(self) -> dict[str, Any]:
        """What is saved, by suffix."""

        def values(named: Any) -> dict[str, Any]:
            scope = global_scope()
            return {key: np.asarray(cell_of(scope, v.name).value) for key, v in named}

        return {
            PARAMETERS: values(self.model.network.state_dict().items()),
            STATES: values((v.name, v) for v in self.optimizer_variables()),
        }

    def load(self, pairs: list[tuple[Any, Any]], states: Any, scaler: Any) -> None:
        """Put saved values into the global scope."""
        values = {v.name: np.asarray(value) for v, value in pairs}
        own = self.optimizer_variables() if states else []
        found = renamed(states or {}, [v.name for v in own])
        for v in own:
            if v.name in found:
                values[v.name] = np.asarray(found[v.name]).reshape(v.shape)
            elif not v.name.startswith("learning_rate_"):  # eager mode does not save it
                raise AssertError(f"variable [{v.name}] is not in optimizer state file")
        put_values(values)

    def save_inference_model(self, path: str) -> None:
        """Write the Program that predicts."""
        recorded = self.ready("test")
        save_inference_model(
            path, recorded.inputs, recorded.outputs, self.executor, program=recorded.program
        )

    def set_rate(self, rate: float) -> None:
        """Change the learning rate."""
        optimizer = self.model._optimizer
        variable = optimizer._global_learning_rate(self.ready("train").program)
        put_values({variable.name: np.asarray(rate, variable.dtype.array)})
        getattr(optimizer, "_optimizer", optimizer)._learning_rate = float(rate)

    def abandon(self) -> None:
        """Nothing is kept of a batch that was cut off."""
