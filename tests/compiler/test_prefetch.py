"""What a contraction reads of large arrays is asked for ahead."""

import pytest

from scull.compiler.group import Group
from scull.compiler.kernel import function_of
from scull.compiler.stage import Stage
from scull.compiler.target import target
from scull.lang import axis, sum
from scull.lang.body import Map
from scull.lang.expression import Array


def product(m, k, n):
    """The text of the kernel of a product."""
    x, y, out = (
        Array(name, shape, "float32")
        for name, shape in [("x", (m, k)), ("y", (k, n)), ("out", (m, n))]
    )
    row, column, term = axis(m), axis(n), axis(k)
    body = Map((row, column), sum(x[row, term] * y[term, column], term))
    stage = Stage((row, column), [out], [body], ["matmul_v2"])
    return function_of(Group((), [stage]), "kernel", target()).text


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [((64, 512, 512), True), ((64, 64, 64), False), ((64, 16, 16384), False)],
    ids=["large", "in a near cache", "few terms"],
)
def test_a_large_operand_is_asked_for_some_terms_ahead(sizes, asked):
    assert ("@llvm.prefetch" in product(*sizes)) == asked


def product_and_more(m, n):
    """The text of the kernel of a product of 64 terms, to which an array of its size is added."""
    x, y, more, out = (
        Array(name, shape, "float32")
        for name, shape in [("x", (m, 64)), ("y", (64, n)), ("more", (m, n)), ("out", (m, n))]
    )
    row, column, term = axis(m), axis(n), axis(64)
    body = Map((row, column), sum(x[row, term] * y[term, column], term) + more[row, column])
    stage = Stage((row, column), [out], [body], ["fc"])
    return function_of(Group((), [stage]), "kernel", target()).text


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [((512, 512), True), ((64, 64), False)],
    ids=["large", "in a near cache"],
)
def test_what_a_product_is_added_to_is_asked_for_before_the_product_is_made(sizes, asked):
    text = product_and_more(*sizes)
    assert ("@llvm.prefetch" in text) == asked
    if asked:
        assert text.index("@llvm.prefetch") < text.index("@llvm.fma")
