"""The DataLoader: a dataset, in batches, as Tensors."""

import multiprocessing
import warnings
from itertools import islice

from scull.core import session
from scull.core.timeline import LOADING, span
from scull.errors import ArgumentError
from scull.io.batch_sampler import BatchSampler, EndlessSampler
from scull.io.collate import (
    array_of,
    convert,
    default_collate_fn,
    default_convert_fn,
    is_static,
    tensor_of,
)
from scull.io.dataset import is_iterable
from scull.io.demand import demand
from scull.io.fetch import Recipe, fetcher_of
from scull.io.worker import Job, Pool, fresh_seed
from scull.profiler.timer import benchmark


class DataLoader:
    """The batches of a dataset; each `for` over it is one pass.

    In eager mode a batch has the form of a sample, with lists for tuples and a Tensor for each
    array and number. In static mode it has arrays, or with `return_list=False` it is a list with a
    dictionary from the names of `feed_list` to arrays for each place.

    With `num_workers` processes make the batches, which come in the same order. An exception in a
    dataset is raised where the batch would have come.

    Args:
        dataset (Dataset): where the samples come from.
        feed_list (list | tuple, optional): the variables to feed, for `return_list=False`.
        places (list | tuple, optional): where the batches go; in static mode there is one for each.
        return_list (bool, optional): False: dictionaries, in static mode.
        batch_sampler (BatchSampler, optional): gives the indices of each batch, instead of the
            next three.
        batch_size (int | None, optional): how many samples a batch has; None: samples as they are.
        shuffle (bool, optional): the samples in random order.
        drop_last (bool, optional): leave out a last batch that is smaller.
        collate_fn (function, optional): from a list of samples to a batch.
        num_workers (int, optional): how many processes; 0: this one makes the batches.
        use_buffer_reader (bool, optional): accepted, without effect.
        prefetch_factor (int, optional): how many batches each worker makes in advance.
        use_shared_memory (bool, optional): accepted, without effect.
        timeout (int, optional): accepted, without effect: the end of a worker is noticed at once.
        worker_init_fn (function, optional): called in each worker with its number first.
        persistent_workers (bool, optional): keep the workers from one pass to the next.

    Examples:
        >>> loader = DataLoader(["a", "b", "c"], batch_size=2)
        >>> list(loader), len(loader)
        ([['a', 'b'], ['c']], 2)
    """

    def __init__(
        self,
        dataset,
        feed_list=None,
        places=None,
        return_list=True,
        batch_sampler=None,
        batch_size=1,
        shuffle=False,
        drop_last=False,
        collate_fn=None,
        num_workers=0,
        use_buffer_reader=True,
        prefetch_factor=2,
        use_shared_memory=True,
        timeout=0,
        worker_init_fn=None,
        persistent_workers=False,
    ):
        demand(
            return_list or not is_static() or feed_list is not None,
            "feed_list should be set when return_list=False",
        )
        demand(num_workers >= 0, "num_workers should be a non-negative value")
        demand(prefetch_factor > 0, "prefetch_factor should be a positive value")
        demand(timeout >= 0, "timeout should be a non-negative value")
        places = session.place() if places is None else places
        self.dataset = dataset
        self.feed_list = feed_list
        self.places = list(places) if isinstance(places, list | tuple) else [places]
        self.return_list = return_list
        self.collate_fn = collate_fn
        self.num_workers = _possible(num_workers)
        self.use_buffer_reader = use_buffer_reader
        self.prefetch_factor = prefetch_factor
        self.use_shared_memory = use_shared_memory and self.num_workers > 0
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.drop_last = drop_last
        self._persistent_workers = persistent_workers
        self._iterator = self._pool = None
        self._choose_sampler(batch_sampler, batch_size, shuffle)

    def _choose_sampler(self, batch_sampler, batch_size, shuffle):
        iterable = is_iterable(self.dataset)
        if iterable and shuffle:
            raise ArgumentError(f"IterableDataset not support shuffle, but got shuffle={shuffle}")
        if iterable and batch_sampler is not None:
            raise ArgumentError("IterableDataset expect unspecified batch_sampler")
        self.batch_size = None
        if batch_sampler is not None:
            demand(
                batch_size == 1 and not shuffle and not self.drop_last,
                "batch_size/shuffle/drop_last should not be set when batch_sampler is given",
            )
            self.batch_sampler = batch_sampler
        elif batch_size is None:
            self.batch_sampler = None
        else:
            demand(
                batch_size > 0,
                "batch_size should be None or a positive value when batch_sampler is not given",
            )
            self.batch_size = batch_size
            self.batch_sampler = (
                EndlessSampler(batch_size)
                if iterable
                else BatchSampler(self.dataset, None, shuffle, batch_size, self.drop_last)
            )
        self.auto_collate_batch = self.batch_sampler is not None

    def __len__(self):
        """How many batches a pass has."""
        if is_iterable(self.dataset):
            raise ArgumentError("length of IterableDataset not supported")
        return len(self.batch_sampler if self.auto_collate_batch else self.dataset)

    def __iter__(self):
        """One pass over the dataset."""
        if self.num_workers == 0:
            recipe = self._recipe()
            return Batches(self, map(fetcher_of(self.dataset, recipe), self._tasks()))
        if not self._persistent_workers:
            return Batches(self, self._workers().batches(self._tasks()))
        if self._iterator is None:
            self._pool = self._workers()
        else:
            self._iterator.close()
        self._iterator = Batches(self, self._pool.batches(self._tasks()))
        return self._iterator

    def __call__(self):
        """One pass over the dataset."""
        return iter(self)

    def _tasks(self):
        if self.auto_collate_batch:
            return iter(self.batch_sampler)
        iterable = is_iterable(self.dataset)
        return iter(EndlessSampler(1) if iterable else range(len(self.dataset)))

    def _recipe(self):
        default = default_collate_fn if self.auto_collate_batch else default_convert_fn
        return Recipe(self.auto_collate_batch, self.collate_fn or default, self.drop_last)

    def _workers(self):
        job = Job(self.dataset, self._recipe(), self.worker_init_fn, self.num_workers, fresh_seed())
        return Pool(job, self.prefetch_factor * self.num_workers)


class Batches:
    """One pass over a loader."""

    def __init__(self, loader, source):
        self.source, self.dataset = source, loader.dataset
        self._dataset, self._batch_sampler = loader.dataset, loader.batch_sampler
        self.sized = loader.batch_sampler if loader.auto_collate_batch else loader.dataset
        self.fresh = loader.num_workers > 0 or loader._recipe().collate is default_collate_fn
        self.places = len(loader.places)
        self.names = None if loader.return_list else [v.name for v in loader.feed_list or ()]

    def __iter__(self):
        return self

    def __len__(self):
        return len(self.sized)

    def __next__(self):
        timer = benchmark()
        timer.before_reader(self.dataset)
        with span("DataLoader", LOADING):
            batch = self.following()
        timer.after_reader()
        return batch

    def following(self):
        """The next batch."""
        if not is_static():
            return convert(next(self.source), self._tensor)
        group = [convert(batch, array_of) for batch in islice(self.source, self.places)]
        if len(group) < self.places:
            raise StopIteration
        if self.names is not None:
            return [_named(self.names, batch) for batch in group]
        return group[0] if self.places == 1 else group

    def _tensor(self, value):
        array = array_of(value)
        return tensor_of(array if self.fresh else array.copy())

    def close(self):
        """Leave the pass before its end."""
        if hasattr(self.source, "close"):
            self.source.close()


_DataLoaderIterBase = Batches  # what scripts tell a pass by


def _named(names, batch):
    fields = []
    convert(batch, fields.append)
    if len(fields) != len(names):
        raise ArgumentError(
            f"a batch has {len(fields)} fields and feed_list has {len(names)} variables"
        )
    return dict(zip(names, fields, strict=True))


def _possible(num_workers):
    if num_workers and "fork" not in multiprocessing.get_all_start_methods():
        warnings.warn(
            "DataLoader with multi-process mode is not supported on MacOs and Windows currently. "
            "Please use signle-process mode with num_workers = 0 instead",
            stacklevel=3,
        )
        return 0
    return num_workers
