"""Orders in which nodes are visited; nothing recurses, so depth has no limit."""

from collections.abc import Callable, Iterable, Set
from operator import attrgetter

from scull.lang.expression import Expression, Guard, Reduce, with_operands

Operands = Callable[[Expression], tuple[Expression, ...]]

all_operands: Operands = attrgetter("operands")  # everything a node mentions


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
        stack: list[Expression | None] = [root]  # None stands above what comes after its operands
        while stack:
            node = stack.pop()
            if node is None:
                order.append(stack.pop())  # type: ignore[arg-type]
            elif node not in seen and not known(node):
                seen.add(node)
                inner = operands(node)
                if inner:
                    stack += (node, None, *inner[::-1])
                else:
                    order.append(node)
    return order


def rewritten(
    roots: Iterable[Expression],
    change: Callable[[Expression], Expression],
    done: dict[Expression, Expression],
    axes: Set[Expression] = frozenset(),
) -> list[Expression]:
    """The roots with `change` applied to every node, operands first; `done` has the pairs.

    Where there are `axes`, what varies with none of them stays as it is.
    """
    roots = list(roots)

    def stays(node: Expression) -> bool:
        return node in done or node.free.isdisjoint(axes)

    for node in ordered(roots, known=stays if axes else done.__contains__):
        operands = tuple([done.get(x, x) for x in node.operands])
        done[node] = change(with_operands(node, operands))
    return [done.get(root, root) for root in roots]
