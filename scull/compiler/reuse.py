"""Rows of a kernel lie where rows lie that nothing reads any more: what is near stays near.

Scores, exponentials and weights of a row follow one another; in one place they leave the nearest
cache to what comes from afar.
"""

from dataclasses import dataclass, replace

from scull.compiler.decision import decided
from scull.compiler.group import Group
from scull.compiler.stage import Stage, nbytes, reduces
from scull.lang.body import Map
from scull.lang.dtype import element
from scull.lang.expression import Array


@dataclass
class Home:
    """Memory of a row: whose it was first, whose it is, and the last stage that reads that."""

    first: Array
    now: Array
    last: int


def with_rows_shared(group: Group) -> Group:
    """A group whose rows lie over others that are read no more."""
    homes, over = list[Home](), dict[Array, Array]()
    rows, depth = [x for x in group.local if x.size > 1], len(group.shared)
    for number, stage in enumerate(group.stages):
        for array in stage.arrays:
            if array not in rows:
                continue
            last = max([n for n, s in enumerate(group.stages) if array in s.reads], default=number)
            free = [
                home
                for home in homes
                if nbytes(home.first) >= nbytes(array)
                and (home.last < number or _makes_place(home, array, stage, number, depth))
            ]
            home = max(free, key=lambda x: (-nbytes(x.first), x.last), default=None)
            if home is None:
                homes.append(Home(array, array, last))
                continue
            decided("over", array.name, home.now.name, "that is read no more")
            over[array], home.now, home.last = home.first, array, last
    return replace(group, over=over)


def _makes_place(home: Home, array: Array, stage: Stage, number: int, depth: int) -> bool:
    """Whether each element of a row is read for the last time where `array` has its own."""
    if home.last != number or home.now in stage.arrays:
        return False
    if element(home.now.dtype).itemsize != element(array.dtype).itemsize:
        return False
    own = stage.axes[depth:]
    return all(isinstance(body, Map) and not reduces(body.value) for body in stage.bodies) and all(
        x.operands == own for x in stage.loads if x.array == home.now
    )
