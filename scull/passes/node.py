"""The nodes of a graph: operators, and the values that variables have by turns."""

from collections.abc import Iterable
from typing import Any

from scull.core.dtype import DType
from scull.core.meta import Kind
from scull.errors import SlotError
from scull.ir.operator import Operator
from scull.ir.variable import Variable, with_batch

Place = tuple[int, ...]  # where an operator stands among the others


class IrNode:
    """An operator or a value; `inputs` come before it, `outputs` behind it."""

    inputs: list[Any]
    outputs: list[Any]

    def __init__(self, number: int) -> None:
        self.number = number
        self.inputs, self.outputs = [], []

    def id(self) -> int:
        """A number that no other node of the graph has."""
        return self.number

    def name(self) -> str:
        """The type of an operator, the name of a variable."""
        raise NotImplementedError

    def is_op(self) -> bool:
        return isinstance(self, IrOpNode)

    def is_var(self) -> bool:
        return isinstance(self, IrVarNode)

    def is_ctrl_var(self) -> bool:
        """Whether it stands for an order alone, and for no value."""
        return isinstance(self, IrVarNode) and self.variable is None

    def node_type(self) -> str:
        """`Operation` or `Variable`."""
        return "Operation" if self.is_op() else "Variable"

    def var(self) -> Any:
        """The view of the variable of a value."""
        variable: Any = self.variable if isinstance(self, IrVarNode) else None
        return variable and variable.desc

    def op(self) -> Any:
        """The view of an operator of a Program."""
        operator: Any = self.operator if isinstance(self, IrOpNode) else None
        return operator and operator.desc

    def append_input(self, node: "IrNode") -> None:
        """Let `node` come before it."""
        self.inputs.append(node)

    def append_output(self, node: "IrNode") -> None:
        """Let `node` come behind it."""
        self.outputs.append(node)

    def remove_input(self, node: "IrNode") -> None:
        """Let `node` no longer come before it."""
        self.inputs = [n for n in self.inputs if n is not node]

    def remove_output(self, node: "IrNode") -> None:
        """Let `node` no longer come behind it."""
        self.outputs = [n for n in self.outputs if n is not node]

    def remove_input_by_id(self, node_id: int) -> None:
        self.inputs = [n for n in self.inputs if n.id() != node_id]

    def remove_output_by_id(self, node_id: int) -> None:
        self.outputs = [n for n in self.outputs if n.id() != node_id]

    def clear_inputs(self) -> None:
        self.inputs = []

    def clear_outputs(self) -> None:
        self.outputs = []

    def __repr__(self) -> str:
        return f"<{self.name()} {self.number}>"


class IrVarNode(IrNode):
    """The value that a variable has from one write on; of version 0 it begins with."""

    inputs: list["IrOpNode"]
    outputs: list["IrOpNode"]

    def __init__(self, number: int, variable: Variable | None, version: int = 0) -> None:
        super().__init__(number)
        self.variable, self.version = variable, version

    @property
    def maker(self) -> "IrOpNode | None":
        """The operator that writes it."""
        return self.inputs[0] if self.inputs else None

    @property
    def held(self) -> Variable:
        """The variable, of a value that has one."""
        assert self.variable is not None
        return self.variable

    def name(self) -> str:
        return f"__control_var@{self.number}" if self.variable is None else self.variable.name

    def set_shape(self, shape: Iterable[Any]) -> None:
        """Give the variable a shape."""
        self.held.shape = with_batch(tuple(shape))

    def persistable(self) -> bool:
        return self.held.persistable

    def type(self) -> Kind:
        return self.held.kind

    def dtype(self) -> DType:
        return self.held.dtype

    def shape(self) -> tuple[int, ...]:
        return self.held.shape


class IrOpNode(IrNode):
    """An operator, between the values it reads and those it writes."""

    inputs: list[IrVarNode]
    outputs: list[IrVarNode]

    def __init__(self, number: int, operator: Operator, place: Place) -> None:
        super().__init__(number)
        self.operator, self.place = operator, place

    def name(self) -> str:
        return self.operator.type

    def reading(self, v: Variable) -> IrVarNode:
        """The value of `v` that it reads."""
        return next(n for n in self.inputs if n.variable is v)

    def writing(self, v: Variable) -> IrVarNode:
        """The value of `v` that it writes."""
        return next(n for n in self.outputs if n.variable is v)

    def overwrites(self) -> Variable | None:
        """A variable that it both reads and writes, if there is one."""
        read = {n.variable for n in self.inputs}
        found = (n.variable for n in self.outputs if n.variable in read)
        return next((v for v in found if v is not None), None)

    def input(self, name: str) -> list[str]:
        """The names in an input slot."""
        return self.operator.input(name)

    def output(self, name: str) -> list[str]:
        """The names in an output slot."""
        return self.operator.output(name)

    def input_arg_names(self) -> list[str]:
        return self.operator.input_arg_names

    def output_arg_names(self) -> list[str]:
        return self.operator.output_arg_names

    def rename_input(self, old_input_name: str, new_input_name: str) -> None:
        """Let it read, in its slots, the variable of a value linked to it instead of another."""
        self.rename(self.inputs, old_input_name, new_input_name, inputs=True)

    def rename_output(self, old_output_name: str, new_output_name: str) -> None:
        """The same of what it writes."""
        self.rename(self.outputs, old_output_name, new_output_name, inputs=False)

    def rename(self, nodes: list[IrVarNode], old: str, new: str, *, inputs: bool) -> None:
        """Put the variable called `new`, that of one of `nodes`, where `old` stands."""
        o = self.operator
        taken = next((n.variable for n in nodes if n.name() == new), None)
        if taken is None:
            raise SlotError(f"no value called `{new}` is linked to `{o.type}`")
        known = named(o.operands() if inputs else o.results(), old)
        o.replace(known, taken, inputs=inputs, outputs=not inputs)

    def set_attr(self, name: str, val: Any) -> None:
        """Set an attribute, by its spelling in a Program."""
        self.operator.set(name, val)

    _update_desc_attr = set_attr

    def set_type(self, new_type: str) -> None:
        """Let it be an operator of another type, with the same slots and attributes."""
        o = self.operator
        made = o.block.made(
            new_type,
            {slot: [named(o.operands(), n) for n in ns] for slot, ns in o.input_slots().items()},
            {slot: [named(o.results(), n) for n in ns] for slot, ns in o.output_slots().items()},
            {n: v for n, v in o.spelt().items() if v is not None},
        )
        made.line = o.line
        self.operator = made


def named(variables: list[Variable], name: str) -> Variable:
    """The variable of `variables` called `name`."""
    for v in variables:
        if v.name == name:
            return v
    raise SlotError(f"the operator has no variable `{name}`")
