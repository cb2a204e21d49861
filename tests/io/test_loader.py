"""The DataLoader gives the batches its arguments say, alike with and without workers."""

import copy
import doctest
import gc
import importlib
import os
import pkgutil
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull.io
from scull.core.interpreter import Interpreter
from scull.core.random import Generator
from scull.core.session import generator, guarded
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, DtypeError
from scull.io import BatchSampler, DataLoader, Dataset, IterableDataset, get_worker_info
from scull.io.collate import convert, default_collate_fn, tensor_of

PASSES = "scull.io.dataloader.dataloader_iter"
with_and_without_workers = pytest.mark.parametrize("workers", [0, 1, 3])


class Numbers(Dataset):
    def __init__(self, count):
        self.count = count

    def __getitem__(self, idx):
        return idx

    def __len__(self):
        return self.count


class Pairs(Numbers):
    def __getitem__(self, idx):
        return np.full((2, 3), idx, np.float32), {"label": idx, "name": f"image {idx}"}


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        yield from range(info.id if info else 0, self.count, info.num_workers if info else 1)


def lists(loader):
    return [convert(batch, lambda value: value.array.tolist()) for batch in loader]


@with_and_without_workers
def test_batches_have_the_form_of_a_sample_with_tensors_for_arrays_and_numbers(workers):
    images, rest = next(iter(DataLoader(Pairs(5), batch_size=2, num_workers=workers)))
    assert isinstance(images, Tensor)
    assert images.array.shape == (2, 2, 3)
    assert images.array.dtype == np.float32
    assert images.node is None
    assert rest["label"].array.tolist() == [0, 1]
    assert rest["name"] == ["image 0", "image 1"]


@with_and_without_workers
def test_every_pass_gives_all_samples_in_order(workers):
    loader = DataLoader(Numbers(7), batch_size=3, num_workers=workers)
    assert lists(loader) == lists(loader) == lists(loader()) == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(loader) == len(iter(loader)) == 3


@pytest.mark.parametrize(
    ("workers", "batches"),
    [
        (0, [[5, 4, 1], [2, 9, 6], [7, 0, 3], [8]]),
        (2, [[5, 4, 1], [2, 8, 6], [7, 0, 3], [9]]),  # their seed is drawn first
    ],
)
def test_a_shuffled_pass_is_that_of_the_reference(workers, batches):
    state = np.random.get_state()
    np.random.seed(3)
    loader = DataLoader(Numbers(10), batch_size=3, shuffle=True, num_workers=workers)
    assert lists(loader) == batches
    assert lists(loader) != batches
    np.random.set_state(state)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 20), st.integers(1, 6), st.booleans())
def test_as_many_batches_come_as_the_length_says(count, size, drop_last):
    loader = DataLoader(Numbers(count), batch_size=size, drop_last=drop_last)
    assert len(lists(loader)) == len(loader)


@with_and_without_workers
def test_a_batch_sampler_decides_the_batches(workers):
    order = BatchSampler(sampler=scull.io.RandomSampler(range(4), generator=iter([3, 1, 1, 0])))
    loader = DataLoader(Numbers(4), batch_sampler=order, num_workers=workers)
    assert lists(loader) == [[3], [1], [1], [0]]


@with_and_without_workers
def test_without_a_batch_size_samples_come_as_they_are(workers):
    loader = DataLoader(Pairs(2), batch_size=None, num_workers=workers)
    image, rest = list(loader)[1]
    assert image.array.tolist() == [[1.0] * 3] * 2
    assert rest == {"label": 1, "name": "image 1"}
    assert len(loader) == 2
    assert lists(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]


@with_and_without_workers
def test_a_collate_function_gives_what_the_user_wants(workers):
    def ends(samples):
        return (samples[0], np.array(samples[-1]), None)

    loader = DataLoader(Numbers(4), batch_size=2, collate_fn=ends, num_workers=workers)
    (first, last, nothing), _ = loader
    assert (first, last.array.tolist(), nothing) == (0, 1, None)


def test_changing_a_sample_that_came_as_it_is_leaves_the_dataset_alone():
    class Held(Numbers):
        held = np.zeros((1, 2))

        def __getitem__(self, idx):
            return self.held[idx]

    (sample,) = DataLoader(Held(1), batch_size=None)
    sample.array[:] = 7
    assert Held.held.tolist() == [[0.0, 0.0]]


def test_an_array_of_objects_is_refused():
    with pytest.raises(TypeError, match="object"):
        next(iter(DataLoader(Numbers(2), collate_fn=lambda samples: np.array([None]))))


def test_iterable_datasets_end_where_they_end():
    assert lists(DataLoader(Stream(7), batch_size=3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(DataLoader(Stream(7), batch_size=3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert lists(DataLoader(Stream(0), batch_size=3)) == []


def test_workers_share_an_iterable_dataset_that_asks_which_one_it_is_in():
    loader = DataLoader(Stream(10), batch_size=2, num_workers=2)
    assert lists(loader) == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]


def test_a_worker_that_ends_first_leaves_the_others_at_work():
    class Uneven(IterableDataset):
        def __iter__(self):
            me = get_worker_info().id
            yield from range(me * 10, me * 10 + (5 if me else 2))

    assert lists(DataLoader(Uneven(), batch_size=2, num_workers=2)) == [
        [0, 1],
        [10, 11],
        [12, 13],
        [14],
    ]


@pytest.mark.parametrize("dataset", [Numbers(11), Stream(11)])
def test_persistent_workers_serve_pass_after_pass(dataset):
    class Told(type(dataset)):
        def __getitem__(self, idx):
            return os.getpid()

        def __iter__(self):
            yield from [os.getpid()] * 4

    loader = DataLoader(Told(11), batch_size=2, num_workers=2, persistent_workers=True)
    first = {tuple(batch) for batch in lists(loader)}
    next(iter(loader))
    assert {tuple(batch) for batch in lists(loader)} == first
    assert len(first) >= 2


def test_a_new_pass_of_persistent_workers_ends_the_one_before():
    loader = DataLoader(Numbers(9), batch_size=2, num_workers=2, persistent_workers=True)
    first = iter(loader)
    next(first)
    assert lists(loader) == lists(DataLoader(Numbers(9), batch_size=2))
    assert list(first) == []


def test_persistent_workers_outlive_a_loader_that_only_a_loop_holds():
    batches = iter(DataLoader(Numbers(5), batch_size=2, num_workers=2, persistent_workers=True))
    gc.collect()
    assert lists(batches) == [[0, 1], [2, 3], [4]]


@with_and_without_workers
def test_an_exception_in_a_dataset_is_raised_where_its_batch_would_come(workers):
    class Broken(Numbers):
        def __getitem__(self, idx):
            if idx == 3:
                raise KeyError("sample 3 is lost")
            return idx

    batches = iter(DataLoader(Broken(6), batch_size=2, num_workers=workers))
    assert next(batches).array.tolist() == [0, 1]
    with pytest.raises(KeyError, match="sample 3 is lost") as caught:
        next(batches)
    if workers:
        note = caught.value.__notes__[0]
        assert note.startswith("DataLoader worker(")
        assert "caught KeyError with message:\nTraceback" in note
        assert "in __getitem__" in note


def test_an_exception_that_cannot_travel_is_told():
    class Unmovable(Exception):
        pass

    class Broken(Numbers):
        def __getitem__(self, idx):
            raise Unmovable("no way")

    with pytest.raises(RuntimeError, match=r"(?s)worker\(0\) caught Unmovable.*no way"):
        next(iter(DataLoader(Broken(1), num_workers=1)))


def test_a_batch_that_cannot_travel_is_told():
    def useless(samples):
        return [lambda: samples]

    with pytest.raises((AttributeError, TypeError, RuntimeError), match=r"pickle|<lambda>"):
        next(iter(DataLoader(Numbers(1), collate_fn=useless, num_workers=1)))


def test_a_worker_that_dies_is_noticed_at_once():
    class Deadly(Numbers):
        def __getitem__(self, idx):
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match=r"1 workers exit unexpectedly, pids: \d+"):
        next(iter(DataLoader(Deadly(4), num_workers=2)))


def test_workers_run_their_initialisation_and_know_themselves():
    class Told(Numbers):
        def __getitem__(self, idx):
            info = get_worker_info()
            return [info.id, info.num_workers, len(info.dataset), os.environ["WORKER"] == "yes"]

    def initialise(number):
        os.environ["WORKER"] = "yes" if number == get_worker_info().id else "no"

    loader = DataLoader(Told(4), num_workers=2, worker_init_fn=initialise)
    assert lists(loader) == [[[i % 2], [2], [4], [True]] for i in range(4)]
    assert get_worker_info() is None


def test_a_failing_initialisation_is_raised_with_the_first_batch():
    def initialise(number):
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        next(iter(DataLoader(Numbers(3), num_workers=2, worker_init_fn=initialise)))


def test_what_a_worker_knows_of_itself_cannot_be_changed():
    class Meddling(Numbers):
        def __getitem__(self, idx):
            get_worker_info().id = 7

    with pytest.raises(RuntimeError, match="Cannot assign attributes to WorkerInfo objects"):
        next(iter(DataLoader(Meddling(1), num_workers=1)))


def test_workers_draw_numbers_of_their_own_that_the_numpy_seed_decides():
    class Drawn(Numbers):
        def __getitem__(self, idx):
            draw = generator().draw()
            return [random.random(), np.random.random(), draw.seed % 2**31]

    def numbers():
        np.random.seed(5)
        return lists(DataLoader(Drawn(2), num_workers=2))

    state = np.random.get_state()
    with guarded(generator=Generator(1)):
        first, second = numbers(), numbers()
        assert generator().number == 0
    np.random.set_state(state)
    assert first == second
    assert all(a != b for a, b in zip(*first, strict=True))


def test_large_batches_wait_for_a_slow_reader():
    class Large(Numbers):
        def __getitem__(self, idx):
            return np.full(1 << 18, idx, np.float64)

    firsts = []
    for batch in DataLoader(Large(8), batch_size=1, num_workers=2, prefetch_factor=2):
        time.sleep(0.01)
        firsts.append(batch.array[0, 0])
    assert firsts == list(range(8))


def test_leaving_a_pass_early_ends_its_workers():
    batches = iter(DataLoader(Numbers(100), num_workers=2))
    next(batches)
    frame = batches.source.gi_frame.f_locals["self"]
    processes = [worker.process for worker in frame.workers]
    del frame
    assert all(process.is_alive() for process in processes)
    batches.close()
    assert not any(process.is_alive() for process in processes)


def test_workers_end_when_their_program_is_killed():
    program = (
        "import os, signal, sys\n"
        "from scull.io import DataLoader\n"
        "batches = iter(DataLoader(range(100), num_workers=2))\n"
        "next(batches)\n"
        "workers = batches.source.gi_frame.f_locals['self'].workers\n"
        "print(*[worker.process.pid for worker in workers], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(scull.io.__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, timeout=60
    )
    pids = [int(pid) for pid in done.stdout.split()]
    deadline = time.monotonic() + 20
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(pids) == 2
    assert not any(map(is_running, pids))


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Variable:
    def __init__(self, name):
        self.name = name


@pytest.fixture
def static(monkeypatch):
    monkeypatch.setattr("scull.io.collate.base", [Interpreter(), Interpreter()])


@pytest.mark.usefixtures("static")
@with_and_without_workers
def test_in_static_mode_batches_are_arrays(workers):
    images, rest = next(iter(DataLoader(Pairs(3), batch_size=2, num_workers=workers)))
    assert type(images) is np.ndarray
    assert rest["label"].tolist() == [0, 1]


@pytest.mark.usefixtures("static")
def test_in_static_mode_feeds_are_dictionaries_one_for_each_place():
    feeds = [Variable("image"), Variable("label")]
    arguments = {"feed_list": feeds, "batch_size": 2, "return_list": False}

    def collate(samples):
        return [np.array(samples), np.array(samples) * 10]

    (first, _, _) = DataLoader(Numbers(5), places=["cpu"], collate_fn=collate, **arguments)
    assert [list(feed) for feed in first] == [["image", "label"]]
    assert first[0]["label"].tolist() == [0, 10]
    (group,) = DataLoader(Numbers(5), places=["cpu", "cpu"], collate_fn=collate, **arguments)
    assert [feed["image"].tolist() for feed in group] == [[0, 1], [2, 3]]
    with pytest.raises(ArgumentError, match="1 fields and feed_list has 2 variables"):
        next(iter(DataLoader(Numbers(5), **arguments)))


@pytest.mark.usefixtures("static")
def test_in_static_mode_several_places_get_a_list_of_batches():
    (group,) = DataLoader(Numbers(5), places=["cpu", "cpu"], batch_size=2)
    assert [batch.tolist() for batch in group] == [[0, 1], [2, 3]]


@pytest.mark.usefixtures("static")
def test_in_static_mode_dictionaries_need_names():
    with pytest.raises(AssertionError, match="feed_list should be set when return_list=False"):
        DataLoader(Numbers(5), return_list=False)


def test_in_eager_mode_batches_are_lists_whatever_was_asked():
    (batch,) = DataLoader(Numbers(2), batch_size=2, return_list=False)
    assert batch.array.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_workers": -1}, AssertionError, "num_workers should be a non-negative value"),
        ({"prefetch_factor": 0}, AssertionError, "prefetch_factor should be a positive value"),
        ({"timeout": -1}, AssertionError, "timeout should be a non-negative value"),
        (
            {"batch_size": 0},
            AssertionError,
            "batch_size should be None or a positive value when batch_sampler is not given",
        ),
        (
            {"batch_sampler": BatchSampler([0]), "shuffle": True},
            AssertionError,
            "batch_size/shuffle/drop_last should not be set when batch_sampler is given",
        ),
    ],
)
def test_misuse_is_refused_with_its_reason(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        DataLoader(Numbers(3), **arguments)


def test_iterable_datasets_have_no_order_and_no_length():
    with pytest.raises(ArgumentError, match="IterableDataset not support shuffle, but got shuffle"):
        DataLoader(Stream(3), shuffle=True)
    with pytest.raises(ArgumentError, match="IterableDataset expect unspecified batch_sampler"):
        DataLoader(Stream(3), batch_sampler=BatchSampler([0]))
    with pytest.raises(ArgumentError, match="length of IterableDataset not supported"):
        len(DataLoader(Stream(3)))


def test_where_processes_cannot_fork_the_loader_says_so_once_and_goes_on(monkeypatch):
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    with pytest.warns(UserWarning, match="multi-process mode is not supported"):
        loader = DataLoader(Numbers(3), num_workers=2)
    assert lists(loader) == [[0], [1], [2]]


def test_collating_stacks_tensors_and_arrays_and_keeps_texts():
    tensors = default_collate_fn([Tensor(np.ones(2)), Tensor(np.zeros(2))])
    assert isinstance(tensors, Tensor)
    assert tensors.array.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert default_collate_fn([1.5, 2.5]).dtype == np.float64
    assert default_collate_fn([True, False]).dtype == np.bool_
    assert default_collate_fn([b"a", b"b"]) == [b"a", b"b"]


def test_collating_refuses_samples_of_different_forms():
    with pytest.raises(RuntimeError, match="fileds number not same among samples in a batch"):
        default_collate_fn([(1, 2), (3,)])
    with pytest.raises(TypeError, match=r"batch data con only contains: .* got <class 'object'>"):
        default_collate_fn([object()])


def test_the_names_of_the_older_modules_are_the_same_functions():
    older = scull.io.dataloader
    assert older.collate.default_collate_fn is default_collate_fn
    assert all(getattr(older, name) is getattr(scull.io, name) for name in scull.io.__all__)


def test_a_tensor_shares_the_memory_of_its_array():
    array = np.zeros(2)
    assert tensor_of(array).array is array
    with pytest.raises((DtypeError, TypeError)):
        tensor_of(np.array([None]))


def test_a_loader_can_be_copied():
    loader = copy.copy(DataLoader(Numbers(3), batch_size=2))
    assert lists(loader) == [[0, 1], [2]]


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(scull.io.__path__)]
)
def test_the_examples_run(name):
    results = doctest.testmod(importlib.import_module(f"scull.io.{name}"))
    assert results.failed == 0


def test_a_pass_tells_its_dataset_and_its_sampler():
    loader = DataLoader(range(4), batch_size=2)
    one = iter(loader)
    assert isinstance(one, importlib.import_module(PASSES)._DataLoaderIterBase)
    assert one._dataset is loader.dataset and one._batch_sampler is loader.batch_sampler
