"""Convolutions with windows of three, by fewer products."""

import importlib.util

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
from scull import static
from scull.compiler import winograd
from scull.compiler.cost import cost_of
from scull.executor.compiled import Call
from scull.flags import flags
from scull.inference import Config, create_predictor

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def run(x, w, mode, after=lambda y: y, **attrs):
    """A convolution with both gradients, and its regions."""
    main, startup = static.Program(), static.Program()
    convolve = {3: paddle.nn.functional.conv1d, 4: paddle.nn.functional.conv2d}
    convolve[5] = paddle.nn.functional.conv3d
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        given = [static.data(n, a.shape, str(a.dtype)) for n, a in (("x", x), ("w", w))]
        for each in given:
            each.stop_gradient = False
        y = after(convolve[x.ndim](*given, **attrs))
        fetches = [y, *static.gradients([paddle.sum(y * y) * 0.5], given)]
    exe = static.Executor()
    with flags(COMPILE=mode), static.scope_guard(static.Scope()):
        found = exe.run(main, {"x": x, "w": w}, fetches)
        made = [rows for b in main.plans.values() if b.tier for rows in b.tier.variants.values()]
        calls = [row[0] for rows in made for row in rows if isinstance(row[0], Call)]
        return found, [call.native.region for call in calls]


def operations(regions):
    return sum(cost_of(group).operations for region in regions for group in region.groups)


def numbers(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def close(found, wanted, eps):
    for ours, theirs in zip(found, wanted, strict=True):
        gap = np.abs(ours - theirs).max() / np.abs(theirs).max()
        assert gap < eps, gap


@pytest.fixture
def always(monkeypatch):
    """However little it brings."""
    monkeypatch.setattr(winograd, "LEAST", 0)
    monkeypatch.setattr(winograd, "MOVED", 0)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_any_convolution_is_that_of_the_numpy_kernels(data):
    draw = data.draw
    images, inner = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 2, 2, 3]))
    channels, filters = draw(st.integers(1, 20)), draw(st.integers(1, 40))
    spatial = [draw(st.integers(3, 11)) for _ in range(inner)]
    taps = [draw(st.sampled_from([1, 2, 3, 3, 3])) for _ in range(inner)]
    pads = [draw(st.integers(0, 2)) for _ in range(inner)]
    last = draw(st.booleans())
    form = {1: "NCL", 2: "NCHW", 3: "NCDHW"}[inner]
    form = f"N{form[2:]}C" if last else form
    shape = (images, *spatial, channels) if last else (images, channels, *spatial)
    x, w = numbers(*shape), numbers(filters, channels, *taps, seed=1)
    strides = [draw(st.sampled_from([1, 1, 1, 2])) for _ in range(inner)]
    attrs = {"padding": pads, "stride": strides, "data_format": form}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd, "LEAST", 0)
        patch.setattr(winograd, "MOVED", 0)
        found, _ = run(x, w, "eager", **attrs)
    wanted, _ = run(x, w, "off", **attrs)
    close(found, wanted, 2e-6)


def test_it_takes_fewer_operations_and_a_flag_says_no():
    x, w = numbers(4, 32, 16, 16), numbers(32, 32, 3, 3, seed=1)
    found, regions = run(x, w, "eager", padding=1)
    with flags(WINOGRAD=False):
        plain, others = run(x, w, "eager", padding=1)
    close(found, plain, 2e-6)
    assert operations(regions) < 0.62 * operations(others)


def test_it_is_as_exact_as_the_sum_as_it_stands():
    x, w = numbers(2, 64, 20, 20), numbers(64, 64, 3, 3, seed=1)
    exact, _ = run(x.astype("float64"), w.astype("float64"), "off", padding=1)
    errors = []
    for asked in (True, False):
        with flags(WINOGRAD=asked):
            found, _ = run(x, w, "eager", padding=1)
        errors.append(
            [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, exact, strict=True)]
        )
    few, plain = errors
    assert all(a < 1.2 * b for a, b in zip(few, plain, strict=True)), errors


def test_an_infinite_element_spoils_no_more_than_its_neighbours():
    x, w = numbers(1, 32, 16, 16), numbers(32, 32, 3, 3, seed=1)
    x[0, 0, 8, 7] = np.inf
    (found, *_), _ = run(x, w, "eager", padding=1)
    (plain, *_), _ = run(x, w, "off", padding=1)
    near = np.zeros((16, 16), bool)
    near[6:11, 5:10] = True  # one place further than the window reaches
    assert np.isfinite(found[..., ~near]).all()
    close([found[..., ~near]], [plain[..., ~near]], 2e-6)
    with flags(WINOGRAD=False):
        (kept, *_), _ = run(x, w, "eager", padding=1)
    np.testing.assert_array_equal(np.isfinite(kept), np.isfinite(plain))


def test_what_follows_is_in_the_same_kernels():
    x, w = numbers(2, 32, 16, 16), numbers(32, 32, 3, 3, seed=1)

    def after(y):
        return paddle.nn.functional.relu(y + 1.0)

    found, regions = run(x, w, "eager", after, padding=1)
    close(found, run(x, w, "off", after, padding=1)[0], 2e-6)
    stored = [a for r in regions for g in r.groups for s in g.stages for a in s.arrays]
    assert sum(a.shape == found[0].shape for a in stored) <= 3  # y, its gradient, that of x


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_floats(always, dtype):
    x, w = numbers(1, 3, 9, 8, dtype=dtype), numbers(5, 3, 3, 3, seed=1, dtype=dtype)
    eps = {"float16": 4e-3, "float64": 1e-13}[dtype]
    close(run(x, w, "eager", padding=1)[0], run(x, w, "off", padding=1)[0], eps)


def test_the_bits_are_those_of_any_number_of_threads():
    x, w = numbers(8, 32, 16, 16), numbers(32, 32, 3, 3, seed=1)
    found = []
    for threads in (1, 2, 8):
        with flags(NUM_THREADS=threads):
            found.append(run(x, w, "eager", padding=1)[0])
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_sums_of_fixed_taps_are_made_once(tmp_path):
    paddle.disable_static()
    net = paddle.nn.Conv2D(32, 32, 3, padding=1)
    paddle.jit.save(net, str(tmp_path / "net"), [paddle.static.InputSpec([1, 32, 16, 16])])
    x = numbers(1, 32, 16, 16)
    with flags(COMPILE="eager"):
        predictor = create_predictor(Config(str(tmp_path / "net")))
        close([predictor(x)], [net(paddle.to_tensor(x)).numpy()], 2e-6)
    (steps,) = predictor.function.ready.bound.tier.variants.values()
    (call,) = [row[0] for row in steps if hasattr(row[0], "native")]
    assert call.native.lasts >= 16 * 32 * 32 * 4  # 16 sums for each pair of channels


def test_sums_of_data_do_not_lie_in_memory_until_their_gradient_is_asked_for():
    def arena():
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup), paddle.utils.unique_name.guard():
            h = static.data("x", [8, 32, 16, 16])
            for _ in range(5):
                h = paddle.nn.functional.relu(paddle.nn.Conv2D(32, 32, 3, padding=1)(h))
            loss = paddle.mean(h)
            paddle.optimizer.SGD(0.1).minimize(loss)
        exe = static.Executor()
        with flags(COMPILE="eager"), static.scope_guard(static.Scope()):
            exe.run(startup)
            exe.run(main, {"x": numbers(8, 32, 16, 16)}, [loss])
            plans = [b.tier for b in main.plans.values() if b.tier]
            rows = [row for tier in plans for found in tier.variants.values() for row in found]
            return sum(row[0].native.arena for row in rows if isinstance(row[0], Call))

    few = arena()
    with flags(WINOGRAD=False):
        plain = arena()
    image = 8 * 32 * 16 * 16 * 4
    assert few < plain + 11 * image  # the sums and the products of one convolution, not of all
