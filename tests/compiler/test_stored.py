"""What is stored in any case is read where it would be computed again of several arrays."""

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.fuse import loads_of
from scull.compiler.stored import reread
from scull.compiler.trace import Statement
from scull.lang import axis
from scull.lang.body import Map
from scull.lang.expression import Array


def array(name, *shape):
    return Array(name, shape, "float32")


def elementwise(out, value):
    """A statement whose elements `value` computes of their places."""
    axes = tuple(axis(n) for n in out.shape)
    return Statement(out, Map(axes, value(*axes)), "op")


def read_by(statements):
    """The names of the arrays that the last of the statements reads then."""
    last = reread(statements, Positions())[-1]
    return sorted(load.array.name for load in loads_of(last.body))


E, TOTAL, P, OUT = array("e", 8, 6), array("total", 8), array("p", 8, 6), array("out", 8, 6)


def weights(i, j):
    return E[i, j] * TOTAL[i]


def test_a_quotient_that_is_stored_is_read():
    later = elementwise(OUT, lambda i, j: lang.exp(weights(i, j)) - 1.0)
    assert read_by([elementwise(P, weights), later]) == ["p"]


def test_it_is_read_at_other_places_within_sums_too():
    def summed(i, j):
        k = axis(8)
        return lang.sum(weights(k, j) * 2.0, k) + E[i, j]

    assert read_by([elementwise(P, weights), elementwise(OUT, summed)]) == ["e", "p"]


def test_what_comes_before_is_computed():
    assert read_by([elementwise(OUT, weights)]) == ["e", "total"]
    assert read_by([elementwise(P, weights), elementwise(OUT, lambda i, j: E[i, j])]) == ["e"]


def test_places_that_are_not_stored_are_computed():
    half, rest = array("half", 4, 6), array("rest", 4, 6)
    first = elementwise(half, weights)
    assert read_by([first, elementwise(rest, weights)]) == ["half"]
    assert read_by([first, elementwise(rest, lambda i, j: weights(i + 4, j))]) == ["e", "total"]
    assert read_by([first, elementwise(OUT, weights)]) == ["e", "total"]


def test_one_array_in_place_of_one_is_no_gain():
    made = elementwise(P, lambda i, j: lang.exp(E[i, j]))
    assert read_by([made, elementwise(OUT, lambda i, j: lang.exp(E[i, j]) + 1.0)]) == ["e"]


def test_sums_and_what_is_smaller_than_their_result_are_computed():
    rows, columns = array("rows", 8), array("columns", 6)
    outer = elementwise(P, lambda i, j: rows[i] * columns[j])
    again = elementwise(OUT, lambda i, j: rows[i] * columns[j] + 1.0)
    assert read_by([outer, again]) == ["columns", "rows"]


def test_a_chain_is_read_at_its_end():
    q = array("q", 8, 6)
    second = elementwise(q, lambda i, j: weights(i, j) - E[i, j])
    third = elementwise(OUT, lambda i, j: (weights(i, j) - E[i, j]) * 3.0)
    assert read_by([elementwise(P, weights), second, third]) == ["q"]


def test_other_numbers_and_orders_do_not_match():
    first = elementwise(P, lambda i, j: E[i, j] * TOTAL[i] + 1.0)
    for other in (
        lambda i, j: E[i, j] * TOTAL[i] + 2.0,
        lambda i, j: E[i, j] + TOTAL[i] * 1.0,
        lambda i, j: TOTAL[i] * E[i, j] + 1.0,
    ):
        assert read_by([first, elementwise(OUT, other)]) == ["e", "total"]
