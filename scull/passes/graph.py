"""The graph of a block: operators and the values between them; each write is a new value.

Passes work on it. What comes out stands in the order it came in, as far as links allow.
"""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from scull.core.session import Names
from scull.errors import ProgramError
from scull.ir.block import Block, described
from scull.ir.clone import copied
from scull.ir.operator import Operator, effects
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.passes.node import IrNode, IrOpNode, IrVarNode, Place
from scull.passes.use import Uses, uses_of

Hazards = dict[IrOpNode, set[IrOpNode]]


class IrGraph:
    """The operators of a block and the values they read and write, as nodes.

    Args:
        graph (Program | Block): a Program, of whose copy this is the global block; or a block,
            which this changes.
        for_test (bool): what `is_test` says.
        fetched (Iterable[str]): names of variables whose last value somebody asks for.
        uses (Uses): what its Program uses where, if that is known already.

    Examples:
        >>> import scull as paddle
        >>> from scull.passes.graph import IrGraph
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.tanh(paddle.static.data("x", [2]))
        >>> graph = IrGraph(main)
        >>> [node.name() for node in graph.topology_sort()], len(graph.all_var_nodes())
        (['tanh'], 2)
        >>> [o.type for o in graph.to_program().global_block().ops]
        ['tanh']
        >>> paddle.disable_static()
    """

    def __init__(
        self,
        graph: Program | Block,
        for_test: bool = False,
        fetched: Iterable[str] = (),
        uses: Uses | None = None,
    ) -> None:
        self.block = copied(graph).global_block() if isinstance(graph, Program) else graph
        self._for_test, self.fetched = for_test, frozenset(fetched)
        self.numbers, self.last = count(), count()
        self.names = FreshNames(self.block.program)
        self.nodes: dict[IrNode, None] = {}
        self.values: dict[Variable, list[IrVarNode]] = {}  # in the order of their writes
        self.uses = uses_of(self.block.program) if uses is None else uses
        self.elsewhere = self.uses.elsewhere(self.block)
        for o in self.block.ops:
            self.add(o)

    # ---- what passes use ----

    def add(self, operator: Operator) -> IrOpNode:
        """Let `operator` come behind all others."""
        node = self.node_of(operator, (next(self.last),))
        for v in self.uses.read_by(operator):
            self.link_to(self.value(v), node)
        for v in self.uses.written_by(operator):
            self.link_to(node, self.version(v))
        return node

    def node_of(self, operator: Operator, place: Place) -> IrOpNode:
        """A node for an operator, without links."""
        node = IrOpNode(next(self.numbers), operator, place)
        self.nodes[node] = None
        return node

    def value(self, v: Variable) -> IrVarNode:
        """The last value of a variable so far."""
        known = self.values.get(v)
        return known[-1] if known else self.version(v)

    def version(self, v: Variable) -> IrVarNode:
        """A new value of a variable; the first that no operator wrote has version 0."""
        known = self.values.setdefault(v, [])
        node = IrVarNode(next(self.numbers), v, known[-1].version + 1 if known else 0)
        known.append(node)
        self.nodes[node] = None
        return node

    def operators(self) -> list[IrOpNode]:
        """The operators in the order of their places."""
        found = [n for n in self.nodes if isinstance(n, IrOpNode)]
        return sorted(found, key=lambda n: n.place)

    def discard(self, operators: Iterable[IrOpNode]) -> None:
        """Take operators out, and values that nobody makes or reads any more."""
        for node in operators:
            self.nodes.pop(node, None)
            near = [*node.inputs, *node.outputs]
            for value in node.inputs:
                value.remove_output(node)
            for value in node.outputs:
                value.remove_input(node)
            for value in near:
                if not value.inputs and not value.outputs:
                    self.forget(value)

    def forget(self, value: IrVarNode) -> None:
        """Take a value out."""
        self.nodes.pop(value, None)
        known = self.values.get(value.variable) if value.variable is not None else None
        if known is not None and value in known:
            known.remove(value)

    def kept(self, value: IrVarNode) -> str | None:
        """Why a value has to stay, besides for those that read it here."""
        v = value.held
        if v.name in self.fetched:
            return f"`{v.name}` is fetched"
        if v.persistable:
            return f"`{v.name}` is persistable"
        return f"`{v.name}` is used in another block" if v in self.elsewhere else None

    def private(self, value: IrVarNode, inside: set[IrOpNode]) -> str | None:
        """Why more than the operators `inside` need a value."""
        for reader in value.outputs:
            if reader not in inside:
                over = any(n.variable is value.variable for n in reader.outputs)
                how = "written over" if over else "read"
                return f"`{value.name()}` is {how} by `{reader.name()}`"
        return self.kept(value)

    def changes(self, value: IrVarNode, before: Place | None = None) -> str | None:
        """Who gives the variable of a value another one, ahead of a place."""
        later = (n for n in self.values[value.held] if n.version > value.version)
        for other in later:
            if other.maker is not None and (before is None or other.maker.place < before):
                return f"`{value.name()}` is written over by `{other.maker.name()}`"
        lost = before is None and value.held in self.elsewhere
        return f"`{value.name()}` is used in another block" if lost else None

    def is_changed(self, value: IrVarNode) -> bool:
        """Whether any operator of the Program writes the variable of a value."""
        here = any(n.inputs for n in self.values[value.held])
        return here or any(b is not self.block for b in self.uses.writers.get(value.held, ()))

    def move_readers(self, old: IrVarNode, new: IrVarNode) -> None:
        """Let whoever reads `old` read `new`."""
        for reader in list(old.outputs):
            self.update_input_link(old, new, reader)

    def settle(self) -> None:
        """Let the block be as the graph is, without variables that nothing uses any more."""
        block = self.block
        block.ops[:] = [n.operator for n in self.topology_sort()]
        for o in block.ops:
            o.block = block
            for v in o.results():
                v.op = o
        used = {n.variable for n in self.all_var_nodes()}
        for v in list(block.vars.values()):
            asked = v.name in self.fetched or v in self.elsewhere or v.persistable or v.is_data
            if v not in used and not asked:
                del block.vars[v.name]
        block.program.changed()

    # ---- the names Paddle's users know ----

    def clone(self) -> "IrGraph":
        """Another graph of the same."""
        return IrGraph(self.to_program(), self._for_test, self.fetched)

    def is_test(self) -> bool:
        return self._for_test

    def all_nodes(self) -> set[IrNode]:
        return set(self.nodes)

    def all_var_nodes(self) -> set[IrVarNode]:
        return {n for n in self.nodes if isinstance(n, IrVarNode)}

    def all_persistable_nodes(self) -> set[IrVarNode]:
        return {n for n in self.all_var_nodes() if n.variable is not None and n.persistable()}

    def all_op_nodes(self) -> set[IrOpNode]:
        return {n for n in self.nodes if isinstance(n, IrOpNode)}

    def all_sub_graphs(self, for_test: bool = False) -> list["IrGraph"]:
        """The graphs of the other blocks, which change with this one's Program."""
        return [self.get_sub_graph(i, for_test) for i in range(self.block.program.num_blocks - 1)]

    def get_sub_graph(self, i: int, for_test: bool = False) -> "IrGraph":
        """The graph of block `i + 1`."""
        return IrGraph(self.block.program.block(i + 1), for_test, self.fetched)

    def create_persistable_node(
        self, name: str, var_type: Any, shape: Any, var_dtype: Any
    ) -> IrVarNode:
        """A value of a new variable that the scope holds."""
        return self.created(name, var_type, shape, var_dtype, persistable=True)

    def create_var_node(self, name: str, var_type: Any, shape: Any, var_dtype: Any) -> IrVarNode:
        """A value of a variable: of a new one, or the next of one that there is."""
        return self.created(name, var_type, shape, var_dtype)

    def created(
        self, name: str, kind: Any, shape: Any, dtype: Any, persistable: bool = False
    ) -> IrVarNode:
        """A new value of the variable called `name`."""
        known = self.block.vars.get(name)
        if known is None:
            meta = described({"type": kind, "shape": shape, "dtype": dtype})[0]
            known = self.block.variable(name, meta, persistable=persistable)
        return self.version(known)

    def create_var_node_from_desc(self, var_desc: Any) -> IrVarNode:
        """A value of a variable like another."""
        v = getattr(var_desc, "variable", var_desc)
        return self.created(v.name, v.kind, v.shape, v.dtype, v.persistable)

    def create_control_dep_var(self) -> IrVarNode:
        """A node that stands for an order: between an operator and one that comes later."""
        node = IrVarNode(next(self.numbers), None)
        self.nodes[node] = None
        return node

    def create_op_node(
        self, op_type: str, attrs: dict[str, Any], inputs: dict[str, Any], outputs: dict[str, Any]
    ) -> IrOpNode:
        """A new operator on the variables of nodes, by slot; `link_to` says which values it has."""
        read, written = ({s: held(ns) for s, ns in given.items()} for given in (inputs, outputs))
        operator = self.block.made(op_type, read, written, attrs)
        return self.node_of(operator, (next(self.last),))

    def create_op_node_from_desc(self, op_desc: Any) -> IrOpNode:
        """A new operator like another, on the variables of the same names."""
        o = getattr(op_desc, "operator", op_desc)
        given = (o.input_slots(), o.output_slots(), o.spelt())
        return self.node_of(self.block.made(o.type, *given), (next(self.last),))

    def update_input_link(
        self, old_input_node: IrVarNode, new_input_node: IrVarNode, op_node: IrOpNode
    ) -> None:
        """Let an operator read another value."""
        self.check(old_input_node, new_input_node, op_node)
        old_input_node.remove_output(op_node)
        op_node.remove_input(old_input_node)
        if op_node not in new_input_node.outputs:
            self.link_to(new_input_node, op_node)
        if old_input_node.variable is not new_input_node.variable:
            op_node.operator.replace(
                old_input_node.held, new_input_node.held, inputs=True, outputs=False
            )

    def update_output_link(
        self, old_output_node: IrVarNode, new_output_node: IrVarNode, op_node: IrOpNode
    ) -> None:
        """Let an operator write another value."""
        self.check(old_output_node, new_output_node, op_node)
        old_output_node.remove_input(op_node)
        op_node.remove_output(old_output_node)
        self.link_to(op_node, new_output_node)
        if old_output_node.variable is not new_output_node.variable:
            op_node.operator.replace(
                old_output_node.held, new_output_node.held, inputs=False, outputs=True
            )

    def check(self, *nodes: IrNode) -> None:
        """Refuse nodes of another graph."""
        for node in nodes:
            if node not in self.nodes:
                raise ProgramError(f"{node!r} is no node of this graph")

    def link_to(self, node_in: IrNode, node_out: IrNode) -> None:
        """Let `node_out` come behind `node_in`."""
        self.check(node_in, node_out)
        node_in.append_output(node_out)
        node_out.append_input(node_in)

    def safe_remove_nodes(self, remove_nodes: Any) -> None:
        """Take nodes out, and their links."""
        nodes = [remove_nodes] if isinstance(remove_nodes, IrNode) else list(remove_nodes)
        for node in nodes:
            self.nodes.pop(node, None)
            if isinstance(node, IrVarNode):
                self.forget(node)
            for before in node.inputs:
                before.remove_output(node)
            for behind in node.outputs:
                behind.remove_input(node)

    def resolve_hazard(self) -> None:
        """Nothing: values are written in the order of their versions, after who reads the last."""

    def has_circle(self) -> bool:
        """Whether an operator comes, by links, before itself."""
        return len(self.sorted_operators()) < len(self.all_op_nodes())

    def graph_num(self) -> int:
        """How many parts there are that no link joins."""
        met: set[IrNode] = set()
        parts = 0
        for node in self.nodes:
            waiting = [node] if node not in met else []
            parts += len(waiting)
            met.update(waiting)
            while waiting:
                found = waiting.pop()
                near = [n for n in (*found.inputs, *found.outputs) if n not in met]
                met.update(near)
                waiting += near
        return parts

    def topology_sort(self) -> list[IrOpNode]:
        """The operators, each behind those it needs."""
        found = self.sorted_operators()
        if len(found) < len(self.all_op_nodes()):
            left = sorted({n.name() for n in self.all_op_nodes().difference(found)})
            raise ProgramError(f"operators wait for one another: {', '.join(left)}")
        return found

    def sorted_operators(self) -> list[IrOpNode]:
        """The operators by place, each behind those it needs; those in circles are left out."""
        before = {n: set[IrOpNode]() for n in self.nodes if isinstance(n, IrOpNode)}
        for first, second in self.orders():
            before[second].add(first)
        behind = Hazards()
        for node, needs in before.items():
            for other in needs:
                behind.setdefault(other, set()).add(node)
        ready = [(n.place, n.number, n) for n, needs in before.items() if not needs]
        heapify(ready)
        found = []
        while ready:
            *_, node = heappop(ready)
            found.append(node)
            for other in behind.get(node, ()):
                before[other].discard(node)
                if not before[other]:
                    heappush(ready, (other.place, other.number, other))
        return found

    def orders(self) -> Iterator[tuple[IrOpNode, IrOpNode]]:
        """Pairs of operators of which the first has to come first."""
        for value in self.all_var_nodes():
            for maker in value.inputs:
                yield from ((maker, reader) for reader in value.outputs if reader is not maker)
        for versions in self.values.values():
            for value, following in pairwise(versions):
                users = [*value.inputs, *value.outputs]
                yield from ((u, w) for w in following.inputs for u in users if u is not w)
        yield from pairwise(n for n in self.operators() if effects(n.operator))

    def build_adjacency_list(self) -> dict[IrOpNode, set[IrOpNode]]:
        """For every operator those that make what it reads."""
        return {n: {m for v in n.inputs for m in v.inputs} for n in self.operators()}

    def draw(
        self,
        save_path: str,
        name: str,
        marked_nodes: Any = None,
        remove_ctr_var: bool = True,
    ) -> None:
        """Write the graph, in the language of Graphviz, into `name`.dot of a folder."""
        if remove_ctr_var:
            self.safe_remove_nodes([n for n in self.all_var_nodes() if n.is_ctrl_var()])
        print(f"Total ops num = {len(self.all_op_nodes())}.")
        marked = {marked_nodes} if isinstance(marked_nodes, IrNode) else set(marked_nodes or ())
        folder = Path(save_path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.dot").write_text(self.to_dot(marked), encoding="utf-8")

    def to_dot(self, marked: Iterable[IrNode] = ()) -> str:
        """The graph in the language of Graphviz; `marked` nodes are filled."""
        marks = set(marked)
        rows = ["digraph G {"]
        for node in self.nodes:
            shape = "box" if node.is_op() else "ellipse"
            style = ' style="filled" fillcolor="yellow"' if node in marks else ""
            rows.append(f'  n{node.number} [label="{node.name()}" shape="{shape}"{style}]')
        for node in self.nodes:
            rows += [f"  n{node.number} -> n{other.number}" for other in node.outputs]
        return "\n".join([*rows, "}", ""])

    def to_program(self) -> Program:
        """A Program of what the graph is now."""
        self.settle()
        return copied(self.block.program)

    def __str__(self) -> str:
        """The values and the operators, each value with the number of its version."""
        return "\n".join(call_text(n) for n in self.topology_sort())


class FreshNames(Names):
    """Names that no variable of a Program has."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def __call__(self, key: str) -> str:
        name = super().__call__(key)
        while any(name in block.vars for block in self.program.blocks):
            name = super().__call__(key)
        return name


def call_text(node: IrOpNode) -> str:
    """An operator between the values it makes and reads."""

    def text(values: list[IrVarNode]) -> str:
        named = [v for v in values if v.variable is not None]
        return ", ".join(f"{v.name()}.{v.version}" for v in named)

    return f"{text(node.outputs)} = {node.name()}({text(node.inputs)})"


def held(nodes: Any) -> list[Variable]:
    """The variables of a node, or of a list of nodes."""
    return [n.held for n in (nodes if isinstance(nodes, list | tuple) else [nodes])]
