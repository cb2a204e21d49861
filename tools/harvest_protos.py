"""Write op_protos.json: the declaration of each operator type as the reference states it.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean.
"""

from harvest_types import (
    CORE,
    EVERYDAY,
    FURTHER,
    OTHER_NAMES,
    REFERENCE,
    SURROUNDING,
    repeatable,
    write_lines,
)
from paddle.base import core
from paddle.base.proto import framework_pb2

SLOT_FLAGS = ("duplicable", "dispensable", "intermediate", "extra")
ATTRIBUTE_FLAGS = ("generated", "extra", "support_tensor")


def reference_protos() -> dict:
    """Return the OpProto of every operator type that has one."""
    protos = (framework_pb2.OpProto.FromString(bytes(p)) for p in core.get_all_op_protos())
    return {proto.type: proto for proto in protos}


def slot(variable) -> list:
    """Return the slot's name followed by the flags that it carries."""
    return [variable.name, *(flag for flag in SLOT_FLAGS if getattr(variable, flag))]


def attribute(declared, defaults: dict) -> dict:
    """Return an attribute's name and type, its default and flags where it has them."""
    fact = {"name": declared.name, "type": framework_pb2.AttrType.Name(declared.type)}
    if declared.name in defaults:
        fact["default"] = defaults[declared.name]
    flags = [flag for flag in ATTRIBUTE_FLAGS if getattr(declared, flag)]
    if flags:
        fact["flags"] = flags
    return fact


def gradient_types(op_type: str, known: set) -> list:
    """Return the registered types of the derivatives of `op_type`, first order first."""
    orders = (
        (f"{op_type}_grad",),
        (f"{op_type}_grad_grad", f"{op_type}_double_grad"),
        (f"{op_type}_grad_grad_grad", f"{op_type}_triple_grad"),
    )
    return [name for names in orders for name in names if name in known]


def gradient_fact(op_type: str) -> str:
    """Say whether the reference can differentiate `op_type` in a Program."""
    if core.has_non_empty_grad_op_maker(op_type):
        return "has a gradient"
    return "explicitly none" if core.has_empty_grad_op_maker(op_type) else "no maker"


def declaration(proto, known: set, common: list) -> dict:
    """Return all facts about one operator type."""
    defaults = core.get_op_attrs_default_value(proto.type.encode())
    attributes = [attribute(declared, defaults) for declared in proto.attrs]
    has_common = all(each in attributes for each in common)
    if has_common:
        attributes = [each for each in attributes if each not in common]
    fact = {
        "inputs": [slot(variable) for variable in proto.inputs],
        "outputs": [slot(variable) for variable in proto.outputs],
        "attributes": attributes,
        "common_attributes": has_common,
        "gradient": gradient_fact(proto.type),
        "gradient_types": gradient_types(proto.type, known),
    }
    undeclared = core.get_op_extra_attrs(proto.type)
    if undeclared:
        fact["undeclared_attributes"] = undeclared
    return fact


def derivative(op_type: str) -> dict:
    """Return what the reference states of a gradient operator, which has no OpProto."""
    fact = {"proto": None, "gradient": gradient_fact(op_type)}
    undeclared = core.get_op_extra_attrs(op_type)
    if undeclared:
        fact["undeclared_attributes"] = undeclared
    return fact


def main() -> None:
    repeatable()
    protos = reference_protos()
    known = set(core.get_all_op_names())
    defaults = core.get_op_attrs_default_value(b"relu")
    common = [attribute(declared, defaults) for declared in protos["relu"].attrs]
    rows = {"": {"common_attributes": common, "other_names": OTHER_NAMES}}
    for op_type in dict.fromkeys(CORE + EVERYDAY + FURTHER + SURROUNDING):
        rows[op_type] = declaration(protos[op_type], known, common)
        rows |= {name: derivative(name) for name in rows[op_type]["gradient_types"]}
    write_lines(REFERENCE / "op_protos.json", rows)


if __name__ == "__main__":
    main()
