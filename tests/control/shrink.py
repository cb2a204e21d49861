"""Smaller programs that fail as a large one does."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.control.tree import (
    LOOPS,
    Block,
    Both,
    Denied,
    Either,
    If,
    Statement,
    Test,
    Tree,
    While,
    blocks_of,
    raised,
    with_blocks,
)


def shrunk(tree: Tree, fails: Callable[[Tree], bool]) -> Tree:
    """The smallest program that still fails and that deleting finds; `tree` fails."""
    while (smaller := next(filter(fails, smaller_trees(tree)), None)) is not None:
        tree = smaller
    return tree


def smaller_trees(tree: Tree) -> Iterator[Tree]:
    """The programs that one deletion makes."""
    return (replace(tree, body=body) for body in smaller_blocks(tree.body))


def smaller_blocks(block: Block) -> Iterator[Block]:
    """A block without one statement, or with a smaller one; what removes most comes first."""
    for i in range(len(block)):
        yield block[:i] + block[i + 1 :]
    for i, statement in enumerate(block):
        for blocks in opened(statement):
            yield block[:i] + blocks + block[i + 1 :]
        for smaller in smaller_statements(statement):
            yield block[:i] + (smaller,) + block[i + 1 :]


def opened(statement: Statement) -> Iterator[Block]:
    """The blocks of a statement that can stand in its place, or all of them one by one."""
    blocks = blocks_of(statement)
    for block in [*blocks, *([sum(blocks, ())] if len(blocks) > 1 else [])]:
        inner = statement.counter if isinstance(statement, LOOPS) else ""
        if not inner or (inner not in str(block) and not raised(block, inner)):
            yield block


def smaller_statements(statement: Statement) -> Iterator[Statement]:
    """A statement with a smaller block, fewer branches, or a smaller condition."""
    blocks = blocks_of(statement)
    for i, block in enumerate(blocks):
        for smaller in smaller_blocks(block):
            yield with_blocks(statement, blocks[:i] + (smaller,) + blocks[i + 1 :])
    if isinstance(statement, While):
        yield from (replace(statement, test=test) for test in smaller_tests(statement.test))
    if isinstance(statement, If):
        for i, (test, block) in enumerate(statement.branches):
            before, after = statement.branches[:i], statement.branches[i + 1 :]
            if before or after:
                yield replace(statement, branches=before + after)
            for smaller_test in smaller_tests(test):
                yield replace(statement, branches=(*before, (smaller_test, block), *after))


def smaller_tests(test: Test) -> Iterator[Test]:
    """The parts of a condition."""
    if isinstance(test, Denied):
        yield test.test
    if isinstance(test, Both | Either):
        yield from (test.left, test.right)
