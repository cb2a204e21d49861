"""One operator run on the values of a scope, as old tests of operators do."""

from typing import Any

from scull.core.meta import Meta
from scull.core.operand import meta_or_none
from scull.core.tensor import Rows
from scull.errors import UninitializedError
from scull.executor.executor import Executor
from scull.files import proto
from scull.files.wire import attribute_value
from scull.ir.program import Program
from scull.runtime.scope import Scope


class Operator:
    """An operator on names, described by the bytes of an OpDesc message."""

    def __init__(self, message: Any) -> None:
        self.message = message

    @staticmethod
    def create(data: bytes) -> "Operator":
        """The operator of some bytes.

        Args:
            data (bytes): an OpDesc message.
        """
        return Operator(proto.OpDesc.FromString(data))

    def type(self) -> str:
        return str(self.message.type)

    def inputs(self) -> dict[str, list[str]]:
        return {slot.parameter: list(slot.arguments) for slot in self.message.inputs}

    def outputs(self) -> dict[str, list[str]]:
        return {slot.parameter: list(slot.arguments) for slot in self.message.outputs}

    def run(self, scope: Scope, place: Any = None) -> None:
        """Read the inputs from `scope`, compute, write the results into it.

        Args:
            scope (Scope): the values.
            place (Place): where to compute.
        """
        program = Program()
        block = program.global_block()
        for names in self.inputs().values():
            for name in names:
                block.variable(name, value_meta(scope, name), persistable=True)
        for names in self.outputs().values():
            for name in names:
                if not block.has_var(name):
                    block.variable(name, Meta(()), persistable=True)
        rows = {n: scope.var(n).value for names in self.outputs().values() for n in names}
        attrs = {a.name: attribute_value(a)[1] for a in self.message.attrs}
        block.append_op(self.type(), self.inputs(), self.outputs(), attrs)
        Executor(place).run(program, scope=scope)
        for name, before in rows.items():
            cell = scope.var(name)
            if isinstance(before, Rows) and not isinstance(cell.value, Rows):
                cell.value = Rows(before.rows, cell.value, before.height)


def value_meta(scope: Scope, name: str) -> Meta:
    """The meta of the value that `scope` holds."""
    cell = scope.find_var(name)
    if cell is None or cell.value is None:
        raise UninitializedError(f"`{name}` has no value in this scope; set it first")
    found: Meta = meta_or_none(cell.value)
    return found
