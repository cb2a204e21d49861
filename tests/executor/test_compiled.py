"""Programs as machine code: what they give, what they leave to the instructions, what they cost."""

import importlib.util
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.errors import ArgumentError, RangeError
from scull.executor import compiled
from scull.executor.call import Call
from scull.flags import flags
from scull.runtime.background import background

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def program_of(build):
    """A main and a startup Program, and what `build` returns."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    main.random_seed = startup.random_seed = 7
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        return main, startup, build()


def perceptron(optimizer=None):
    x = paddle.static.data("x", [None, 12])
    y = paddle.static.data("y", [None, 1], "int64")
    h = F.relu(paddle.nn.Linear(12, 20)(x))
    loss = F.cross_entropy(paddle.nn.Linear(20, 5)(h), y)
    (optimizer() if optimizer else paddle.optimizer.Adam(0.01)).minimize(loss)
    return loss


def fed(rows, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 12)).astype("float32")
    return {"x": x, "y": rng.integers(0, 5, (rows, 1))}


def trained(mode, sizes, build=perceptron):
    """The losses of steps of these sizes, and the values left in the scope."""
    main, startup, loss = program_of(build)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    with flags(COMPILE=mode), paddle.static.scope_guard(scope):
        exe.run(startup)
        losses = [
            exe.run(main, feed=fed(rows, n), fetch_list=[loss])[0] for n, rows in enumerate(sizes)
        ]
    values = {n: np.array(c.value) for n, c in scope.cells.items()}
    return np.array(losses), values, calls_of(main)


def calls_of(main):
    """The regions of a Program's code, by variant: as long as its scope lives."""
    found = []
    for bound in main.plans.values():
        if bound.tier is not None:
            found += [
                [row[0] for row in rows if isinstance(row[0], Call)]
                for rows in bound.tier.variants.values()
            ]
    return found


def test_training_goes_as_the_instructions_have_it():
    sizes = [32] * 10
    losses, values, _ = trained("off", sizes)
    found, others, variants = trained("eager", sizes)
    np.testing.assert_allclose(found, losses, rtol=2e-5)
    assert values.keys() == others.keys()
    for name, value in values.items():
        np.testing.assert_allclose(others[name], value, rtol=2e-4, atol=2e-6, err_msg=name)
    (calls,) = variants
    assert len(calls) == 1  # the whole step is one function


def scaled(optimizer):
    """An optimizer of losses whose scale follows what was found, infinite at first."""
    how = {"init_loss_scaling": 1.5 * 2.0**127, "incr_every_n_steps": 2}
    how |= {"decr_every_n_nan_or_inf": 1, "decr_ratio": 2.0**-40, "use_dynamic_loss_scaling": True}
    return paddle.static.amp.decorate(optimizer, **how)


def clipped():
    return paddle.optimizer.Adam(0.01, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))


STEPS = {
    "Adagrad": lambda: paddle.optimizer.Adagrad(0.1),
    "Adadelta": lambda: paddle.optimizer.Adadelta(0.1),
    "Adamax": lambda: paddle.optimizer.Adamax(0.01),
    "AdamW": lambda: paddle.optimizer.AdamW(0.01),
    "clipped": clipped,
    "Lamb": lambda: paddle.optimizer.Lamb(0.05),
    "Lars": lambda: paddle.incubate.optimizer.LarsMomentumOptimizer(0.5, 0.9),
    "Momentum": lambda: paddle.optimizer.Momentum(0.1, use_nesterov=True),
    "RMSProp": lambda: paddle.optimizer.RMSProp(0.01, centered=True),
    "scaled": lambda: scaled(clipped()),
    "SGD": lambda: paddle.optimizer.SGD(0.1, weight_decay=0.01),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_an_optimizer_is_one_function(name):
    build = partial(perceptron, STEPS[name])
    (losses, values, _), (found, others, variants) = (
        trained(mode, [32] * 6, build) for mode in ("off", "eager")
    )
    np.testing.assert_allclose(found, losses, rtol=1e-3 if name == "scaled" else 2e-5)
    assert [len(calls) for calls in variants] == [1]
    for name, value in values.items():
        if value.dtype.kind != "f":
            np.testing.assert_array_equal(others[name], value, name)


def test_a_run_repeats_to_the_bit():
    first, second = (trained("eager", [16] * 3)[:2] for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert all(np.array_equal(first[1][n], second[1][n]) for n in first[1])


def test_each_size_has_code_of_its_own_up_to_a_bound():
    sizes = [*range(1, 12), 1]
    losses, _, _ = trained("off", sizes)
    found, _, variants = trained("eager", sizes)
    np.testing.assert_allclose(found, losses, rtol=2e-4)
    assert len(variants) == 8


def test_an_index_out_of_range_is_told_as_ever_and_changes_nothing():
    main, startup, loss = program_of(perceptron)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    laws = []
    for mode in ("eager", "off"):
        with flags(COMPILE=mode), paddle.static.scope_guard(scope):
            exe.run(startup)
            exe.run(main, feed=fed(8), fetch_list=[loss])
            before = {n: np.array(c.value) for n, c in scope.cells.items()}
            wrong = fed(8)
            wrong["y"][3] = 5
            with pytest.raises(RangeError) as error:
                exe.run(main, feed=wrong, fetch_list=[loss])
            laws.append(str(error.value).splitlines()[:2])
            assert all(np.array_equal(before[n], c.value) for n, c in scope.cells.items())
    assert laws[0] == laws[1]


def test_what_is_no_loop_stays_an_instruction_between_regions():
    def build():
        x = paddle.static.data("x", [4, 9])
        largest, _ = paddle.topk(F.relu(x) * 2.0, 3)
        return paddle.tanh(largest) + 1.0

    main, _, out = program_of(build)
    x = np.random.default_rng(0).normal(size=(4, 9)).astype("float32")
    exe = paddle.static.Executor()
    (want,) = exe.run(main, feed={"x": x}, fetch_list=[out])
    with flags(COMPILE="eager"):
        (got,) = exe.run(main, feed={"x": x}, fetch_list=[out])
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert [len(calls) for calls in calls_of(main)] == [2]


def test_what_has_no_loops_stays_an_instruction_and_nobody_is_warned():
    def build():
        x = paddle.static.data("x", [3])
        return paddle.real(paddle.cast(x * 2.0, "complex64") * 2.0) + 1.0

    main, _, out = program_of(build)
    with flags(COMPILE="eager"), warnings.catch_warnings():
        warnings.simplefilter("error")
        (got,) = paddle.static.Executor().run(main, {"x": np.ones(3, "float32")}, [out])
    assert got.tolist() == [5.0] * 3 and [len(calls) for calls in calls_of(main)] == [2]


def test_code_that_cannot_be_made_is_told_of_and_done_without(monkeypatch):
    def failing(*_, **__):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(compiled, "native_of", failing)
    warned = pytest.warns(UserWarning, match=r"matmul_v2, .*no such instruction")
    with flags(CACHE_DIR="off"), warned:
        losses, _, _ = trained("eager", [4])
    np.testing.assert_allclose(losses, trained("off", [4])[0])


def test_the_instructions_answer_until_the_code_is_ready(tmp_path):
    main, startup, loss = program_of(perceptron)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    kept = flags(COMPILE="tiered", CODE_FROM_RUN=0, CACHE_DIR=str(tmp_path))
    with kept, paddle.static.scope_guard(scope):
        exe.run(startup)
        first, _ = (exe.run(main, feed=fed(8), fetch_list=[loss])[0] for _ in range(2))
        assert calls_of(main) == []
        assert background().wait(timeout=60)
        exe.run(main, feed=fed(8), fetch_list=[loss])
        ((call,),) = calls_of(main)
    assert np.isfinite(first) and call.native.region.groups


def test_another_word_for_compile_is_refused():
    main, _, out = program_of(lambda: paddle.tanh(paddle.static.data("x", [2])))
    with flags(COMPILE="always"), pytest.raises(ArgumentError, match="off, eager or tiered"):
        paddle.static.Executor().run(main, feed={"x": np.zeros(2, "float32")}, fetch_list=[out])


def test_arrays_with_any_strides_are_fed():
    def build():
        x, y = (paddle.static.data(n, [6, 8]) for n in "xy")
        return F.softmax(x - y * 2.0)

    main, _, out = program_of(build)
    whole = np.random.default_rng(0).normal(size=(12, 16)).astype("float32")
    turned = np.asfortranarray(whole[:6, :8])
    ways = (whole[::2, ::2], whole[:6, 7::-1], turned, np.broadcast_to(whole[0, :8], (6, 8)))
    exe, found = paddle.static.Executor(), []
    for mode in ("off", "eager"):
        with flags(COMPILE=mode):
            feeds = [{"x": x, "y": whole[6:, 8:]} for x in ways]
            found.append([exe.run(main, feed=feed, fetch_list=[out])[0] for feed in feeds])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert len(calls_of(main)) == 1


@pytest.mark.parametrize(
    ("asked", "trained", "computed"),
    [("never", True, True), ("training", False, True), ("always", False, False)],
)
def test_numbers_too_small_are_zero_where_the_flag_says_so(asked, trained, computed):
    tiny = np.float32(1e-39)
    assert 0 < tiny < np.finfo("float32").smallest_normal

    def training():
        start = paddle.nn.initializer.Constant(1.0)
        weight = paddle.create_parameter([4], "float32", default_initializer=start)
        paddle.optimizer.Momentum(1.0, 0.9).apply_gradients(
            [(weight, paddle.static.data("x", [4]))]
        )
        return weight

    exe, scope, x = paddle.static.Executor(), paddle.static.Scope(), np.full(4, tiny)
    with flags(COMPILE="eager", FLUSH=asked), paddle.static.scope_guard(scope):
        main, startup, _ = program_of(training)
        exe.run(startup)
        exe.run(main, feed={"x": x})
        (velocity,) = (np.array(c.value) for n, c in scope.cells.items() if "velocity" in n)
        main, _, out = program_of(lambda: paddle.static.data("x", [4]) * 0.5)
        (half,) = exe.run(main, feed={"x": x}, fetch_list=[out])
        assert np.all(x * np.float32(0.5) > 0)  # for NumPy nothing has changed
    assert (velocity.any(), half.any()) == (trained, computed)


def test_another_word_for_flush_is_refused():
    main, _, out = program_of(lambda: paddle.static.data("x", [4]) * 0.5)
    with (
        flags(COMPILE="eager", FLUSH="often"),
        pytest.raises(ArgumentError, match="it is never, training or always"),
    ):
        paddle.static.Executor().run(main, {"x": np.zeros(4, "float32")}, [out])


def test_nothing_is_compiled_again_once_it_has_run():
    main, startup, loss = program_of(perceptron)
    exe = paddle.static.Executor()
    with flags(COMPILE="eager"), paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        exe.run(main, feed=fed(8), fetch_list=[loss])
        before = calls_of(main)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for seed in range(5):
                exe.run(main, feed=fed(8, seed), fetch_list=[loss])
        assert calls_of(main) == before


def kernels_of(build, **feed):
    """How many kernels a Program becomes, and how many bytes lie between them."""
    main, startup, out = program_of(build)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        exe.run(startup)
        (want,) = exe.run(main.clone(), feed=feed, fetch_list=[out])
        exe.run(startup)
        with flags(COMPILE="eager"):
            (got,) = exe.run(main, feed=feed, fetch_list=[out])
        regions = [call.native.region for calls in calls_of(main) for call in calls]
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-6)
    return sum(len(r.groups) for r in regions), sum(r.arena.size for r in regions)


def data():
    return paddle.static.data("x", [6, 40])


def added():
    x = data()
    return paddle.scatter_nd(paddle.cast(x[:, :1] > 0, "int64"), x, [3, 40])


def adam():
    weight, scale = (paddle.create_parameter(shape, "float32") for shape in ([40, 3], [40]))
    loss = paddle.mean(paddle.matmul(data() * scale, weight))
    paddle.optimizer.Adam(0.1).minimize(loss)
    return loss


def lenet():
    images, labels = (
        paddle.static.data("x", [2, 1, 28, 28]),
        paddle.static.data("y", [2, 1], "int64"),
    )
    loss = F.cross_entropy(paddle.vision.models.LeNet()(images), labels)
    paddle.optimizer.Adam(0.001).minimize(loss)
    return loss


def encoder(batch=2):
    layer = paddle.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
    return layer(paddle.static.data("x", [batch, 8, 16]))


@pytest.mark.parametrize(
    ("build", "shape", "kernels", "size"),
    [
        (lambda: F.softmax(data()), (6, 40), 1, 192),  # one row of exponentials
        (lambda: paddle.nn.LayerNorm(40)(data()), (6, 40), 1, 0),
        (lambda: F.gelu(data() * 2.0) + 1.0, (6, 40), 1, 0),
        (added, (6, 40), 1, 0),  # to zeros that are nowhere else
        (adam, (6, 40), 8, 2240),
        (lenet, (2, 1, 28, 28), 38, 171328),
        (encoder, (2, 8, 16), 11, 4416),  # exponentials over their scores
        (lambda: encoder(1), (1, 8, 16), 11, 2368),
    ],
    ids=["softmax", "layer_norm", "gelu", "scatter", "adam", "lenet", "encoder", "encoder of one"],
)
def test_how_many_kernels_and_bytes_it_takes(build, shape, kernels, size):
    feed = {"x": np.random.default_rng(1).normal(size=shape).astype("float32")}
    if build is lenet:
        feed["y"] = np.array([[1], [2]])
    with flags(VECTORS="avx2"):  # what is copied in panels depends on the registers
        assert kernels_of(build, **feed) == (kernels, size)


def test_what_reads_a_value_elsewhere_reads_it_as_it_was():
    def build():
        weight = paddle.create_parameter([20, 20], "float32")
        squared = paddle.matmul(weight, weight)
        paddle.optimizer.SGD(0.1).apply_gradients([(weight, squared)])
        return squared

    main, startup, out = program_of(build)
    exe, found = paddle.static.Executor(), []
    for mode in ("off", "eager"):
        scope = paddle.static.Scope()
        with flags(COMPILE=mode), paddle.static.scope_guard(scope):
            exe.run(startup)
            values = [exe.run(main, fetch_list=[out])[0] for _ in range(3)]
            (weight,) = (c.value for n, c in scope.cells.items() if "create_parameter" in n)
            found.append([*values, np.array(weight)])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_a_limit_of_memory_goes_by_instructions_and_threads_do_not():
    with flags(MAX_MEMORY=1 << 20):
        assert trained("eager", [8, 8])[2] == []
    with flags(HOST_THREADS=2):
        ((call,),) = trained("eager", [8, 8, 8])[2]
    assert isinstance(call, Call)


def test_a_step_made_static_is_one_function():
    paddle.disable_static()
    found = []
    for mode in ("off", "eager"):
        with flags(COMPILE=mode):
            paddle.seed(3)
            net = paddle.nn.Linear(6, 2)
            optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())

            @paddle.jit.to_static
            def step(x, net=net, optimizer=optimizer):
                loss = paddle.mean(F.softplus(net(x)))
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                return loss

            x = paddle.to_tensor(np.linspace(-1, 1, 30).reshape(5, 6).astype("float32"))
            losses = [float(step(x)) for _ in range(4)]
            found.append([losses, net.weight.numpy(), net(x.T.T).numpy()])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_predictor_is_one_function_for_every_thread(tmp_path):
    paddle.disable_static()
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 2))
    spec = [paddle.static.InputSpec([None, 4], "float32")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec)
    config = paddle.inference.Config(str(tmp_path / "net.pdmodel"), str(tmp_path / "net.pdiparams"))
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(rows, 4)).astype("float32") for rows in (1, 3, 1, 5)]
    with flags(COMPILE="eager"):
        predictor = paddle.inference.create_predictor(config)
        for _ in range(2):
            first = [predictor(x) for x in inputs]
        with ThreadPoolExecutor(4) as pool:
            again = list(pool.map(predictor, inputs * 50))
    for x, found in zip(inputs, first, strict=True):
        np.testing.assert_allclose(found, net(paddle.to_tensor(x)).numpy(), rtol=1e-5, atol=1e-6)
    assert all(np.array_equal(a, b) for a, b in zip(again, first * 50, strict=True))
    strided = np.asfortranarray(inputs[1])
    with flags(COMPILE="eager"):
        assert np.array_equal(predictor(strided), first[1])


def test_a_run_has_the_threads_that_were_asked_for(tmp_path):
    paddle.disable_static()
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU())
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec)
    config = paddle.inference.Config(str(tmp_path / "net"))
    config.set_cpu_math_library_num_threads(3)
    predictor = paddle.inference.create_predictor(config)
    with flags(COMPILE="eager"):
        predictor(np.ones((2, 4), "float32"))
    (rows,) = predictor.function.ready.bound.tier.variants.values()
    assert [int(row[0].native.table[-1]) for row in rows if isinstance(row[0], Call)] == [3]


def test_weights_lie_as_code_wants_them_before_its_first_run(tmp_path):
    paddle.disable_static()
    net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 16, 3), paddle.nn.ReLU())
    spec = [paddle.static.InputSpec([2, 3, 9, 9], "float32", "x")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec)
    predictor = paddle.inference.create_predictor(paddle.inference.Config(str(tmp_path / "net")))
    x = np.random.default_rng(0).random((2, 3, 9, 9), "float32")
    with flags(COMPILE="tiered", CACHE_DIR="off"):
        plain = [predictor(x) for _ in range(2)]
        background().wait()
        (task,) = predictor.function.ready.bound.tier.tasks.values()
        ((call, *_),) = task.result
        assert call.native.lasts and call.ready and call.lasting.any()
        found = predictor(x)
    np.testing.assert_allclose(found, plain[1], rtol=1e-5, atol=1e-6)


def test_gradients_of_a_branch_that_was_not_taken_are_machine_code_too():
    paddle.disable_static()

    class Two(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)

        def forward(self, x):
            y = paddle.tanh(self.first(x)) if x.mean() > 0 else self.second(x) * 2
            return y.mean()

    plain = Two()
    with flags(COMPILE="eager"):
        static = paddle.jit.to_static(Two(), full_graph=True)
        static.set_state_dict(plain.state_dict())
        for sign in (-1.0, 1.0, -1.0):
            for net in (plain, static):
                net.clear_gradients()
                net(paddle.ones([2, 3]) * sign).backward()
            taken = static.first if sign > 0 else static.second
            own = plain.first if sign > 0 else plain.second
            for p, q in zip(own.parameters(), taken.parameters(), strict=True):
                # 1 - tanh^2 is as exact as the units in which tanh is, whatever it is itself
                np.testing.assert_allclose(q.grad.numpy(), p.grad.numpy(), rtol=1e-6, atol=1e-7)
