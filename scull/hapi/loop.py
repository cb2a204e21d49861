"""The batches of a Model: where they come from, and one pass over them."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.hapi.eager_step import listed
from scull.io import DataLoader, Dataset, DistributedBatchSampler, IterableDataset
from scull.utils import flatten


def batch_sizes(batch_size: Any) -> tuple[int, int]:
    """The size of batches to learn from, and of those to test with."""
    if isinstance(batch_size, int):
        return batch_size, batch_size
    if isinstance(batch_size, list | tuple) and all(isinstance(n, int) for n in batch_size):
        if len(batch_size) != 2:
            raise AssertError(
                "batch_size length error, expected train_batch_size and eval_batch_size."
            )
        return batch_size[0], batch_size[1]
    raise ArgumentTypeError(f"batch_size is an int or two of them, not {batch_size!r}")


def loader_of(data: Any, place: Any, batch_size: int, workers: int, **options: Any) -> Any:
    """The batches of a dataset; anything else is batches already."""
    if isinstance(data, IterableDataset):
        return DataLoader(data, places=place, batch_size=batch_size, num_workers=workers)
    if not isinstance(data, Dataset):
        return data
    sampler = DistributedBatchSampler(data, batch_size=batch_size, **options)
    return DataLoader(data, places=place, batch_sampler=sampler, num_workers=workers)


def steps_of(loader: Any) -> int | None:
    """How many batches there are, if that is known; none is refused."""
    steps = length(loader)
    if steps == 0:
        raise ArgumentError("the data has no batch: look at its length, batch_size and drop_last")
    return steps


class Pass:
    """One pass over batches: each is handed to the Model, and the callbacks hear of it."""

    def __init__(self, model: Any, loader: Any, callbacks: Any, mode: str, limit: Any) -> None:
        self.model, self.loader, self.callbacks, self.mode = model, loader, callbacks, mode
        self.limit = limit  # on the number of batches
        self.logs: dict[str, Any] = {}
        self.outputs: list[Any] = []
        self.steps = 0

    def run(self, accumulate: int = 1) -> "Pass":
        """Go through the batches; whatever ends this early leaves the Model as if just begun."""
        batches = iter(self.loader)
        try:
            for step, batch in enumerate(batches):
                self.one(step, flatten(batch), accumulate)
                if self.limit is not None and self.steps >= self.limit:
                    break
        except BaseException:  # Ctrl-C too; it goes on from here
            self.model._step.abandon()
            self.callbacks.abandon()
            raise
        finally:
            if hasattr(batches, "close"):
                batches.close()
            for metric in self.model._metrics:
                metric.reset()
        return self

    def one(self, step: int, data: list[Any], accumulate: int) -> None:
        """One batch."""
        self.callbacks.on_batch_begin(self.mode, step, self.logs)
        count = len(self.model._inputs)
        inputs, labels = data[:count], data[count:]
        if self.mode == "predict":
            self.outputs.append(self.model.predict_batch(inputs))
        elif self.mode == "train":
            last = step + 1 == length(self.loader) or self.steps + 1 == self.limit
            update = (step + 1) % accumulate == 0 or last
            self.measured(self.model.train_batch(inputs, labels, update))
        else:
            self.measured(self.model.eval_batch(inputs, labels))
        self.logs |= {"step": step, "batch_size": samples_of(data[0])}
        self.steps += 1
        self.callbacks.on_batch_end(self.mode, step, self.logs)

    def measured(self, results: Any) -> None:
        """Take the losses of a batch, and the metrics of all batches up to it, into the logs."""
        model, values = self.model, []
        if model._loss is not None:
            losses = results[0] if model._metrics else results
            values.append([float(loss) for loss in losses])
        for metric in model._metrics:
            values += listed(metric.accumulate())
        self.logs |= zip(model._metrics_name(), values, strict=True)


def length(loader: Any) -> int | None:
    """How many batches there are, if that is known."""
    try:
        return len(loader)
    except (TypeError, ValueError):
        return None


def samples_of(value: Any) -> int:
    """How many samples a batch has."""
    shape = value.shape() if callable(value.shape) else value.shape
    return shape[0] if len(shape) else 1
