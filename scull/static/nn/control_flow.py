"""What stops a Program, shows what runs through it, or decides what of it runs."""

from typing import Any

from scull.errors import ArgumentTypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.python import assert_true
from scull.static.nn.block import ConditionalBlock, Switch
from scull.static.nn.branch import case, cond, select_input, select_output, switch_case
from scull.static.nn.loop import While, while_loop
from scull.static.printing import Print
from scull.tensor.size import needs_tensor

__all__ = [
    "Assert",
    "ConditionalBlock",
    "Print",
    "Switch",
    "While",
    "case",
    "cond",
    "select_input",
    "select_output",
    "switch_case",
    "while_loop",
]


def Assert(cond: Any, data: Any = None, summarize: int = 20, name: str | None = None) -> Any:
    """Raise where `cond` does not hold, and show `data`.

    Args:
        cond (Tensor or Variable): one bool.
        data (list | tuple, optional): Tensors or Variables to be shown.
        summarize (int): how many elements of each; -1 for all.
        name (str, optional): not used.

    Returns:
        Operator: what was appended to the Program; None in eager mode.

    Raises:
        ArgumentTypeError: `cond` is no tensor, or `data` no list.
        DtypeError: `cond` is no bool.
        AssertError: `cond` does not hold; in a Program when it runs.

    Examples:
        >>> import scull as paddle
        >>> paddle.static.nn.control_flow.Assert(paddle.to_tensor([True]), [paddle.ones([2])])
    """
    needs_tensor(cond, "Assert", "cond")
    if not isinstance(data, list | tuple | None):
        raise ArgumentTypeError(
            f"The type of 'data' in Assert must be list or tuple, but received {type(data)}."
        )
    for x in data or ():
        needs_tensor(x, "Assert", "data")
    if in_dynamic_mode() or not isinstance(cond, Variable):
        assert_true(cond, list(data or ()) or None, summarize=summarize)
        return None
    inputs = {"Cond": cond, "Data": list(data or ())}
    return main_program().current_block().append_op("assert", inputs, {}, {"summarize": summarize})
