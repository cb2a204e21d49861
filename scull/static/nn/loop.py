"""Loops: what is recorded once runs as long as a condition holds."""

import itertools
from collections.abc import Callable
from typing import Any

from scull.core.dtype import bool_, float32, int64
from scull.core.meta import Kind, count
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, RunError, ShapeError
from scull.flags import flag
from scull.ir.block import Block
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program
from scull.ir.reach import reads_and_writes
from scull.ir.variable import Variable
from scull.static.nn.block import Within, one_truth_value
from scull.static.nn.branch import NUMBERS, described
from scull.tensor.creation import assign, full
from scull.utils.layers_utils import (
    assert_same_structure,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
)

ASSIGNED = {bool: bool_, int: int64, float: float32}  # what `assign` makes of a number


class While:
    """Operators that run as long as a condition holds, which they change.

    Args:
        cond (Variable): one bool.
        is_test (bool): whether no gradient will be asked for.
        name (str, optional): of no effect.

    Raises:
        ArgumentTypeError: `cond` is no Variable, or has not one element.
        DtypeError: it is no bool.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     i, n = paddle.full([1], 0, "int64"), paddle.full([1], 10, "int64")
        ...     cond = paddle.less_than(i, n)
        ...     with paddle.static.nn.control_flow.While(cond).block():
        ...         i = paddle.increment(i)
        ...         _ = paddle.assign(paddle.less_than(i, n), cond)
        ...     print(paddle.static.Executor().run(fetch_list=[i])[0].tolist())
        [10]
        >>> paddle.disable_static()
    """

    def __init__(self, cond: Variable, is_test: bool = False, name: str | None = None) -> None:
        self.cond_var, self.is_test = one_truth_value(cond, "'cond' in While"), is_test

    def block(self) -> Within:
        """What is recorded within runs as long as the condition holds."""
        return Within(self.complete)

    def complete(self, block: Block) -> None:
        """Append the operator that runs `block`."""
        around = block.parent
        assert around is not None
        reads, writes = reads_and_writes(block)
        outs = [self.cond_var, *(v for v in writes if v is not self.cond_var)]
        operands = [v for v in dict.fromkeys([*reads, *outs]) if v is not self.cond_var]
        scopes = around.create_var(type=Kind.SCOPES)
        around.append_op(
            "while",
            {"X": operands, "Condition": self.cond_var},
            {"Out": outs, "StepScopes": scopes},
            {"sub_block": block, "is_test": self.is_test},
        )


def apart(loop_vars: Any) -> Any:
    """The same, but copies of Variables that were there before: each changes by itself."""
    every = [v for v in flatten(loop_vars) if isinstance(v, Variable)]
    if len(set(every)) == len(every):
        return loop_vars
    seen = set[Variable]()

    def once(value: Any) -> Any:
        if not isinstance(value, Variable):
            return value
        if value in seen:
            return assign(value)
        seen.add(value)
        return value

    return map_structure(once, loop_vars)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """What `loop_vars` become while `cond(*loop_vars)` holds and `body(*loop_vars)` replaces them.

    In a Program both functions are recorded once.

    Args:
        cond (callable): gets `loop_vars` and returns one bool.
        body (callable): gets `loop_vars` and returns as many.
        loop_vars (list | tuple): tensors, lists of tensors, or structures of these.
        is_test (bool): whether no gradient will be asked for.
        name (str, optional): of no effect.

    Returns:
        list | tuple: the structure of `loop_vars`.

    Raises:
        ArgumentTypeError: a function is not callable, `loop_vars` no list, `cond` gives more than
            one element, or `body` a list of tensors for a tensor.
        ArgumentError: `loop_vars` is empty, or `body` returns another structure.
        DtypeError: `cond` gives no bool, or `body` another element type.
        ShapeError: `body` gives another number of axes.
        RunError: there are more rounds than SCULL_MAX_ROUNDS allows.

    Examples:
        >>> import scull as paddle
        >>> i = paddle.to_tensor([0])
        >>> (i,) = paddle.static.nn.while_loop(lambda i: i < 10, lambda i: [i + 3], [i])
        >>> i.tolist()
        [12]
    """
    for word, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise ArgumentTypeError(f"{word} in while_loop should be callable")
    if not isinstance(loop_vars, list | tuple):
        raise ArgumentTypeError(
            "The type of 'loop_vars' in while_loop must be list or tuple, but received "
            f"{type(loop_vars)}."
        )
    if not loop_vars:
        raise ArgumentError("loop_vars in while_loop should not be empty")
    loop_vars = apart(loop_vars)
    before = cond(*loop_vars)
    if in_dynamic_mode() and not isinstance(before, Variable):
        return python_loop(cond, body, loop_vars, before)
    condition = one_truth_value(before, "what cond of while_loop returns")
    with While(condition, is_test).block():
        held = loop_vars
        if any(map(is_sequence, loop_vars)):  # so that `body` changes lists of its own
            held = pack_sequence_as(loop_vars, list(flatten(loop_vars)))
        found = as_list(body(*held))
        refuse_other_structure(found, loop_vars)
        for value, variable in zip(flatten(found), flatten(loop_vars), strict=True):
            refuse_other_kind(value, variable)
        after = cond(*found)
        carry(flatten(found), flatten(loop_vars))
        assign(after, condition)
    return loop_vars


def python_loop(cond: Any, body: Any, loop_vars: Any, before: Any) -> Any:
    """The loop in eager mode."""
    holds, found, most = before, loop_vars, flag("MAX_ROUNDS") or -1
    for number in itertools.count():
        if not single(holds):
            break
        if number == most:
            raise RunError(f"the loop is to run more than MAX_ROUNDS={number} times")
        found = as_list(body(*found))
        refuse_other_structure(found, loop_vars)
        holds = cond(*found)
    return type(loop_vars)(found)


def single(holds: Any) -> bool:
    """The one truth value a Tensor holds."""
    if not isinstance(holds, Tensor) or holds.size != 1:
        raise ArgumentTypeError("what cond of while_loop returns must be a Tensor of one element")
    return bool(holds.item())


def as_list(found: Any) -> Any:
    """What `body` returns, as a list or a tuple."""
    return found if isinstance(found, list | tuple) else [found]


def refuse_other_structure(found: Any, loop_vars: Any) -> None:
    """Refuse a body that returns another structure than it gets."""
    law = "body in while_loop should return the same arity (length and structure) as loop_vars"
    try:
        if len(found) != len(loop_vars):
            raise ValueError
        assert_same_structure(list(found), list(loop_vars), check_types=False)
    except ValueError:
        raise ArgumentError(
            f"{law}: it gets {described(loop_vars)} and returns {described(found)}"
        ) from None


def refuse_other_kind(value: Any, variable: Any) -> None:
    """Refuse what a loop variable cannot be in the next round; only its sizes may change."""
    if not isinstance(variable, Variable) or value is None:
        return
    law = f"body in while_loop returns {described(value)} for {described(variable)}: "
    if isinstance(value, NUMBERS):
        if isinstance(value, float) and not (variable.dtype.is_float or variable.dtype.is_complex):
            raise DtypeError(f"{law}a loop variable keeps its element type")
        return
    if not isinstance(value, Variable):
        raise ArgumentTypeError(f"{law}it is no variable")
    if value.kind is not variable.kind:
        raise ArgumentTypeError(f"{law}a loop variable stays a tensor, or a list of tensors")
    if value.dtype is not variable.dtype:
        raise DtypeError(f"{law}a loop variable keeps its element type; cast it")
    one = {count(v.meta.shape) for v in (value, variable)} == {1}
    if value.kind is Kind.DENSE and value.ndim != variable.ndim and not one:
        raise ShapeError(f"{law}a loop variable keeps its number of axes; reshape it")


def carry(found: list[Any], loop_vars: list[Any]) -> None:
    """Hand the results of one round to the next; those that another replaces are copied before."""
    replaced = [v for v in loop_vars if isinstance(v, Variable)]
    kept = [
        assign(x) if any(x is v for v in replaced[:i]) and x is not loop_vars[i] else x
        for i, x in enumerate(found)
    ]
    map_structure(hand_over, kept, loop_vars)


def hand_over(value: Any, variable: Any) -> None:
    """Let `variable` have `value` in the next round; a list of tensors around the loop has it."""
    known = isinstance(variable, Variable) and isinstance(value, (Variable, *NUMBERS))
    if not known or value is variable:
        return
    if isinstance(value, Variable) and value.kind is Kind.ARRAY:
        around = main_program().current_block().parent
        if around.find(value.name) is not None:
            return
    if isinstance(value, NUMBERS) and ASSIGNED[type(value)] is not variable.dtype:
        value = full([1], value, variable.dtype)
    assign(value, variable)
