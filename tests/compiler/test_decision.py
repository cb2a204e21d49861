"""Why statements are the kernels they are is noted, and kernels print as loops."""

import importlib.util

import numpy as np
import pytest

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.cost import Cost, cost_of
from scull.compiler.decision import decided, noted, observed
from scull.compiler.native import region_of_kernel
from scull.compiler.peak import Peak, peak
from scull.compiler.simplify import substituted
from scull.compiler.target import AVX2
from scull.compiler.text import group_lines
from scull.lang.expression import Array, apply
from tests.lang.samples import meta
from tests.lang.test_kernel import embedding_grad_at, matmul_at, softmax_at

needs_llvm = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
PLAIN = {"transpose_x": False, "transpose_y": False}


def groups(lowering, metas, outputs, attrs=None):
    kernel = lang.trace(lowering, metas, outputs, attrs or {}, name="lowering")
    return region_of_kernel(kernel).groups


def matmul_group(dtype="float32"):
    metas = [meta(8, 16, dtype=dtype), meta(16, 32, dtype=dtype)]
    (group,) = groups(matmul_at, metas, [meta(8, 32, dtype=dtype)], PLAIN)
    return group


def test_decisions_are_noted_where_somebody_observes_and_the_last_of_a_pair_counts():
    decided("inlined", "a", "b", "nobody sees")
    assert noted() == ()
    with observed() as outer:
        decided("apart", "a", "b", "first")
        with observed() as inner:
            decided("stored", "c", "", "elsewhere")
        decided("apart", "a", "b", "second")
        assert noted() == outer()
    assert [str(d) for d in outer()] == ["a apart b: second"]
    assert [str(d) for d in inner()] == ["c stored: elsewhere"]
    assert noted() == ()


def test_kernels_read_as_loops_with_their_tiles(golden):
    found = [matmul_group()]
    found += groups(softmax_at, [meta(4, 64)], [meta(4, 64)])
    metas = [meta(5, dtype="int64"), meta(5, 3)]
    found += groups(embedding_grad_at, metas, [meta(7, 3)], {"rows": 7})
    text = "\n\n".join("\n".join(group_lines(group, AVX2)) for group in found)
    assert text == golden


def test_arrays_are_called_as_the_reader_wants():
    group = matmul_group()
    first, second = (x.name for x in group.read)
    text = "\n".join(group_lines(group, AVX2, {first: "image", second: "weight"}))
    assert "image[i0, k0] * weight[k0, i1]" in text


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_costs_its_operands_once_and_two_operations_a_term(dtype):
    size = {"float32": 4, "float64": 8}[dtype]
    read, written = (8 * 16 + 16 * 32) * size, 8 * 32 * size
    assert cost_of(matmul_group(dtype)) == Cost(read, written, 2 * 8 * 16 * 32, dtype)


def test_a_product_of_pairs_is_four_operations_each_of_them_paired():
    def product_at(index, x, y):
        i, j = index
        k = lang.axis(16)
        return lang.sum(apply("pair_dot", x[i, k], y[k, j]), k)

    metas = [meta(8, 16, dtype="uint32"), meta(16, 32, dtype="uint32")]
    (group,) = groups(product_at, metas, [meta(8, 32)])
    assert cost_of(group).operations == cost_of(group).paired == 4 * 8 * 32 * 16


def test_rows_that_are_picked_cost_no_more_than_what_is_read():
    def rows_at(index, table, ids):
        i, j = index
        return lang.padded(table, (ids[i], j), 0.0)

    metas = [meta(1000, 4), meta(3, dtype="int64")]
    (group,) = groups(rows_at, metas, [meta(3, 4)])
    assert cost_of(group) == Cost(3 * 4 * 4 + 3 * 8, 3 * 4 * 4, 0)


def test_what_does_not_vary_with_an_axis_counts_once():
    def scaled_at(index, x, y):
        i, j = index
        return x[i, j] * (y[i] + y[i] * y[i])

    (group,) = groups(scaled_at, [meta(4, 8), meta(4)], [meta(4, 8)])
    assert cost_of(group).operations == 4 * 8 + 2 * 4


def test_the_peak_bounds_a_kernel_by_moving_or_by_arithmetic():
    machine = Peak({"float32": 100.0, "bfloat16": 400.0}, ((10, 50.0), (100, 5.0)))
    assert machine.seconds(Cost(20, 5, 1)) == 25 / 50
    assert machine.seconds(Cost(90, 10, 1)) == 100 / 5
    assert machine.seconds(Cost(4, 1, 1000)) == 10
    assert machine.seconds(Cost(4, 1, 1000, paired=800)) == 4
    assert machine.moving(Cost(4, 1, 1000)) == 5 / 50


@needs_llvm
def test_the_peak_is_measured_once():
    found = peak()
    assert found is peak() and min(found.operations.values()) > 1e6
    assert all(rate > 1e6 for _, rate in found.bandwidths)


def test_a_square_is_a_product_and_constants_are_computed_at_once():
    x = Array("x", (4,), "float32")
    i = lang.axis(4)
    two = lang.constant(3.0, "float32") - lang.constant(1.0, "float32")
    value = substituted(apply("power", x[i], two), {}, Positions())
    assert value is x[i] * x[i]
    one = apply("power", x[i], lang.constant(1.0, "float32"))
    assert substituted(one, {}, Positions()) is x[i]
    tenth = lang.constant(0.1, "float32") * lang.constant(3.0, "float32")
    folded = substituted(tenth, {}, Positions())
    assert folded is lang.constant(float(np.float32(0.1) * np.float32(3.0)), "float32")
