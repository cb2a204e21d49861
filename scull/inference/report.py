"""What a predictor takes of memory: its values, and a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from scull.core.dtype import of_array
from scull.core.meta import Meta
from scull.errors import FeedError
from scull.executor.memory import Peak
from scull.inference.function import Function

MOST_NAMED = 5  # of the largest values


@dataclass(frozen=True)
class MemoryReport:
    """Bytes: of the values, which all clones and threads share, and of one run.

    `temporaries` is a bound for what is between the inputs and the outputs, with the outputs and
    without what kernels take for themselves while they run; `copies` are values that operators
    write over, and `inputs` what the caller holds.
    """

    values: int
    count: int  # of the values
    largest: tuple[tuple[str, int], ...]  # by name
    inputs: int | None  # None: not known for the sizes that are declared
    copies: int
    temporaries: Peak
    limit: int  # of all but the inputs; 0: none

    def __str__(self) -> str:
        named = ", ".join(f"`{name}` {size}" for name, size in self.largest)
        copies = f" and {self.copies} bytes of copies" if self.copies else ""
        rows = [
            f"values       {self.values} bytes, {self.count} of them"
            + (f"; the largest: {named}" if named else ""),
            f"inputs       {'any number of' if self.inputs is None else self.inputs} bytes",
            f"a run takes  {self.temporaries}{copies}",
            f"limit        {f'{self.limit} bytes' if self.limit else 'none'}",
        ]
        return "\n".join(rows)


def memory_report(function: Function, shapes: Mapping[str, Any] | None) -> MemoryReport:
    """What `function` takes for inputs of these shapes, or else of the declared ones."""
    ready = function.prepared()
    plan, sizes = ready.bound.plan, function.sizes()
    metas = {entry.slot: entry.variable.meta for entry, _ in ready.entries}
    names = {entry.name: entry for entry, _ in ready.entries}
    for name, given in (shapes or {}).items():
        if name not in names:
            known = ", ".join(f"`{n}`" for n in names)
            raise FeedError(f"the model has no input `{name}`; its inputs are {known}")
        shape = tuple(int(n) for n in getattr(given, "shape", given))
        metas[names[name].slot] = names[name].variable.meta.with_shape(shape)
    bytes_in = [-1 if -1 in m.shape else prod(m.shape) * m.dtype.itemsize for m in metas.values()]
    given_metas = {
        slot: Meta(value.shape, of_array(value.dtype))
        for slot, value in enumerate(ready.template)
        if hasattr(value, "dtype")
    }
    own = (ready.template[slot] for slot in ready.copied)
    return MemoryReport(
        sum(sizes.values()),
        len(sizes),
        tuple(sorted(sizes.items(), key=lambda pair: -pair[1])[:MOST_NAMED]),
        None if -1 in bytes_in else sum(bytes_in),
        sum(value.nbytes for value in own if value is not None),
        plan.peak_for({**given_metas, **metas}),
        function.most,
    )
