"""The in-place pass: a result takes the memory of an operand that nobody needs any more.

Of an elementwise operator the result may lie where an operand was, of a sum where a summand was.
The result gets the operand's variable, too, so that all later steps see what happens. The values
are the same, bit for bit.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any

from scull.core.meta import Kind
from scull.executor.alias import shape_readers, written
from scull.executor.closed import BlockOp
from scull.executor.constant import is_steady
from scull.ir.operator import Operator, each
from scull.ir.variable import Variable

Writers = dict[Variable, list[int]]


def reusing(
    operators: tuple[Operator, ...], outside: Iterable[Variable], *, sums_only: bool = False
) -> tuple[Operator, ...]:
    """`operators`, of which some write over an operand; those around need `outside` as it is."""
    makers, readers = Writers(), Writers()
    fixed, steady = set(outside), set[Variable]()
    for i, o in enumerate(operators):
        if is_steady(o, steady):  # perhaps there before a run
            steady.update(o.results())
        shapes = shape_readers(o)
        for v in o.operands():
            if v not in shapes:
                readers.setdefault(v, []).append(i)
        for v in o.results():
            makers.setdefault(v, []).append(i)
        fixed.update(tangled(o))
    fixed |= steady
    found: list[Operator] = []
    names: dict[Variable, Variable] = {}  # what stands for a result from now on
    for i, o in enumerate(operators):
        takes = bool(o.op.lists) or not sums_only
        over = overwritten(o, i, makers, readers, fixed) if takes else None
        made = renamed(o, names)
        if takes and is_move(o, i, makers, readers, fixed):
            made = moving(made)
        if over is not None:
            (result,) = o.results()
            names[result] = names.get(over, over)
            made = in_place(made, over=names[result])
        found.append(made)
    return tuple(found)


def tangled(o: Operator) -> Iterable[Variable]:
    """What may live on in other values that `o` makes, or is written over by itself."""
    op = o.op
    if isinstance(op, BlockOp) or op.views or "python" in op.effects:
        return (*o.operands(), *o.results())
    return written(o)


def overwritten(
    o: Operator, i: int, makers: Writers, readers: Writers, fixed: set[Variable]
) -> Variable | None:
    """The operand whose memory the result of the operator at `i` may take, if there is one."""
    if o.op.over is None or o.told or o.attrs.get("axis", -1) != -1:
        return None
    if any(v.kind is not Kind.DENSE for v in o.operands()):
        return None  # row-sparse ones are for another kernel
    y = o.outputs[0]
    if not is_temporary(y, makers, fixed):
        return None
    values = each(o.inputs[0])[:2] if o.op.lists else o.operands()
    for x in values:
        last = readers.get(x, [i])[-1] == i
        if last and is_temporary(x, makers, fixed) and makers[x][0] < i and alike(o, x, y):
            return x
    return None


def is_move(o: Operator, i: int, makers: Writers, readers: Writers, fixed: set[Variable]) -> bool:
    """Whether the operator at `i` copies a value that nobody needs any more."""
    if o.op.name != "assign" or o.outputs[0].kind is not Kind.DENSE:
        return False
    x = o.inputs[0]
    return is_temporary(x, makers, fixed) and makers[x][0] < i and readers[x][-1] == i


def moving(o: Operator) -> Operator:
    """`o` handing on what it would copy."""
    made = copied(o)
    made.op = copy(o.op)
    made.op.cpu, made.op.rows_kernel, made.op.over = handed, None, None
    made.op.views = {"out": "x"}
    return made


def handed(x: Any) -> Any:
    """The operand itself."""
    return x


def is_temporary(v: Any, makers: Writers, fixed: set[Variable]) -> bool:
    """Whether `v` is made once, as an array, and is nobody else's."""
    if not isinstance(v, Variable) or v in fixed or v.persistable or v.kind is not Kind.DENSE:
        return False
    return len(makers.get(v, ())) == 1 and bool(v.shape)


def alike(o: Operator, x: Variable, y: Variable) -> bool:
    """Whether `x` has the shape and element type of the result `y` in every run."""
    if x.dtype is not y.dtype or not x.dtype.native or len(x.shape) != len(y.shape):
        return False
    return bool(o.op.lists) or all(v is x or stretches(v.shape, x.shape) for v in o.operands())


def stretches(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of this shape always broadcasts to `whole`, however large that is."""
    if len(shape) > len(whole):
        return False
    pairs = zip(reversed(shape), reversed(whole), strict=False)
    return all(n == 1 or (n == m and n != -1) for n, m in pairs)


def renamed(o: Operator, names: dict[Variable, Variable]) -> Operator:
    """`o` with the variables that stand for others now."""
    if not any(v in names for v in (*o.operands(), *o.results())):
        return o
    made = copied(o)
    made.inputs = tuple(replaced(slot, names) for slot in o.inputs)
    made.outputs = tuple(replaced(slot, names) for slot in o.outputs)
    made.told = {n: replaced(v, names) for n, v in o.told.items()}
    return made


def replaced(slot: Any, names: dict[Variable, Variable]) -> Any:
    """A slot with the variables that stand for others now."""
    if isinstance(slot, list | tuple):
        return type(slot)(replaced(v, names) for v in slot)
    return names.get(slot, slot) if isinstance(slot, Variable) else slot


def in_place(o: Operator, over: Variable) -> Operator:
    """`o` writing its result over its operand `over`."""
    made = copied(o)
    made.over, made.outputs = over, (over, *o.outputs[1:])
    return made


def copied(o: Operator) -> Operator:
    """A copy for the plan, which knows the operator of the Program."""
    made = copy(o)
    made.source = o.source or o
    return made
