"""A model as a pure function of arrays: inputs, outputs, values, threads, memory."""

import gc
import os
import sys
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import FeedError, ResourceError, RunError, ShapeError, UnknownOpError
from scull.files import proto
from scull.flags import flags
from scull.inference import Config, create_predictor
from scull.passes.selection import INFERENCE
from scull.runtime import blas
from tests.inference.models import data, loop, opened, perceptron, residual, saved

X = np.arange(12, dtype="float32").reshape(3, 4)


@pytest.fixture
def predictor(tmp_path):
    return opened(tmp_path, perceptron)


def by_hand(predictor, x):
    values = [cell.value for cell in predictor.function.scope.cells.values()]
    w, b, v, c = (next(x for x in values if x.shape == s) for s in ((4, 8), (8,), (8, 2), (2,)))
    return np.maximum(x @ w + b, 0) @ v + c


def test_arrays_in_order_by_name_and_in_a_dictionary_give_one_array(predictor):
    expected = by_hand(predictor, X)
    for found in (predictor(X), predictor(x=X), predictor({"x": X}), predictor(X.tolist())):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(predictor(paddle.to_tensor(X)), expected)
    (found,) = predictor.run([X])
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, expected)


def test_several_outputs_come_as_a_list(tmp_path):
    x = np.ones((1, 2, 5, 5), "float32")
    y, mean = opened(tmp_path, residual)(x)
    assert y.shape == (1, 2, 5, 5) and mean.shape == (1, 2)


@pytest.mark.parametrize("make", [perceptron, residual])
def test_inputs_are_read_where_they_are_and_not_kept(tmp_path, make):
    predictor = opened(tmp_path, make)
    shape = (3, 8) if make is perceptron else (2, 2, 4, 8)
    x = np.random.default_rng(0).random(shape).astype("float32")[..., ::2]
    expected = predictor.run([x.copy()])
    kept = x.copy()
    x.flags.writeable = False
    for found, value in zip(predictor.run([x]), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5)
    np.testing.assert_array_equal(x, kept)
    gone = weakref.ref(x)
    del x
    assert gone() is None


def reshaped():
    x = data("x", [None, 4])
    return [x], [x.reshape([-1, 2])]


def handed_on():
    x = data("x", [None, 4])
    w = paddle.static.create_parameter([4], "float32")
    return [x], [paddle.assign(x), w, paddle.transpose(x, [1, 0]), x[0]]


@pytest.mark.parametrize("make", [reshaped, handed_on, perceptron])
@pytest.mark.parametrize("without", [(), INFERENCE])
def test_outputs_are_new_arrays_of_the_caller(tmp_path, make, without):
    predictor = opened(tmp_path, make, without=without)
    first = predictor.run([X])
    kept = [v.copy() for v in first]
    for value in first:
        assert not np.shares_memory(value, X)
        value[...] = -1.0
    for value, expected in zip(predictor.run([X]), kept, strict=True):
        np.testing.assert_array_equal(value, expected)
    assert X[0, 0] == 0


def counting():
    """A model whose operators write over values that are saved."""
    x = data("x", [None, 2, 3, 3])
    count = paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    paddle.increment(count)
    y = paddle.static.nn.batch_norm(x, is_test=False)
    return [x], [y, count + 0.0]


@pytest.mark.parametrize("without", [(), ("is_test_pass",)])
def test_a_call_leaves_the_values_as_they_are(tmp_path, without):
    predictor = opened(tmp_path, counting, without=without)
    cells = predictor.function.scope.cells
    before = {name: cell.value.copy() for name, cell in cells.items()}
    x = np.random.default_rng(0).random((2, 2, 3, 3)).astype("float32")
    first, second = predictor(x), predictor(x)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    assert first[1].tolist() == [1.0]
    for name, cell in cells.items():
        np.testing.assert_array_equal(cell.value, before[name])
        with pytest.raises(ValueError, match="read-only"):
            cell.value[...] = 0


def random_inputs(make, generator):
    """Inputs of one of the models, in a random shape."""
    n, h, w = (int(i) for i in generator.integers(1, 6, 3))
    if make is perceptron:
        return [generator.random((n, 4)).astype("float32")]
    if make is residual:
        return [generator.random((n, 2, h, w)).astype("float32")]
    return [generator.random((n, 3)).astype("float32"), np.array([h])]


@pytest.mark.parametrize("make", [perceptron, residual, loop])
def test_many_threads_get_what_one_gets(tmp_path, make, request):
    """32 threads that call a thousand times each at night."""
    whole = request.config.getoption("--nightly")
    count, calls = (32, 1000) if whole else (8, 25)
    predictor, serial = opened(tmp_path, make), opened(tmp_path, make)
    begun = threading.Barrier(count)

    def work(seed):
        generator = np.random.default_rng(seed)
        begun.wait()
        return [predictor.run(random_inputs(make, generator)) for _ in range(calls)]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(count) as pool:
            found = list(pool.map(work, range(count)))
    finally:
        sys.setswitchinterval(before)
    for seed, rows in enumerate(found):
        generator = np.random.default_rng(seed)
        for row in rows:
            for a, b in zip(row, serial.run(random_inputs(make, generator)), strict=True):
                np.testing.assert_array_equal(a, b)


def test_calls_overlap_and_read_the_callers_array(predictor):
    predictor(X)
    seen, both = [], threading.Barrier(2)

    def meeting(x):
        both.wait(10)  # which needs another call within the function
        seen.append(x)
        return x

    ready = predictor.function.ready
    predictor.function.ready = ready._replace(chain=(meeting, *ready.chain))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(predictor, [X, X]))
    assert all(x is X for x in seen) and len(seen) == 2
    np.testing.assert_array_equal(found[0], found[1])


def test_a_model_with_running_statistics_needs_no_turns(tmp_path):
    predictor = opened(tmp_path, residual)
    ready = predictor.function.prepared()
    assert ready.plain and ready.bound.turn is None and not ready.bound.stores


def unknown():
    """What computes nothing the loader knows."""
    x = data("x", [None, 4])
    return [x], [paddle.tanh(x)]


def test_operators_that_are_lacking_are_told_when_a_model_is_opened(tmp_path):
    path = saved(tmp_path, unknown)
    message = proto.ProgramDesc.FromString(Path(f"{path}.pdmodel").read_bytes())
    next(o for o in message.blocks[0].ops if o.type == "tanh").type = "unheard_of"
    Path(f"{path}.pdmodel").write_bytes(message.SerializeToString())
    with pytest.raises(UnknownOpError, match="no operator of type `unheard_of`"):
        create_predictor(Config(path))


def drawing():
    x = data("x", [None, 4])
    return [x], [x + paddle.uniform([4], min=0.0)]


def test_random_operators_draw_from_the_generator_of_the_process(tmp_path):
    predictor = opened(tmp_path, drawing)
    paddle.seed(7)
    first, second = predictor(X), predictor(X)
    assert not np.array_equal(first, second)
    paddle.seed(7)
    np.testing.assert_array_equal(predictor(X), first)


def test_a_row_of_steps_gives_what_the_plan_gives(predictor):
    expected = predictor(X)
    assert predictor.function.ready.chain is not None
    (found,) = predictor.function([X])
    np.testing.assert_array_equal(found, expected)
    with flags(LEDGER=True):  # under which a plan runs step by step
        np.testing.assert_array_equal(predictor(X), expected)
        assert predictor.function.ready.chain is None
    np.testing.assert_array_equal(predictor(X), expected)
    assert predictor.function.ready.chain is not None


def test_a_profiler_sees_the_operators_of_a_prediction(predictor):
    predictor(X)
    with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
        predictor(X)
    text = "\n".join(str(node) for node in walked(profiler))
    assert "matmul_v2" in text


def walked(profiler):
    """The names of all spans of a profile."""
    for root in profiler.profiler_result.get_data().values():
        yield from (node.name for node in root.walk())


def mismatched():
    x = data("x", [None, 4])
    y = data("y", [None, 4])
    return [x, y], [x * 2.0 + y]


def test_what_fails_within_names_the_operator_and_its_operands(tmp_path):
    predictor = opened(tmp_path, mismatched)
    with pytest.raises(ShapeError, match=r"in add[\s\S]*float32\[3, 4\]"):
        predictor(X, np.ones((2, 4), "float32"))
    np.testing.assert_array_equal(predictor(X, X), 3 * X)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (((X.astype("float64"),), {}), r"`x` is declared float32\[-1, 4\].*is float64"),
        (((X[:, :3],), {}), r"`x` is declared float32\[-1, 4\].*shape \[3, 3\]"),
        (((X, X), {}), r"takes 1 input, `x` \(float32\[-1, 4\]\); 2 came"),
        (((), {}), "`x` did not come"),
        (((X,), {"x": X}), "`x` came twice"),
        (((), {"z": X}), r"`z` is no input of the model; it takes 1 input, `x` \(float32"),
        (((np.array(["a"]),), {}), "no number"),
    ],
)
def test_a_wrong_input_is_told_with_what_was_expected(predictor, inputs, words):
    arguments, named = inputs
    for _ in range(2):  # before it is planned, and after
        with pytest.raises(FeedError, match=words):
            predictor(*arguments, **named)
    predictor(X)
    with pytest.raises(FeedError, match=words):
        predictor(*arguments, **named)


def test_a_model_of_jit_save_tells_other_sizes_than_declared_where_it_cannot_run(tmp_path):
    layer = paddle.nn.Linear(4, 2)
    spec = [paddle.static.InputSpec([2, 4], "float32", "x")]
    paddle.jit.save(layer, str(tmp_path / "net"), input_spec=spec)
    predictor = create_predictor(Config(str(tmp_path / "net")))
    assert predictor(X).shape == (3, 2)  # as in PaddlePaddle: it was declared for two rows
    words = r"`x` is declared float32\[2, 4\], the fed value has shape \[3, 3\]\nso .*columns"
    for _ in range(2):
        with pytest.raises(FeedError, match=words):
            predictor(X[:, :3])
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(X[:, :3].copy())
    with pytest.raises(FeedError, match=words):
        predictor.run()


def test_what_is_closed_is_not_used_and_clones_go_on(predictor):
    twin = predictor.clone()
    expected = predictor(X)
    with predictor as same:
        assert same is predictor
    for use in (
        lambda: predictor(X),
        lambda: predictor.run([X]),
        predictor.run,
        predictor.clone,
        predictor.get_input_names,
        predictor.memory_report,
        predictor.__enter__,
        lambda: predictor.get_output_handle("x"),
    ):
        with pytest.raises(RunError, match="the predictor is closed"):
            use()
    predictor.close()
    np.testing.assert_array_equal(twin(X), expected)
    values = weakref.ref(twin.function.scope)
    twin.close()
    gc.collect()
    assert values() is None


def test_values_and_runs_that_take_too_much_are_refused(tmp_path):
    values = 4 * (4 * 8 + 8 + 8 * 2 + 2)
    with pytest.raises(ResourceError, match=r"the values take \d+ bytes, and max_memory is 100"):
        opened(tmp_path, perceptron, max_memory=100)
    predictor = opened(tmp_path, perceptron, max_memory=values + 1000)
    few, many = predictor.memory_report({"x": (3, 4)}), predictor.memory_report({"x": (99, 4)})
    assert few.values == values and few.inputs == X.nbytes
    assert few.temporaries.size <= 1000 < many.temporaries.size
    np.testing.assert_array_equal(predictor(X), by_hand(predictor, X))
    with pytest.raises(ResourceError, match=f"the run takes {many.temporaries.size} bytes"):
        predictor(np.ones((99, 4), "float32"))
    np.testing.assert_array_equal(predictor(X), by_hand(predictor, X))
    with pytest.raises(ValueError, match="max_memory is -1"):
        create_predictor(Config("net"), max_memory=-1)


def test_a_report_of_memory_names_the_largest_values(predictor):
    report = predictor.memory_report()
    assert report.count == 4 and report.largest[0][1] == 128
    assert report.inputs is None and report.temporaries.size is None
    assert "unbounded because of `matmul_v2`" in str(report)
    text = str(predictor.memory_report({"x": X}))
    assert "inputs       48 bytes" in text and "limit        none" in text
    with pytest.raises(FeedError, match="no input `z`"):
        predictor.memory_report({"z": X})


def test_threads_are_the_cpus_that_may_be_used(tmp_path):
    config = Config("net")
    assert 1 <= config.cpu_math_library_num_threads() <= os.cpu_count()
    assert opened(tmp_path, perceptron).function.threads == config.cpu_math_library_num_threads()
    config.set_cpu_math_library_num_threads(3)
    assert config.cpu_math_library_num_threads() == 3
    with pytest.raises(ValueError, match="1 thread at least, not 0"):
        config.set_cpu_math_library_num_threads(0)


@pytest.mark.skipif(blas.threads() is None, reason="NumPy's BLAS does not tell its threads")
def test_products_of_matrices_keep_to_the_lowest_limit_of_all_runs():
    get = blas.threads().get
    before = get()
    with blas.at_most(before + 1):
        assert get() == before
        with blas.one_thread():
            assert get() == 1
        assert get() == before
    assert get() == before


def two_branches():
    x = data("x", [None, 256])
    halves = [paddle.nn.Linear(256, 256)(x) for _ in range(2)]
    return [x], [halves[0] + halves[1]]


def test_large_steps_run_side_by_side_to_the_same_bits(tmp_path):
    config = Config(saved(tmp_path, two_branches))
    config.set_cpu_math_library_num_threads(2)
    wide = create_predictor(config)
    config = Config(saved(tmp_path, two_branches))
    config.set_cpu_math_library_num_threads(1)
    narrow = create_predictor(config)
    x = np.random.default_rng(0).random((32, 256)).astype("float32")
    with blas.one_thread():  # sums of a library may depend on how many threads it has itself
        found = [wide(x) for _ in range(3)]
        expected = narrow(x)
    assert wide.function.ready.bound.threads == 2 and not wide.function.ready.plain
    for value in found:
        np.testing.assert_array_equal(value, expected)


def test_memory_is_flat_however_many_predictions_there_are(predictor, nightly):
    """A hundred thousand at night."""
    for _ in range(100):
        predictor(X)
        predictor.run([X])
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(50_000 if nightly > 1 else 500):
            predictor(X)
            predictor.run([X])
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 4096
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system lists no open files")
def test_predictors_that_are_created_and_closed_leave_nothing(tmp_path, nightly):
    """A thousand at night."""
    path = saved(tmp_path, two_branches)

    def used():
        with create_predictor(Config(path)) as predictor:
            predictor(np.ones((1, 256), "float32"))

    def counts():
        gc.collect()
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    for _ in range(3):
        used()
    before = counts()
    tracemalloc.start()
    try:
        used()
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        for _ in range(1000 if nightly > 1 else 10):
            used()
        after = counts()  # fewer than before, if what earlier tests left has ended meanwhile
        assert all(now <= then for now, then in zip(after, before, strict=True)), (after, before)
        left = tracemalloc.get_traced_memory()[0] - first
        assert left < 200_000  # the values of one of them take more than twice as much
    finally:
        tracemalloc.stop()


def test_what_depends_on_weights_alone_is_laid_out_once(tmp_path):
    paddle.seed(0)
    layers = (paddle.nn.Conv2D(3, 16, 3, padding=1), paddle.nn.ReLU(), paddle.nn.Conv2D(16, 32, 3))
    net = paddle.nn.Sequential(*layers)
    paddle.jit.save(net, str(tmp_path / "net"), [paddle.static.InputSpec([None, 3, 9, 9])])
    rng = np.random.default_rng(0)
    images = [rng.normal(size=(n, 3, 9, 9)).astype("float32") for n in (1, 2, 1, 2)]
    with flags(COMPILE="eager"):
        config = paddle.inference.Config(f"{tmp_path}/net.pdmodel", f"{tmp_path}/net.pdiparams")
        predictor = paddle.inference.create_predictor(config)
        found = [predictor(x) for x in images]
    for x, y in zip(images, found, strict=True):
        np.testing.assert_allclose(y, net(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)
    rows = predictor.function.ready.bound.tier.variants.values()
    regions = [row[0].native.region for steps in rows for row in steps if hasattr(row[0], "native")]
    assert [len(region.once) for region in regions] == [2, 2]  # the filters of both


def test_all_threads_read_weights_as_they_were_laid_out_once(tmp_path):
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Conv2D(8, 64, 3), paddle.nn.Conv2D(64, 64, 3))
    paddle.jit.save(net, str(tmp_path / "net"), [paddle.static.InputSpec([1, 8, 6, 6])])
    rng = np.random.default_rng(0)
    images = [rng.normal(size=(1, 8, 6, 6)).astype("float32") for _ in range(8)]
    with flags(COMPILE="eager"):
        predictor = create_predictor(Config(str(tmp_path / "net")))
        with ThreadPoolExecutor(len(images)) as threads:
            found = list(threads.map(predictor, images))
    for x, y in zip(images, found, strict=True):
        np.testing.assert_allclose(y, net(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)
    (steps,) = predictor.function.ready.bound.tier.variants.values()
    (call,) = [row[0] for row in steps if hasattr(row[0], "native")]
    filters = sum(p.size * 4 for p in net.parameters() if p.ndim == 4)
    assert filters <= call.native.lasts == call.lasting.nbytes
    assert call.native.arena < filters  # what each thread has of its own


@pytest.mark.parametrize("batch", [1, 8, 50])
def test_large_weights_in_panels_multiply_as_they_would_where_they_lay(batch, tmp_path):
    paddle.seed(0)
    layers = (paddle.nn.Linear(512, 1024), paddle.nn.GELU(), paddle.nn.Linear(1024, 192))
    net = paddle.nn.Sequential(*layers)
    paddle.jit.save(net, str(tmp_path / "net"), [paddle.static.InputSpec([None, 512])])
    x = np.random.default_rng(0).normal(size=(batch, 512)).astype("float32")
    found = []
    for mode in ("eager", "off"):
        with flags(COMPILE=mode):
            found.append(create_predictor(Config(str(tmp_path / "net")))(x))
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
