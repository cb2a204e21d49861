"""What two branches make of the state, joined leaf by leaf."""

from typing import Any, NamedTuple

from scull.core import session
from scull.core.dtype import DType, int32
from scull.core.meta import promote
from scull.core.op import meta_of
from scull.core.tensor import Tensor
from scull.ir.block import Block
from scull.ir.variable import Variable
from scull.jit.convert.run.attempt import Again, array_of
from scull.jit.convert.run.refusal import differing, lenient_of_none
from scull.jit.convert.run.state import UNDEFINED
from scull.jit.convert.run.tree import Tree, emptied, leaves, mapped, value_of
from scull.jit.convert.run.value import (
    fresh,
    is_array,
    is_number,
    is_outside,
    is_value,
    known_sizes,
    meta_of_number,
    stands_for_number,
    variable,
)
from scull.static.nn.branch import select_input
from scull.tensor import cast
from scull.tensor.creation import assign, full

PLAIN = (str, bytes, int, float, complex, bool, type(None))


class Chosen:
    """Two values of which the condition chooses one when the Program runs."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def select(self, condition: Variable) -> Variable:
        """The one that is chosen, as a variable."""
        found = [variable_like(v, self.values[1 - i]) for i, v in enumerate(self.values)]
        dtype, numbers = common(*found), all(v.number for v in found)
        if dtype is not None:
            found = [v if v.dtype is dtype else cast(v, dtype) for v in found]
        if is_array(found[0]):  # a list in which nothing was written has no shape yet
            short, long = sorted(found, key=lambda v: v.ndim)
            short.meta = short.meta if short.ndim == long.ndim else long.meta
        made = select_input(found[::-1], cast(condition, int32))
        made.stop_gradient = all(v.stop_gradient for v in found)
        made.number = numbers
        return made


class Said(NamedTuple):
    """What decides of which element type a value becomes."""

    dtype: DType
    number: bool


def said(value: Any) -> Said | None:
    """The element type of a value, and whether it stands for a number; None of a list."""
    if is_array(value):
        return None
    meta = meta_of_number(value) if is_number(value) else meta_of(value)
    return Said(meta.dtype, stands_for_number(value))


def common(a: Any, b: Any) -> DType | None:
    """The element type of a value that is one of two of differing types, if it is.

    What stands for a number has no say.
    """
    if a is None or b is None or a.dtype is b.dtype:
        return None
    if a.number != b.number:
        number, tensor = (a, b) if a.number else (b, a)
        fraction = number.dtype.is_float and not tensor.dtype.is_float
        return session.default_dtype() if fraction else tensor.dtype
    return promote(a.dtype, b.dtype)


def variable_like(value: Any, other: Any) -> Variable:
    """`value` as a variable that may stand for `other`; zeros where there is none."""
    if value is not UNDEFINED:
        return variable(value)
    meta = other.meta if isinstance(other, Variable | Tensor) else meta_of_number(other)
    made = full(known_sizes(meta), 0, meta.dtype)
    made.number = stands_for_number(other)
    return made  # type: ignore[no-any-return]


class Merging:
    """Joins the states that two blocks leave; `before` was theirs."""

    def __init__(self, blocks: list[Block], names: list[str], before: list[Any]) -> None:
        self.blocks, self.names, self.before = blocks, names, before
        self.around = blocks[0].parent
        self.handed: dict[tuple[int, int], Variable] = {}

    def joined(self, first: list[Any], second: list[Any]) -> list[Any]:
        """The trees of the state behind the branches, with what is to be chosen."""
        pairs = enumerate(zip(first, second, strict=True))
        return [self.one(place, (), a, b) for place, (a, b) in pairs]

    def one(self, place: int, path: tuple[Any, ...], a: Any, b: Any) -> Any:
        """The same of one value."""
        if isinstance(a, Tree) and isinstance(b, Tree) and a.is_dict and b.is_dict:
            a, b = a.beside(b), b.beside(a)
        if isinstance(a, Tree) and a.alike(b):
            children = [self.one(place, (*path, k), a.child(k), b.child(k)) for k in a.keys]
            origin = a.origin if a.origin is b.origin else emptied(a.origin)
            return Tree(origin, a.keys, children)
        if a is b or (isinstance(a, PLAIN) and type(a) is type(b) and (a == b or a != a)):
            return a
        if a is UNDEFINED or b is UNDEFINED:
            return self.alone(path, a, b)
        if (a is None and holds_value(b)) or (b is None and holds_value(a)):
            lenient_of_none(self.names[place], path, a, b)
            return self.padded(path, a, b)
        if isinstance(a, Tree) or isinstance(b, Tree):
            if is_list(a) and is_list(b):
                before = at_path(self.before[place], path)
                if is_list(before) and not is_array(before):
                    raise Again(place, path)
                pair = [self.array(side, v) for side, v in enumerate((a, b))]
                return Chosen([self.outside(side, v) for side, v in enumerate(pair)])
        elif is_value(a) and is_value(b) and is_array(a) == is_array(b):
            dtype = common(said(a), said(b))
            return Chosen([self.outside(0, a, dtype), self.outside(1, b, dtype)])
        raise differing(self.names[place], path, a, b)

    def alone(self, path: tuple[Any, ...], a: Any, b: Any) -> Any:
        """The value of the only branch that has one."""
        side = 0 if b is UNDEFINED else 1

        def leaf(value: Any, _: Any) -> Any:
            if not isinstance(value, Variable) or is_outside(value, self.around):
                return value
            pair = [self.outside(side, value), UNDEFINED]
            return Chosen(pair if side == 0 else pair[::-1])

        return mapped(leaf, a if side == 0 else b, path)

    def padded(self, path: tuple[Any, ...], a: Any, b: Any) -> Any:
        """The value of the branch that leaves no None; zeros where the other is taken."""
        side = 0 if b is None else 1

        def leaf(value: Any, _: Any) -> Any:
            if not is_value(value) or is_array(value):
                return value
            pair = [self.outside(side, value), UNDEFINED]
            return Chosen(pair if side == 0 else pair[::-1])

        return mapped(leaf, a if side == 0 else b, path)

    def array(self, side: int, value: Any) -> Variable:
        """A list that one branch leaves as a variable."""
        block = self.blocks[side]
        with block.program.inside(block):
            return value if is_array(value) else array_of(value_of(value))

    def outside(self, side: int, value: Any, dtype: DType | None = None) -> Any:
        """A variable around the block that has this value, cast there; what is none stays.

        What gradients flow to comes out of the block even if it was made before: where the block
        does not run, its gradient is zeros.
        """
        if not isinstance(value, Variable):
            return value
        if value.stop_gradient and is_outside(value, self.around):
            return value
        block = self.blocks[side]
        known = self.handed.get((side, id(value)))
        if known is None or dtype not in (None, known.dtype):
            with block.program.inside(block):
                given = value if dtype in (None, value.dtype) else cast(value, dtype)
            made = self.handed[side, id(value)] = fresh(given.meta)
            with block.program.inside(block):
                assign(given, made)
            made.stop_gradient, made.number = value.stop_gradient, value.number
            known = made
        return known


def holds_value(value: Any) -> bool:
    """Whether it is a tensor or a number, or holds some."""
    return any(is_value(leaf) and not is_array(leaf) for leaf in leaves(value))


def at_path(tree: Any, path: tuple[Any, ...]) -> Any:
    """What stands in a tree at a path; nothing where the tree ends before."""
    for key in path:
        if not isinstance(tree, Tree) or key not in tree.keys:
            return UNDEFINED
        tree = tree.child(key)
    return tree


def is_list(value: Any) -> bool:
    """Whether it is a list, or holds one in a Program."""
    return is_array(value) or (isinstance(value, Tree) and isinstance(value.origin, list))
