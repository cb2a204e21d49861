"""Blocks of basic operators: made, differentiated in both directions, and undone."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from scull.errors import ArgumentTypeError, AssertError
from scull.incubate.autograd import original
from scull.incubate.autograd.parting import Parts, beside, rewrite
from scull.incubate.autograd.primops import add, fill_const
from scull.incubate.autograd.primrules import _jvp, _prim2orig, _transpose
from scull.incubate.autograd.tangent import or_zeros
from scull.incubate.autograd.utils import get_input_var_list, get_output_var_list
from scull.ir.block import Block
from scull.ir.operator import Operator
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.basic import BODIES


def block_of(block: Any, function: str) -> Block:
    """A block that was given; that where the main Program grows when None."""
    block = main_program().current_block() if block is None else block
    if not isinstance(block, Block):
        raise ArgumentTypeError(f"{function} takes a Block, not a {type(block).__name__}")
    return block


def by_rule(o: Operator, rule: Any) -> Iterator[tuple[Variable, Any]]:
    """The variables that `o` writes, each with what a rule makes."""
    found = rule(o, *get_input_var_list(o))
    slots = get_output_var_list(o)
    return beside(slots, found if isinstance(found, tuple) else (found,))


def orig2prim(block: Any = None) -> None:
    """Put basic operators in place of everyday ones; values do not change.

    An operator without a rule stays, and so does one whose sizes are not known or which tensors
    tell its attributes. Basic operators run as all others do, and have gradients.

    Args:
        block (Block, optional): the block; that of the main Program when None.

    Raises:
        ArgumentTypeError: what was given is no Block.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd.primx import orig2prim
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.nn.functional.sigmoid(paddle.static.data("x", [2]))
        ...     orig2prim()
        >>> [o.type for o in main.global_block().ops if o.type != "fill_constant_p"]
        ['sub_p', 'exp_p', 'add_p', 'div_p']
        >>> paddle.disable_static()
    """

    def parts(o: Operator) -> Parts | None:
        rule = original.RULES.get(o.type)
        return None if rule is None or o.told else partial(by_rule, o, rule)

    rewrite(block_of(block, "orig2prim"), parts)


def prim2orig(block: Any = None, blacklist: Any = None) -> None:
    """Put everyday operators in place of basic ones, which PaddlePaddle cannot run.

    Args:
        block (Block, optional): the block; that of the main Program when None.
        blacklist (list, optional): the types of basic operators that stay.

    Raises:
        ArgumentTypeError: what was given is no Block.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = primops.tanh(paddle.static.data("x", [2]))
        ...     paddle.incubate.autograd.prim2orig()
        >>> [o.type for o in main.global_block().ops]
        ['tanh']
        >>> paddle.disable_static()
    """
    stay = set(blacklist or ())

    def parts(o: Operator) -> Parts | None:
        known = o.type in BODIES and o.type not in stay
        return partial(by_rule, o, _prim2orig) if known else None

    rewrite(block_of(block, "prim2orig"), parts)


def between(
    block: Block, xs: Iterable[Variable], ys: Iterable[Variable]
) -> tuple[list[Operator], set[Variable]]:
    """The operators on the ways from `xs` to `ys`, in order, and what these depend on."""
    reached = set(xs)
    forward = []
    for o in block.ops:
        if reached.intersection(o.operands()):
            forward.append(o)
            reached.update(o.results())
    used = reached.intersection(ys)
    path = []
    for o in reversed(forward):
        if used.intersection(o.results()):
            path.append(o)
            used.update(o.operands())
    return path[::-1], used


def matched(given: list[Any], expected: list[Any], what: str) -> None:
    """Refuse changes that are not of the shapes and element types of what changes."""
    if len(given) != len(expected):
        raise AssertError(f"{len(given)} {what} were given for {len(expected)} variables")
    for v, x in zip(given, expected, strict=True):
        if v.dtype is not x.dtype or v.shape != x.shape:
            raise AssertError(f"{what} has {v.meta}, and `{x.name}` is {x.meta}")


def mapped(table: dict[Variable, Any], slot: Any) -> Any:
    """What a table has for a variable, or for each in a list; None where it has nothing."""
    if isinstance(slot, list):
        return [table.get(v) for v in slot]
    return None if slot is None else table.get(slot)


class Transform:
    """Derivatives of a block of basic operators, appended to it.

    Args:
        block (Block): that where the main Program grows.

    Raises:
        AssertError: it is another block.

    Examples:
        >>> import numpy, scull as paddle
        >>> from scull.incubate.autograd import primops
        >>> from scull.incubate.autograd.primx import Transform
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = primops.mul(x, x)
        ...     ad = Transform(main.global_block())
        ...     changes, (y_dot,) = ad.linearize([x], [y])
        ...     worth, (x_bar,) = ad.transpose([y_dot], changes)
        >>> feed = {"x": numpy.array([1.0, 3.0], "float32")}
        >>> paddle.static.Executor().run(main, feed=feed, fetch_list=[x_bar])[0].tolist()
        [2.0, 6.0]
        >>> paddle.disable_static()
    """

    def __init__(self, block: Block) -> None:
        if block is not main_program().current_block():
            raise AssertError("Transform works on the block where the main Program grows")
        self.block = block
        self.dots: dict[Variable, Variable] = {}  # of variables: how they change
        self.bars: dict[Variable, Variable] = {}  # of changes: what they are worth

    def linearize(self, xs: Any, ys: Any, xs_dot: Any = None) -> tuple[list[Any], list[Any]]:
        """Append how `ys` change when `xs` do.

        Args:
            xs (list[Variable]): what changes.
            ys (list[Variable]): what depends on it, by basic operators.
            xs_dot (list[Variable], optional): how it changes; by ones when None.

        Returns:
            tuple: `xs_dot`, and the changes of `ys`, None for one that does not depend on `xs`.

        Raises:
            AssertError: the changes are not like what changes.
            UnsupportedError: an operator between them has no rule.
        """
        xs, ys = list(xs), list(ys)
        if xs_dot is None:
            xs_dot = [fill_const(1.0, x.shape, x.dtype) for x in xs]
        matched(list(xs_dot), xs, "`xs_dot`")
        path, used = between(self.block, xs, ys)
        self.dots.update((x, dot) for x, dot in zip(xs, xs_dot, strict=True) if x in used)
        for o in path:
            found = _jvp(o, *[mapped(self.dots, slot) for slot in o.inputs])
            pairs = beside(o.outputs[:1], [found])
            self.dots.update((v, dot) for v, dot in pairs if dot is not None)
        return list(xs_dot), [self.dots.get(y) for y in ys]

    def transpose(
        self, ys_dot: Any, xs_dot: Any, ys_bar: Any = None, retain_fwd: bool = False
    ) -> tuple[list[Any], list[Any]]:
        """Append what changes of `xs` are worth, from what those of `ys` are.

        Args:
            ys_dot (list[Variable]): what `linearize` gave.
            xs_dot (list[Variable]): likewise.
            ys_bar (list[Variable], optional): what `ys_dot` is worth; ones when None.
            retain_fwd (bool): whether the operators from `xs_dot` to `ys_dot` stay.

        Returns:
            tuple: `ys_bar`, and what `xs_dot` is worth, None for what nothing depends on.

        Raises:
            AssertError: a change is None, or `ys_bar` is not like `ys_dot`.
        """
        ys_dot, xs_dot = list(ys_dot), list(xs_dot)
        if any(v is None for v in (*ys_dot, *xs_dot)):
            raise AssertError("`ys_dot` and `xs_dot` are the changes of variables that change")
        if ys_bar is None:
            ys_bar = [fill_const(1.0, y.shape, y.dtype) for y in ys_dot]
        matched(list(ys_bar), ys_dot, "`ys_bar`")
        path, used = between(self.block, xs_dot, ys_dot)
        dots = {*xs_dot, *(v for o in path for v in o.results())}
        for dot, bar in zip(ys_dot, ys_bar, strict=True):
            self.gather(dot, bar)
        for o in reversed(path):
            found = _transpose(o, dots.__contains__, self.worth(o.outputs[0]))
            for dot, bar in beside(o.inputs, found if isinstance(found, tuple) else [found]):
                if bar is not None:
                    self.gather(dot, bar)
        if not retain_fwd:
            self.erase(path)
        return list(ys_bar), [self.bars.get(x) if x in used else None for x in xs_dot]

    def gather(self, dot: Variable, bar: Variable) -> None:
        """Add to what a change is worth."""
        before = self.bars.get(dot)
        self.bars[dot] = bar if before is None else add(before, bar)

    def worth(self, slot: Any) -> Any:
        """What the changes in a slot are worth: zeros where nothing depends on one."""
        if isinstance(slot, list):
            return [or_zeros(self.bars.get(v), v) for v in slot]
        return self.bars[slot]

    def erase(self, operators: list[Operator]) -> None:
        """Take operators and what they write out of the block."""
        gone = set(operators)
        self.block.ops = [o for o in self.block.ops if o not in gone]
        for v in (v for o in operators for v in o.results()):
            self.block.vars.pop(v.name, None)
        self.block.program.changed()
