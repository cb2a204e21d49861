"""Scripts that turn lines into the slots of samples, as text that readers of data sets take."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scull.errors import ArgumentTypeError, UnsupportedError

Slots = Iterable[tuple[str, list[Any]]]
LAW = (
    "a sample is a list or tuple of slots, [(name, [value, ...]), ...]: "
    'Example: [("words", [1926, 8, 17]), ("label", [1])]'
)


class DataGenerator:
    """What reads lines and writes samples: subclasses say how by `generate_sample`."""

    def __init__(self) -> None:
        self._proto_info: list[tuple[str, str]] | None = None
        self.batch_size_ = 32

    def set_batch(self, batch_size: int) -> None:
        """Say how many samples `generate_batch` gets at once.

        Args:
            batch_size (int): 32 if nothing was said.
        """
        self.batch_size_ = batch_size

    def generate_sample(self, line: str | None) -> Callable[[], Iterator[Slots | None]]:
        """A function that yields the samples of a line; a subclass has it.

        Args:
            line (str | None): the line; None for `run_from_memory`.

        Returns:
            Callable: each sample is [(name, [value, ...]), ...]; None is left out.
        """
        law = "Please rewrite this function to return a list or tuple: [(name, [value, ...]), ...]"
        raise UnsupportedError(law)

    def generate_batch(self, samples: list[Slots]) -> Callable[[], Iterator[Slots]]:
        """A function that yields the samples of a batch: themselves, unless a subclass says other.

        Args:
            samples (list): as many samples as `set_batch` said, or what is left of them.

        Returns:
            Callable: of the samples to be written.
        """
        return lambda: iter(samples)

    def run_from_stdin(self) -> None:
        """Write the samples of every line that is read to the standard output."""
        self._write(sample for line in sys.stdin for sample in self.generate_sample(line)())

    def run_from_memory(self) -> None:
        """Write the samples that a subclass has of no line to the standard output."""
        self._write(self.generate_sample(None)())

    def _write(self, samples: Iterable[Slots | None]) -> None:
        batch: list[Slots] = []
        for sample in samples:
            if sample is not None:
                batch.append(sample)
            if len(batch) == self.batch_size_:
                self._write_batch(batch)
                batch = []
        if batch:
            self._write_batch(batch)

    def _write_batch(self, batch: list[Slots]) -> None:
        for sample in self.generate_batch(batch)():
            sys.stdout.write(self._gen_str(sample))

    def _gen_str(self, line: Any) -> str:
        """A sample as a line of text; a subclass has it."""
        raise UnsupportedError("derive from MultiSlotDataGenerator or MultiSlotStringDataGenerator")


def slots_of(sample: Any, allowed: tuple[type, ...]) -> list[tuple[str, list[Any]]]:
    """The slots of a sample, whose values are of some types."""
    if not isinstance(sample, list | tuple):
        raise ArgumentTypeError(f"{LAW}, not {type(sample).__name__}")
    for slot in sample:
        if not isinstance(slot, list | tuple) or len(slot) != 2:
            raise ArgumentTypeError(f"{LAW}, not {slot!r} in it")
        name, values = slot
        if not isinstance(name, str) or not isinstance(values, list):
            raise ArgumentTypeError(f"{LAW}, not {slot!r} in it")
        for value in values:
            if not isinstance(value, allowed):
                kinds = " or ".join(kind.__name__ for kind in allowed)
                law = f"the values of `{name}` are of the type {kinds}"
                raise ArgumentTypeError(f"{law}, not {type(value).__name__} {value!r}")
    return list(sample)


def line_of(slots: list[tuple[str, list[Any]]]) -> str:
    """The number of values of each slot, and the values, in a line."""
    return " ".join(str(v) for _, values in slots for v in (len(values), *values)) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Samples with slots of numbers; every sample has the same slots, and each a value at least.

    Examples:
        >>> import scull.distributed.fleet as fleet
        >>> class Words(fleet.MultiSlotDataGenerator):
        ...     def generate_sample(self, line):
        ...         def samples():
        ...             yield [("words", [1926, 8, 17]), ("label", [1])]
        ...         return samples
        >>> Words().run_from_memory()
        3 1926 8 17 1 1
    """

    def _gen_str(self, line: Any) -> str:
        slots = slots_of(line, (int, float))
        known = self._proto_info or [(name, "uint64") for name, _ in slots]
        if len(known) != len(slots):
            raise ArgumentTypeError(
                f"the complete field set of two given line are inconsistent: there were"
                f" {len(known)} slots, and now {len(slots)}"
            )
        self._proto_info = []
        for (name, values), (first, kind) in zip(slots, known, strict=True):
            if name != first:
                law = "the field name of two given line are not match"
                raise ArgumentTypeError(f"{law}: require<{first}>, get<{name}>.")
            if not values:
                raise ArgumentTypeError(f"the slot `{name}` has no values: pad it")
            floats = any(isinstance(value, float) for value in values)
            self._proto_info.append((name, "float" if floats else kind))
        return line_of(slots)


class MultiSlotStringDataGenerator(DataGenerator):
    """Samples with slots of texts, which are written as they are.

    Examples:
        >>> import scull.distributed.fleet as fleet
        >>> class Words(fleet.MultiSlotStringDataGenerator):
        ...     def generate_sample(self, line):
        ...         def samples():
        ...             yield [("words", ["1926", "08", "17"]), ("label", ["1"])]
        ...         return samples
        >>> Words().run_from_memory()
        3 1926 08 17 1 1
    """

    def _gen_str(self, line: Any) -> str:
        return line_of(slots_of(line, (str,)))
