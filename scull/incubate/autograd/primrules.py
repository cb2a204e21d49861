"""The rules of basic operators: how others are made of them, they of others, and both derivatives.

Each function records operators into the current block of the main Program, or into that of a
recorder, and gives the variables they make. A rule is found by the type of the operator.
"""

from collections.abc import Callable
from typing import Any

from scull.errors import UnsupportedError
from scull.incubate.autograd import cotangent, original, tangent
from scull.ir.operator import Operator
from scull.ops.basic import BODIES
from scull.passes.site import Refused


def found(rules: dict[str, Callable[..., Any]], op: Operator, what: str) -> Callable[..., Any]:
    """The rule of an operator."""
    if op.type not in rules:
        raise UnsupportedError(f"`{op.type}` has no rule for {what}")
    return rules[op.type]


def _orig2prim(op: Operator, *args: Any) -> Any:
    """What stands for the results of an everyday operator, made by basic ones.

    Args:
        op (Operator): of a Program.
        args (Variable|list|None): what it reads, in the order in which its slots are sorted.

    Returns:
        Variable|tuple: what stands for the results it has, in the order in which their slots are
        sorted.

    Raises:
        UnsupportedError: it has no rule, or the rule is not for one with such operands.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd.primrules import _orig2prim
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = _orig2prim(paddle.tanh(x).op, x)
        >>> y.op.type
        'tanh_p'
        >>> paddle.disable_static()
    """
    rule = found(original.RULES, op, "basic operators")
    try:
        made = rule(op, *args)
    except Refused as reason:
        raise UnsupportedError(f"`{op.type}` is not made of basic operators: {reason}") from None
    return tuple([v for v in made if v is not None]) if isinstance(made, tuple) else made


def _prim2orig(op: Operator, *args: Any) -> Any:
    """What stands for the result of a basic operator, made by everyday ones.

    Args:
        op (Operator): of a Program.
        args (Variable|list|None): what it reads, in the order in which its slots are sorted.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> from scull.incubate.autograd.primrules import _prim2orig
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = _prim2orig(primops.tanh(x).op, x)
        >>> y.op.type
        'tanh'
        >>> paddle.disable_static()
    """
    body = found(BODIES, op, "everyday operators")
    given = dict(zip(sorted(op.op.inputs, key=op.op.slot), args, strict=True))
    return body(*[given[n] for n in op.op.inputs], **op.attrs)


def _jvp(op: Operator, *args: Any) -> Any:
    """How the result of a basic operator changes.

    Args:
        op (Operator): of a Program.
        args (Variable|list|None): the change of each operand in declared order, or None.

    Returns:
        Variable|list|None: the change of its result; None where nothing changes.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> from scull.incubate.autograd.primrules import _jvp
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x, dot = paddle.static.data("x", [2]), paddle.static.data("dot", [2])
        ...     y_dot = _jvp(primops.exp(x).op, dot)
        >>> y_dot.op.type
        'mul_p'
        >>> paddle.disable_static()
    """
    return found(tangent.RULES, op, "a forward derivative")(op, *args)


def _transpose(op: Operator, dot_checker: Callable[[Any], bool], *args: Any) -> Any:
    """What the changes of the operands of a linear operator are worth.

    Args:
        op (Operator): basic, and linear in the operands that change.
        dot_checker (callable): tells whether a Variable is one of these.
        args (Variable|list): what the change of the result is worth.

    Returns:
        Variable|tuple: an entry an operand, None for a coefficient.

    Raises:
        AssertError: the operator is not linear in these operands together.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> from scull.incubate.autograd.primrules import _transpose
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x, bar = paddle.static.data("x", [2]), paddle.static.data("bar", [2])
        ...     y = primops.mul(x, paddle.static.data("c", [2]))
        ...     x_bar, nothing = _transpose(y.op, lambda v: v is x, bar)
        >>> x_bar.op.type, nothing
        ('mul_p', None)
        >>> paddle.disable_static()
    """
    return found(cotangent.RULES, op, "a reverse derivative")(op, dot_checker, *args)
