"""The functions that converted code calls, under the names it has for them."""

from builtins import slice

from scull.jit.convert.run.branch import if_else, if_expression
from scull.jit.convert.run.builtin import kind
from scull.jit.convert.run.call import attribute, call, change_attribute, set_attribute
from scull.jit.convert.run.comprehension import comprehension
from scull.jit.convert.run.item import (
    change_item,
    extended,
    item,
    joined,
    rewrite_item,
    set_item,
    spread,
    write_item,
)
from scull.jit.convert.run.journal import rebinding, writing
from scull.jit.convert.run.logic import (
    and_,
    assert_,
    bind,
    compare,
    contains,
    known,
    lacks,
    not_,
    or_,
)
from scull.jit.convert.run.loop import while_loop
from scull.jit.convert.run.raising import Trying, Unwinding, raising
from scull.jit.convert.run.size import shape, size, size_of
from scull.jit.convert.run.unpacking import unpacked
from scull.jit.convert.run.walk import for_loop

__all__ = [
    "Trying",
    "Unwinding",
    "and_",
    "assert_",
    "attribute",
    "bind",
    "call",
    "change_attribute",
    "change_item",
    "compare",
    "comprehension",
    "contains",
    "extended",
    "for_loop",
    "if_else",
    "if_expression",
    "item",
    "joined",
    "kind",
    "known",
    "lacks",
    "not_",
    "or_",
    "raising",
    "rebinding",
    "rewrite_item",
    "set_attribute",
    "set_item",
    "shape",
    "size",
    "size_of",
    "slice",
    "spread",
    "unpacked",
    "while_loop",
    "write_item",
    "writing",
]
