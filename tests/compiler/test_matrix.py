"""Products of bfloat16 by a matrix unit, in Python where the machine has none."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import scull as paddle
from scull import lang
from scull.compiler import matrix, peak
from scull.compiler.kernel import choices, code_of
from scull.compiler.native import compile, region_of_kernel
from scull.compiler.target import AMX, AVX2, AVX512_PAIRS, target
from scull.flags import flags
from scull.nn import functional
from scull.runtime import llvm
from tests.compiler.test_pair import BFLOAT16, check_product, close, numbers, run, wide
from tests.compiler.unit import emulated
from tests.lang.samples import meta

runs = pytest.mark.skipif(
    not llvm.available() or "avx512bf16" not in llvm.levels(),
    reason="code beside the unit's own needs AVX-512 with pairs of bfloat16",
)
has_unit = pytest.mark.skipif(
    not llvm.available() or "amx" not in llvm.levels(), reason="this machine has no matrix unit"
)
SIZES = [(1, 16), (2, 23), (16, 16), (17, 33), (32, 32), (50, 20)]


@pytest.fixture
def unit(monkeypatch):
    with flags(CACHE_DIR="off", NUM_THREADS=1):
        found, calls = emulated(monkeypatch)
        yield found
        del calls
    assert found.faults == []


def pairs_of(y):
    """Neighbouring rows of a matrix as the pairs that lanes read."""
    two = np.ascontiguousarray(y.reshape(len(y) // 2, 2, -1).swapaxes(1, 2))
    return two.view(np.uint32)[..., 0]


def product(x, y, fold=lang.sum, after=lambda value, index: value):
    """A kernel of products of pairs, with its operands and its result."""
    rows, terms, lanes = len(x), x.shape[1] // 2, y.shape[1]

    def lower(index, x, y):
        i, j = index
        k = lang.axis(terms)
        pairs = lang.pair(x[i, k * 2], x[i, k * 2 + 1])
        return after(fold(lang.pair_dot(pairs, y[k, j]), over=k), index)

    metas = [meta(rows, 2 * terms, dtype="bfloat16"), meta(terms, lanes, dtype="uint32")]
    kernel = lang.trace(lower, metas, [meta(rows, lanes)], {})
    return kernel, [x, pairs_of(y)], np.full((rows, lanes), 7, np.float32)


@runs
@pytest.mark.parametrize("terms", [1, 15, 16, 17, 32, 40])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sums_of_every_size_are_those_of_numpy(unit, size, terms):
    rows, lanes = size
    x, y = numbers(rows, 2 * terms), numbers(2 * terms, lanes, seed=1)
    kernel, operands, got = product(x, y)
    compile(kernel, "amx")(operands, [got])
    np.testing.assert_allclose(got, wide(x) @ wide(y), rtol=1e-4, atol=1e-4)
    made = sum(a * b * c for a, b, c in unit.products)
    assert made == (rows * lanes * terms if rows >= 16 and terms > 1 else 0)


@has_unit
@given(st.sampled_from(SIZES), st.integers(1, 70), st.integers(0, 1 << 16))
@settings(max_examples=60, deadline=None)
def test_whole_numbers_are_exact_by_the_unit_of_this_machine(size, terms, seed):
    """Products and sums of small whole numbers are exact, in whatever order."""
    rows, lanes = size
    rng = np.random.default_rng(seed)
    shapes = ((rows, 2 * terms), (2 * terms, lanes))
    x, y = (rng.integers(-8, 9, shape).astype(BFLOAT16) for shape in shapes)
    kernel, operands, got = product(x, y)
    compile(kernel, "amx")(operands, [got])
    np.testing.assert_array_equal(got, wide(x) @ wide(y))


@has_unit
def test_a_product_uses_the_unit_of_this_machine_unless_told_not_to():
    """As close to float64 as vectors of pairs are."""
    x, y = numbers(96, 512), numbers(512, 96, seed=1)
    found = []
    for amx in (True, False):
        kernel, operands, got = product(x, y)
        with flags(AMX=amx):
            assert (
                "tdpbf16ps" in code_of(region_of_kernel(kernel).groups[0], target()).text
            ) is amx
            compile(kernel)(operands, [got])
        found.append(got)
    want = x.astype(np.float64) @ y.astype(np.float64)
    errors = [np.abs(got - want).max() for got in found]
    assert max(errors) < 1e-4 * np.abs(want).max()


@runs
@pytest.mark.parametrize("fold", ["max", "min", "prod"])
def test_folds_that_are_no_sums_are_left_to_vectors(unit, fold):
    x, y = numbers(32, 64), numbers(64, 32, seed=1)
    kernel, operands, got = product(x, y, getattr(lang, fold))
    compile(kernel, "amx")(operands, [got])
    terms = (wide(x)[:, :, None] * wide(y)).reshape(32, 32, 2, 32).sum(2)
    np.testing.assert_allclose(got, getattr(np, fold)(terms, axis=1), rtol=1e-4, atol=1e-4)
    assert unit.products == []


@runs
def test_a_product_in_some_places_alone_is_left_to_vectors(unit):
    def after(value, index):
        return lang.guarded(index[0] < 20, value, 0.0)

    x, y = numbers(40, 64), numbers(64, 32, seed=1)
    kernel, operands, got = product(x, y, after=after)
    compile(kernel, "amx")(operands, [got])
    np.testing.assert_allclose(got[:20], (wide(x) @ wide(y))[:20], rtol=1e-4, atol=1e-4)
    assert not got[20:].any() and unit.products == []


@runs
def test_other_sums_beside_a_product_do_not_keep_it_from_the_unit(unit):
    x, y, z = numbers(64, 64), numbers(64, 96, seed=1), numbers(64, 96, 3, seed=2)
    paddle.enable_static()
    try:
        found, _ = run(lambda x, y, z: paddle.matmul(x, y) * z.sum(-1), [x, y, z])
    finally:
        paddle.disable_static()
    want = (wide(x) @ wide(y)).astype(BFLOAT16)
    np.testing.assert_allclose(wide(found[0]), wide(want) * wide(z).sum(-1), rtol=3e-2, atol=0.1)
    assert sum(a * b * c for a, b, c in unit.products) >= 64 * 96 * 32


@runs
def test_tiles_that_could_be_tried_do_not_keep_a_product_from_the_unit():
    kernel, *_ = product(numbers(64, 64), numbers(64, 96))
    (group,) = region_of_kernel(kernel).groups
    assert choices(group, AMX) == [[]]
    assert choices(group, AVX512_PAIRS) != [[]]


@runs
def test_threads_change_no_bit_of_the_unit(unit):
    x, y = numbers(512, 64), numbers(64, 512, seed=1)
    found = []
    for threads in (1, 2):
        with flags(NUM_THREADS=threads):
            paddle.enable_static()
            try:
                found.append(run(paddle.matmul, [x, y])[0])
            finally:
                paddle.disable_static()
    assert found[0][0].tobytes() == found[1][0].tobytes()


def assembled(text):
    """The words of the instructions that LLVM makes of a text for machines with the unit."""
    cpu, features = llvm.LEVELS["amx"]
    target = replace(llvm.host(), cpu=cpu, features=",".join(f"+{x}" for x in features))
    return llvm.machine_text(text, target).split()


@pytest.mark.skipif(not llvm.available(), reason="llvmlite has no wheel here")
def test_llvm_makes_an_instruction_of_each_use_of_the_unit():
    if not llvm.host().triple.startswith("x86_64"):
        pytest.skip("AMX is of x86-64")
    kernel, *_ = product(numbers(50, 80), numbers(80, 50))
    (group,) = region_of_kernel(kernel).groups
    text = code_of(group, AMX).text
    machine = assembled(text)
    for name in ("ldtilecfg", "tilezero", "tdpbf16ps", "tilerelease"):
        assert machine.count(name) == text.count(f"@{matrix.INTRINSICS}{name}") > 0, name
    for name, short in (("tileloadd64", "tileloadd"), ("tilestored64", "tilestored")):
        assert machine.count(short) == text.count(f"@{matrix.INTRINSICS}{name}") > 0, name


@pytest.mark.skipif(not llvm.available(), reason="llvmlite has no wheel here")
def test_the_peak_of_the_unit_is_that_of_products_into_four_registers():
    if not llvm.host().triple.startswith("x86_64"):
        pytest.skip("AMX is of x86-64")
    step = peak.loops(AMX)["bfloat16"]
    assert assembled(step.text).count("tdpbf16ps") == 4
    assert step.operations == 4 * 16 * 16 * 32 * 2
    assert peak.loops(AVX512_PAIRS)["bfloat16"].operations == 12 * 16 * 2 * 2
    assert "bfloat16" not in peak.loops(AVX2)


@runs
def test_the_level_of_the_unit_needs_leave_and_can_be_left_out(monkeypatch):
    features = {x for _, needs in llvm.LEVELS.values() for x in needs}
    host = replace(llvm.host(), features=",".join(f"+{x}" for x in features))
    monkeypatch.setattr(llvm, "host", lambda: host)
    monkeypatch.setattr(llvm, "_may_use_tiles", lambda: True)
    assert llvm.levels()[0] == "amx"
    with flags(AMX=False):
        assert llvm.levels()[0] == "avx512bf16"
    monkeypatch.setattr(llvm, "_may_use_tiles", lambda: False)
    assert llvm.levels()[0] == "avx512bf16"


@runs
@given(
    sizes=st.tuples(*[st.integers(17, 70)] * 3),
    batch=st.sampled_from([(), (3,)]),
    turned=st.tuples(st.booleans(), st.booleans()),
)
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_products_and_their_gradients_are_those_of_float64(unit, sizes, batch, turned):
    unit.products.clear()
    check_product([2 * x for x in sizes], batch, turned)
    assert unit.products


@runs
def test_a_large_operand_lies_in_panels(unit):
    x, y = numbers(32, 512), numbers(512, 1024, seed=1)
    paddle.enable_static()
    try:
        found, _ = run(paddle.matmul, [x, y])
    finally:
        paddle.disable_static()
    close(found[0], wide(x) @ wide(y), np.abs(wide(x)) @ np.abs(wide(y)))
    assert unit.products == [(16, 16, 16)] * (2 * 64 * 16)
    assert 256 in unit.steps and 4096 not in unit.steps


@runs
@pytest.mark.parametrize(
    "attrs", [{}, {"stride": 2}, {"groups": 2}, {"data_format": "NHWC"}], ids=str
)
def test_convolutions_and_their_gradients_are_those_of_float64(unit, attrs):
    attrs = {"padding": 1} | attrs
    shape = (2, 8, 8, 32) if "data_format" in attrs else (2, 32, 8, 8)
    x, w = numbers(*shape), numbers(48, 32 // attrs.get("groups", 1), 3, 3, seed=1)
    paddle.enable_static()
    try:
        found, _ = run(lambda x, w: functional.conv2d(x, w, **attrs), [x, w])
    finally:
        paddle.disable_static()
    given = [paddle.to_tensor(wide(v), stop_gradient=False) for v in (x, w)]
    sizes = [paddle.to_tensor(np.abs(wide(v)), stop_gradient=False) for v in (x, w)]
    want, size = (functional.conv2d(*v, **attrs) for v in (given, sizes))
    grads, bounds = paddle.grad(want, given), paddle.grad(size, sizes)
    for got, exact, bound in zip(found, [want, *grads], [size, *bounds], strict=True):
        close(got, exact.numpy(), bound.numpy() * 2)
    assert unit.products
