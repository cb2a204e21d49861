"""Orders in which nodes are visited; nothing recurses, so depth has no limit."""

from collections.abc import Callable, Iterable

from scull.lang.expression import Expression, Guard, Reduce, with_operands

Operands = Callable[[Expression], tuple[Expression, ...]]


def all_operands(node: Expression) -> tuple[Expression, ...]:
    """Everything a node mentions."""
    return node.operands


def eager_operands(node: Expression) -> tuple[Expression, ...]:
    """What has to be computed before a node: not the inside of a reduction or of a guard."""
    if isinstance(node, Reduce):
        return ()
    return node.operands[:1] if isinstance(node, Guard) else node.operands


def parts_of(root: Expression) -> tuple[Expression, ...]:
    """Every node below the root once, operands first; the root keeps them."""
    if root.parts is None:
        object.__setattr__(root, "parts", tuple(_walked([root], all_operands, _nothing)[:-1]))
    assert root.parts is not None
    return root.parts


def ordered(
    roots: Iterable[Expression],
    operands: Operands = all_operands,
    known: Callable[[Expression], bool] | None = None,
) -> list[Expression]:
    """Every node reached from the roots once, operands first; known ones are left out."""
    roots = list(roots)
    if len(roots) == 1 and known is None and operands is all_operands:
        return [*parts_of(roots[0]), roots[0]]
    return _walked(roots, operands, known or _nothing)


def _nothing(node: Expression) -> bool:
    return False


def _walked(
    roots: Iterable[Expression], operands: Operands, known: Callable[[Expression], bool]
) -> list[Expression]:
    order: list[Expression] = []
    seen: set[Expression] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, entered = stack.pop()
            if entered:
                order.append(node)
            elif node not in seen and not known(node):
                seen.add(node)
                inner = operands(node)
                if not inner:
                    order.append(node)
                    continue
                stack.append((node, True))
                for x in reversed(inner):
                    if x not in seen:
                        stack.append((x, False))
    return order


def rewritten(
    roots: Iterable[Expression],
    change: Callable[[Expression], Expression],
    done: dict[Expression, Expression],
) -> list[Expression]:
    """The roots with `change` applied to every node, operands first; `done` has the pairs."""
    roots = list(roots)
    for node in ordered(roots, known=done.__contains__):
        operands = tuple(done[x] for x in node.operands)
        done[node] = change(with_operands(node, operands))
    return [done[root] for root in roots]
