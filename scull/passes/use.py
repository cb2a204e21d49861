"""Which blocks of a Program use which variables: what a block does to those around it."""

from dataclasses import dataclass, field

from scull.core.meta import Kind
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.reach import inner_gradients, seeds_of
from scull.ir.variable import Variable

Found = dict[Variable, None]


@dataclass
class Uses:
    """Found once for a Program; while passes change it, it uses no more than this."""

    users: dict[Variable, set[Block | None]] = field(default_factory=dict)  # None: by its name
    writers: dict[Variable, set[Block]] = field(default_factory=dict)
    reads: dict[Block, Found] = field(default_factory=dict)  # by a block, of those around it
    writes: dict[Block, Found] = field(default_factory=dict)

    def look(self, block: Block) -> None:
        """Note what a block uses, whose inner blocks are known."""
        reads, writes = Found(), Found()
        for o in block.ops:
            for v in (*o.operands(), *o.results(), *named_by(o)):
                self.users.setdefault(v, set()).add(block)
            for v in named_by(o):
                self.users[v].add(None)
            for v in o.results():
                self.writers.setdefault(v, set()).add(block)
            reads.update((v, None) for v in self.read_by(o))
            writes.update((v, None) for v in self.written_by(o))
        self.reads[block] = {v: None for v in reads if v.block is not block}
        self.writes[block] = {v: None for v in writes if v.block is not block}

    def read_by(self, o: Operator) -> Found:
        """What an operator and the blocks it owns read, or may leave as it was."""
        found = dict.fromkeys(o.operands())
        found |= {v: None for v in o.results() if v.kind is Kind.ARRAY}  # which grow
        for block in o.blocks():
            found |= self.reads.get(block, {}) | self.writes.get(block, {})
        return found

    def written_by(self, o: Operator) -> Found:
        """What an operator and the blocks it owns write."""
        found = dict.fromkeys(o.results())
        for block in o.blocks():
            found |= self.writes.get(block, {})
        return found

    def elsewhere(self, block: Block) -> set[Variable]:
        """What operators of other blocks use, or rounds of this one hand to the next."""
        met, found, written = set(block.vars.values()), set[Variable](), set[Variable]()
        for o in block.ops:
            read = self.read_by(o)
            met.update(read, self.written_by(o))
            found.update(v for v in read if v not in written)
            written.update(self.written_by(o))
        found.update(v for v in written if v.block is not block)
        shared = {v for v in met if self.users.get(v, {block}) != {block}}
        return shared if block.parent_idx < 0 else shared | found


def uses_of(program: Program) -> Uses:
    """What the blocks of a Program use, the inner ones first."""
    uses = Uses()
    for block in reversed(program.blocks):
        uses.look(block)
    return uses


def named_by(o: Operator) -> list[Variable]:
    """The variables of its block that the gradient of a block asks for by their names."""
    found: list[Variable] = []
    if o.type in ("while_grad", "conditional_block_grad"):
        found += inner_gradients(o).values()
    if o.type == "while_grad":
        found += [v for pair in seeds_of(o) for v in pair]
    return found
