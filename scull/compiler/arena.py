"""One piece of memory for all that lies between the kernels of a region: offsets by lifetime."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scull.compiler.flow import Loop, Nodes, controls, leaves
from scull.compiler.group import Group
from scull.compiler.kernel import NOTE, arrays_of
from scull.compiler.stage import nbytes
from scull.lang.expression import Array
from scull.runtime.line import LINE


@dataclass(frozen=True)
class Block:
    """Bytes from `offset` on that an array has from kernel `first` to kernel `last`."""

    offset: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Arena:
    """Where each array between kernels lies.

    What lasts from run to run, and is never written again, lies in a memory of its own: `lasts`
    bytes, which all threads read.
    """

    size: int
    blocks: Mapping[Array, Block]
    lasts: int = 0
    lasting: Mapping[Array, int] = field(default_factory=dict)


def bytes_of(array: Array) -> int:
    """The bytes of an array, as memory is handed out."""
    return max(LINE, -(-nbytes(array) // LINE) * LINE)


class Lives:
    """From which kernel to which each array of an arena is needed, the kernels numbered in order.

    What lies in the memory of others needs those.
    """

    def __init__(
        self, behind: Mapping[Array, tuple[Array, ...]], outside: Collection[Array]
    ) -> None:
        self.behind, self.outside = behind, outside
        self.spans: dict[Array, tuple[int, int]] = {}
        self.count = 0

    def touch(self, array: Array, time: int) -> None:
        """An array is needed at a time."""
        if array in self.behind:
            for other in self.behind[array]:
                self.touch(other, time)
        elif array not in self.outside and array != NOTE:
            first, last = self.spans.get(array, (time, time))
            self.spans[array] = (first, max(last, time))

    def walk(self, nodes: Nodes) -> None:
        """Go through kernels and loops; a loop needs to its end what it needs of before."""
        for node in nodes:
            if isinstance(node, Group):
                for array in arrays_of(node):
                    self.touch(array, self.count)
                self.count += 1
                continue
            before, start = set(self.spans), self.count
            for array in node.asked | node.made:
                self.touch(array, start)
            for body in node.bodies:
                self.walk(body)
            end = max(start, self.count - 1)
            for array in node.left | node.made | node.asked:
                self.touch(array, end)
            if isinstance(node, Loop):
                used = (x for x in before if self.spans[x][1] >= start)
                self.spans |= {x: (self.spans[x][0], max(self.spans[x][1], end)) for x in used}


def planned(
    nodes: Nodes,
    behind: Mapping[Array, tuple[Array, ...]],
    outside: Collection[Array],
    late: Collection[Array] = (),
    once: Sequence[Group] = (),
) -> Arena:
    """The arena of groups, loops and branches; arrays `outside` have memory of their own.

    Those that are `late` are read once more when all is done; what the groups that run `once` make
    for the others lasts.

    The largest come first, each at the lowest offset where nothing lies that lives at its time.
    """
    lasting, lasts = _lasting(nodes, once)
    lives = Lives(behind, {*outside, *lasting})
    for array in (array for group in once for array in arrays_of(group)):
        lives.touch(array, 0)
    lives.walk(nodes)
    for array in late:
        lives.touch(array, lives.count)
    spans, blocks = lives.spans, dict[Array, Block]()
    for array in sorted(spans, key=lambda x: (-bytes_of(x), spans[x], x.name)):
        start, last = spans[array]
        size, offset = bytes_of(array), 0
        beside = [b for b in blocks.values() if b.first <= last and start <= b.last]
        for other in sorted(beside, key=lambda b: b.offset):
            if other.offset >= offset + size:
                break
            offset = max(offset, other.offset + other.size)
        blocks[array] = Block(offset, size, start, last)
    size = max((b.offset + b.size for b in blocks.values()), default=0)
    return Arena(size, blocks, lasts, lasting)


def _lasting(nodes: Nodes, once: Sequence[Group]) -> tuple[dict[Array, int], int]:
    """Where what groups make once for others lies, side by side, and how many bytes that takes."""
    read = {array for group in leaves(nodes) for array in arrays_of(group)}
    read.update(array for node in controls(nodes) for array in node.asked | node.left)
    found, size = dict[Array, int](), 0
    for array in (array for group in once for array in group.written if array in read):
        found[array] = size
        size += bytes_of(array)
    return found, size
