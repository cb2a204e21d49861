"""Which statements run in one loop."""

from scull.compiler.group import grouped
from scull.compiler.trace import Statement
from scull.lang import axis, sum
from scull.lang.body import Map
from scull.lang.expression import Array, Axis, Reduce
from scull.lang.walk import ordered


def statement(out: Array, axes: tuple[Axis, ...], value) -> Statement:
    return Statement(out, Map(axes, value), out.name)


def normed() -> list[Statement]:
    """A row less its mean, divided by its mean square: sums of what sums gave."""
    x, mean, square, result = (
        Array(name, shape, "float32")
        for name, shape in [("x", (1, 4, 8)), ("m", (4, 1)), ("s", (4,)), ("y", (1, 4, 8))]
    )
    one, row, unit, place, k, n = axis(1), axis(4), axis(1), axis(8), axis(8), axis(8)
    away = x[0, row, n] - mean[row, 0]
    return [
        statement(mean, (row, unit), sum(x[0, row, k], k) / 8.0),
        statement(square, (row,), sum(away * away, n) / 8.0),
        statement(result, (one, row, place), (x[one, row, place] - mean[row, one]) * square[row]),
    ]


def test_rows_are_shared_whatever_axes_of_one_position_stand_between():
    statements = normed()
    (found,) = grouped(statements, [statements[-1].out])
    assert [x.size for x in found.shared] == [4]
    assert [x.shape for x in found.local] == [(), ()]


def test_no_sum_runs_within_another():
    statements = normed()
    for group in grouped(statements, [s.out for s in statements]):
        roots = [root for s in group.stages for body in s.bodies for root in body.roots]
        terms = [n for x in ordered(roots) if isinstance(x, Reduce) for n in x.operands]
        assert not any(isinstance(x, Reduce) for x in ordered(terms))


def beside(batch: int) -> list[Statement]:
    """Two products in each row of an array, which have one factor in common."""
    weights, x, y, out = (
        Array(name, (batch, 64, 64), "float32") for name in ("weights", "x", "y", "out")
    )
    more = Array("more", (batch, 64, 64), "float32")
    first, second = ([axis(n) for n in (batch, 64, 64, 64)] for _ in range(2))

    def product(axes, factor):
        b, i, j, k = axes
        return sum(weights[b, i, k] * factor[b, k, j], k)

    return [
        statement(out, tuple(first[:3]), product(first, x)),
        statement(more, tuple(second[:3]), product(second, y)),
    ]


def test_products_over_the_same_rows_of_a_large_array_go_together():
    small, large = beside(4), beside(200)
    assert len(grouped(small, [s.out for s in small])) == 2
    (found,) = grouped(large, [s.out for s in large])
    assert [x.size for x in found.shared] == [200]
