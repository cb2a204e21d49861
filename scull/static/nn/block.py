"""Blocks within a Program: what is written inside `with` runs when a condition holds."""

from collections.abc import Callable, Iterable
from typing import Any

from scull.core.dtype import bool_
from scull.core.meta import Kind, count
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.block import Block
from scull.ir.depth import refuse_deeper
from scull.ir.program import main_program
from scull.ir.reach import reads_and_writes
from scull.ir.variable import Variable
from scull.tensor.logic import logical_and, logical_not


def truth_value(x: Any, what: str) -> Variable:
    """`x`, which is a Variable of one truth value; else an error that says `what` it should be."""
    if not isinstance(x, Variable):
        raise ArgumentTypeError(f"{what} must be a Variable, but received {type(x)}.")
    if x.dtype is not bool_:
        raise DtypeError(f"{what} must be of bool, but `{x.name}` is {x.dtype.name}.")
    return x


def one_truth_value(x: Any, what: str) -> Variable:
    """The same, of one element as far as that is known."""
    found = truth_value(x, what)
    if count(found.meta.shape) not in (1, -1):
        raise ArgumentTypeError(
            f"{what} must have one element, but `{found.name}` is {found.meta}."
        )
    return found


class Within:
    """A new block within the current one, into which operators go; then `complete` gets it."""

    def __init__(self, complete: Callable[[Block], None]) -> None:
        self.complete = complete

    def __enter__(self) -> Block:
        program = main_program()
        self.before = program.current_block()
        self.block: Block = program.block_inside(self.before)
        program.current_block_idx = self.block.idx
        return self.block

    def __exit__(self, kind: Any, *_: object) -> None:
        self.block.program.current_block_idx = self.before.idx
        if kind is RecursionError:
            refuse_deeper(self.block)
        if kind is None:
            self.complete(self.block)


class ConditionalBlock:
    """Operators that run when a condition holds.

    Args:
        inputs (list[Variable]): the condition.
        is_scalar_condition (bool): whether it is one truth value; else it holds where every one of
            `inputs` has elements.
        name (str, optional): of no effect.

    Raises:
        ArgumentTypeError: an input is no Variable.

    Examples:
        >>> import scull as paddle
        >>> from scull.static.nn.control_flow import ConditionalBlock
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x, y = paddle.ones([1]), paddle.zeros([1])
        ...     with ConditionalBlock([x < 2.0], is_scalar_condition=True).block():
        ...         _ = paddle.assign(x + 1.0, y)
        ...     print(paddle.static.Executor().run(fetch_list=[y])[0].tolist())
        [2.0]
        >>> paddle.disable_static()
    """

    def __init__(
        self, inputs: Iterable[Any], is_scalar_condition: bool = False, name: str | None = None
    ) -> None:
        self.inputs, self.is_scalar_condition = list(inputs), is_scalar_condition
        for x in self.inputs:
            if not isinstance(x, Variable):
                raise ArgumentTypeError(
                    "The type of 'input' in ConditionalBlock must be Variable, but received "
                    f"{type(x)}."
                )

    def block(self) -> Within:
        """What is recorded within runs when the condition holds."""
        return Within(self.complete)

    def complete(self, block: Block) -> None:
        """Append the operator that runs `block`."""
        around = block.parent
        assert around is not None
        reads, writes = reads_and_writes(block)
        scope = around.create_var(type=Kind.SCOPES)
        around.append_op(
            "conditional_block",
            {"Cond": self.inputs, "Input": reads},
            {"Out": writes, "Scope": scope},
            {"sub_block": block, "is_scalar_condition": self.is_scalar_condition},
        )


class Switch:
    """Several conditions, of which the first that holds decides what runs.

    Args:
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> from scull.static.nn.control_flow import Switch
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x, y = paddle.ones([1]), paddle.zeros([1])
        ...     with Switch() as switch:
        ...         with switch.case(x > 2.0):
        ...             _ = paddle.assign(x, y)
        ...         with switch.default():
        ...             _ = paddle.assign(x + 4.0, y)
        ...     print(paddle.static.Executor().run(fetch_list=[y])[0].tolist())
        [5.0]
        >>> paddle.disable_static()
    """

    def __init__(self, name: str | None = None) -> None:
        self.inside_scope = False
        self.pre_not_conditions: list[Variable] = []  # of each, whether none until then held

    def case(self, condition: Variable) -> Within:
        """What is recorded within runs when `condition` holds and none before does."""
        if not self.inside_scope:
            raise ArgumentError("case should be called inside with")
        truth_value(condition, "'condition' in the member function case of Switch")
        if not self.pre_not_conditions:
            holds = condition
            self.pre_not_conditions.append(logical_not(condition))
        else:
            before = self.pre_not_conditions[-1]
            self.pre_not_conditions.append(logical_and(before, logical_not(condition)))
            holds = logical_and(before, condition)
        return ConditionalBlock([holds], is_scalar_condition=True).block()

    def default(self) -> Within:
        """What is recorded within runs when no condition holds."""
        if not self.pre_not_conditions:
            raise ArgumentError("there should be at least one condition")
        return ConditionalBlock([self.pre_not_conditions[-1]], is_scalar_condition=True).block()

    def __enter__(self) -> "Switch":
        self.inside_scope = True
        return self

    def __exit__(self, *_: object) -> None:
        self.inside_scope = False
