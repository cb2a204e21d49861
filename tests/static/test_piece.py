"""Pieces of Programs with gradients of their own, and losses that draw classes."""

import doctest

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.static.nn import static_pylayer as module

static_pylayer, nce = static.nn.static_pylayer, static.nn.nce


@pytest.fixture(autouse=True)
def programs():
    """Default Programs and a scope of their own, in static mode."""
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def run(*fetches, **feed):
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe.run(feed=feed, fetch_list=list(fetches))


def input_of(*shape, dtype="float32"):
    x = static.data("x", list(shape), dtype)
    x.stop_gradient = False
    return x


# ---- static_pylayer ----


def test_a_piece_has_the_gradient_that_its_function_makes():
    x = input_of(3)
    y = static_pylayer(lambda x: paddle.exp(x) * 2.0, [x], lambda dy: dy * 7.0)
    (dx,) = static.gradients(paddle.sum(y * y), [x])
    values, gradient = run(y, dx, x=np.zeros(3, "float32"))
    assert values.tolist() == [2, 2, 2]
    assert gradient.tolist() == [28, 28, 28]  # 7 times the derivative of y squared


def test_several_inputs_and_results_and_what_nobody_differentiates():
    x = input_of(2)
    first, second = static_pylayer(
        lambda a, b: (a * b, a + b), [x, x * 2.0], lambda da, db: (da * 3.0, db * 5.0 + 1.0)
    )
    (dx,) = static.gradients(paddle.sum(first), [x])
    assert run(dx, second, x=np.ones(2, "float32"))[0].tolist() == [5, 5]  # 3 + 2 * (0 * 5 + 1)


def test_parameters_are_trained_through_a_piece():
    x = input_of(4, 3)
    hidden = static.nn.fc(x, 2)
    y = static_pylayer(paddle.tanh, [hidden], lambda dy: dy)
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(y))
    weight = static.default_main_program().all_parameters()[0]
    exe = static.Executor()
    exe.run(static.default_startup_program())
    before = np.array(static.global_scope().find_var(weight.name).get_tensor())
    exe.run(feed={"x": np.ones((4, 3), "float32")})
    after = np.array(static.global_scope().find_var(weight.name).get_tensor())
    np.testing.assert_allclose(before - after, np.full((3, 2), 4.0), rtol=1e-5)


def test_a_piece_without_a_gradient_needs_inputs_without_one():
    x = static.data("x", [2])
    y = static_pylayer(lambda x: {"y": x + 1.0}, [x])["y"]
    assert y.stop_gradient and run(y, x=np.ones(2, "float32"))[0].tolist() == [2, 2]
    x.stop_gradient = False
    with pytest.raises(ArgumentError, match="are expected to be True"):
        static_pylayer(lambda x: x, [x])


@pytest.mark.parametrize(
    ("backward", "law"),
    [
        (lambda dy: (dy, dy), "returned 2 gradients for 1 inputs"),
        (lambda dy: 3, "returned int as the gradient of `x`"),
    ],
)
def test_gradients_of_another_form_are_refused(backward, law):
    x = input_of(2)
    y = static_pylayer(lambda x: x * 2.0, [x], backward)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=law):
        static.gradients(y, [x])


def test_the_last_inputs_need_no_gradient_where_they_stop_it():
    x, mask = input_of(2), static.data("mask", [2])
    y = static_pylayer(lambda x, mask: x * mask, [x, mask], lambda dy: dy * 3.0)
    (dx,) = static.gradients(y, [x])
    assert run(dx, x=np.ones(2, "float32"), mask=np.ones(2, "float32"))[0].tolist() == [3, 3]


def test_mistakes_of_calls_are_refused():
    with pytest.raises(ArgumentTypeError, match="forward_fn must be callable"):
        static_pylayer(None, [])
    with pytest.raises(ArgumentTypeError, match="inputs of static_pylayer are Variables, not int"):
        static_pylayer(lambda x: x, [3])
    paddle.disable_static()
    try:
        with pytest.raises(ArgumentError, match="builds Programs"):
            static_pylayer(lambda x: x, [])
        results = doctest.testmod(__import__(module.__module__, fromlist=["_"]))
    finally:
        paddle.enable_static()
    assert results.attempted and not results.failed


# ---- nce ----


@pytest.mark.parametrize("sampler", ["uniform", "log_uniform", "custom_dist"])
def test_many_draws_give_the_expected_loss(sampler):
    random = np.random.default_rng(0)
    weights, bias = random.standard_normal((6, 3)), random.standard_normal((6, 1))
    rows, labels = random.standard_normal((5, 3)).astype("float32"), np.array([[0, 1, 2, 3, 5]]).T
    chances = {
        "uniform": np.full(6, 1 / 6),
        "log_uniform": np.log((np.arange(6) + 2) / (np.arange(6) + 1)) / np.log(6),
        "custom_dist": np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1]),
    }[sampler]
    count = 20_000
    attrs = [
        paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(v.astype("float32")))
        for v in (weights, bias)
    ]
    x, label = static.data("x", [-1, 3]), static.data("label", [-1, 1], "int64")
    paddle.seed(1)
    options = {"custom_dist": chances.tolist()} if sampler == "custom_dist" else {}
    loss = nce(x, label, 6, None, *attrs, num_neg_samples=count, sampler=sampler, **options)
    (found,) = run(loss, x=rows, label=labels)
    scores = 1 / (1 + np.exp(-(rows @ weights.T + bias.T)))
    right = scores / (scores + chances * count)
    own = -np.log(np.take_along_axis(right, labels, 1)[:, 0])
    drawn = np.where(np.cumsum(chances) < 1.01, chances, 0)  # of those that have a name
    expected = (own - (drawn * np.log(1 - right)).sum(1) * count) / (count + 1)
    np.testing.assert_allclose(found[:, 0], expected, rtol=0.05)


def test_drawn_classes_train_their_rows_alone_and_a_seed_draws_the_same():
    x, label = static.data("x", [2, 3]), static.data("label", [2, 1], "int64")
    loss = nce(x, label, 50, num_neg_samples=2, seed=3, is_sparse=True)
    paddle.optimizer.SGD(0.0).minimize(paddle.mean(loss))
    feed = {"x": np.ones((2, 3), "float32"), "label": np.array([[1], [2]])}
    exe = static.Executor()
    exe.run(static.default_startup_program())
    first, second = (exe.run(feed=feed, fetch_list=[loss])[0] for _ in range(2))
    assert first.shape == (2, 1) and first.tolist() == second.tolist()


def test_mistakes_of_nce_are_refused():
    x, label = static.data("x", [2, 3]), static.data("label", [2, 1], "int64")
    with pytest.raises(ArgumentError, match="Unsupported sampler type: fair"):
        nce(x, label, 5, sampler="fair")
    with pytest.raises(ArgumentError, match="of each of the 5 classes"):
        nce(x, label, 5, sampler="custom_dist", custom_dist=[1.0])
    with pytest.raises(ArgumentTypeError, match="'input' in nce must be Variable"):
        nce(3, label, 5)


# ---- other functions ----


@pytest.mark.parametrize("masked", [True, False])
def test_a_deformed_convolution_is_that_of_eager_mode(masked):
    random = np.random.default_rng(0)
    image, filters, offset, mask = (
        random.standard_normal(shape).astype("float32")
        for shape in ((1, 2, 5, 5), (4, 2, 3, 3), (1, 18, 3, 3), (1, 9, 3, 3))
    )
    names = {"image": image, "offset": offset} | ({"mask": mask} if masked else {})
    given = {n: static.data(n, list(v.shape)) for n, v in names.items()}
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(filters))
    out = static.nn.deform_conv2d(
        given["image"], given["offset"], given.get("mask"), 4, 3, weight_attr=attr
    )
    (found,) = run(out, **names)
    paddle.disable_static()
    tensors = [paddle.to_tensor(v) for v in (image, offset, filters)]
    wanted = {"mask": paddle.to_tensor(mask)} if masked else {}
    expected = paddle.vision.ops.deform_conv2d(*tensors, **wanted).numpy()
    paddle.enable_static()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match="divisible by groups"):
        static.nn.deform_conv2d(given["image"], given["offset"], None, 4, 3, groups=3)


def test_counts_of_what_was_clicked_are_taken_in_logarithms_or_left_out():
    x, counts = input_of(2, 3), static.data("counts", [2, 2])
    rows = np.array([[1, 3, 5], [0, 1, 2]], "float32")
    found = [static.nn.continuous_value_model(x, counts, use) for use in (True, False)]
    shares = static.gradients([paddle.sum(found[0])], [x])
    feed = {"x": rows, "counts": np.array([[7, 8], [9, 6]], "float32")}
    taken, left, gradient = run(*found, *shares, **feed)
    expected = [[np.log(2), np.log(2), 5], [0, np.log(2), 2]]
    np.testing.assert_allclose(taken, expected, rtol=1e-6)
    assert left.tolist() == [[5], [2]]
    assert gradient.tolist() == [[7, 8, 1], [9, 6, 1]]


def test_what_is_not_there_says_why():
    with pytest.raises(UnsupportedError, match="sparse_embedding` is not in scull: "):
        static.nn.sparse_embedding()
    with pytest.raises(
        UnsupportedError, match=r"mnist.train` is not in scull: nothing is downloaded"
    ):
        paddle.dataset.mnist.train()
    with pytest.raises(UnsupportedError, match="rank_attention` is not in scull"):
        paddle.incubate.layers.rank_attention()


def test_averages_of_parameters_are_those_of_a_program():
    paddle.disable_static()
    try:
        with pytest.raises(UnsupportedError, match="In dygraph"):
            static.ExponentialMovingAverage(0.9)
        with pytest.raises(UnsupportedError, match="PipelineOptimizer` is not in scull"):
            paddle.incubate.optimizer.PipelineOptimizer(None)
    finally:
        paddle.enable_static()


def test_a_mask_of_lengths_is_found_beside_sequences():
    lengths = static.data("lengths", [2], "int64")
    mask = static.nn.sequence_lod.sequence_mask(lengths, maxlen=3)
    assert run(mask, lengths=np.array([1, 3]))[0].tolist() == [[1, 0, 0], [1, 1, 1]]


def test_a_shuffled_batch_has_the_rows_of_before():
    x = static.data("x", [-1, 1, 2])
    out = paddle.incubate.layers.shuffle_batch(x)
    rows = np.arange(40, dtype="float32").reshape(20, 1, 2)
    (found,) = run(out, x=rows)
    assert found.shape == rows.shape and found.tolist() != rows.tolist()
    assert sorted(found.tolist()) == rows.tolist()
