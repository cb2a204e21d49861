"""Programs as text, in Paddle's form."""

from typing import Any


def operator_text(operator: Any, skip_callstack: bool = True) -> str:
    """One operator: outputs, type, inputs, attributes in rising order of their names."""
    outs, ins, attrs = operator.output_slots(), operator.input_slots(), operator.spelt()
    rest, told = [], {operator.op.attribute(n) for n in operator.told}
    for name in sorted(attrs.keys() - operator.op.unprinted - operator.aside):
        value = attrs[name]
        if name == "op_callstack":
            if not skip_callstack:
                rest.append(f"{name} = {value}")
        elif hasattr(value, "idx"):
            rest.append(f"{name} = block[{value.idx}]")
        elif isinstance(value, list) and value and hasattr(value[0], "idx"):
            rest.append(f"{name} = blocks[{[block.idx for block in value]}]")
        elif name in told:
            several = isinstance(value, list | tuple)
            names = ",".join(f"'{v.name}'" for v in (value if several else (value,)))
            rest.append(f"{name} = Var{'s' * several}[{names}]")
        else:
            rest.append(f"{name} = {value}")
    out_text = ", ".join(f"{s}={outs[s]}" for s in operator.output_names)
    in_text = ", ".join(f"{s}={ins[s]}" for s in operator.input_names)
    results = f"{{{out_text}}} = " if out_text else ""
    return f"{results}{operator.type}(inputs={{{in_text}}}, {', '.join(rest)})"


def block_text(block: Any, skip_callstack: bool = True) -> str:
    """One block: a head line, its variables, its operators."""
    head = (
        f"{{ // block_idx:{block.idx}  parent_idx:{block.parent_idx}  "
        f"forward_idx:{block.forward_block_idx}  backward_idx:{block.backward_block_idx}\n"
    )
    lines = [f"    {v}\n" for v in block.vars.values()]
    lines.append("\n")
    lines.extend(f"    {operator_text(o, skip_callstack)}\n" for o in block.ops)
    return head + "".join(lines) + "}"


def program_text(program: Any, skip_callstack: bool = True) -> str:
    """All blocks."""
    return "".join(f"{block_text(b, skip_callstack)}\n" for b in program.blocks)
