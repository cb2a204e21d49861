"""`if`: one branch runs, or both are recorded."""

from collections.abc import Callable
from typing import Any

from scull.ir.variable import Variable
from scull.jit.convert.run.attempt import TRIALS, Again, Mark, widened
from scull.jit.convert.run.journal import unknown, watched
from scull.jit.convert.run.merge import Chosen, Merging, holds_value
from scull.jit.convert.run.raising import Alone, is_stated
from scull.jit.convert.run.refusal import both_recorded, is_lenient, lenient_of_none, refused
from scull.jit.convert.run.state import State
from scull.jit.convert.run.tree import Tree, mapped, restored, tree_of, value_of
from scull.jit.convert.run.value import graph, truth
from scull.static.nn.block import ConditionalBlock
from scull.tensor.logic import logical_not

Branch = Callable[[], Any]


def if_else(
    test: Any,
    then: Branch,
    otherwise: Branch | None,
    names: tuple[str, ...],
    passing: tuple[str, ...] = (),
) -> None:
    """`if test: then` `else: otherwise`, which change what `names` name.

    What `passing` names is changed too, and nobody reads it afterwards.
    """
    holds = graph(test)
    if holds is not None:
        record_branch(
            holds, then, otherwise, State(names, then, otherwise), State(passing, then, otherwise)
        )
    elif test:
        then()
    elif otherwise is not None:
        otherwise()


def if_expression(test: Any, then: Branch, otherwise: Branch) -> Any:
    """`then if test else otherwise`."""
    holds = graph(test)
    if holds is None:
        return then() if test else otherwise()
    result: Any = None

    def first() -> None:
        nonlocal result
        result = then()

    def second() -> None:
        nonlocal result
        result = otherwise()

    record_branch(holds, first, second, State(("result",), first))
    return result


def record_branch(
    holds: Variable,
    then: Branch,
    otherwise: Branch | None,
    state: State,
    passing: State | None = None,
) -> None:
    """Record both branches, of which one runs."""
    condition = truth(holds)
    before = [tree_of(v) for v in state.read()]
    kept = [tree_of(v) for v in passing.read()] if passing else []
    for _ in range(TRIALS):
        mark = Mark()
        try:
            state.write(recorded(mark, condition, (then, otherwise), state, passing))
            return
        except Alone as alone:
            mark.drop()
            if passing:
                passing.write(restored(kept))
            state.write(restored(before))
            record_other(alone, condition, (then, otherwise), mark)
            return
        except Again as again:
            mark.drop()
            if passing:
                passing.write(restored(kept))
            state.write(restored(before))
            widened(state, again)
            before = [tree_of(v) for v in state.read()]
    raise refused("the branches never agree on what they change")


def record_other(
    alone: Alone, condition: Variable, branches: tuple[Branch | None, ...], mark: Mark
) -> None:
    """Record that one branch ends the Program; the other needs no block of its own."""
    if alone.speaks:
        block, branch = mark.inner(), branches[alone.side]
        with mark.program.inside(block):
            try:
                branch and branch()
            except Exception as error:
                if not is_stated(error):
                    raise
            alone.stop()
        which = logical_not(condition) if alone.side else condition
        ConditionalBlock([which], is_scalar_condition=True).complete(block)
    else:
        alone.stop(condition)
    other = branches[1 - alone.side]
    if other is not None:
        other()


def recorded(
    mark: Mark,
    condition: Variable,
    branches: tuple[Branch | None, ...],
    state: State,
    passing: State | None,
) -> list[Any]:
    """The state behind two branches, of which `condition` chooses one."""
    conditions = [condition, logical_not(condition)]
    before = [tree_of(v) for v in state.read()]
    kept = [tree_of(v) for v in passing.read()] if passing else []
    blocks, results, passed = [], [], []
    for branch in branches:
        block = mark.inner()
        with mark.program.inside(block), watched() as found:
            if branch is not None:
                try:
                    branch()
                except (Again, Alone):
                    raise
                except RecursionError:
                    raise refused("a function calls itself where a Tensor decides") from None
                except Exception as error:
                    if is_stated(error):
                        raise Alone(len(blocks), error, block) from None
                    raise both_recorded(error) from None
        if more := unknown(state, found, passing.read() if passing else ()):
            raise Again(written=more)
        results.append([tree_of(v) for v in state.read()])
        state.write(restored(before))
        if passing:
            passed.append(passing.read())
            passing.write(restored(kept))
        blocks.append(block)
    if passing and is_lenient():
        told_of_none(passing.names, *passed)
    joined = Merging(blocks, state.names, before).joined(*results)
    for which, block in zip(conditions, blocks, strict=True):
        if block.ops:
            ConditionalBlock([which], is_scalar_condition=True).complete(block)

    def settled(leaf: Any, _: Any) -> Any:
        return leaf.select(condition) if isinstance(leaf, Chosen) else leaf

    trees = [mapped(settled, tree) for tree in joined]
    return [value_of(t, t.origin if isinstance(t, Tree) else None) for t in trees]


def told_of_none(names: list[str], first: list[Any], second: list[Any]) -> None:
    """Warn of names that nobody reads later, and only one branch lets be None."""
    for name, a, b in zip(names, first, second, strict=True):
        if (a is None and holds_value(b)) or (b is None and holds_value(a)):
            lenient_of_none(name, (), a, b)
