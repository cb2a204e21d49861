"""Sums of products written as an equation of indices."""

import math
from typing import Any

from scull.errors import ArgumentError, ShapeError
from scull.ops import linear, move, reduce
from scull.tensor.matrix import diagonal
from scull.tensor.size import needs_tensor


def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products that an equation describes, such as ``ij,jk->ik``.

    Args:
        equation (str): the indices of each operand, and those of the result; `...` for others.
        operands (Tensor): the tensors.

    Examples:
        >>> import scull as paddle
        >>> paddle.einsum("ij,jk->ik", paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0], [3.0]]
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    for x in operands:
        needs_tensor(x, "einsum", "operands")
    terms, result = labelled(equation, operands)
    pairs = [simplified(x, labels) for x, labels in zip(operands, terms, strict=True)]
    x, labels = alone(*pairs[0], needed(result, pairs[1:]))
    for i, (y, others) in enumerate(pairs[1:], 2):
        kept = needed(result, pairs[i:])
        x, labels = contracted(x, labels, *alone(y, others, kept | set(labels)), kept)
    x, labels = alone(x, labels, set(result))
    perm = [labels.index(n) for n in result]
    return x if perm == list(range(len(perm))) else move.transpose(x, perm=perm)


def labelled(equation: str, operands: tuple[Any, ...]) -> tuple[list[list[str]], list[str]]:
    """The index of every axis of the operands and of the result; axes of `...` are 0, 1, ..."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ArgumentError(f"`{equation}` has {len(terms)} terms for {len(operands)} operands")
    count = 0
    found = []
    for term, x in zip(terms, operands, strict=True):
        rest = len(x.shape) - len(term.replace("...", ""))
        if rest < 0 or (rest and "..." not in term):
            raise ShapeError(f"`{term}` does not name the {len(x.shape)} axes of its operand")
        count = max(count, rest if "..." in term else 0)
        found.append((term, rest))
    names = [str(i) for i in range(count)]

    def spelt(term: str, rest: int) -> list[str]:
        before, dots, after = term.partition("...")
        return [*before, *(names[count - rest :] if dots else ()), *after]

    inputs = [spelt(term, rest) for term, rest in found]
    every = [n for labels in inputs for n in labels]
    if not arrow:
        once = sorted(n for n in set(every) - set(names) if every.count(n) == 1)
        return inputs, names + once
    output = spelt(right, count)
    if not set(output) <= set(every) or len(set(output)) < len(output):
        raise ArgumentError(f"the result of `{equation}` names an index twice or one of no operand")
    return inputs, output


def simplified(x: Any, labels: list[str]) -> tuple[Any, list[str]]:
    """An operand with each index once: of a repeated one the diagonal is taken."""
    for name in set(labels):
        while labels.count(name) > 1:
            first = labels.index(name)
            second = labels.index(name, first + 1)
            x = diagonal(x, 0, first, second)
            labels = [n for i, n in enumerate(labels) if i not in (first, second)] + [name]
    return x, labels


def needed(result: list[str], pairs: list[tuple[Any, list[str]]]) -> set[str]:
    """The indices that the result or later operands have."""
    return {*result, *(n for _, labels in pairs for n in labels)}


def alone(x: Any, labels: list[str], kept: set[str]) -> tuple[Any, list[str]]:
    """An operand summed over the indices that nothing else has."""
    axes = [i for i, n in enumerate(labels) if n not in kept]
    if not axes:
        return x, labels
    return reduce.reduce_sum(x, axis=tuple(axes)), [n for n in labels if n in kept]


def contracted(
    x: Any, left: list[str], y: Any, right: list[str], kept: set[str]
) -> tuple[Any, list[str]]:
    """The product of two operands, summed over the indices that are not kept."""
    batch = [n for n in left if n in right and n in kept]
    inner = [n for n in left if n in right and n not in kept]
    rows, columns = [n for n in left if n not in right], [n for n in right if n not in left]
    a, b = grouped(x, left, batch, rows, inner), grouped(y, right, batch, inner, columns)
    out = linear.matmul(a, b)
    sizes = [x.shape[left.index(n)] for n in rows] + [y.shape[right.index(n)] for n in columns]
    shape = [*out.shape[: len(batch)], *sizes]
    return move.reshape(out, shape=shape), batch + rows + columns


def grouped(x: Any, labels: list[str], batch: list[str], *groups: list[str]) -> Any:
    """`x` with the axes of `batch` first, then one axis for each group."""
    order = [labels.index(n) for group in (batch, *groups) for n in group]
    turned = x if order == list(range(len(order))) else move.transpose(x, perm=order)
    sizes = [math.prod([x.shape[labels.index(n)] for n in group]) for group in groups]
    return move.reshape(turned, shape=[*turned.shape[: len(batch)], *sizes])
