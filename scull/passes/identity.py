"""Operators that give what they are given, and pairs of which one undoes the other."""

from collections.abc import Callable
from typing import Any

from scull.ir.variable import Variable
from scull.ops.complex import abs
from scull.ops.create import add_n, assign, cast, scale
from scull.ops.elementwise import add, divide, multiply, subtract
from scull.ops.join import concat
from scull.ops.like import squeeze, unsqueeze
from scull.ops.logic import logical_not
from scull.ops.math import relu
from scull.ops.move import expand, reshape, transpose
from scull.ops.rounding import ceil, floor
from scull.passes.rewrite import Rewrite, require, rewriting
from scull.passes.work import Pass

Rule = Callable[..., Any]


class Identity(Rewrite):
    """A row of a table: what is found, what takes its place, under which condition."""

    def __init__(self, pattern: Rule, replace: Rule, when: Rule | None = None) -> None:
        self.pattern, self.replace = pattern, replace  # type: ignore[method-assign]
        if when is not None:
            self.when = when  # type: ignore[method-assign]


def is_whole(x: Variable) -> None:
    """Zeros have no sign."""
    require(x.dtype.is_integer, f"`{x.name}` is {x.meta}, and -0.0 + 0.0 is 0.0")


def is_truth(x: Variable) -> None:
    """Elements are true or false already."""
    require(x.dtype.name == "bool", f"`{x.name}` is {x.meta}, not of truth values")


def is_sized(x: Variable, **sizes: Any) -> None:
    """At most one size is unknown, which the others then tell."""
    unknown = sum(n == -1 for n in x.shape)
    require(unknown < 2, f"`{x.name}` is {x.meta}, of unknown sizes")


def is_known(x: Variable, **sizes: Any) -> None:
    """All sizes are known."""
    require(-1 not in x.shape, f"`{x.name}` is {x.meta}, of unknown size")


def in_order(x: Variable, perm: tuple[int, ...]) -> None:
    """Axes stay where they are."""
    require(list(perm) == sorted(perm), f"the order of axes is {list(perm)}")


def is_plain(x: Variable, first: Any, shape: tuple[int, ...]) -> None:
    """No size is taken from the operand."""
    require(0 not in shape, f"the shape {list(shape)} takes sizes of its operand")


def composed(x: Any, first: tuple[int, ...], perm: tuple[int, ...]) -> Any:
    """One order of axes for two, one after the other."""
    return transpose(x, perm=tuple(first[axis] for axis in perm))


COPIES: tuple[tuple[Rule, ...], ...] = (
    (lambda x: assign(x), lambda x: x),
    (lambda x, *, after: scale(x, bias_after_scale=after), lambda x, after: x),
)
IDENTITIES: tuple[tuple[Rule, ...], ...] = (
    (lambda x: multiply(x, 1.0), lambda x: x),
    (lambda x: divide(x, 1.0), lambda x: x),
    (lambda x: subtract(x, 0.0), lambda x: x),
    (lambda x: add(x, 0), lambda x: x, is_whole),
    (lambda x, *, a, b: cast(x, in_dtype=a, out_dtype=b), lambda x, a, b: x),
    (lambda x: concat([x]), lambda x: x),
    (lambda x, *, axis: concat([x], axis=axis), lambda x, axis: x),
    (lambda x: add_n([x]), lambda x: x),
    (lambda x: relu(relu(x)), lambda x: relu(x)),
    (lambda x: abs(abs(x)), lambda x: abs(x)),
    (lambda x: floor(floor(x)), lambda x: floor(x)),
    (lambda x: ceil(ceil(x)), lambda x: ceil(x)),
    (lambda x: logical_not(logical_not(x)), lambda x: x, is_truth),
    (lambda x: scale(scale(x, scale=-1.0), scale=-1.0), lambda x: x),
    (lambda x, *, perm: transpose(x, perm=perm), lambda x, perm: x, in_order),
    (lambda x, *, first, perm: transpose(transpose(x, perm=first), perm=perm), composed),
    (lambda x, *, shape: reshape(x, shape=shape), lambda x, shape: x, is_sized),
    (
        lambda x, *, first, shape: reshape(reshape(x, shape=first), shape=shape),
        lambda x, first, shape: reshape(x, shape=shape),
        is_plain,
    ),
    (lambda x, *, shape: expand(x, shape=shape), lambda x, shape: x, is_known),
    (lambda x, *, axes: squeeze(unsqueeze(x, axes=axes), axes=axes), lambda x, axes: x, is_sized),
    (lambda x, *, axes: unsqueeze(squeeze(x, axes=axes), axes=axes), lambda x, axes: x, is_sized),
)

PASSES: tuple[Pass, ...] = (
    rewriting(
        "identity_op_clean_pass",
        "operators that give what they are given, and pairs that undo one another",
        *(Identity(*row) for row in IDENTITIES),
    ),
    rewriting(
        "identity_scale_op_clean_pass",
        "copies and scales by one",
        *(Identity(*row) for row in COPIES),
    ),
)
