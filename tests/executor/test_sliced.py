"""Batches of ever other sizes are computed by code for slices of a few sizes."""

import importlib.util
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
import scull.nn.functional as F
from scull.compiler import native
from scull.errors import ArgumentError, RangeError
from scull.executor import sliced, tier
from scull.executor.sliced import LARGEST, SlicedCall, slices
from scull.flags import flags
from scull.runtime.background import background

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
SIZES = (1, 2, 3, 5, 8, 13, 40)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


@given(st.integers(1, 500))
def test_slices_cover_all_rows_with_few_sizes(count):
    found, covered = slices(count), set()
    for start, size in found:
        assert size & (size - 1) == 0 and size <= LARGEST
        rows = range(start, start + size)
        assert rows.stop <= count
        covered.update(rows)
    assert len(covered) == count and sum(size for _, size in found) <= count * 4 / 3
    assert len(found) <= count // LARGEST + LARGEST.bit_length()


def mlp(x):
    return F.softmax(paddle.nn.Linear(16, 5)(F.relu(paddle.nn.Linear(24, 16)(x))))


def convolved(x):
    norm = paddle.nn.BatchNorm2D(5)
    norm.eval()
    image = paddle.reshape(x, [-1, 2, 3, 4])
    y = F.max_pool2d(F.relu(norm(paddle.nn.Conv2D(2, 5, 3, padding=1)(image))), 2, 1)
    return paddle.mean(paddle.nn.Conv2D(5, 3, 3, stride=2, padding=1)(y), axis=[2, 3])


def attention(x):
    h = paddle.reshape(x, [-1, 6, 4])
    q, k, v = (
        paddle.transpose(paddle.reshape(paddle.nn.Linear(4, 8)(h), [-1, 6, 2, 4]), [0, 2, 1, 3])
        for _ in range(3)
    )
    weights = F.softmax(paddle.matmul(q, k, transpose_y=True) / 2.0)
    mixed = paddle.transpose(paddle.matmul(weights, v), [0, 2, 1, 3])
    return paddle.nn.LayerNorm(8)(paddle.reshape(mixed, [-1, 6, 8]))


def tokens(x):
    """All positions of all rows in one axis, and back."""
    flat = F.gelu(paddle.nn.Linear(4, 3)(paddle.reshape(x, [-1, 4])))
    return paddle.reshape(flat, [-1, 18]), paddle.argmax(x, axis=1)


def looked_up(x):
    words = paddle.cast(paddle.abs(x) * 3.0, "int64")
    return paddle.sum(paddle.nn.Embedding(30, 4)(words), axis=1)


def between(x):
    """An instruction that has no code lies between two regions."""
    return paddle.tanh(paddle.sort(paddle.tanh(x) * 2.0, axis=1) + 1.0)


NETWORKS = [mlp, convolved, attention, tokens, looked_up, between]


def mixed(x):
    return paddle.reshape(x, [8, -1]) * 2.0


def centred(x):
    return x - paddle.mean(x, axis=0, keepdim=True)


def normalised(x):
    return paddle.nn.BatchNorm1D(24)(x)


def dropped(x):
    return F.dropout(x, 0.5)


def cut(x):
    return x[:20] * 2.0


def joined(x):
    return paddle.concat([x[:20], x[20:] * 3.0], axis=0)


def set_beyond(x):
    return paddle.static.setitem(x * 1.0, (slice(20, None),), 0.0)


def shared(x):
    return x / paddle.cast(paddle.shape(x)[0], "float32")


def trained(x):
    loss = paddle.mean(paddle.nn.Linear(24, 1)(x) ** 2)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return loss


REFUSED = [
    (mixed, "reshape2"),
    (centred, "`reduce_mean` reads the whole batch"),
    (normalised, "a value of the scope is updated"),
    (dropped, "random numbers"),
    (cut, "slice"),
    (joined, "slice"),
    (set_beyond, "depends on the place in the batch"),
    (shared, "shape"),
    (trained, "a value of the scope is updated"),
]


class Case:
    """A network with a batch of any size as its input."""

    def __init__(self, network):
        self.main, startup = paddle.static.Program(), paddle.static.Program()
        startup.random_seed = 7
        with paddle.static.program_guard(self.main, startup):
            found = network(paddle.static.data("x", [None, 24]))
        self.fetches = [*found] if isinstance(found, tuple) else [found]
        self.executor, self.scope = paddle.static.Executor(), paddle.static.Scope()
        with paddle.static.scope_guard(self.scope):
            self.executor.run(startup)

    def run(self, x):
        return self.executor.run(
            self.main, feed={"x": x}, fetch_list=self.fetches, scope=self.scope
        )

    def tier(self):
        """How the plan runs that was made last."""
        return [b.tier for b in self.main.plans.values() if b.tier is not None][-1]

    def sliced(self):
        """The one plan in slices."""
        (found,) = self.tier().slices.values()
        return found


def rows(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 24), np.float32)


def agree(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        assert x.shape == y.shape and x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda n: n.__name__)
def test_any_size_gives_what_the_instructions_give(network):
    case = Case(network)
    wanted = {}
    for count in (*SIZES, 65):
        wanted[count] = case.run(rows(count))
    with flags(COMPILE="eager", BATCH_SLICES="always"):

        @settings(max_examples=8)
        @given(st.integers(1, 70), st.integers(0, 9))
        def sizes(count, seed):
            x = rows(count, seed)
            found = case.run(x)
            with flags(COMPILE="off"):
                agree(found, case.run(x))

        sizes()
        for count, value in wanted.items():
            agree(case.run(rows(count)), value)
            assert not case.tier().variants and not case.sliced().refusal
        for row in case.sliced().steps:
            assert isinstance(row[0], SlicedCall) or network is between
        assert case.sliced().sizes <= {1, 2, 4, 8, 16, 32}


@pytest.mark.parametrize(("network", "reason"), REFUSED, ids=lambda x: getattr(x, "__name__", ""))
def test_what_mixes_rows_is_refused_with_the_reason(network, reason):
    case = Case(network)
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        found = case.run(rows(40))
        assert reason in case.sliced().refusal and case.tier().variants
    if network is not dropped:
        case = Case(network)
        agree(found, case.run(rows(40)))


def test_slices_of_one_size_give_the_bits_of_code_for_that_size():
    case, x = Case(attention), rows(64)
    with flags(COMPILE="eager", BATCH_SLICES="never"):
        halves = [case.run(x[:32])[0], case.run(x[32:])[0]]
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        assert np.array_equal(case.run(x)[0], np.concatenate(halves))


@pytest.fixture
def made(monkeypatch):
    """The regions that machine code was made of."""
    found = []
    original = native.modules_of

    def noted(*arguments):
        found.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(native, "modules_of", noted)
    with flags(CACHE_DIR="off"):
        yield found


def test_beyond_eight_sizes_few_more_are_compiled(made):
    case = Case(mlp)
    with flags(COMPILE="eager"):
        for count in range(1, 9):
            case.run(rows(count))
        assert len(made) == 8 and not case.tier().slices
        for count in range(9, 120):
            case.run(rows(count))
        assert case.sliced().sizes == {1, 2, 4, 8, 16, 32} and len(made) == 8 + 6
        for count in (9, 77, 119, 300):
            case.run(rows(count))
        assert len(made) == 8 + 6


def test_sizes_that_are_not_the_batch_have_plans_of_their_own():
    case = Case(mlp)
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        case.run(rows(5))
        case.main.global_block().var("x").shape = [-1, -1]
        found = case.executor.run(
            case.main, feed={"x": rows(5)}, fetch_list=case.fetches, scope=case.scope
        )
        assert len(case.tier().slices) == 1
    agree(found, case.run(rows(5)))


def test_while_code_is_made_in_the_background_the_instructions_answer():
    case = Case(mlp)
    with flags(COMPILE="tiered", CACHE_DIR="off"):
        for count in range(1, 13):
            case.run(rows(count))
        assert not case.tier().variants and case.sliced().task is not None
        assert background().wait(timeout=60)
        for _ in range(2):
            found = case.run(rows(12))
            assert background().wait(timeout=60)
        steps = case.sliced().steps
        assert case.tier().steps(frame_of(case, rows(12))) is steps
    agree(found, case.run(rows(12)))


def frame_of(case, x):
    """What a run begins with."""
    (bound,) = [b for b in case.main.plans.values() if b.tier is case.tier()]
    frame = bound.blank.copy()
    frame[bound.feeds[0].slot] = x
    for cell, slot in bound.cells:
        frame[slot] = cell.value
    return frame


def test_nothing_and_too_much_have_no_slices(monkeypatch):
    monkeypatch.setattr(sliced, "WITNESSES", (11, 97))
    case = Case(tokens)
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        none, many = case.run(rows(0)), case.run(rows(98))
        assert not case.tier().slices
    assert [x.shape[0] for x in none] == [0, 0]
    agree(many, case.run(rows(98)))


def test_inputs_of_several_heights_are_no_batch():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x, y = (paddle.static.data(n, [None, 4]) for n in "xy")
        out = paddle.tanh(x) * y
    exe, one = paddle.static.Executor(), np.full([1, 4], 3.0, "float32")
    x = np.random.default_rng(0).standard_normal((6, 4), np.float32)
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        (found,) = exe.run(main, feed={"x": x, "y": one}, fetch_list=[out])
        (both,) = exe.run(main, feed={"x": x, "y": x}, fetch_list=[out])
        (tiers,) = [b.tier for b in main.plans.values()]
        assert len(tiers.slices) == 1 and len(tiers.variants) == 1
    np.testing.assert_allclose(found, np.tanh(x) * 3.0, rtol=1e-5)
    np.testing.assert_allclose(both, np.tanh(x) * x, rtol=1e-5)


def test_sequences_with_levels_of_detail_are_no_batch():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [None, 2], lod_level=1)
        out = paddle.static.nn.sequence_pool(x * 2.0, "sum")
    exe = paddle.static.Executor()
    values = np.arange(10, dtype="float32").reshape(5, 2)
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        for lengths in ([2, 3], [5], [1, 1, 3]):
            fed = paddle.base.create_lod_tensor(values, [lengths], paddle.CPUPlace())
            (found,) = exe.run(main, feed={"x": fed}, fetch_list=[out])
            ends = np.cumsum([0, *lengths])[:-1]
            np.testing.assert_allclose(found, np.add.reduceat(values * 2, ends))
        tiers = [b.tier for b in main.plans.values() if b.tier is not None]
        assert all(t.batches.refusal and not t.slices for t in tiers)


def test_an_index_out_of_range_is_told_as_the_operator_tells_it():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        words = paddle.static.data("words", [None, 3], "int64")
        out = paddle.nn.Embedding(10, 4)(words) * 2.0
    exe = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        with flags(COMPILE="eager", BATCH_SLICES="always"):
            bad = np.zeros([13, 3], "int64")
            assert exe.run(main, feed={"words": bad}, fetch_list=[out])[0].shape == (13, 3, 4)
            bad[12, 1] = 10
            with pytest.raises(RangeError, match="index 10 is outside"):
                exe.run(main, feed={"words": bad}, fetch_list=[out])


def test_arrays_with_strides_are_taken():
    case, x = Case(mlp), np.asfortranarray(rows(13))
    with flags(COMPILE="eager", BATCH_SLICES="always"):
        found = case.run(x)
        assert case.sliced().steps
    agree(found, case.run(x))


def test_threads_share_the_code():
    case = Case(convolved)
    wanted = {count: case.run(rows(count)) for count in range(1, 20)}
    wrong = []

    def work(seed):
        for count in np.random.default_rng(seed).permutation(range(1, 20)):
            try:
                agree(case.run(rows(count)), wanted[count])
            except BaseException as error:
                wrong.append(error)

    with flags(COMPILE="eager", BATCH_SLICES="always"):
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert case.sliced().sizes <= {1, 2, 4, 8, 16}
    assert not wrong


def test_a_predictor_stays_on_machine_code(tmp_path, made):
    paddle.disable_static()
    layer = paddle.nn.Sequential(paddle.nn.Linear(24, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 3))
    layer.eval()
    path = str(tmp_path / "net")
    spec = paddle.static.InputSpec([None, 24], "float32")
    paddle.jit.save(layer, path, input_spec=[spec])
    with flags(COMPILE="eager"):
        config = paddle.inference.Config(f"{path}.pdmodel", f"{path}.pdiparams")
        predictor = paddle.inference.create_predictor(config)
        for count in range(1, 60):
            (found,) = predictor.run([rows(count)])
            np.testing.assert_allclose(
                found, layer(paddle.to_tensor(rows(count))), rtol=1e-4, atol=1e-5
            )
        assert len(made) <= tier.MOST_VARIANTS + 6


def test_another_word_for_slices_is_refused():
    case = Case(mlp)
    with flags(COMPILE="eager", BATCH_SLICES="often"), pytest.raises(ArgumentError, match="beyond"):
        case.run(rows(2))
