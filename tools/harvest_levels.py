"""Write levels.json: which results take the levels of detail of which operands.

Run with the Python that has the reference installed. Each call of the other tables is made with
one input of one level at a time; a row says of an operator type which input slot gives its levels
to which output slot.
"""

import paddle
from harvest_calls_core import CALLS as CORE
from harvest_calls_everyday import CALLS as EVERYDAY
from harvest_calls_functions import CALLS as FUNCTIONS
from harvest_calls_layers import CALLS as LAYERS
from harvest_calls_legacy import CALLS as LEGACY
from harvest_calls_volume import CALLS as VOLUME
from harvest_describe import fresh_numbering
from harvest_records import Case
from harvest_types import REFERENCE, repeatable, write_lines
from paddle import static

declared = static.data


def levelled(chosen: str):
    """Return a `static.data` that gives one input a level."""

    def data(name, shape, dtype="float32", lod_level=0):
        return declared(name, shape, dtype, int(name == chosen))

    return data


def moves(text: str) -> set:
    """Return (type, input slot, output slot) of every level that a call passes on."""
    names = [each.partition("=")[0].removesuffix("!") for each in Case(text).inputs.split()]
    found = set()
    for name in names:
        case = Case(text)
        static.data = levelled(name)
        with fresh_numbering(), static.program_guard(case.main, case.startup):
            case.build()
        found |= passed_on(case.main.global_block())
    return found


def passed_on(block) -> set:
    """Return what the operators of a block pass on, where one operand alone has a level."""
    found = set()
    for operator in block.ops:
        given = slots_with_levels(block, operator.input_names, operator.input)
        if len(given) == 1:
            taken = slots_with_levels(block, operator.output_names, operator.output)
            found |= {(operator.type, given[0], slot) for slot in taken}
            found.add((operator.type, given[0], ""))
    return found


def slots_with_levels(block, names, entries) -> list:
    """Return the slots in which a variable with levels stands."""
    dense = paddle.base.core.VarDesc.VarType.LOD_TENSOR
    found = []
    for slot in names:
        variables = [block._find_var_recursive(name) for name in entries(slot)]
        if any(v is not None and v.type == dense and v.lod_level for v in variables):
            found.append(slot)
    return found


def main() -> None:
    repeatable()
    paddle.enable_static()
    found = set()
    for calls in (CORE, EVERYDAY, LEGACY, VOLUME, FUNCTIONS, LAYERS):
        for texts in calls.values():
            for text in texts:
                found |= moves(text)
    rows = {}
    for op_type, given, taken in sorted(found):
        row = rows.setdefault(op_type, {}).setdefault(given, [])
        if taken:
            row.append(taken)
    write_lines(REFERENCE / "levels.json", rows)


if __name__ == "__main__":
    main()
