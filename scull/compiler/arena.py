"""One piece of memory for all that lies between the kernels of a region: offsets by lifetime."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scull.compiler.group import Group
from scull.compiler.kernel import NOTE, arrays_of
from scull.lang.dtype import element
from scull.lang.expression import Array

ALIGNMENT = 64


@dataclass(frozen=True)
class Block:
    """Bytes from `offset` on that an array has from kernel `first` to kernel `last`."""

    offset: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Arena:
    """Where each array between kernels lies."""

    size: int
    blocks: Mapping[Array, Block]


def bytes_of(array: Array) -> int:
    """The bytes of an array, as memory is handed out."""
    size = array.size * element(array.dtype).itemsize
    return max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)


def planned(groups: Sequence[Group], outside: set[Array], late: Collection[Array] = ()) -> Arena:
    """The arena of groups in their order; arrays `outside` have memory of their own.

    Those that are `late` are read once more when all groups are done.

    The largest come first, each at the lowest offset where nothing lies that lives at its time.
    """
    lives: dict[Array, tuple[int, int]] = {}
    for number, group in enumerate(groups):
        for array in arrays_of(group):
            if array not in outside and array != NOTE:
                first, _ = lives.get(array, (number, number))
                lives[array] = (first, len(groups) if array in late else number)
    blocks: dict[Array, Block] = {}
    for array in sorted(lives, key=lambda x: (-bytes_of(x), lives[x])):
        first, last = lives[array]
        size, offset = bytes_of(array), 0
        beside = [b for b in blocks.values() if b.first <= last and first <= b.last]
        for other in sorted(beside, key=lambda b: b.offset):
            if other.offset >= offset + size:
                break
            offset = max(offset, other.offset + other.size)
        blocks[array] = Block(offset, size, first, last)
    return Arena(max((b.offset + b.size for b in blocks.values()), default=0), blocks)
