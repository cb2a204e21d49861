"""Parts of a Program that are recorded on trial, and dropped when they came out otherwise."""

from typing import Any, NamedTuple

from scull.core.meta import Meta
from scull.ir.block import Block
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.jit.convert.run.journal import added, changing
from scull.jit.convert.run.refusal import refused
from scull.jit.convert.run.state import State
from scull.jit.convert.run.tree import shown
from scull.jit.convert.run.value import variable
from scull.tensor.array import create_array

TRIALS = 16  # after so many a state is taken to settle never


class Kind(NamedTuple):
    """What a value that goes from round to round is taken to be."""

    meta: Meta
    number: bool
    stops: bool  # whether no gradient flows to it


class Again(Exception):
    """Recording has shown that a value of the state is of another kind than was assumed."""

    def __init__(
        self,
        place: int = -1,
        path: tuple[Any, ...] = (),
        kind: Kind | None = None,
        written: Any = (),
        apart: bool = False,
    ) -> None:
        super().__init__(place)
        self.place, self.path, self.kind = place, path, kind  # no kind: a list that grows
        self.written = written  # attributes that are state, too
        self.apart = apart  # whether the first round is another one than the rest


class Mark:
    """The end of the Program at one time."""

    def __init__(self) -> None:
        self.program = main_program()
        self.block: Block = self.program.current_block()
        self.blocks = len(self.program.blocks)
        self.last = self.block.ops[-1] if self.block.ops else None

    def drop(self) -> None:
        """Take away what was recorded since."""
        del self.program.blocks[self.blocks :]
        operators = self.block.ops
        while operators and operators[-1] is not self.last:  # copies before it may have come
            operators.pop()
        self.program.current_block_idx = self.block.idx
        self.program.changed()

    def inner(self) -> Block:
        """A new block within."""
        return self.program.block_inside(self.block)  # type: ignore[no-any-return]


def widened(state: State, again: Again) -> None:
    """Let the state hold what recording has shown."""
    if again.written:
        added(state, again.written)
    else:
        grown(state, again.place, again.path)


def grown(state: State, place: int, path: tuple[Any, ...]) -> None:
    """Let the list at `place`, or at a path within it, be a variable that holds a list."""
    holder, found = None, state.places[place].read()
    for key in path:
        holder, found = found, found[key]
    if not isinstance(found, list) or isinstance(holder, tuple):
        where = shown(path, state.names[place])
        kind = type(found if holder is None else holder).__name__
        stands = f"is {kind}" if holder is None else f"stands in a {kind}"
        raise refused(
            f"`{where}` {stands} and grows, or shrinks, where a Tensor decides; only a list can"
        )
    made = array_of(found)
    if holder is None:
        state.places[place].write(made)
    else:
        changing(holder)
        holder[path[-1]] = made


def array_of(values: list[Any]) -> Variable:
    """A variable that holds the tensors of a list."""
    held = [variable(v) for v in values]
    dtype = held[0].dtype if held else "float32"
    return create_array(dtype, held)  # type: ignore[no-any-return]
