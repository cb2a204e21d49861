"""How a Model trains, tests and predicts one batch in eager mode."""

from typing import Any

import numpy as np

from scull import amp, jit
from scull.core.tensor import Tensor
from scull.errors import RunError
from scull.hapi.precision import Precision
from scull.hapi.state import PARAMETERS, SCALER, STATES, renamed, stem
from scull.static.input import InputSpec
from scull.tensor import add_n, to_tensor


def listed(value: Any) -> list[Any]:
    """`value`, in a list if it is one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def tensors(values: Any) -> list[Tensor]:
    """Arrays and Tensors as Tensors."""
    return [v if isinstance(v, Tensor) else to_tensor(v) for v in listed(values)]


def arrays(values: Any) -> list[np.ndarray]:
    """Tensors and arrays as arrays."""
    return [v.numpy() if isinstance(v, Tensor) else np.asarray(v) for v in listed(values)]


class EagerStep:
    """One batch at a time, through the tape."""

    def __init__(self, model: Any) -> None:
        self.model, self.scaler = model, None
        self.precision = Precision()

    def prepare(self, precision: Precision) -> None:
        """Take over what `Model.prepare` was told."""
        model, self.precision, self.scaler = self.model, precision, None
        if precision.is_mixed:
            self.scaler = amp.GradScaler(**precision.scaler)
        if precision.level == "O2" and model._optimizer and amp.is_float16_supported():
            model.network, model._optimizer = amp.decorate(
                models=model.network, optimizers=model._optimizer, level="O2"
            )

    def train_batch(self, inputs: Any, labels: Any, update: bool) -> Any:
        """Losses and metrics of a batch, from which the parameters learn."""
        model = self.model
        model.network.train()
        inputs, labels = self.described(inputs), tensors(labels)
        with amp.auto_cast(
            enable=self.precision.is_mixed, level=self.precision.level, **self.precision.lists
        ):
            outputs = listed(model.network(*inputs))
        losses = listed(model._loss(*outputs, *labels))
        total = add_n(losses)
        if self.scaler is None:
            total.backward()
        else:
            total = self.scaler.scale(total)
            total.backward()
        if update:
            if self.scaler is None:
                model._optimizer.minimize(total)
            else:
                self.scaler.minimize(model._optimizer, total)
            model.network.clear_gradients()
        return self.results(losses, outputs, labels)

    def eval_batch(self, inputs: Any, labels: Any) -> Any:
        """Losses and metrics of a batch."""
        model = self.model
        model.network.eval()
        inputs, labels = self.described(inputs), tensors(labels)
        outputs = listed(model.network(*inputs))
        losses = listed(model._loss(*outputs, *labels)) if model._loss else []
        return self.results(losses, outputs, labels)

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """What the network gives for a batch."""
        self.model.network.eval()
        return arrays(self.model.network(*self.described(inputs)))

    def described(self, inputs: Any) -> list[Tensor]:
        """The inputs as Tensors; the first ones tell what `InputSpec` the user did not give."""
        found = tensors(inputs)
        self.model._infer_inputs([InputSpec.from_tensor(x) for x in found])
        return found

    def results(self, losses: list[Any], outputs: list[Any], labels: list[Any]) -> Any:
        """The losses as arrays, the metrics after this batch, or both."""
        values, metrics = arrays(losses), []
        for metric in self.model._metrics:
            metrics.append(metric.update(*arrays(metric.compute(*outputs, *labels))))
        if self.model._loss is None:
            return metrics
        return (values, metrics) if metrics else values

    def states(self) -> dict[str, Any]:
        """What is saved, by suffix."""
        model = self.model
        return {
            PARAMETERS: model.network.state_dict(),
            STATES: model._optimizer.state_dict() if model._optimizer else {},
            SCALER: self.scaler.state_dict() if self.scaler else {},
        }

    def load(self, pairs: list[tuple[Any, Any]], states: Any, scaler: Any) -> None:
        """Take over saved values; states that the optimizer has not made yet are made."""
        for parameter, value in pairs:
            parameter.set_value(value)
        if self.scaler is not None and scaler:
            self.scaler.load_state_dict(scaler)
        optimizer = self.model._optimizer
        if not optimizer or not states:
            return
        stems = {stem(name) for name in states}
        names = []
        for parameter in optimizer.parameters():
            for name in optimizer.states:
                if f"{parameter.name}_{optimizer.spelt(name)}" in stems:
                    names.append(optimizer.state(name, parameter).name)
        optimizer.set_state_dict(renamed(states, names))

    def save_inference_model(self, path: str) -> None:
        """Write what the network computes."""
        model = self.model
        if model._input_info is None:
            raise RunError(
                "Saving inference model needs 'inputs' or running before saving. Please specify "
                "'inputs' in Model initialization or input training data and perform a training "
                "for shape derivation."
            )
        jit.save(model.network, path, input_spec=model._inputs)

    def set_rate(self, rate: float) -> None:
        """Change the learning rate."""
        self.model._optimizer.set_lr(rate)

    def abandon(self) -> None:
        """Forget the gradients of a batch that was cut off."""
        self.model.network.clear_gradients()
