"""The declarations of operators as Paddle's OpProto messages."""

from typing import Any

from scull.core.op import MARK, Op, by_type, op_of
from scull.errors import ArgumentError, UnknownOpError
from scull.files import proto
from scull.ir.operator import COMMON, program_outputs

COMMON_KINDS = {
    "op_role": "INT",
    "op_role_var": "STRINGS",
    "op_namescope": "STRING",
    "op_callstack": "STRINGS",
    "op_device": "STRING",
    "with_quant_attr": "BOOLEAN",
}
assert COMMON.keys() <= COMMON_KINDS.keys()


def op_proto(op: Op) -> Any:
    """One declaration as a message: slots, attributes, and the line of its documentation."""
    made = proto.OpProto(type=op.type, comment=op.body.__doc__ or "")
    for name in (n for n in op.inputs if n not in op.levels):
        slot = made.inputs.add(name=op.slot(name), comment=name, duplicable=name in op.lists)
        slot.dispensable = name not in op.needed
    for name in (n for n in program_outputs(op) if not op.slot(n).endswith(MARK)):
        slot = made.outputs.add(name=op.slot(name), comment=name)
        slot.duplicable = name in op.output_lists
        slot.intermediate = name in op.hidden or name not in op.outputs
    for name, kind in op.kinds.items():
        made.attrs.add(name=op.attribute(name), type=getattr(proto, kind.wire), comment=name)
    for name, wire in COMMON_KINDS.items():
        made.attrs.add(name=name, type=getattr(proto, wire), comment=name, extra=True)
    return made


def get_all_op_protos() -> list[bytes]:
    """The message of every declared operator, as bytes."""
    return [op_proto(op).SerializeToString() for op in by_type().values()]


class OpProtoHolder:
    """The messages of operators by type."""

    def __init__(self) -> None:
        self.op_proto_map: dict[str, Any] = {}

    @classmethod
    def instance(cls) -> "OpProtoHolder":
        """A holder; all say the same, since declarations are all there is to say."""
        return cls()

    def get_op_proto(self, type: str) -> Any:
        """The message of one operator; ValueError when there is none."""
        try:
            return op_proto(op_of(type))
        except UnknownOpError:
            raise ArgumentError(f'Operator "{type}" has not been registered.') from None

    def has_op_proto(self, type: str) -> bool:
        """Whether an operator is declared."""
        try:
            return bool(op_of(type))
        except UnknownOpError:
            return False

    def update_op_proto(self) -> list[str]:
        """The types that became known since: none, they are looked up when asked for."""
        return []

    @staticmethod
    def generated_op_attr_names() -> set[str]:
        """The attributes every operator has."""
        return set(COMMON_KINDS)
