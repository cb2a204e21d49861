"""Eager mode on machine code: what NumPy gives, the same in every run, and NumPy where it must."""

import importlib.util
import threading

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.core.attribute import normalised
from scull.core.op import as_outputs, by_name
from scull.core.tensor import Rows
from scull.eager import prefer
from scull.eager.native import Made
from scull.eager.prefer import Preferring
from scull.eager.threshold import LEAST
from scull.errors import RangeError, ShapeError
from scull.flags import flags
from tests.ops.case import flat
from tests.ops.closeness import check_close
from tests.ops.sample import SAMPLES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
FORWARD = sorted(n for n in LEAST if n in SAMPLES and not by_name()[n].in_place)


@pytest.fixture(autouse=True)
def no_kernels():
    """None are there of tests before."""
    prefer.preferring.cache_clear()


@pytest.fixture
def all_sizes(monkeypatch):
    """Machine code for the smallest operands, too."""
    monkeypatch.setattr(prefer, "LEAST", dict.fromkeys(LEAST, 0))


def number_made(name):
    """How many kernels of an operator there are."""
    eager = by_name()[name].eager
    return sum(isinstance(x, Made) for x in eager.known.values())


@pytest.mark.parametrize("name", FORWARD)
def test_samples_give_what_numpy_gives(name):
    op = by_name()[name]
    prefers = Preferring(op, 0)
    with flags(COMPILE="eager"):
        for sample in SAMPLES[name]():
            if sample.error or any(x.dtype.kind not in "fib" for x in flat(sample.inputs)):
                continue
            given = {**op.attrs, **sample.attrs}
            attrs = {n: normalised(op.kinds[n], n, v) for n, v in given.items()}
            with np.errstate(all="ignore"):
                want = as_outputs(op, op.cpu(*sample.inputs, **attrs))
            check_close(as_outputs(op, prefers(*sample.inputs, **attrs)), want, str(sample))
    made = sum(isinstance(x, Made) for x in prefers.known.values())
    assert made > 0


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Conv2D(2, 8, 3, padding=1, bias_attr=False)
        self.second = paddle.nn.Conv2D(8, 8, 3, 2)
        self.norm, self.rows = paddle.nn.BatchNorm2D(8), paddle.nn.LayerNorm(72)
        self.last = paddle.nn.Linear(72, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        x = F.gelu(self.rows(paddle.flatten(self.second(x), 1)))
        return F.softmax(self.last(x)) * 4.0


OPTIMIZERS = {
    "adam": paddle.optimizer.Adam,
    "adamw": paddle.optimizer.AdamW,
    "momentum": paddle.optimizer.Momentum,
    "sgd": paddle.optimizer.SGD,
}


def trained(mode, optimizer="adam", threads=1):
    """The losses of some steps, and the parameters after them."""
    with flags(COMPILE=mode, NUM_THREADS=threads):
        paddle.seed(3)
        net = Net()
        update = OPTIMIZERS[optimizer](0.01, parameters=net.parameters())
        rng, losses = np.random.default_rng(0), []
        for _ in range(4):
            x = paddle.to_tensor(rng.standard_normal((6, 2, 8, 8)).astype("float32"))
            loss = F.cross_entropy(net(x), paddle.to_tensor(rng.integers(0, 5, 6)))
            loss.backward()
            update.step()
            update.clear_grad()
            losses.append(loss.numpy())
        return losses, [p.numpy() for p in net.parameters()]


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_follows_that_of_numpy(optimizer):
    want, got = trained("off", optimizer), trained("eager", optimizer)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-5)
    for x, y in zip(got[1], want[1], strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-5)


@pytest.mark.usefixtures("all_sizes")
def test_every_run_has_the_same_bits_on_any_number_of_threads():
    first = trained("eager")
    for threads in (1, 2, 8):
        for xs, ys in zip(trained("eager", threads=threads), first, strict=True):
            for x, y in zip(xs, ys, strict=True):
                np.testing.assert_array_equal(x, y)


def sequences(mode, layer, steps):
    """What a recurrent layer shows of sequences that end at their own places, and its gradients."""
    with flags(COMPILE=mode):
        paddle.seed(5)
        net = layer(5, 16, num_layers=2, direction="bidirect")
        x = paddle.to_tensor(np.random.default_rng(steps).standard_normal((3, steps, 5)), "float32")
        x.stop_gradient = False
        shown, last = net(x, sequence_length=paddle.to_tensor([steps, 1, steps - 1]))
        last = last if isinstance(last, tuple) else (last,)
        sum((v * v).sum() for v in (shown, *last)).backward()
        return [v.numpy() for v in (shown, *last, x.grad, *(p.grad for p in net.parameters()))]


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (paddle.nn.LSTM, ("lstm_step", "lstm_step_back")),
        (paddle.nn.GRU, ("gru_step", "gru_step_back")),
        (paddle.nn.SimpleRNN, ("tanh_step", "tanh_step_back")),
    ],
)
@pytest.mark.usefixtures("all_sizes")
def test_steps_of_recurrent_layers_are_machine_code_for_any_length(layer, names):
    for steps in (4, 7):
        got, want = sequences("eager", layer, steps), sequences("off", layer, steps)
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    with flags(COMPILE="eager"):
        assert [number_made(n) for n in names] == [1, 1]


@pytest.mark.usefixtures("all_sizes")
def test_hot_operators_and_their_gradients_are_machine_code():
    with flags(COMPILE="eager"):
        trained("eager", "momentum")
        used = {n for n in LEAST if number_made(n)}
    assert used >= {
        "conv2d",
        "convolution_to_filter",
        "convolution_to_input",
        "batch_norm",
        "batch_norm_grad",
        "layer_norm",
        "layer_norm_grad",
        "gelu",
        "gelu_grad",
        "softmax",
        "momentum",
    }


def test_small_operands_are_for_numpy():
    with flags(COMPILE="eager"):
        F.gelu(paddle.ones([16]))
        assert number_made("gelu") == 0
        F.gelu(paddle.ones([LEAST["gelu"]]))
        assert number_made("gelu") == 1


def test_products_are_machine_code_up_to_a_size(monkeypatch):
    monkeypatch.setitem(prefer.MOST, "matmul", 128 * 128)
    with flags(COMPILE="eager"):
        for size, made in ((16, 0), (128, 1), (160, 1)):
            x = paddle.rand([size, size])
            found = paddle.matmul(x, x).numpy()
            np.testing.assert_allclose(found, x.numpy() @ x.numpy(), rtol=1e-5)
            assert number_made("matmul") == made


@pytest.mark.parametrize("name", ["gelu", "silu"])
def test_without_the_setting_kernels_are_those_of_numpy(name):
    op = by_name()[name]
    before = op.short
    with flags(COMPILE="eager"):
        assert isinstance(op.eager, Preferring)
    assert op.eager is op.cpu
    assert op.short is before


@pytest.mark.usefixtures("all_sizes")
def test_operators_without_attributes_are_machine_code():
    with flags(COMPILE="eager"):
        F.silu(paddle.ones([16]))
        assert number_made("silu") == 1


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("mode", ["eager", "tiered"])
def test_a_call_that_is_repeated_has_the_same_bits(mode):
    x = paddle.to_tensor(np.linspace(-3, 3, 48, dtype="float32").reshape(6, 8))
    with flags(COMPILE=mode):
        found = [F.softmax(x).numpy().tobytes() for _ in range(5)]
        assert number_made("softmax") == 1
    assert len(set(found)) == 1


@pytest.mark.usefixtures("all_sizes")
def test_arrays_with_strides_are_taken():
    x = np.random.default_rng(0).standard_normal((8, 6)).astype("float32")
    with flags(COMPILE="eager"):
        found = F.gelu(paddle.to_tensor(x).t())
        assert number_made("gelu") == 1
    np.testing.assert_allclose(found.numpy(), F.gelu(paddle.to_tensor(x)).numpy().T, rtol=1e-5)


@pytest.mark.usefixtures("all_sizes")
def test_other_element_types_are_for_numpy():
    with flags(COMPILE="eager"):
        paddle.where(paddle.ones([8], "bool"), paddle.ones([8], "int8"), paddle.ones([8], "int8"))
        assert number_made("where") == 0


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["gelu", "softmax", "layer_norm", "linear", "matmul", "conv2d"])
def test_half_precision_is_computed_in_float32_and_rounded_once(name, dtype):
    generator = np.random.default_rng(0)
    shapes = {"linear": [(40, 64), (64, 48)], "matmul": [(40, 64), (64, 48)]}
    shapes["conv2d"] = [(2, 8, 9, 9), (16, 8, 3, 3)]
    rows = lambda x: F.layer_norm(x, 64)  # noqa: E731
    function = {"matmul": paddle.matmul, "layer_norm": rows}.get(name) or getattr(F, name)
    given = [generator.standard_normal(s) for s in shapes.get(name, [(30, 64)])]
    given = [paddle.to_tensor(x.astype("float32")).astype(dtype) for x in given]

    def computed(operands):
        operands = [x.detach() for x in operands]
        for x in operands:
            x.stop_gradient = False
        out = function(*operands)
        return [x.astype("float32").numpy() for x in (out, *paddle.grad(out * out, operands))]

    with flags(COMPILE="eager"):
        found = computed(given)
        assert number_made(name) == (3 if name == "matmul" else 1)  # gradients are products, too
    step = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    for ours, numpys in zip(found, computed(given), strict=True):
        np.testing.assert_allclose(ours, numpys, rtol=step, atol=step * np.abs(numpys).max())


def table_gradients(ids, dtype, **options):
    """The gradients of a table of 40 rows, looked up and gathered from."""
    generator = np.random.default_rng(0)
    w = paddle.to_tensor(generator.standard_normal((40, 12)).astype("float32")).astype(dtype)
    w.stop_gradient = False
    given = generator.standard_normal((len(ids), 12)).astype("float32")
    given, ids = paddle.to_tensor(given).astype(dtype), paddle.to_tensor(ids)
    reads = (F.embedding(ids, w, **options), paddle.gather(w, ids))
    return [paddle.grad(found, w, given)[0].array for found in reads]


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("many", [1, 5, 500])
def test_gradients_of_tables_have_the_bits_of_numpy(many, padding, dtype):
    ids = np.random.default_rng(many).integers(0, 40, many)
    ids[-1] = 3
    want = table_gradients(ids, dtype, padding_idx=padding)
    with flags(COMPILE="eager"):
        found = table_gradients(ids, dtype, padding_idx=padding)
        assert (number_made("scatter_rows"), number_made("scatter_axis")) == (1, 1)
    assert [x.tobytes() for x in found] == [x.tobytes() for x in want]
    assert [x.dtype for x in found] == [x.dtype for x in want]


ADDING = {
    "scatter_nd_add": lambda x, ids, rows: paddle.scatter_nd_add(x, ids.unsqueeze(-1), rows),
    "index_add": lambda x, ids, rows: paddle.index_add(x, ids, 0, rows),
    "scatter": lambda x, ids, rows: paddle.scatter(x, ids, rows, overwrite=False),
}


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", ADDING)
def test_rows_are_added_with_the_bits_of_numpy(name, dtype):
    generator = np.random.default_rng(0)
    x, rows = generator.standard_normal((2, 40, 12)).astype("float32")
    x, rows = (paddle.to_tensor(v).astype(dtype) for v in (x, rows))
    ids = paddle.to_tensor(generator.integers(0, 40, 40))
    want = ADDING[name](x, ids, rows)
    with flags(COMPILE="eager"):
        found = ADDING[name](x, ids, rows)
        assert number_made(name) == 1
        with pytest.raises(RangeError, match=r"index 40 is outside \[0, 40\)"):
            ADDING[name](x, paddle.concat([ids[1:], paddle.to_tensor([40])]), rows)
    assert found.dtype == want.dtype
    assert found.array.tobytes() == want.array.tobytes()


def places_and_gradient(x, *indices):
    """What integers pick, and where its gradient is added."""
    x = paddle.to_tensor(x, stop_gradient=False)
    found = x[tuple(paddle.to_tensor(v) for v in indices)]
    return [v.array for v in (found, *paddle.grad((found * found).sum(), x))]


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("count", [1, 2])
def test_elements_that_integers_pick_have_the_bits_of_numpy(count):
    generator = np.random.default_rng(0)
    x = generator.standard_normal((9, 7, 3)).astype("float32")
    indices = generator.integers(-7, 7, (count, 5, 8))
    want = places_and_gradient(x, *indices)
    with flags(COMPILE="eager"):
        found = places_and_gradient(x, *indices)
        assert (number_made("index_get"), number_made("index_put")) == (1, 1)
        indices[-1, 3, 3] = (9, 7)[count - 1]
        with pytest.raises(RangeError, match="outside"):
            places_and_gradient(x, *indices)
        places_and_gradient(x, x[..., 0] > 0)  # how many a mask picks depends on values
        assert (number_made("index_get"), number_made("index_put")) == (1, 1)
    assert [v.tobytes() for v in found] == [v.tobytes() for v in want]


@pytest.mark.usefixtures("all_sizes")
def test_rows_outside_of_a_table_are_refused_as_always():
    for mode in ("off", "eager"):
        for outside in (-1, 40):
            with flags(COMPILE=mode), pytest.raises(RangeError, match=f"index {outside} is"):
                table_gradients(np.array([3, outside]), "float32")


@pytest.mark.usefixtures("all_sizes")
def test_a_row_sparse_gradient_of_a_table_stays_row_sparse():
    with flags(COMPILE="eager"):
        found, _ = table_gradients(np.array([3, 7, 3]), "float32", sparse=True)
        assert number_made("scatter_rows") == 0
    assert isinstance(found, Rows)
    assert found.rows.tolist() == [3, 7, 3]


@pytest.mark.usefixtures("all_sizes")
def test_mistakes_are_told_as_always():
    x, w = paddle.ones([1, 3, 8, 8]), paddle.ones([4, 2, 3, 3])
    with pytest.raises(ShapeError) as plain:
        F.conv2d(x, w)
    with flags(COMPILE="eager"), pytest.raises(ShapeError) as found:
        F.conv2d(x, w)
    texts = [str(each.value).rsplit("\n  at", 1)[0] for each in (plain, found)]
    assert texts[0] == texts[1]


def gelu_of(sizes):
    """How many kernels there are after calls with operands of these sizes."""
    for n in sizes:
        F.gelu(paddle.zeros([n]))
    return number_made("gelu")


@pytest.mark.usefixtures("all_sizes")
def test_sizes_that_do_not_come_back_get_no_more_code():
    with flags(COMPILE="eager"):
        assert gelu_of(range(1, 31)) == prefer.MOST_NEW
        assert gelu_of([31] * (prefer.OFTEN - 1)) == prefer.MOST_NEW
        assert gelu_of([31]) == prefer.MOST_NEW + 1  # it came often
        assert gelu_of([32, 33]) == prefer.MOST_NEW + 1
        assert gelu_of([1] * 2 * prefer.MOST_NEW) == prefer.MOST_NEW + 1
        assert gelu_of([32, 33, 34]) == prefer.MOST_NEW + 3  # what there is was used


@pytest.mark.usefixtures("all_sizes")
def test_so_many_sizes_have_code_and_no_more(monkeypatch):
    monkeypatch.setattr(prefer, "MOST_SIZES", 3)
    with flags(COMPILE="eager"):
        for n in range(1, 7):
            x = np.linspace(-2, 2, n, dtype="float32")
            want = by_name()["gelu"].cpu(x, approximate=False)
            np.testing.assert_allclose(F.gelu(paddle.to_tensor(x)).numpy(), want, 1e-5, 1e-6)
        assert number_made("gelu") == 3


@pytest.mark.usefixtures("all_sizes")
def test_threads_of_python_call_the_same_kernel_at_once():
    rng = np.random.default_rng(0)
    given = [rng.standard_normal((8, 2, 12, 12)).astype("float32") for _ in range(4)]
    net = paddle.nn.Conv2D(2, 8, 3, padding=1)
    with paddle.no_grad():
        want = [net(paddle.to_tensor(x)).numpy() for x in given]
    bad = []

    def work(number):
        with paddle.no_grad():
            for _ in range(60):
                found = net(paddle.to_tensor(given[number])).numpy()
                if not np.allclose(found, want[number], 1e-4, 1e-5):
                    bad.append(number)

    with flags(COMPILE="eager", NUM_THREADS=2):
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert not bad


def test_without_llvm_numpy_computes(monkeypatch):
    monkeypatch.setattr(prefer, "available", lambda: False)
    with flags(COMPILE="eager"):
        found = by_name()["gelu"].eager(np.ones([LEAST["gelu"]], "float32"), approximate=False)
        assert not number_made("gelu")
    np.testing.assert_allclose(found, 0.8413447, rtol=1e-6)


def test_updates_are_in_place():
    size = LEAST["sgd"]
    with flags(COMPILE="eager"):
        w = paddle.create_parameter([size], "float32")
        array, before = w.array, w.numpy()
        update = paddle.optimizer.SGD(0.5, parameters=[w])
        (w * 2.0).sum().backward()
        update.step()
        assert number_made("sgd") == 1
        assert w.array is array
    np.testing.assert_allclose(w.numpy(), before - 1.0, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("sides", [8, 64])
def test_what_is_no_number_counts_the_same_at_every_size(sides):
    image = np.zeros((1, 1, sides, sides), "float32")
    image[0, 0, 0, :2] = np.nan, np.inf
    grid = np.full((1, sides, sides, 2), 1.9, "float32")
    grid[0, 0, 0], grid[0, 0, 1] = np.nan, np.inf

    def found(mode):
        with flags(COMPILE=mode):
            x, at = (paddle.to_tensor(v, stop_gradient=False) for v in (image, grid))
            read, largest = F.grid_sample(x, at), F.max_pool2d(x, 2)
            gradients = [paddle.grad(y.sum(), [x])[0] for y in (read, largest)]
            return [v.numpy() for v in (read, largest, *gradients)]

    for ours, numpys in zip(found("eager"), found("off"), strict=True):
        np.testing.assert_array_equal(ours, numpys)
