"""Programs: blocks, the current one, and a version that every change raises."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.core import session
from scull.deferred import load
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.block import Block
from scull.ir.text import program_text
from scull.ir.variable import ParameterVariable, Variable


class Program:
    """A description of a computation; it never holds values. Block 0 is the global block."""

    def __init__(self) -> None:
        self.blocks: list[Block] = [Block(self, 0)]
        self.current_block_idx = 0
        self.version = 0
        self.flushed = -1  # the version whose hash was last asked for
        self.derivatives = 0  # how often gradients were appended
        self.role = 0  # what operators recorded now are for
        self.role_var: tuple[str, ...] = ()
        self.namescope = "/"
        self._seed: int = session.get("program_seed")
        self.plans: dict[Any, Any] = {}
        self.wire: Any = None
        self.scope_counts: dict[str, int] = {}  # how often each name scope was entered
        self.lr_scheduler: Any = None  # what decides `lr_var` before every run
        self.lr_var: Any = None
        self._is_distributed = False
        self._parameters_on_pservers = self._endpoints = None

    def changed(self) -> None:
        """Note a change: plans made before no longer fit."""
        self.version += 1

    def block_inside(self, parent: Block, forward: int = -1) -> Block:
        """A new block within `parent`."""
        made = Block(self, len(self.blocks), parent.idx, forward)
        self.blocks.append(made)
        self.changed()
        return made

    def variables(self) -> Iterator[Variable]:
        """Every variable of every block."""
        for block in self.blocks:
            yield from block.vars.values()

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Operators are appended to `block`."""
        before, self.current_block_idx = self.current_block_idx, block.idx
        try:
            yield block
        finally:
            self.current_block_idx = before

    @contextmanager
    def serving(
        self, role: int, role_var: tuple[str, ...] = (), namescope: str | None = None
    ) -> Iterator[None]:
        """Give what is made within a role.

        0 forward, 1 backward, 2 optimize, 16 schedule, 256 loss.
        """
        before = self.role, self.role_var, self.namescope
        self.role, self.role_var = role, role_var
        self.namescope = before[2] if namescope is None else namescope
        try:
            yield
        finally:
            self.role, self.role_var, self.namescope = before

    # ---- the names Paddle's users know ----

    def global_block(self) -> Block:
        """Block 0."""
        return self.blocks[0]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block operators are appended to."""
        return self.blocks[self.current_block_idx]

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    @property
    def random_seed(self) -> int:
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise ArgumentError(
                f"Program.random_seed's input seed must be an integer, but received {type(seed)}."
            )
        self._seed = seed
        self.changed()

    def global_seed(self, seed: int = 0) -> None:
        """Let this Program and those made from now on have the `random_seed` `seed`.

        Args:
            seed (int): the seed; 0 for none.
        """
        self.random_seed = seed
        session.put("program_seed", seed)

    def list_vars(self) -> Iterator[Variable]:
        return self.variables()

    def all_parameters(self) -> list[ParameterVariable]:
        return [v for v in self.variables() if isinstance(v, ParameterVariable)]

    def _create_block(self, parent_idx: int | None = None) -> Block:
        parent = self.current_block() if parent_idx is None else self.blocks[parent_idx]
        made = self.block_inside(parent)
        self.current_block_idx = made.idx
        return made

    def _rollback(self) -> None:
        self.current_block_idx = self.current_block().parent_idx

    def clone(self, for_test: bool = False) -> "Program":
        """A copy; with `for_test` one without gradients and updates, whose operators test."""
        made: Program = load("scull.ir.clone", "for_test" if for_test else "copied")(self)
        return made

    def _prune(self, targets: Any) -> "Program":
        return self._prune_with_input([], targets)

    def _prune_with_input(self, feeded_var_names: Any, targets: Any) -> "Program":
        feeds, wanted = (
            v if isinstance(v, list | tuple) else [v] for v in (feeded_var_names, targets)
        )
        made: Program = load("scull.ir.clone", "pruned")(self, feeds, wanted)
        return made

    def __str__(self) -> str:
        return program_text(self)

    __repr__ = __str__


def main_program() -> Any:
    """The Program operators are recorded into."""
    if session.get("main") is None:
        session.put("main", Program())
    return session.get("main")


def startup_program() -> Any:
    """The Program initialisers are recorded into."""
    if session.get("startup") is None:
        session.put("startup", Program())
    return session.get("startup")


default_startup = startup_program


@contextmanager
def program_guard(main_program: Any, startup_program: Any = None) -> Iterator[None]:
    """`main_program` and, when given, `startup_program` are the default Programs within."""
    given = {"main_program": main_program}
    if startup_program is not None:
        given["startup_program"] = startup_program
    for name, program in given.items():
        if not isinstance(program, Program):
            raise ArgumentTypeError(
                f"The type of '{name}' in program_guard must be Program, but received "
                f"{type(program)}."
            )
    startup = default_startup() if startup_program is None else startup_program
    with session.guarded(main=main_program, startup=startup):
        yield
