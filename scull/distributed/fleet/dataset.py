"""Samples in files of text that Programs are trained on: `exe.train_from_dataset`."""

import gzip
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from scull.core.absent import Absent
from scull.distributed.fleet.sample import Sample, Slot, feed_of, sample_of, slot_of
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingFileError,
    RunError,
    UnsupportedError,
)

HARMLESS = {"thread_num", "input_type", "download_cmd", "data_feed_type", "queue_num"}
UNTOLD = "it takes what parameter servers hold"


class Samples:
    """Files of text whose lines are samples: the base of both kinds of data sets.

    A line has for each variable how many values follow, and these: `2 17 4 1 0.5` are two words
    and a number. Files whose names end in `.gz` are unpacked.
    """

    def __init__(self) -> None:
        self.batch_size = 1
        self.command = "cat"
        self.slots: tuple[Slot, ...] = ()
        self.filelist: list[str] = []

    def init(self, **kwargs: Any) -> None:
        """Say how samples are read, before anything else.

        Args:
            batch_size (int): how many samples a run is fed with; 1 if not given.
            use_var (list): the variables that are fed, in the order of a line's slots: those with a
                `lod_level` with sequences, others with as many values as a row of them has.
            pipe_command (str): a command of the shell, through which each file goes first, as
                `python generator.py` with a MultiSlotDataGenerator.
            fs_name, fs_ugi (str): refused: files are on this machine.
            thread_num, input_type, download_cmd, data_feed_type, queue_num: of no effect.
        """
        self.update_settings(**kwargs)

    def update_settings(self, **kwargs: Any) -> None:
        """Say some of what `init` takes anew."""
        for name, value in kwargs.items():
            if name == "batch_size":
                self.batch_size = counted(value)
            elif name == "use_var":
                self.slots = tuple(map(slot_of, value))
            elif name == "pipe_command":
                self.command = value
            elif name in ("fs_name", "fs_ugi"):
                if value:
                    raise UnsupportedError(f"{name} is {value!r}: files are read on this machine")
            elif name not in HARMLESS:
                raise ArgumentTypeError(f"init() got an unexpected keyword argument {name!r}")

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """Say which files hold the samples.

        Args:
            filelist (list[str]): paths, in the order they are read.
        """
        if isinstance(filelist, str):
            raise ArgumentTypeError("filelist takes a list of paths, not one")
        self.filelist = [str(path) for path in filelist]

    def feeds(self, drop_last: bool = False) -> Iterator[dict[str, Any]]:
        """Batches, as `exe.run` takes them.

        Args:
            drop_last (bool): leave out the last one if it is smaller.

        Examples:
            >>> import pathlib, tempfile
            >>> import scull as paddle
            >>> paddle.enable_static()
            >>> x = paddle.static.data("x", [None, 2])
            >>> data = paddle.distributed.QueueDataset()
            >>> data.init(batch_size=2, use_var=[x])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "samples.txt")
            ...     _ = path.write_text("2 1 2\\n2 3 4\\n2 5 6\\n")
            ...     data.set_filelist([path])
            ...     [feed["x"].tolist() for feed in data.feeds()]
            [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]]
            >>> paddle.disable_static()
        """
        if not self.slots:
            raise RunError("the data set has no variables: call init(use_var=[...]) first")
        samples = self._samples()
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not drop_last:
                yield feed_of(batch, self.slots)

    def _samples(self) -> Iterator[Sample]:
        return self._read()

    def _read(self) -> Iterator[Sample]:
        for path in self.filelist:
            for number, line in enumerate(lines_of(path, self.command), 1):
                if line.strip():
                    yield sample_of(line, self.slots, f"{path}:{number}")


class QueueDataset(Samples):
    """Samples that are read while a Program runs, from first to last."""


class InMemoryDataset(Samples):
    """Samples that are read into memory first, and may be shuffled there."""

    set_date = Absent("paddle.distributed.InMemoryDataset.set_date", UNTOLD)
    tdm_sample = Absent("paddle.distributed.InMemoryDataset.tdm_sample", UNTOLD)

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Sample] | None = None
        self._coming: Future[None] | None = None
        self._shuffled = 0

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Read every file.

        Args:
            is_shuffle (bool): whether samples are shuffled, too.
        """
        self._held = list(self._read())
        if is_shuffle:
            self.local_shuffle()

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Begin to read every file, beside what follows.

        Args:
            thread_num (int, optional): of no effect.
        """
        pool = ThreadPoolExecutor(1)
        self._coming = pool.submit(self.load_into_memory)
        pool.shutdown(wait=False)

    def wait_preload_done(self) -> None:
        """Wait until every file is read; an error that came in doing so is raised here."""
        if self._coming is not None:
            self._coming.result()
            self._coming = None

    def local_shuffle(self) -> None:
        """Shuffle the samples, by NumPy's random numbers."""
        held = self._memory()
        self._held = [held[k] for k in np.random.permutation(len(held))]

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Shuffle the samples of all processes, of which this is the only one.

        Args:
            fleet (optional): of no effect.
            thread_num (int): of no effect.
        """
        self.local_shuffle()
        self._shuffled = len(self._memory())

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Shuffle single slots among samples, to see what a model owes to them.

        Args:
            slots (list[str]): names of variables.
        """
        held, names = self._memory(), [slot.name for slot in self.slots]
        for slot in slots:
            if slot not in names:
                raise ArgumentError(f"there is no slot {slot!r}, only {', '.join(names)}")
            k, order = names.index(slot), np.random.permutation(len(held))
            moved = [held[n][k] for n in order]
            for sample, values in zip(held, moved, strict=True):
                sample[k] = values

    def release_memory(self) -> None:
        """Forget the samples."""
        self._held, self._shuffled = None, 0

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many samples there are in memory.

        Args:
            fleet (optional): of no effect.
        """
        return len(self._held or ())

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """How many samples `global_shuffle` has shuffled.

        Args:
            fleet (optional): of no effect.
        """
        return self._shuffled

    def _memory(self) -> list[Sample]:
        if self._held is None:
            raise RunError("there are no samples in memory: call load_into_memory() first")
        return self._held

    def _samples(self) -> Iterator[Sample]:
        self.wait_preload_done()
        return iter(self._memory())


def counted(size: Any) -> int:
    """How many samples a batch has."""
    if type(size) is not int or size < 1:
        raise ArgumentError(f"batch_size is {size!r}, not a number of samples")
    return size


def lines_of(path: str, command: str) -> Iterator[str]:
    """The lines of a file, after a command of the shell."""
    if not Path(path).is_file():
        raise MissingFileError(f"there is no file {path}")
    if command.strip() not in ("", "cat"):
        yield from piped(path, command)
        return
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from lines


def piped(path: str, command: str) -> Iterator[str]:
    """What a command makes of a file."""
    before = "gzip -dc" if path.endswith(".gz") else "cat"
    whole = f"{before} {shlex.quote(path)} | {command}"
    process = subprocess.Popen(whole, shell=True, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield from process.stdout
        if process.wait():
            raise RunError(f"`{command}` over {path} ended with status {process.returncode}")
    finally:
        process.stdout.close()
        process.kill()
        process.wait()
