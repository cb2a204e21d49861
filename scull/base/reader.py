"""Loading of data from generators: batches in dictionaries to feed, or read by the Program."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from scull import io
from scull.base.data_feeder import batch as batch_of
from scull.core.absent import absent
from scull.core.tensor import Tensor
from scull.distributed.fleet.dataset import Samples
from scull.errors import ArgumentError, ArgumentTypeError
from scull.framework.core import EOFException
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.python import PythonFunction, registered
from scull.reader import buffered
from scull.reader.batching import batch as batched
from scull.runtime.scope import ScopeTensor

Source = Callable[[], Iterable[Any]]


class GeneratorLoader:
    """Batches that a generator makes, some of them ahead, on a thread.

    Args:
        feed_list (list[Variable], optional): what is fed; needed in static mode.
        capacity (int): how many batches are made ahead.
        use_double_buffer (bool): kept for Paddle's signature.
        iterable (bool): False: the Program reads each batch itself, between `start` and `reset`;
            the run after the last raises `EOFException`.
        return_list (bool): a list of tensors a place, not a dictionary of them by name.
        drop_last (bool): leave out what is not enough for all places.

    Raises:
        ArgumentError: there is no capacity, or no `feed_list` in static mode.
    """

    def __init__(
        self,
        feed_list: Any = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        drop_last: bool = True,
    ) -> None:
        self.eager = in_dynamic_mode()
        if not capacity:
            raise ArgumentError("Please give value to capacity.")
        if not feed_list and not self.eager:
            raise ArgumentError("Feed list must be given under static graph mode.")
        self.feed_list, self.capacity = list(feed_list or ()), capacity
        self.iterable, self.return_list, self.drop_last = iterable, return_list, drop_last
        self.source: Source | None = None
        self.places = 1
        self.reading: Iterator[Any] | None = None
        self.current: Iterator[Any] | None = None
        if not iterable and not self.eager:
            self.read_in_program()

    def set_sample_generator(
        self, reader: Source, batch_size: int, drop_last: bool = True, places: Any = None
    ) -> "GeneratorLoader":
        """Take samples, each a tuple with an entry a variable, and make batches of them.

        Args:
            reader (callable): returns an iterable of samples.
            batch_size (int): how many samples a batch has.
            drop_last (bool): leave out a last batch with fewer.
            places (Place | list[Place]): where batches go; needed where the loader is iterable.
        """
        assert batch_size > 0, "batch_size must be larger than 0"
        return self.set_sample_list_generator(batched(reader, batch_size, drop_last), places)

    def set_sample_list_generator(self, reader: Source, places: Any = None) -> "GeneratorLoader":
        """Take lists of samples, and make each a batch.

        Args:
            reader (callable): returns an iterable of lists of samples.
            places (Place | list[Place]): where batches go.
        """

        def batches() -> Iterator[list[Any]]:
            for samples in reader():
                fields = [list(field) for field in zip(*map(as_tuple, samples), strict=True)]
                if self.feed_list:
                    yield list(map(batch_of, self.feed_list, fields))
                else:
                    yield [np.array(field) for field in fields]

        return self.set_batch_generator(batches, places)

    def set_batch_generator(self, reader: Source, places: Any = None) -> "GeneratorLoader":
        """Take whole batches, each a list with an array or tensor a variable.

        Args:
            reader (callable): returns an iterable of batches.
            places (Place | list[Place]): where batches go.
        """
        assert places is not None or not self.iterable or self.eager, (
            "Places cannot be None when DataLoader is iterable"
        )
        self.source = reader
        self.places = len(places) if isinstance(places, list | tuple) else 1
        return self

    decorate_sample_generator = set_sample_generator
    decorate_sample_list_generator = set_sample_list_generator
    decorate_batch_generator = set_batch_generator

    def __iter__(self) -> "GeneratorLoader":
        """One pass over the data."""
        assert self.iterable, "DataLoader is not iterable"
        assert self.source is not None, "Data source of DataLoader has not set yet"
        self.current = self.delivered()
        return self

    __call__ = __iter__

    def __next__(self) -> Any:
        if self.current is None:
            iter(self)
        return next(self.current)  # type: ignore[arg-type]

    def delivered(self) -> Iterator[Any]:
        """Batches as users get them."""
        source = buffered(self.source, self.capacity)()  # type: ignore[arg-type]
        if self.eager:
            yield from ([Tensor(np.asarray(v)) for v in batch] for batch in source)
            return
        names = [v.name for v in self.feed_list]
        while group := [list(map(as_tensor, batch)) for batch in islice(source, self.places)]:
            if len(group) < self.places and self.drop_last:
                return
            named = (dict(zip(names, batch, strict=True)) for batch in group)
            yield group if self.return_list else list(named)

    def read_in_program(self) -> None:
        """Append what fills the variables with the next batch."""
        function = PythonFunction(self.following, tuple(v.meta for v in self.feed_list), False)
        attrs = {"forward_callable_id": registered(function)}
        block = main_program().current_block()
        made = block.append_op("py_func", {"X": []}, {"Out": self.feed_list}, attrs)
        made.attrs.update(attrs)  # whose number keeps the function

    def following(self) -> list[Any]:
        """The arrays of the next batch."""
        found = None if self.reading is None else next(self.reading, None)
        if found is None:
            raise EOFException("There is no next data.")
        return [np.asarray(v) for v in found]

    def start(self) -> None:
        """Let the Program read from the first batch on."""
        assert not self.iterable, "start() cannot be called when DataLoader is iterable"
        assert self.source is not None, "Data source of DataLoader has not set yet"
        self.reading = iter(buffered(self.source, self.capacity)())

    def reset(self) -> None:
        """Leave the pass that `start` began."""
        assert not self.iterable, "reset() cannot be called when DataLoader is iterable"
        self.reading = None


def as_tuple(sample: Any) -> tuple[Any, ...]:
    """A sample as a tuple of its fields."""
    return tuple(sample) if isinstance(sample, list | tuple) else (sample,)


def as_tensor(value: Any) -> ScopeTensor:
    """An array as a tensor to feed."""
    if isinstance(value, ScopeTensor):
        return value
    made = ScopeTensor()
    made.set(np.asarray(value))
    return made


class PyReader(GeneratorLoader):
    """The same under an older name.

    Args:
        feed_list (list[Variable], optional): what is fed; needed in static mode.
        capacity (int): how many batches are made ahead.
        use_double_buffer (bool): kept for Paddle's signature.
        iterable (bool): False: the Program reads each batch itself.
        return_list (bool): lists of tensors, not dictionaries.
    """

    def __init__(
        self,
        feed_list: list[Variable] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
    ) -> None:
        super().__init__(feed_list, capacity, use_double_buffer, iterable, return_list)


class DataLoader(io.DataLoader):
    """`paddle.io.DataLoader`, and loaders made from generators."""

    @staticmethod
    def from_generator(
        feed_list: Any = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
    ) -> GeneratorLoader:
        """A loader whose source is set by one of its `set_..._generator`.

        Args:
            feed_list (list[Variable], optional): what is fed; needed in static mode.
            capacity (int): how many batches are made ahead.
            use_double_buffer (bool): kept for Paddle's signature.
            iterable (bool): False: the Program reads each batch itself.
            return_list (bool): lists of tensors, not dictionaries.
            use_multiprocess (bool): kept for Paddle's signature: a thread makes batches.
            drop_last (bool): leave out what is not enough for all places.

        Examples:
            >>> import numpy as np
            >>> import scull as paddle
            >>> loader = paddle.base.io.DataLoader.from_generator(capacity=2)
            >>> batches = lambda: iter([[np.zeros((2, 3), "float32")]])
            >>> loader = loader.set_batch_generator(batches)
            >>> [batch[0].shape for batch in loader]
            [[2, 3]]
        """
        return GeneratorLoader(
            feed_list, capacity, use_double_buffer, iterable, return_list, drop_last
        )

    @staticmethod
    def from_dataset(dataset: Any, places: Any, drop_last: bool = True) -> "DatasetLoader":
        """A loader of the batches of files of samples, each a list of what `exe.run` is fed with.

        Args:
            dataset (QueueDataset | InMemoryDataset): the samples.
            places (list): of no effect.
            drop_last (bool): leave out a last batch that is smaller.
        """
        return DatasetLoader(dataset, places, drop_last)


class DatasetLoader:
    """What `DataLoader.from_dataset` makes."""

    def __init__(self, dataset: Any, places: Any, drop_last: bool) -> None:
        if not isinstance(dataset, Samples):
            raise ArgumentTypeError(f"dataset is a QueueDataset, not {type(dataset).__name__}")
        self.dataset, self.drop_last = dataset, drop_last

    def __call__(self) -> "DatasetLoader":
        return self

    def __iter__(self) -> Iterator[list[dict[str, ScopeTensor]]]:
        for feed in self.dataset.feeds(self.drop_last):
            yield [{name: as_tensor(value) for name, value in feed.items()}]


__getattr__ = absent(
    __name__,
    {"data is loaded by paddle.io.DataLoader": ("DataLoaderBase DygraphGeneratorLoader")},
)

__all__ = ["DataLoader", "GeneratorLoader", "PyReader"]
